//go:build linux

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

func TestTheExampleOfSelectorsWorks(t *testing.T) {
	list := blocks(t, "../docs/selectors.md", "## An example")
	if len(list) != 1 {
		t.Fatalf("there are %d examples", len(list))
	}
	p := start(t, launch{})
	host, port := hostPort(t, p)
	l := libraryOf(t, block{label: "Go, " + list[0].label, fence: list[0].fence})
	code := strings.Replace(l.around(t, list[0].code), "import (", "import (\n\t\"fmt\"", 1)
	if got := l.do(t, code, nil, host, port); got != "costs 100.10\n" {
		t.Errorf("the example printed %q", got)
	}
	out := ok(t, server(p), "", "receive", "/queue/orders", "--selector", "price < 100", "--count", "1")
	if out != "costs 99.90\n" {
		t.Errorf("afterwards there was %q", out)
	}
}

// TestOneMessageBehindAllThatNobodyWants looks for it in a deep backlog, and again after a kill, while another consumer goes on.
func TestOneMessageBehindAllThatNobodyWants(t *testing.T) {
	messages, most := 100_000, 20*time.Second
	if deep() {
		messages = 1_000_000
	}
	p := start(t, launch{})
	pour(t, p, "/queue/deep", messages, func(int) []string { return []string{"kind", "hay"} })
	w := session(t, p)
	defer w.close()
	w.must(t, frames.Send, "needle", "destination", "/queue/deep", "kind", "needle")
	p.requireMemory("filled", 300*mebibyte)

	find := func(p *process) {
		t.Helper()
		c := startCanary(t, p)
		before := c.turns.Load()
		w := session(t, p)
		defer w.close()
		began := time.Now()
		w.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/deep", "ack", "client-individual", "selector", "kind = 'needle'")
		f, err := w.next(most)
		if err != nil || f.Command != frames.Message || string(f.Body) != "needle" {
			t.Fatalf("after %v: %v, %v", time.Since(began), f, err)
		}
		took := time.Since(began)
		turns := c.turns.Load() - before
		t.Logf("found behind %d messages in %v, while another consumer had %d turns of at most %v", messages, took, turns, time.Duration(c.slowest.Load()))
		if took > 200*time.Millisecond && turns == 0 {
			t.Error("the other consumer had to wait")
		}
		c.end()
	}
	find(p)
	p.requireMemory("searched", 300*mebibyte)
	p.kill()
	p = p.again()
	find(p)

	// What comes later is found where it lies, and so is what has to be found once more.
	w2 := session(t, p)
	defer w2.close()
	w2.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/deep", "ack", "client-individual", "selector", "kind LIKE 'n%'")
	for i := range 3 {
		w2.must(t, frames.Send, fmt.Sprint("later ", i), "destination", "/queue/deep", "kind", "new")
	}
	p.requireMemory("searched again", 300*mebibyte)
	if n := p.metrics()["footfall_messages_ready"]; int(n) < messages {
		t.Errorf("%v messages are ready, of %d", n, messages)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}
