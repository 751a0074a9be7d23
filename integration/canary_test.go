//go:build linux

package integration

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"footfall/frames"
)

// canary is a client that sends a message, receives it and acknowledges it, over and
// over, and notes how long the slowest turn took.
type canary struct {
	turns   atomic.Int64
	slowest atomic.Int64 // nanoseconds
	failed  atomic.Pointer[string]
	stop    chan struct{}
	done    sync.WaitGroup
}

// startCanary starts a canary, which lives to the end of the test.
func startCanary(t *testing.T, p *process) *canary {
	t.Helper()
	c := &canary{stop: make(chan struct{})}
	w := session(t, p)
	w.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/canary", "ack", "client-individual")
	c.done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-c.stop:
				return
			default:
			}
			began := time.Now()
			if err := turn(w, fmt.Sprint(i)); err != nil {
				text := fmt.Sprintf("turn %d, %v after it began: %v", i, time.Since(began), err)
				c.failed.Store(&text)
				return
			}
			c.turns.Add(1)
			c.slowest.Store(max(c.slowest.Load(), int64(time.Since(began))))
		}
	})
	t.Cleanup(c.end)
	return c
}

// turn sends a message, and does not return before it came and its ACK has a RECEIPT.
func turn(w *wire, body string) error {
	w.add(frames.Send, body, "destination", "/queue/canary", "receipt", "sent")
	if err := w.flush(); err != nil {
		return err
	}
	for sent, acked := false, false; !sent || !acked; {
		a, err := w.receive(patience)
		if err != nil {
			return err
		}
		switch {
		case a.command == frames.Message && a.body == body:
			if err := w.send(frames.Ack, "", "id", a.get("ack"), "receipt", "acked"); err != nil {
				return err
			}
		case a.command == frames.Receipt && a.get("receipt-id") == "sent":
			sent = true
		case a.command == frames.Receipt && a.get("receipt-id") == "acked":
			acked = true
		default:
			return fmt.Errorf("there came %v", a)
		}
	}
	return nil
}

func (c *canary) end() {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.done.Wait()
}

// requireWell ends the canary and demands that no turn failed, or took longer than that.
func (c *canary) requireWell(t *testing.T, most time.Duration) {
	t.Helper()
	c.end()
	if text := c.failed.Load(); text != nil {
		t.Errorf("another client suffered: %s", *text)
		return
	}
	slowest := time.Duration(c.slowest.Load())
	t.Logf("another client had %d turns meanwhile, the slowest took %v", c.turns.Load(), slowest)
	if slowest > most {
		t.Errorf("a turn of another client took %v, longer than %v", slowest, most)
	}
}
