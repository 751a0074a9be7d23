package node_test

import (
	"strings"
	"testing"
)

func TestExplainTellsOfRedelivery(t *testing.T) {
	o, path, err := fromFile(t, `
destinations:
  - match: /queue/>
    redelivery-delay: 5s
    redelivery-backoff: exponential
    redelivery-limit: none
    error-destination: /queue/graves
    ack-timeout: 10m
  - match: /queue/orders.>
    redelivery-delay: none
    redelivery-multiplier: 1.5
    redelivery-jitter: 0.25
    redelivery-max-delay: 1h
    error-destination: /topic/dead.{name}
  - match: /queue/orders.eu
    redelivery-backoff: default
    redelivery-limit: 0
    error-destination: none
    ack-timeout: none
`)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{
		"/queue/orders.us": {
			"redelivery-delay none 10", "redelivery-backoff exponential 5", "redelivery-multiplier 1.5 11", "redelivery-max-delay 1h 13",
			"redelivery-jitter 0.25 12", "redelivery-limit none 6", "error-destination /topic/dead.{name} 14", "ack-timeout 10m 8",
		},
		"/queue/orders.eu": {
			"redelivery-backoff as consumers say 16", "redelivery-limit 0 17", "error-destination none 18", "ack-timeout none 19",
		},
		"/topic/t":     {"error-destination /queue/DLQ.{name} default", "redelivery-limit as senders and consumers say, or 6 default"},
		"/queue/other": {"error-destination /queue/graves 7", "redelivery-max-delay as consumers say default"},
	}
	for destination, want := range rows {
		settings, _, err := o.Explain(destination)
		if err != nil {
			t.Fatal(err)
		}
		saw := map[string]bool{}
		for _, s := range settings {
			at, _, _ := strings.Cut(strings.TrimPrefix(string(s.Origin), path+":"), ":")
			saw[s.Setting+" "+s.Value+" "+at] = true
		}
		for _, row := range want {
			if !saw[row] {
				t.Errorf("%s: expected %q; saw %q", destination, row, settings)
			}
		}
	}
}
