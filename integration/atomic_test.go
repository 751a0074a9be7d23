//go:build linux

package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

// killedAmidst sends what was gathered on w, kills the broker at some moment of it, and returns the broker
// that was started next, and whether the RECEIPT came before.
func killedAmidst(t *testing.T, p *process, w *wire, most time.Duration) (next *process, receipted bool) {
	t.Helper()
	answered := make(chan bool, 1)
	go func() {
		if w.flush() != nil {
			answered <- false
			return
		}
		a, err := w.receive(patience)
		answered <- err == nil && a.command == frames.Receipt
	}()
	<-time.After(rand.N(most))
	p.kill()
	receipted = <-answered
	requireSoundStore(t, p.launch.dir)
	return p.again(), receipted
}

func TestKillDuringALargeCommitLeavesAllOrNothing(t *testing.T) {
	const messages, queues = 2000, 3
	p := start(t, launch{})
	body := strings.Repeat("b", 10_000)
	all, nothing := 0, 0
	for round := range rounds(t) {
		w := session(t, p)
		w.add(frames.Begin, "", "transaction", "large")
		for i := range messages {
			w.add(frames.Send, fmt.Sprint(round, " ", i, " ", body), "destination", fmt.Sprintf("/queue/part%d", i%queues), "transaction", "large")
		}
		w.add(frames.Commit, "", "transaction", "large", "receipt", "committed")
		var receipted bool
		p, receipted = killedAmidst(t, p, w, 400*time.Millisecond)

		m := p.metrics()
		switch n := int(m["footfall_messages_ready"]); {
		case n == messages:
			all++
		case n == 0 && !receipted:
			nothing++
		default:
			t.Fatalf("round %d: of a transaction of %d messages there are %d; RECEIPT: %v", round, messages, n, receipted)
		}
		if m["footfall_messages_ready"] > 0 {
			for queue := range queues {
				requireEvery(t, p, fmt.Sprintf("/queue/part%d", queue), func(i int) string { return fmt.Sprint(round, " ", queue+i*queues, " ", body) }, (messages+queues-1-queue)/queues)
			}
		}
	}
	t.Logf("%d times all of the messages were there, %d times none", all, nothing)
}

// requireEvery takes all messages of a queue, which must have these bodies.
func requireEvery(t *testing.T, p *process, queue string, body func(i int) string, messages int) {
	t.Helper()
	w := session(t, p)
	defer w.close()
	w.must(t, frames.Begin, "", "transaction", "mark")
	if err := w.send(frames.Subscribe, "", "id", "s", "destination", queue, "ack", "client"); err != nil {
		t.Fatal(err)
	}
	var last answer
	for i := range messages {
		if last = w.expect(t, frames.Message); last.body != body(i) {
			t.Fatalf("%s: message %d of %d is %.40q, not %.40q", queue, i, messages, last.body, body(i))
		}
		// The window is of octets too.
		if err := w.send(frames.Ack, "", "id", last.get("ack")); err != nil {
			t.Fatal(err)
		}
	}
	w.must(t, frames.Abort, "", "transaction", "mark")
}

func TestKillDuringALargeMessageLeavesItWholeOrNotAtAll(t *testing.T) {
	p := start(t, launch{})
	body := strings.Repeat("0123456789abcdef", 24<<20/16)
	whole, none := 0, 0
	for round := range rounds(t) {
		w := session(t, p)
		queue := fmt.Sprintf("/queue/large%d", round)
		w.add(frames.Send, body, "destination", queue, "receipt", "stored")
		var receipted bool
		p, receipted = killedAmidst(t, p, w, time.Second)
		switch n := int(p.metrics()["footfall_messages_ready"]); {
		case n == 1:
			whole++
			requireEvery(t, p, queue, func(int) string { return body }, 1)
		case n == 0 && !receipted:
			none++
		default:
			t.Fatalf("round %d: there are %d messages; RECEIPT: %v", round, n, receipted)
		}
	}
	t.Logf("%d times the message was there, %d times not", whole, none)
}

func TestDeepManyDestinationsAreCheap(t *testing.T) {
	destinations, memory, ready := 10_000, int64(300*mebibyte), 5*time.Second
	if deep() {
		destinations, memory = 200_000, 800*mebibyte
	}
	p := start(t, launch{})
	canary := startCanary(t, p)
	w := session(t, p)
	for i := range destinations {
		w.add(frames.Send, fmt.Sprint(i), "destination", fmt.Sprintf("/queue/many.%d", i))
		if i%1000 == 999 {
			w.must(t, frames.Send, "", "destination", "/topic/nobody")
		}
	}
	w.close()
	for _, path := range []string{"/metrics", "/api/v1/overview", "/api/v1/destinations"} {
		status, body, err := p.get(path)
		if err != nil || status != 200 || len(body) > mebibyte {
			t.Errorf("%s: %d %v, %d octets", path, status, err, len(body))
		}
	}
	canary.requireWell(t, bounded)
	p.requireMemory("filled", memory)
	p.kill()
	p = requireReadySoon(t, p, ready)
	if n := int(p.metrics()["footfall_messages_ready"]); n != destinations {
		t.Errorf("%d messages are ready, not %d", n, destinations)
	}
	for _, i := range []int{0, destinations / 2, destinations - 1} {
		requireEvery(t, p, fmt.Sprintf("/queue/many.%d", i), func(int) string { return fmt.Sprint(i) }, 1)
	}
	p.requireMemory("started again", memory)
}
