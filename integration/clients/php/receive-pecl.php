<?php
$stomp = new Stomp("tcp://$argv[1]:$argv[2]");
$stomp->setReadTimeout(20);
$stomp->subscribe($argv[3], ['ack' => 'client-individual']);
for ($left = (int) $argv[4]; $left > 0; $left--) {
    $frame = $stomp->readFrame();
    if ($frame === false) {
        fwrite(STDERR, "$left messages did not come: " . $stomp->error());
        exit(1);
    }
    echo json_encode(['body' => $frame->body, 'headers' => $frame->headers]), "\n";
    $stomp->ack($frame, ['receipt' => "ack$left"]);
}
