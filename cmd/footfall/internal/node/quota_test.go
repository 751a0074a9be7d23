package node_test

import (
	"slices"
	"testing"

	"footfall/broker"
)

func TestASlowConsumerIsOfATopic(t *testing.T) {
	o, _, err := fromFile(t, `
destinations:
  - {match: /topic/>, slow-consumer: drop-newest}
  - {match: /topic/a, slow-consumer: default}
`)
	if err != nil {
		t.Fatal(err)
	}
	for destination, want := range map[string]string{"/topic/b": "drop-newest", "/topic/a": "block"} {
		settings, _, err := o.Explain(destination)
		if err != nil || settings[len(settings)-1].Setting != "slow-consumer" || settings[len(settings)-1].Value != want {
			t.Errorf("%s: %+v, want %s, %v", destination, settings[len(settings)-1], want, err)
		}
	}
}

func TestQuotasAreExplainedWithTheirDefaults(t *testing.T) {
	o, _, err := fromFile(t, `
destinations:
  - {match: /queue/>, max-messages: 1000, max-bytes: 1GiB, max-message-size: 1MB, overflow: reject}
  - {match: /queue/a, max-messages: none, max-bytes: 5B, max-message-size: default, overflow: default}
`)
	if err != nil {
		t.Fatal(err)
	}
	for destination, want := range map[string][]string{
		"/queue/b": {"1000", "1GiB", "1MB", "reject"},
		"/queue/a": {"none", "5B", "none", "block"},
		"/topic/b": {"none", "none", "none", "block"},
	} {
		settings, _, err := o.Explain(destination)
		if err != nil {
			t.Fatal(err)
		}
		var saw []string
		for _, s := range settings {
			if slices.Contains([]string{broker.PolicyMaxMessages.String(), "max-bytes", "max-message-size", "overflow"}, s.Setting) {
				saw = append(saw, s.Value)
			}
		}
		if !slices.Equal(saw, want) {
			t.Errorf("%s: %q, want %q", destination, saw, want)
		}
	}
}
