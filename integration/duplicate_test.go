//go:build linux

package integration

import (
	"fmt"
	"testing"
	"time"

	"footfall/frames"
)

// TestAKillForgetsNoDuplicate kills the broker while messages with ids of their senders come in, and sends all of them again, as a program
// does that got no RECEIPT: each is there once, and those that had their RECEIPT are known.
func TestAKillForgetsNoDuplicate(t *testing.T) {
	const messages = 3000
	p := start(t, launch{})
	seen := 0
	for round := range rounds(t) {
		queue := fmt.Sprintf("/queue/once%d", round)
		w := session(t, p)
		for i := range messages {
			w.add(frames.Send, fmt.Sprint(i), "destination", queue, "dedup-id", fmt.Sprint(i), "receipt", fmt.Sprint(i))
		}
		receipted := make(chan int, 1)
		go func() {
			n := 0
			defer func() { receipted <- n }()
			if w.flush() != nil {
				return
			}
			for ; n < messages; n++ {
				if a, err := w.receive(patience); err != nil || a.command != frames.Receipt || a.get("receipt-id") != fmt.Sprint(n) {
					return
				}
			}
		}()
		<-time.After(time.Duration(1+round%20) * 5 * time.Millisecond)
		p.kill()
		known := <-receipted
		seen += known
		requireSoundStore(t, p.launch.dir)
		p = p.again()
		again := session(t, p)
		for i := range messages {
			again.add(frames.Send, fmt.Sprint(i), "destination", queue, "dedup-id", fmt.Sprint(i), "receipt", fmt.Sprint(i))
		}
		if err := again.flush(); err != nil {
			t.Fatal(err)
		}
		for i := range messages {
			if a := again.expect(t, frames.Receipt); i < known && a.get("duplicate") != "true" {
				t.Fatalf("round %d: message %d of %d that had their RECEIPT was taken again", round, i, known)
			}
		}
		again.close()
		requireEvery(t, p, queue, func(i int) string { return fmt.Sprint(i) }, messages)
		if n := p.metrics()["footfall_messages_ready"] + p.metrics()["footfall_messages_unacked"]; n != 0 {
			t.Fatalf("round %d: %v messages are there beside each once", round, n)
		}
	}
	t.Logf("%d messages had their RECEIPT before a kill", seen)
}
