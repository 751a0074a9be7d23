package server

import (
	"strings"

	"footfall/broker"
	"footfall/frames"
)

// A request that this version cannot fulfil is refused where to ignore it would change what is
// delivered, when, or to whom. What is harmless to ignore is ignored.

// unsupported says that a header asks for something that this version does not do.
func unsupported(what, name, value string) *broker.Error {
	return refusal(kindUnsupported, "%s %s asks for %s, which this version does not support", name, quote(value), what)
}

// feature is what a header asks for and which of its values ask for nothing.
type feature struct {
	name, what string
	harmless   func(value string) bool
}

// empty values ask for nothing.
func empty(value string) bool { return value == "" }

// emptyOrFalse is for switches that are off by default.
func emptyOrFalse(value string) bool {
	on, ok := parseBool(value)
	return value == "" || ok && !on
}

// emptyOrTrue is for switches that are on by default.
func emptyOrTrue(value string) bool {
	on, ok := parseBool(value)
	return value == "" || ok && on
}

// emptyOrZero is for numbers of which 0 is the default.
func emptyOrZero(value string) bool { return strings.Trim(value, "0") == "" }

// sendFeature tells what a header of SEND of class refusedHeader asks for. It is false where
// the value asks for nothing; such a header is dropped.
func sendFeature(name, value string) (what string, asked bool) {
	if name == "redelivery-limit" {
		return "redelivery limits", !empty(value)
	}
	return "detection of duplicates", !empty(value)
}

// subscribeFeatures returns the headers of SUBSCRIBE that are refused, to a destination of any kind.
func subscribeFeatures() []feature {
	return []feature{
		{"selector", "selectors", blank},
		{"redelivery-delay", "redelivery policies", empty},
		{"redelivery-limit", "redelivery policies", empty},
		{"activemq.maximumRedeliveries", "redelivery policies", empty},
		{"activemq.redeliveryDelay", "redelivery policies", empty},
		{"activemq.initialRedeliveryDelay", "redelivery policies", empty},
		{"activemq.useExponentialBackOff", "redelivery policies", emptyOrFalse},
		{"activemq.backOffMultiplier", "redelivery policies", empty},
		{"activemq.maximumRedeliveryDelay", "redelivery policies", empty},
	}
}

// blank values select everything.
func blank(value string) bool { return strings.TrimSpace(value) == "" }

// nackFeatures returns the headers of NACK that are refused.
func nackFeatures() []feature {
	return []feature{
		{"requeue", "dead letters", emptyOrTrue},
		{"dead-letter", "dead letters", emptyOrFalse},
		{"delay", "redelivery policies", emptyOrZero},
	}
}

// recoverFeatures returns the headers of RECOVER, and of NACK with recover:true, that are refused.
func recoverFeatures() []feature {
	return []feature{
		{"redelivery-delay", "redelivery policies", emptyOrZero},
		{"transaction", "RECOVER in a transaction", empty},
	}
}

// refuseFeatures finds the first of the features that a frame asks for.
func refuseFeatures(h frames.Header, features []feature) error {
	for _, f := range features {
		if raw, ok := h.GetRaw(f.name); ok {
			if value := h.Decode(raw); !f.harmless(value) {
				return unsupported(f.what, f.name, value)
			}
		}
	}
	return nil
}
