<?php
function connected(string $suffix = '', array $headers = []): Stomp
{
    $stomp = new Stomp('tcp://' . getenv('HOST') . ':' . getenv("STOMP$suffix"), '', '', $headers);
    $stomp->setReadTimeout(8);
    return $stomp;
}

function demand(bool $is, string $what): void
{
    if (!$is) {
        throw new Exception($what);
    }
}

function nextFrame(Stomp $stomp, string $body): StompFrame
{
    $frame = $stomp->readFrame();
    demand($frame !== false, "no message came, instead of $body: " . $stomp->error());
    demand($frame->body === $body, "received $frame->body, not $body");
    return $frame;
}

function confirmed(Stomp $stomp, string $destination, string $body, array $headers = []): void
{
    demand($stomp->send($destination, $body, $headers + ['receipt' => uniqid()]), 'no receipt came: ' . $stomp->error());
}

function acknowledged(string $mode, bool $acknowledge, array $left): void
{
    $stomp = connected();
    foreach (['1', '2', '3'] as $body) {
        confirmed($stomp, "/queue/$mode", $body);
    }
    $stomp->subscribe("/queue/$mode", ['ack' => $mode]);
    $frames = array_map(fn ($body) => nextFrame($stomp, $body), ['1', '2', '3']);
    if ($acknowledge) {
        $stomp->ack($frames[1], ['receipt' => 'ack']);
    }
    unset($stomp);
    $stomp = connected();
    confirmed($stomp, "/queue/$mode", 'end');
    $stomp->subscribe("/queue/$mode", ['ack' => 'auto']);
    $seen = [];
    foreach ([...$left, 'end'] as $_) {
        $seen[] = $stomp->readFrame()->body;
    }
    sort($seen);
    demand($seen === [...$left, 'end'], 'received ' . implode(', ', $seen));
}

/** speaks: the library writes frames of 1.0; with the headers of the others it speaks those too. */
function speaks(string $version): void
{
    $queue = "/queue/v$version";
    $stomp = connected('', $version === '1.0' ? [] : ['accept-version' => $version, 'host' => 'localhost']);
    demand($stomp->getSessionId() !== '', 'there is no session');
    confirmed($stomp, $queue, 'x');
    $stomp->subscribe($queue, ['id' => '1', 'ack' => 'client']);
    $frame = nextFrame($stomp, 'x');
    demand(isset($frame->headers['ack']) === ($version === '1.2'), "this is not $version");
    $headers = $version === '1.2' ? ['id' => $frame->headers['ack']] : ['subscription' => '1'];
    demand($stomp->ack($frame, $headers + ['receipt' => 'ack']), 'no receipt of ACK');
    unset($stomp);
    $stomp = connected();
    confirmed($stomp, $queue, 'end');
    $stomp->subscribe($queue, ['ack' => 'auto']);
    nextFrame($stomp, 'end');
}

$lacks = [
    'beats' => 'it has no heart-beats',
    'missed' => 'it has no heart-beats',
];

$attempts = [
    '1.0' => fn () => speaks('1.0'),
    '1.1' => fn () => speaks('1.1'),
    '1.2' => fn () => speaks('1.2'),
    'send' => function () {
        $stomp = connected();
        confirmed($stomp, '/queue/send', 'Grüße, 世界', ['kind' => 'a greeting']);
        $stomp->subscribe('/queue/send', ['ack' => 'auto']);
        demand(nextFrame($stomp, 'Grüße, 世界')->headers['kind'] === 'a greeting', 'its header is lost');
    },
    'auto' => fn () => acknowledged('auto', false, []),
    'client' => fn () => acknowledged('client', true, ['3']),
    'individual' => fn () => acknowledged('client-individual', true, ['1', '3']),
    'nack' => function () {
        $stomp = connected('', ['accept-version' => '1.1']);
        confirmed($stomp, '/queue/nack', 'again');
        $stomp->subscribe('/queue/nack', ['id' => '1', 'ack' => 'client-individual']);
        demand($stomp->nack(nextFrame($stomp, 'again'), ['subscription' => '1', 'receipt' => 'nack']), 'no receipt of NACK');
        $frame = nextFrame($stomp, 'again');
        demand($frame->headers['redelivered'] === 'true', 'it is not marked as redelivered');
        $stomp->ack($frame, ['subscription' => '1', 'receipt' => 'ack']);
    },
    'commit' => function () {
        $stomp = connected();
        confirmed($stomp, '/queue/in', 'order');
        $stomp->subscribe('/queue/in', ['ack' => 'client-individual']);
        $order = nextFrame($stomp, 'order');
        $stomp->subscribe('/queue/commit', ['ack' => 'auto']);
        demand($stomp->begin('t', ['receipt' => 'begin']), 'no receipt of BEGIN');
        $stomp->ack($order, ['transaction' => 't', 'receipt' => 'ack']);
        confirmed($stomp, '/queue/commit', 'inside', ['transaction' => 't']);
        confirmed($stomp, '/queue/commit', 'outside');
        nextFrame($stomp, 'outside');
        demand($stomp->commit('t', ['receipt' => 'commit']), 'no receipt of COMMIT');
        nextFrame($stomp, 'inside');
        unset($stomp);
        $stomp = connected();
        confirmed($stomp, '/queue/in', 'end');
        $stomp->subscribe('/queue/in', ['ack' => 'auto']);
        nextFrame($stomp, 'end');
    },
    'abort' => function () {
        $stomp = connected();
        $stomp->begin('t', ['receipt' => 'begin']);
        confirmed($stomp, '/queue/abort', 'inside', ['transaction' => 't']);
        demand($stomp->abort('t', ['receipt' => 'abort']), 'no receipt of ABORT');
        confirmed($stomp, '/queue/abort', 'outside');
        $stomp->subscribe('/queue/abort', ['ack' => 'auto']);
        nextFrame($stomp, 'outside');
    },
    'receipt' => fn () => confirmed(connected(), '/queue/receipt', 'x'),
    'beats' => null,
    'missed' => null,
    'selector' => function () {
        $stomp = connected();
        $stomp->subscribe('/topic/selector', ['ack' => 'auto', 'selector' => "n > 1 AND kind LIKE 'a%'"]);
        confirmed($stomp, '/topic/selector', 'one', ['n' => '1', 'kind' => 'ab']);
        confirmed($stomp, '/topic/selector', 'two', ['n' => '2', 'kind' => 'ab']);
        nextFrame($stomp, 'two');
    },
    'durable' => function () {
        $news = ['id' => 'news', 'durable' => 'true', 'ack' => 'auto', 'receipt' => 'news'];
        $reader = function () use ($news) {
            $stomp = connected('', ['client-id' => 'reader']);
            $stomp->subscribe('/topic/durable', $news);
            return $stomp;
        };
        $stomp = $reader();
        unset($stomp);
        confirmed(connected(), '/topic/durable', 'while away');
        $stomp = $reader();
        nextFrame($stomp, 'while away');
        demand($stomp->unsubscribe('/topic/durable', $news), 'no receipt of UNSUBSCRIBE');
        confirmed($stomp, '/topic/durable', 'after the end');
        unset($stomp);
        $stomp = $reader();
        confirmed($stomp, '/topic/durable', 'anew');
        nextFrame($stomp, 'anew');
    },
    'delay' => function () {
        $stomp = connected();
        $sent = microtime(true);
        confirmed($stomp, '/queue/delay', 'later', ['AMQ_SCHEDULED_DELAY' => '700']);
        confirmed($stomp, '/queue/delay', 'now');
        $stomp->subscribe('/queue/delay', ['ack' => 'auto']);
        nextFrame($stomp, 'now');
        nextFrame($stomp, 'later');
        demand(microtime(true) - $sent >= 0.7, 'it came too early');
    },
    'reply' => function () {
        [$asks, $answers] = [connected(), connected()];
        $answers->subscribe('/queue/requests', ['ack' => 'auto']);
        $asks->subscribe('/temp-queue/replies', ['ack' => 'auto']);
        confirmed($asks, '/queue/requests', 'how much?', ['reply-to' => '/temp-queue/replies', 'correlation-id' => '7']);
        $headers = nextFrame($answers, 'how much?')->headers;
        confirmed($answers, $headers['reply-to'], '42', ['correlation-id' => $headers['correlation-id']]);
        demand(nextFrame($asks, '42')->headers['correlation-id'] === '7', 'it answers something else');
    },
    'binary' => function () {
        $stomp = connected();
        $octets = "\x00\x01\n\r\x00\xff\x80\x00";
        confirmed($stomp, '/queue/binary', $octets, ['content-length' => (string) strlen($octets)]);
        $stomp->subscribe('/queue/binary', ['ack' => 'auto']);
        nextFrame($stomp, $octets);
    },
    'error' => function () {
        $stomp = connected();
        $stomp->send('/nonsense/x', 'x');
        try {
            demand($stomp->readFrame() === false, 'a message came');
            $why = (string) $stomp->error();
        } catch (StompException $e) {
            $why = $e->getMessage();
        }
        demand(str_contains($why, '/nonsense/x'), "it says $why");
    },
    'reconnect' => function () {
        $stomp = connected('_CUT');
        confirmed($stomp, '/queue/reconnect', 'kept');
        $stomp->subscribe('/topic/cut', ['ack' => 'auto']);
        $stomp->send('/topic/cut', 'cut-here');
        try {
            $lost = $stomp->readFrame() === false;
        } catch (StompException) {
            $lost = true;
        }
        demand($lost, 'the loss was not noticed');
        $stomp = connected('_CUT'); // the library leaves that to the program
        $stomp->subscribe('/queue/reconnect', ['ack' => 'auto']);
        nextFrame($stomp, 'kept');
    },
];

error_reporting(E_ERROR);
foreach ($attempts as $name => $attempt) {
    if (isset($lacks[$name])) {
        echo "none $name $lacks[$name]\n";
        continue;
    }
    try {
        $attempt();
        echo "pass $name\n";
    } catch (Throwable $problem) {
        echo "fail $name ", str_replace("\n", ' ', $problem->getMessage()), "\n";
    }
}
