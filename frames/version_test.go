package frames_test

import (
	"testing"

	"footfall/frames"
)

func TestNegotiateTakesTheHighestCommonVersion(t *testing.T) {
	for accept, want := range map[string]frames.Version{
		"": frames.V10, "1.0": frames.V10, "1.1": frames.V11, "1.2": frames.V12,
		"1.0,1.1,1.2": frames.V12, "1.2,1.0": frames.V12, "1.1,1.0": frames.V11, "1.0,9.9": frames.V10,
		"1.0, 1.1": frames.V11, "1.1 , 1.2": frames.V12, "2.0,1.1": frames.V11, "\t1.1\t": frames.V11,
		",1.0,": frames.V10, "1.1,1.1": frames.V11,
	} {
		if got, ok := frames.Negotiate(accept); !ok || got != want {
			t.Errorf("%q: want %v, got %v, %v", accept, want, got, ok)
		}
	}
	for _, accept := range []string{"9.0", "100.1", "2.0,1.3", " ", ",", "1", "1.", "1.20", "01.2", "v1.2", "1.2;1.1", "1.0 1.1", "1,2"} {
		if got, ok := frames.Negotiate(accept); ok {
			t.Errorf("%q: want none, got %v", accept, got)
		}
	}
}

func TestCommandsAreWrittenAsOnTheWire(t *testing.T) {
	for c, want := range map[frames.Command]string{
		frames.Send: "SEND", frames.Failure: "ERROR", frames.Recover: "RECOVER", frames.Connected: "CONNECTED", 0: "", frames.Failure + 1: "",
	} {
		if got := c.String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
