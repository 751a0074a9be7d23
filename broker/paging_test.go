package broker

import (
	"strconv"
	"testing"
	"testing/synctest"
)

// TestMoreArrivesThanAPageKeepsTrackOf: while a page is read, more comes than is remembered for it.
func TestMoreArrivesThanAPageKeepsTrackOf(t *testing.T) {
	for _, backlog := range []int{maxAdded / 2, 4 * maxAdded} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{BacklogMessages: backlog})
			defer w.stop()
			a, b := w.connect("a"), w.connect("b")
			sent := 0
			send := func(n int) {
				var ops []Op
				for range n {
					ops = append(ops, Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: newMessage(strconv.Itoa(sent))})
					sent++
				}
				a.do(ops...)
				synctest.Wait()
			}
			send(backlog + 100)
			w.slow.hold(false, true, false)
			b.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}, Mode: AckClient, Window: 1 << 20, WindowBytes: 1 << 40}})
			send(2 * maxAdded)
			send(10)
			w.slow.release()
			outs := b.take()
			if len(outs) != sent {
				t.Fatalf("%d of %d came", len(outs), sent)
			}
			for i, o := range outs {
				if got := string(o.Message.Body); got != strconv.Itoa(i) {
					t.Fatalf("message %d is %s", i, got)
				}
			}
			b.do(Op{Kind: OpAck, Ack: AckOp{SubNumber: 1, Number: uint64(sent)}})
			synctest.Wait()
			if err := w.check(); err != nil {
				t.Error(err)
			}
			if rep, err := w.store.Check(); err != nil || !rep.OK() || rep.Messages != 0 {
				t.Errorf("the store: %v %v", rep, err)
			}
		})
	}
}
