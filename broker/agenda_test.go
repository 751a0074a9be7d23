package broker

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// appointment is what the test knows of a message with a time.
type appointment struct {
	body string
	due  int64
	m    *Message
}

// TestAgendaIsASortedList schedules several times what an agenda keeps in memory, also while it reads pages and
// over restarts, and holds the order of delivery against a sorted list.
func TestAgendaIsASortedList(t *testing.T) {
	for seed := range uint64(2 * rounds()) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			w := newWorld(t, Options{})
			defer func() { w.stop() }()
			var sent []appointment
			send := func(c *client, n int, within time.Duration) {
				var ops []Op
				for range n {
					body := strconv.Itoa(len(sent))
					m := newMessage(body)
					m.DeliverAt = time.Now().UnixMilli() + 1 + rng.Int64N(within.Milliseconds())
					sent = append(sent, appointment{body, m.DeliverAt, m})
					ops = append(ops, Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: m})
				}
				c.do(ops...)
				synctest.Wait()
			}
			c := w.connect("c")
			send(c, 3*timelineItems, 10*time.Second)
			for i := range 20 {
				if i == 10 {
					w.restart()
					c = w.connect("c")
				}
				pageHeld := rng.IntN(3) == 0
				w.slow.hold(pageHeld && rng.IntN(2) == 0, pageHeld, false)
				time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
				send(c, rng.IntN(200), 8*time.Second)
				if pageHeld {
					time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
					send(c, rng.IntN(1500), time.Second)
				}
				w.slow.release()
				synctest.Wait()
				if err := w.check(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			time.Sleep(10 * time.Second)
			slices.SortStableFunc(sent, func(a, b appointment) int { return cmp.Compare(a.due, b.due) })
			c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}}})
			inDueOrder(t, c.take(), sent)
		})
	}
}

func inDueOrder(t *testing.T, got []Output, want []appointment) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages came, not %d", len(got), len(want))
	}
	for i, o := range got {
		if body := string(o.Message.Body); body != want[i].body {
			t.Fatalf("message %d in turn is %s, due at %d, not %s, due at %d", i, body, o.Message.DeliverAt, want[i].body, want[i].due)
		}
	}
}

// TestAgendaFiresInTime has a consumer look at the clock, with thousands of messages due over some seconds.
func TestAgendaFiresInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}}})
		var ops []Op
		for i := range 6000 {
			m := newMessage(strconv.Itoa(i))
			m.Delay = 1 + int64(i*7919%3000)
			ops = append(ops, Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: m})
		}
		c.do(ops...)
		came := 0
		for range 3000 {
			time.Sleep(time.Millisecond)
			for _, o := range c.take() {
				if now := time.Now().UnixMilli(); o.Message.DeliverAt != now {
					t.Fatalf("what is due at %d came at %d", o.Message.DeliverAt, now)
				}
				came++
			}
		}
		if came != 6000 {
			t.Fatalf("%d of 6000 came", came)
		}
	})
}

func TestDelayBeyondAllTimesWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}}})
		m := newMessage("never")
		m.Delay = math.MaxInt64 - 1
		c.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: m})
		time.Sleep(time.Hour)
		if outs := c.take(); len(outs) > 0 {
			t.Fatalf("it came: %s", show(outs[0]))
		}
	})
}
