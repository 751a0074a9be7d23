package broker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"footfall/store"
)

// BenchmarkNackStorm is the rate at which healthy messages of a queue are taken, alone, and beside a hundred poison messages that are refused
// again and again, with a limit of 5 and an exponential back-off, one such storm after the other. Each round sends and takes a thousand messages.
func BenchmarkNackStorm(b *testing.B) {
	for _, poison := range []int{0, 100} {
		b.Run(fmt.Sprintf("poison=%d", poison), func(b *testing.B) {
			s, err := store.Open(store.Options{Dir: b.TempDir(), Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			br := New(s, Options{Log: slog.New(slog.DiscardHandler), Policies: scriptPolicies(
				"/queue/> redelivery-limit=5 redelivery-delay=10ms redelivery-backoff=exponential redelivery-max-delay=200ms\n")})
			q := Address{Kind: Queue, Name: "q"}
			c := &worker{got: make(chan int, 1<<16)}
			if c.conn, err = br.Attach(c, Client{}); err != nil {
				b.Fatal(err)
			}
			c.submit(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: q, Mode: AckIndividual}})
			send := func(n int, body string) {
				ops := make([]Op, n)
				for i := range ops {
					ops[i] = Op{Kind: OpSend, To: q, Message: newMessage(body)}
				}
				c.submit(ops...)
			}
			done, rounds := 0, 0
			for b.Loop() {
				if rounds++; rounds%100 == 1 { // a storm lasts for about that long
					send(poison, "poison")
				}
				const healthy = 1000
				for range 10 {
					send(healthy/10, "healthy")
				}
				for n := 0; n < healthy; {
					n += <-c.got
				}
				done += healthy
			}
			b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "healthy/s")
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			if err := br.Close(ctx); err != nil {
				b.Fatal(err)
			}
			_ = s.Close()
		})
	}
}

// worker acknowledges what is healthy and refuses the rest.
type worker struct {
	conn *Conn
	got  chan int
	mu   sync.Mutex
}

func (w *worker) submit(ops ...Op) {
	if len(ops) > 0 {
		_ = w.conn.Submit(&Request{Ops: ops})
	}
}

// Put implements Outbox.
func (w *worker) Put(outputs []Output) {
	var ops []Op
	healthy, messages := 0, 0
	for _, o := range outputs {
		if o.Kind != OutputMessage {
			continue
		}
		messages++
		op := Op{Kind: OpAck, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}}
		if string(o.Message.Body) == "poison" {
			op.Kind = OpNack
		} else {
			healthy++
		}
		ops = append(ops, op)
	}
	go func() { // the loop must not wait for itself
		w.mu.Lock()
		defer w.mu.Unlock()
		w.conn.Written(messages)
		w.submit(ops...)
		w.got <- healthy
	}()
}
