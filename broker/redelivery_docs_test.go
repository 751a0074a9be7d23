package broker

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestTheDocsShowTheDelaysThatThereAre looks at the table of back-offs of docs/redelivery.md.
func TestTheDocsShowTheDelaysThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../docs/redelivery.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]BackOff{"none": BackOffNone, "linear": BackOffLinear, "exponential": BackOffExponential} {
		_, row, found := strings.Cut(string(text), "\n| `"+name+"` | ")
		if !found {
			t.Fatalf("there is no row of %s", name)
		}
		row, _, _ = strings.Cut(row, " |\n")
		_, delays, _ := strings.Cut(row, " | ")
		r := Redelivery{Delay: new(time.Second), BackOff: kind, Multiplier: 2}
		n := 0
		for want := range strings.SplitSeq(delays, ", ") {
			n++
			if got := time.Duration(r.delay(n, 0)) * time.Millisecond; got.String() != want {
				t.Errorf("%s after failure %d: the docs say %s, it is %v", name, n, want, got)
			}
		}
		if n != 6 {
			t.Errorf("%s has %d delays", name, n)
		}
	}
}

// TestTheDocsNameTheHeadersOfDeadLetters looks at their table.
func TestTheDocsNameTheHeadersOfDeadLetters(t *testing.T) {
	text, err := os.ReadFile("../docs/redelivery.md")
	if err != nil {
		t.Fatal(err)
	}
	m := newMessage("m")
	m.Expires = 1
	d := &destination{addr: Address{Kind: Queue, Name: "q"}, text: "/queue/q"}
	h := m.deadHeader(d, death{DeathLimit, "detail"}, 2)
	for name, _, pos := h.Next(0); pos >= 0; name, _, pos = h.Next(pos) {
		if !strings.Contains(string(text), "`"+string(name)+"`") {
			t.Errorf("docs/redelivery.md does not name %s", name)
		}
	}
	for r := range deathReasons {
		if !strings.Contains(string(text), "`"+r.String()+"`") || !strings.Contains(string(text), "`"+r.rabbit()+"`") {
			t.Errorf("docs/redelivery.md does not name the reason %v", r)
		}
	}
}
