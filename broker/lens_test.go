package broker

import (
	"context"
	"testing"
	"testing/synctest"
)

// A lens that has as many octets as it may have does not look for more again and again while these wait for the disk.
func TestAFullLensWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{BacklogBytes: 600, BacklogMessages: 2048})
		defer func() { w.stop() }()
		s := w.connect("s")
		for range 6 {
			m := newMessage("m")
			m.Body = make([]byte, 100)
			s.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: m})
		}
		s.take()
		w.restart() // so that all of it lies behind the window
		c := w.connect("c")
		w.slow.hold(false, false, true)
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}, Selector: "k IS NULL", Mode: AckIndividual}})
		synctest.Wait()
		st, _ := w.b.Stats(context.Background())
		if st.Searches > 3 {
			t.Errorf("%d searches", st.Searches)
		}
		w.slow.release()
		if outs := c.take(); len(outs) != 6 {
			t.Errorf("%d messages came", len(outs))
		}
	})
}
