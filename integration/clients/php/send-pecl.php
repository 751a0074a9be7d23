<?php
$stomp = new Stomp("tcp://$argv[1]:$argv[2]");

// EXAMPLE

if (!$stomp->send('/topic/nobody', '', ['receipt' => 'all'])) {
    fwrite(STDERR, $stomp->error());
    exit(1);
}
