package broker

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"footfall/store"
)

// leaver is a broker with a queue of which much was delivered to one consumer.
type leaver struct {
	t    *testing.T
	w    *world
	c    *client
	outs []Output
}

var leftQueue = Address{Kind: Queue, Name: "q"}

func newLeaver(t *testing.T, messages int) *leaver {
	l := &leaver{t: t, w: newWorld(t, Options{})}
	l.c = l.w.connect("c")
	ops := []Op{{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: leftQueue, Mode: AckIndividual, Window: messages}}}
	for i := range messages {
		ops = append(ops, Op{Kind: OpSend, To: leftQueue, Message: newMessage(strconv.Itoa(i))})
	}
	l.c.do(ops...)
	l.outs = l.c.take()
	if len(l.outs) != messages {
		t.Fatalf("%d messages came", len(l.outs))
	}
	return l
}

// settle acknowledges or refuses deliveries in one request.
func (l *leaver) settle(kind OpKind, nack *NackOp, from, to int) {
	var ops []Op
	for _, o := range l.outs[from:to] {
		ops = append(ops, Op{Kind: kind, Nack: nack, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}})
	}
	l.c.do(ops...)
}

// has demands that the store is in order, and has so many messages and so many places that are to be cleared away.
func (l *leaver) has(what string, messages, left int) store.Report {
	l.t.Helper()
	if err := l.w.check(); err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
	rep, err := l.w.store.Check()
	if err != nil || !rep.OK() || rep.Messages != uint64(messages) || rep.Left != uint64(left) {
		l.t.Fatalf("%s: %d messages and %d left, want %d and %d; %v\n%v", what, rep.Messages, rep.Left, messages, left, err, rep)
	}
	return rep
}

func TestWhatLeavesFromTheFrontNeedsNoRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaver(t, 3*maxLeft)
		defer func() { l.w.stop() }()
		l.settle(OpAck, nil, 0, 10)
		l.has("few", 3*maxLeft-10, 0)
		ops := l.w.store.Stats().Ops
		l.settle(OpAck, nil, 10, 110)
		l.has("many", 3*maxLeft-110, 100)
		if n := l.w.store.Stats().Ops - ops; n > 5 {
			t.Errorf("100 acknowledgements were %d records", n)
		}
		l.settle(OpAck, nil, 200, 300)
		l.has("from the middle", 3*maxLeft-210, 100)
		time.Sleep(clearAfter)
		l.has("after a while", 3*maxLeft-210, 0)
		l.settle(OpAck, nil, 110, 200)
		l.has("what was the middle, with what is before it", 3*maxLeft-300, 90)
		for at := 300; at < 3*maxLeft; at += 500 {
			l.settle(OpAck, nil, at, min(at+500, 3*maxLeft))
			if rep, _ := l.w.store.Check(); rep.Left >= maxLeft {
				t.Fatalf("%d places are left", rep.Left)
			}
		}
		l.w.restart()
		l.c = l.w.connect("c")
		l.c.do(Op{Kind: OpSend, To: leftQueue, Message: newMessage("x")})
		synctest.Wait()
		time.Sleep(clearAfter)
		l.has("what an earlier run left goes at the first use", 1, 0)
	})
}

// TestAMessageReturnsBehindAHeadMark: while it was away the head mark went past its place, where others were left.
func TestAMessageReturnsBehindAHeadMark(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaver(t, 100)
			defer func() { l.w.stop() }()
			l.settle(OpNack, &NackOp{HasDelay: true, Delay: 500}, 50, 51)
			l.settle(OpAck, nil, 0, 50)
			l.settle(OpAck, nil, 51, 90)
			l.has("one is away", 10, 90)
			if restart {
				l.w.restart()
				l.c = l.w.connect("c")
			}
			time.Sleep(600 * time.Millisecond)
			l.has("it has come back", 11, 0)
			if restart {
				l.c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: leftQueue, Mode: AckIndividual}})
			}
			outs := l.c.take()
			if want := map[bool]int{false: 1, true: 11}[restart]; len(outs) != want || string(outs[0].Message.Body) != "50" {
				t.Fatalf("%d messages came", len(outs))
			}
		})
	}
}

// TestAMessageReturnsInTheBatchThatItLeftIn: it is in its place afterwards, whatever else that batch drops.
func TestAMessageReturnsInTheBatchThatItLeftIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaver(t, 100)
		defer func() { l.w.stop() }()
		l.settle(OpNack, &NackOp{HasDelay: true, Delay: 1}, 50, 51)
		l.settle(OpAck, nil, 0, 50)
		l.settle(OpAck, nil, 51, 90)
		time.Sleep(clearAfter)
		l.has("it has come back", 11, 0)
	})
}
