package server

import (
	"slices"
	"sync"
	"time"

	"footfall/broker"
)

// fakeBroker is a broker that does everything at once, in the goroutine that asks. It knows queues and topics without windows,
// settles without looking at the ack mode, and delivers what repeats once. It is for tests of what a server does, not of
// what a broker does.
type fakeBroker struct {
	ids     []string // of messages
	mu      sync.Mutex
	closed  bool
	conns   uint64
	seq     uint64
	waiting map[broker.Address][]*broker.Message
	// scheduled are the SENDs whose times have not come.
	scheduled []*broker.Op
	subs      []*fakeSub
	links     []*fakeLink
	// onSubmit sees each request first, without the lock.
	onSubmit func(*broker.Request)
}

// fakeLink is a session's side of it.
type fakeLink struct {
	b        *fakeBroker
	id       uint64
	out      broker.Outbox
	client   broker.Client
	lastSub  uint64
	requests int
	written  int
	detached int
	ended    bool
	pending  []fakeDelivery
}

type fakeSub struct {
	link   *fakeLink
	op     *broker.SubscribeOp
	number uint64
	last   uint64
}

type fakeDelivery struct {
	sub    *fakeSub
	number uint64
	m      *broker.Message
}

func newFakeBroker() *fakeBroker {
	return &fakeBroker{waiting: map[broker.Address][]*broker.Message{}}
}

func (b *fakeBroker) Attach(out broker.Outbox, c broker.Client) (*fakeLink, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, broker.ErrClosed
	}
	b.conns++
	l := &fakeLink{b: b, id: b.conns, out: out, client: c}
	b.links = append(b.links, l)
	return l, nil
}

func (l *fakeLink) ID() uint64 { return l.id }

func (l *fakeLink) Written(messages int) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.written += messages
}

func (l *fakeLink) Detach() {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.detached++
	l.b.subs = slices.DeleteFunc(l.b.subs, func(s *fakeSub) bool { return s.link == l })
}

func (l *fakeLink) Submit(req *broker.Request) error {
	if l.b.onSubmit != nil {
		l.b.onSubmit(req)
	}
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.b.closed {
		return broker.ErrClosed
	}
	if l.detached > 0 {
		panic("Submit after Detach")
	}
	l.requests++
	for i := range req.Ops {
		if op := &req.Ops[i]; !l.ended {
			l.do(op)
		}
	}
	return nil
}

func (l *fakeLink) do(op *broker.Op) {
	var err *broker.Error
	switch op.Kind {
	case broker.OpSend:
		if id := op.Message.DedupID; id != "" && l.b.isKnown(id) {
			l.out.Put([]broker.Output{{Kind: broker.OutputReceipt, Receipt: op.Receipt, Duplicate: true}})
			return
		}
		l.b.stamp(op.Message)
	case broker.OpSubscribe:
		l.lastSub++
		l.b.subs = append(l.b.subs, &fakeSub{link: l, op: op.Subscribe, number: l.lastSub})
	case broker.OpUnsubscribe:
		l.b.subs = slices.DeleteFunc(l.b.subs, func(s *fakeSub) bool { return s.link == l && s.op.ID == op.Sub })
	case broker.OpAck, broker.OpNack:
		err = l.settle(op)
	case broker.OpFail:
		err = op.Err
	}
	if err != nil {
		l.ended = true
		l.out.Put([]broker.Output{{Kind: broker.OutputError, Err: err, WantReceipt: op.WantReceipt, Receipt: op.Receipt}})
		return
	}
	if op.WantReceipt {
		o := broker.Output{Kind: broker.OutputReceipt, Receipt: op.Receipt}
		if op.Kind == broker.OpSend {
			o.ScheduledID, o.DeliverAt = op.Message.ScheduledID, op.Message.DeliverAt
		}
		l.out.Put([]broker.Output{o})
	}
	switch op.Kind {
	case broker.OpSend:
		l.b.route(op)
	case broker.OpCommit:
		for i := range op.Sends {
			l.b.stamp(op.Sends[i].Message)
			l.b.route(&op.Sends[i])
		}
	case broker.OpSubscribe:
		to := op.Subscribe.From
		for _, m := range l.b.waiting[to] {
			l.b.subs[len(l.b.subs)-1].deliver(m, false)
		}
		delete(l.b.waiting, to)
	case broker.OpCancel, broker.OpCancelAll, broker.OpBrowseSchedule:
		l.b.manage(op)
	case broker.OpRecover:
		for _, d := range slices.Clone(l.pending) {
			d.sub.deliver(d.m, true)
		}
	case broker.OpDisconnect:
		l.ended = true
		l.out.Put([]broker.Output{{Kind: broker.OutputClose}})
	}
}

func (b *fakeBroker) stamp(m *broker.Message) {
	b.seq++
	m.ID = broker.MessageID{Shard: 7, Seq: 1000 + b.seq}
	m.Timestamp = time.Now().UnixMilli()
	switch {
	case m.Delay > 0:
		m.DeliverAt = m.Timestamp + m.Delay
	case m.Plan != nil:
		m.DeliverAt, _ = m.Plan.Due(time.UnixMilli(m.Timestamp))
	}
	switch {
	case m.DeliverAt <= m.Timestamp:
		m.DeliverAt = 0
	case m.ScheduledID == "":
		m.ScheduledID = "job-" + m.ID.String()
	}
}

// route gives a message to all of a topic, or to the first of a queue, when its time has come.
func (b *fakeBroker) route(op *broker.Op) {
	if op.Message.DeliverAt > op.Message.Timestamp {
		b.schedule(op)
		return
	}
	b.give(op.To, op.Message)
}

func (b *fakeBroker) give(to broker.Address, m *broker.Message) {
	for _, s := range b.subs {
		if s.op.From == to {
			s.deliver(m, false)
			if to.Kind == broker.Queue {
				return
			}
		}
	}
	if to.Kind == broker.Queue {
		b.waiting[to] = append(b.waiting[to], m)
	}
}

func (b *fakeBroker) schedule(op *broker.Op) {
	kept := *op
	b.scheduled = append(b.scheduled, &kept)
	time.AfterFunc(time.Until(time.UnixMilli(op.Message.DeliverAt)), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if i := slices.Index(b.scheduled, &kept); i >= 0 {
			b.scheduled = slices.Delete(b.scheduled, i, i+1)
			b.give(kept.To, kept.Message)
		}
	})
}

// manage does a command to the schedule.
func (b *fakeBroker) manage(op *broker.Op) {
	named := func(s *broker.Op) bool {
		at := s.Message.DeliverAt
		if op.Kind == broker.OpCancel {
			return s.Message.ScheduledID == op.Schedule.ID
		}
		return op.Schedule.From <= at && at <= op.Schedule.Until
	}
	if op.Kind != broker.OpBrowseSchedule {
		b.scheduled = slices.DeleteFunc(b.scheduled, named)
		return
	}
	for _, s := range b.scheduled {
		if named(s) {
			b.seq++
			answer := *s.Message
			answer.ID.Seq = 1000 + b.seq
			answer.Header.Raw = append([]byte("original-destination:"+s.Message.Destination+"\n"), answer.Header.Raw...)
			b.give(op.Schedule.ReplyTo, &answer)
		}
	}
}

func (s *fakeSub) deliver(m *broker.Message, again bool) {
	s.last++
	o := broker.Output{
		Kind: broker.OutputMessage, Message: m, Tag: s.op.Tag,
		SubNumber: s.number, Number: s.last, Redelivered: again,
	}
	if again {
		o.Deliveries = 1
	}
	s.link.pending = append(s.link.pending, fakeDelivery{s, s.last, m})
	s.link.out.Put([]broker.Output{o})
}

// settle knows the deliveries of a connection for ever, and takes each id for one of them or for none.
func (l *fakeLink) settle(op *broker.Op) *broker.Error {
	a := &op.Ack
	if a.Credit > 0 {
		return nil
	}
	for _, d := range l.pending {
		if d.sub.number == a.SubNumber && d.number == a.Number ||
			a.SubNumber == 0 && a.Invalid == "" && (d.m.ID == a.MessageID || a.UserID != "" && d.m.UserID == a.UserID) {
			return nil
		}
	}
	return &broker.Error{Kind: broker.KindUnknownAck, Message: "no delivery with id " + quote(a.Text)}
}

// close has the broker refuse all from now on.
func (b *fakeBroker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

// snapshot returns a copy of a link's counts, of the n-th connection from 1.
func (b *fakeBroker) snapshot(n int) (requests, written, detached int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.links[n-1]
	return l.requests, l.written, l.detached
}

// isKnown tells whether an id was sent before.
func (b *fakeBroker) isKnown(id string) bool {
	known := slices.Contains(b.ids, id)
	b.ids = append(b.ids, id)
	return known
}
