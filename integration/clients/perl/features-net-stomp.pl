use strict;
use warnings;
use Encode qw(decode encode);
use Net::Stomp;
use Time::HiRes qw(time);

$| = 1;
$SIG{PIPE} = 'IGNORE';

# connected opens a connection. The library knows one version, that of the headers it is given.
sub connected {
    my ($suffix, %headers) = @_;
    my $stomp = Net::Stomp->new({ hostname => $ENV{HOST}, port => $ENV{"STOMP$suffix"}, timeout => 8, receipt_timeout => 8, connect_delay => 1 });
    my $frame = $stomp->connect({ %headers });
    demand($frame && $frame->command eq 'CONNECTED', 'it did not connect');
    $stomp->{agreed} = $frame->headers->{version} || '1.0';
    return $stomp;
}

sub demand {
    my ($is, $what) = @_;
    die "$what\n" unless $is;
}

# next_frame takes the next message, and demands its body.
sub next_frame {
    my ($stomp, $body) = @_;
    my $frame = $stomp->receive_frame({ timeout => 8 });
    demand($frame, "no message came, instead of $body");
    demand($frame->command eq 'MESSAGE', 'received ' . $frame->command);
    demand(($frame->body || '') eq $body, 'received ' . $frame->body . ", not $body");
    return $frame;
}

sub confirmed {
    my ($stomp, $destination, $body, %headers) = @_;
    demand($stomp->send_with_receipt({ destination => $destination, body => $body, %headers }), 'no receipt came');
}

# command sends what the library has no method for.
sub command {
    my ($stomp, $name, %headers) = @_;
    $stomp->send_frame(Net::Stomp::Frame->new({ command => $name, headers => { %headers, receipt => $name } }));
    my $frame = $stomp->receive_frame({ timeout => 8 });
    demand($frame && $frame->command eq 'RECEIPT' && $frame->headers->{'receipt-id'} eq $name, "no receipt of $name");
}

sub speaks {
    my ($version) = @_;
    my $stomp = connected('', $version eq '1.0' ? () : ('accept-version' => $version, host => 'localhost'));
    demand($stomp->{agreed} eq $version, "connected with $stomp->{agreed}");
    confirmed($stomp, "/queue/v$version", 'x');
    $stomp->subscribe({ destination => "/queue/v$version", id => 1, ack => 'client' });
    my $frame = next_frame($stomp, 'x');
    $stomp->ack({ frame => $frame, $version eq '1.2' ? (id => $frame->headers->{ack}) : (subscription => 1) });
    $stomp->disconnect;
    $stomp = connected('');
    confirmed($stomp, "/queue/v$version", 'end');
    $stomp->subscribe({ destination => "/queue/v$version" });
    next_frame($stomp, 'end');
    $stomp->disconnect;
}

sub acknowledged {
    my ($mode, $acknowledge, @left) = @_;
    my $stomp = connected('');
    confirmed($stomp, "/queue/$mode", $_) for 1 .. 3;
    $stomp->subscribe({ destination => "/queue/$mode", ack => $mode });
    my @frames = map { next_frame($stomp, $_) } 1 .. 3;
    $stomp->ack({ frame => $frames[1], receipt => 'ack' }) if $acknowledge;
    $stomp->receive_frame if $acknowledge;
    $stomp->disconnect;
    $stomp = connected('');
    confirmed($stomp, "/queue/$mode", 'end');
    $stomp->subscribe({ destination => "/queue/$mode" });
    my %seen = map { $stomp->receive_frame({ timeout => 8 })->body => 1 } @left, 'end';
    demand($seen{$_}, "$_ did not come") for @left, 'end';
    $stomp->disconnect;
}

my %lacks = (
    'beats' => 'it has no heart-beats',
    'missed' => 'it has no heart-beats',
);

my @attempts = (
    '1.0' => sub { speaks('1.0') },
    '1.1' => sub { speaks('1.1') },
    '1.2' => sub { speaks('1.2') },
    'send' => sub {
        my $stomp = connected('');
        my $text = encode('UTF-8', "Gr\x{fc}\x{df}e, \x{4e16}\x{754c}");
        confirmed($stomp, '/queue/send', $text, kind => 'a greeting');
        $stomp->subscribe({ destination => '/queue/send' });
        demand(next_frame($stomp, $text)->headers->{kind} eq 'a greeting', 'its header is lost');
        $stomp->disconnect;
    },
    'auto' => sub { acknowledged('auto', 0) },
    'client' => sub { acknowledged('client', 1, 3) },
    'individual' => sub { acknowledged('client-individual', 1, 1, 3) },
    'nack' => sub {
        my $stomp = connected('', 'accept-version' => '1.1');
        confirmed($stomp, '/queue/nack', 'again');
        $stomp->subscribe({ destination => '/queue/nack', id => 1, ack => 'client-individual' });
        $stomp->nack({ frame => next_frame($stomp, 'again'), subscription => 1 });
        my $frame = next_frame($stomp, 'again');
        demand(($frame->headers->{redelivered} || '') eq 'true', 'it is not marked as redelivered');
        $stomp->ack({ frame => $frame, subscription => 1 });
        $stomp->disconnect;
    },
    'commit' => sub {
        my $stomp = connected('');
        demand($stomp->send_transactional({ destination => '/queue/commit', body => 'inside' }), 'it was not committed');
        $stomp->subscribe({ destination => '/queue/commit' });
        next_frame($stomp, 'inside');
        confirmed($stomp, '/queue/in', 'order');
        $stomp->subscribe({ destination => '/queue/in', ack => 'client-individual' });
        my $order = next_frame($stomp, 'order');
        command($stomp, 'BEGIN', transaction => 't');
        $stomp->ack({ frame => $order, transaction => 't' });
        confirmed($stomp, '/queue/commit', 'inside', transaction => 't');
        $stomp->send({ destination => '/queue/commit', body => 'outside' });
        next_frame($stomp, 'outside');
        $stomp->send_frame(Net::Stomp::Frame->new({ command => 'COMMIT', headers => { transaction => 't' } }));
        next_frame($stomp, 'inside');
        $stomp->disconnect;
        $stomp = connected('');
        confirmed($stomp, '/queue/in', 'end');
        $stomp->subscribe({ destination => '/queue/in' });
        next_frame($stomp, 'end');
        $stomp->disconnect;
    },
    'abort' => sub {
        my $stomp = connected('');
        command($stomp, 'BEGIN', transaction => 't');
        confirmed($stomp, '/queue/abort', 'inside', transaction => 't');
        command($stomp, 'ABORT', transaction => 't');
        confirmed($stomp, '/queue/abort', 'outside');
        $stomp->subscribe({ destination => '/queue/abort' });
        next_frame($stomp, 'outside');
        $stomp->disconnect;
    },
    'receipt' => sub {
        my $stomp = connected('');
        confirmed($stomp, '/queue/receipt', 'x');
        $stomp->disconnect;
    },
    'beats' => undef,
    'missed' => undef,
    'selector' => sub {
        my $stomp = connected('');
        $stomp->subscribe({ destination => '/topic/selector', selector => "n > 1 AND kind LIKE 'a%'" });
        $stomp->send({ destination => '/topic/selector', body => 'one', n => 1, kind => 'ab' });
        $stomp->send({ destination => '/topic/selector', body => 'two', n => 2, kind => 'ab' });
        next_frame($stomp, 'two');
        $stomp->disconnect;
    },
    'durable' => sub {
        my %news = (destination => '/topic/durable', id => 'news', durable => 'true');
        my $reader = sub {
            my $stomp = connected('', 'client-id' => 'reader');
            $stomp->subscribe({ %news });
            return $stomp;
        };
        my $stomp = $reader->();
        confirmed($stomp, '/topic/other', 'x');
        $stomp->disconnect;
        $stomp = connected('');
        confirmed($stomp, '/topic/durable', 'while away');
        $stomp->disconnect;
        $stomp = $reader->();
        next_frame($stomp, 'while away');
        $stomp->unsubscribe({ %news });
        confirmed($stomp, '/topic/durable', 'after the end');
        $stomp->disconnect;
        $stomp = $reader->();
        $stomp->send({ destination => '/topic/durable', body => 'anew' });
        next_frame($stomp, 'anew');
        $stomp->disconnect;
    },
    'delay' => sub {
        my $stomp = connected('');
        my $sent = time;
        confirmed($stomp, '/queue/delay', 'later', AMQ_SCHEDULED_DELAY => 700);
        $stomp->subscribe({ destination => '/queue/delay' });
        $stomp->send({ destination => '/queue/delay', body => 'now' });
        next_frame($stomp, 'now');
        next_frame($stomp, 'later');
        demand(time - $sent >= 0.7, 'it came too early');
        $stomp->disconnect;
    },
    'reply' => sub {
        my ($asks, $answers) = (connected(''), connected(''));
        $answers->subscribe({ destination => '/queue/requests' });
        $asks->subscribe({ destination => '/temp-queue/replies' });
        confirmed($asks, '/queue/requests', 'how much?', 'reply-to' => '/temp-queue/replies', 'correlation-id' => 7);
        my $headers = next_frame($answers, 'how much?')->headers;
        confirmed($answers, $headers->{'reply-to'}, '42', 'correlation-id' => $headers->{'correlation-id'});
        demand(next_frame($asks, '42')->headers->{'correlation-id'} eq '7', 'it answers something else');
        $_->disconnect for $asks, $answers;
    },
    'binary' => sub {
        my $stomp = connected('');
        my $octets = "\x00\x01\n\r\x00\xff\x80\x00";
        confirmed($stomp, '/queue/binary', $octets, bytes_message => 1);
        $stomp->subscribe({ destination => '/queue/binary' });
        next_frame($stomp, $octets);
        $stomp->disconnect;
    },
    'error' => sub {
        my $stomp = connected('');
        $stomp->send({ destination => '/nonsense/x', body => 'x' });
        my $frame = $stomp->receive_frame({ timeout => 8 });
        demand($frame && $frame->command eq 'ERROR', 'no ERROR came');
        demand($frame->headers->{message} =~ m{/nonsense/x}, 'it says ' . $frame->headers->{message});
        demand(!defined $stomp->receive_frame({ timeout => 8 }), 'the connection goes on');
    },
    'reconnect' => sub {
        my $stomp = connected('_CUT');
        confirmed($stomp, '/queue/reconnect', 'kept');
        $stomp->subscribe({ destination => '/topic/cut' });
        $stomp->send({ destination => '/topic/cut', body => 'cut-here' });
        demand(!defined $stomp->receive_frame({ timeout => 8 }), 'the loss was not noticed');
        $stomp->subscribe({ destination => '/queue/reconnect' }); # connects again
        next_frame($stomp, 'kept');
        $stomp->disconnect;
    },
);

while (my ($name, $attempt) = splice(@attempts, 0, 2)) {
    if (exists $lacks{$name}) {
        print "none $name $lacks{$name}\n";
    } elsif (eval { local $SIG{ALRM} = sub { die "it took too long\n" }; alarm 20; $attempt->(); alarm 0; 1 }) {
        print "pass $name\n";
    } else {
        my $problem = $@;
        alarm 0;
        $problem =~ s/\n/ /g;
        print "fail $name $problem\n";
    }
}
