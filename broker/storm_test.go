package broker

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// stormOutbox takes what is due, looks at its order, and has a message sent now and then by a live session.
type stormOutbox struct {
	t       *testing.T
	b       *Broker
	conn    *Conn
	live    *Conn
	due     []int64
	since   uint64
	worst   uint64
	answers int
}

// Put is called by the loop, so that the state may be looked at.
func (o *stormOutbox) Put(outputs []Output) {
	n := 0
	for i := range outputs {
		if outputs[i].Kind != OutputMessage {
			continue
		}
		n++
		o.due = append(o.due, outputs[i].Message.DeliverAt)
		if len(o.due)%20_000 != 10_000 {
			continue
		}
		o.since = o.b.core.stats.Fired
		op := Op{Kind: OpSend, To: Address{Kind: Queue, Name: "live"}, Message: newMessage("live"), WantReceipt: true, Receipt: fmt.Sprint(len(o.due))}
		if err := o.live.Submit(&Request{Ops: []Op{op}}); err != nil {
			o.t.Error(err)
		}
	}
	o.conn.Written(n)
}

// liveOutbox is that of the live session.
type liveOutbox struct{ o *stormOutbox }

func (l liveOutbox) Put([]Output) {
	l.o.answers++
	l.o.worst = max(l.o.worst, l.o.b.core.stats.Fired-l.o.since)
}

// TestManyDueAtOnce: 200 000 messages due within a second come in the order of their times, from a store that holds most of them, and a
// live SEND is answered between them, not behind them.
func TestManyDueAtOnce(t *testing.T) {
	const messages, spread = 200_000, 1000
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer func() { w.stop() }()
		start := time.Now().Add(time.Minute).UnixMilli()
		sender := w.connect("sender")
		for i := 0; i < messages; {
			var ops []Op
			for range 1000 {
				m := newMessage("m")
				m.DeliverAt = start + int64(i*7919%spread)
				ops = append(ops, Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: m})
				i++
			}
			sender.do(ops...)
		}
		// They all come due while nobody looks, so that as fast as the broker can is the only measure.
		w.stop()
		time.Sleep(2 * time.Minute)
		w.again()
		o := &stormOutbox{t: t, b: w.b}
		var err error
		if o.conn, err = w.b.Attach(o, Client{}); err != nil {
			t.Fatal(err)
		}
		if o.live, err = w.b.Attach(liveOutbox{o}, Client{}); err != nil {
			t.Fatal(err)
		}
		if err := o.conn.Submit(&Request{Ops: []Op{{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}}}}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s, _ := w.b.Stats(context.Background()); s.Scheduled != 0 || s.Fired != messages {
			t.Errorf("%d messages fired, %d still wait", s.Fired, s.Scheduled)
		}
		if len(o.due) != messages {
			t.Fatalf("%d of %d messages came", len(o.due), messages)
		}
		for i := 1; i < len(o.due); i++ {
			if o.due[i] < o.due[i-1] {
				t.Fatalf("message %d, due at %d, came after one due at %d", i, o.due[i], o.due[i-1])
			}
		}
		if o.answers != messages/20_000 || o.worst > 20*fireBatch {
			t.Errorf("of %d live SENDs %d were answered, the slowest after %d others", messages/20_000, o.answers, o.worst)
		}
		t.Logf("the slowest of %d live SENDs was answered after %d due messages", o.answers, o.worst)
	})
}
