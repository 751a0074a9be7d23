package broker

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMessageIDText(t *testing.T) {
	for _, c := range []struct {
		id   MessageID
		text string
	}{
		{MessageID{}, "0.0"},
		{MessageID{Shard: 1, Seq: 35}, "1.z"},
		{MessageID{Shard: 63, Seq: 36}, "1r.10"},
		{MessageID{Shard: 255, Seq: math.MaxUint64}, "73.3w5e11264sgsf"},
	} {
		if got := c.id.String(); got != c.text {
			t.Errorf("%+v is shown as %q, not %q", c.id, got, c.text)
		}
		if got, ok := ParseMessageID(c.text); !ok || got != c.id {
			t.Errorf("%q is read as %+v, %v", c.text, got, ok)
		}
	}
}

func TestMessageIDThatIsNone(t *testing.T) {
	for _, text := range []string{
		"", ".", "0", "0.", ".0", "0.0.0", "00.0", "0.00", "0.01", "+1.0", "0.+1", "-0.0", "A.0", "0.Z", "74.0", "0.3w5e11264sgsg", "0._", "0. ", " 0.0", "0x1.0", "ID:0.0", "1_0.0",
	} {
		if id, ok := ParseMessageID(text); ok {
			t.Errorf("%q is read as %+v", text, id)
		}
	}
}

func TestMessageIDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := MessageID{Shard: rapid.Uint8().Draw(t, "shard"), Seq: rapid.Uint64().Draw(t, "seq")}
		if got, ok := ParseMessageID(id.String()); !ok || got != id {
			t.Fatalf("%+v became %q and %+v", id, id.String(), got)
		}
		if text := string(id.AppendTo([]byte("x"))); text != "x"+id.String() {
			t.Fatalf("AppendTo gave %q", text)
		}
	})
}

// FuzzParseMessageID: only the text that String writes is an id, and it holds nothing that a dialect has to escape.
func FuzzParseMessageID(f *testing.F) {
	for _, text := range []string{"0.0", "1r.10", "73.3w5e11264sgsf", "00.1", "a.B", "1.-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := ParseMessageID(text)
		if !ok {
			return
		}
		if id.String() != text {
			t.Fatalf("%q is taken for %q", text, id.String())
		}
		for _, b := range []byte(text) {
			if b != '.' && (b < '0' || b > '9') && (b < 'a' || b > 'z') {
				t.Fatalf("%q holds %q", text, b)
			}
		}
	})
}
