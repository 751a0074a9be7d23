package broker

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"footfall/frames"
	"footfall/store/storetest"
)

// TestAMessageThatIsSentAgainAfterACrashIsTakenOnce has a producer send, cuts the power, and has it send all again as it would: what got
// no RECEIPT surely, and the rest for good measure. Each message must then be there once, and those with a RECEIPT be duplicates.
func TestAMessageThatIsSentAgainAfterACrashIsTakenOnce(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			w := newDiskWorld(t, Options{}, storetest.NewDisk(t))
			defer func() { w.stop() }()
			const n = 60
			send := func(c *client, i int) {
				m := newMessage(fmt.Sprint(i))
				m.DedupID = fmt.Sprint("id", i)
				m.Persistent = true
				op := Op{Kind: OpSend, To: Address{Kind: Queue, Name: fmt.Sprint("q", i%3)}, Message: m, WantReceipt: true, Receipt: fmt.Sprint(i)}
				if i%5 == 0 {
					op = Op{Kind: OpCommit, Tx: 1, Sends: []Op{op}, WantReceipt: true, Receipt: op.Receipt}
				}
				c.do(op)
			}
			var crashed *storetest.Disk
			known := map[string]bool{}
			at, percent := 1+rng.IntN(8), rng.IntN(101)
			c := w.connectAs("a", Client{})
			var mu sync.Mutex
			w.disk.OnSync(func() {
				mu.Lock()
				defer mu.Unlock()
				if at--; at == 0 {
					c.mu.Lock()
					for _, o := range c.outputs {
						known[o.Receipt] = true
					}
					c.mu.Unlock()
					crashed = w.disk.Crash(percent, seed)
				}
			})
			for i := range n {
				send(c, i)
				if rng.IntN(4) == 0 {
					synctest.Wait()
				}
			}
			synctest.Wait()
			w.stop()
			mu.Lock()
			after := crashed
			mu.Unlock()
			if after == nil {
				t.Fatal("the power was not cut")
			}
			w.use(after)
			w.start()

			c = w.connectAs("b", Client{})
			for range 2 {
				for i := range n {
					send(c, i)
				}
			}
			synctest.Wait()
			answers := 0
			for _, o := range c.take() {
				if answers++; o.Kind != OutputReceipt {
					t.Fatalf("seed %d: %s", seed, show(o))
				}
				var i int
				_, _ = fmt.Sscan(o.Receipt, &i)
				if i%5 != 0 && !o.Duplicate && (known[o.Receipt] || answers > n) {
					t.Errorf("seed %d: %d had its receipt, and was taken again", seed, i)
				}
			}
			if answers != 2*n {
				t.Fatalf("seed %d: %d answers", seed, answers)
			}
			got := map[string]int{}
			for q := range 3 {
				c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: fmt.Sprint(q), From: Address{Kind: Queue, Name: fmt.Sprint("q", q)}}})
			}
			time.Sleep(time.Second)
			for _, o := range c.take() {
				got[string(o.Message.Body)]++
			}
			for i := range n {
				if got[fmt.Sprint(i)] != 1 {
					t.Errorf("seed %d: message %d is there %d times", seed, i, got[fmt.Sprint(i)])
				}
			}
			if rep, err := w.store.Check(); err != nil || !rep.OK() || rep.Duplicates != n {
				t.Errorf("seed %d: %v %v, %d ids", seed, rep, err, rep.Duplicates)
			}
		})
	}
}

func TestADeadLetterHasNoIDOfDuplicates(t *testing.T) {
	var h frames.Header
	for _, name := range []string{"a", "dedup-id", "b", "_AMQ_DUPL_ID"} {
		h.Raw = frames.AppendHeader(h.Raw, h.Dialect, name, "1")
	}
	if got := string(appendUndead(nil, h, false)); got != "a:1\nb:1\n" {
		t.Errorf("it has %q", got)
	}
}
