package server

import (
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

// recoverFeatures returns the headers of RECOVER, and of NACK with recover:true, that are refused.
func recoverFeatures() []feature {
	return []feature{
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
