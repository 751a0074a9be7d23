package broker

import (
	"iter"
	"math"
	"time"

	"footfall/selector"
)

// tap is what of a topic's messages goes into one backlog: that of a durable subscription, of a consumer, or of
// consumers that share one.
type tap struct {
	topic *destination
	q     *backlog
	// durable says that the backlog is there without consumers too.
	durable bool
	// shared is the name under which consumers share it, in topic.shared; the zero value of one that is not shared by a name.
	shared SubscriptionName
	// noLocal keeps away what a connection with a consumer here sends, and from a durable subscription of a client-id what
	// any connection with that client-id sends.
	noLocal  bool
	clientID string
	program  *selector.Program // what goes into it; nil: all
	at       int               // its index in the topic's list

	// slow says that producers wait for it since its backlog is above the bound; taken is how much its consumers
	// had taken when that was last looked at.
	slow  bool
	taken uint64
	// judge is when it is looked at next, judging says that a timer runs for that.
	judge   time.Time
	judging bool
	doomed  bool // its consumers are about to be disconnected
}

// wants tells whether m goes into the backlog.
func (t *tap) wants(c *core, m *Message) bool {
	if !t.noLocal || m.sender == 0 {
		return true
	}
	for _, s := range t.q.consumers {
		if s.conn.id == m.sender {
			return false
		}
	}
	if t.clientID == "" {
		return true
	}
	sender := c.conns[m.sender]
	return sender == nil || sender.client.ClientID != t.clientID
}

// chooses tells whether the selector of t, if it has one, wants what was sent to the topic d.
func (c *core) chooses(t *tap, d *destination, m *Message) bool {
	if t.program == nil {
		return true
	}
	c.probed = properties{m: m, destination: d.text}
	c.probe.Reset(&c.probed)
	return t.program.Match(&c.probe)
}

// newTap makes the tap of a consumer that is not durable.
func newTap(d *destination, op *SubscribeOp, program *selector.Program) *tap {
	none := limits{messages: math.MaxInt, bytes: math.MaxInt64, loose: math.MaxInt64}
	return &tap{q: &backlog{dest: d, whole: true, limit: none}, noLocal: op.NoLocal, program: program, shared: op.Shared}
}

// addTap has the backlog of t filled from the topic d.
func (d *destination) addTap(t *tap) {
	t.topic, t.q.tap = d, t
	list := d.list(t)
	t.at = len(*list)
	*list = append(*list, t)
	if t.program != nil {
		d.index.Add(t.program, t)
	}
	if t.shared != (SubscriptionName{}) {
		if d.shared == nil {
			d.shared = map[SubscriptionName]*tap{}
		}
		d.shared[t.shared] = t
	}
}

// removeTap has it filled no more. There may be very many others.
func (d *destination) removeTap(t *tap) {
	list := d.list(t)
	last := len(*list) - 1
	(*list)[t.at] = (*list)[last]
	(*list)[t.at].at = t.at
	(*list)[last] = nil
	*list = (*list)[:last]
	if t.program != nil {
		d.index.Remove(t.program, t)
	}
	if t.shared != (SubscriptionName{}) {
		delete(d.shared, t.shared)
	}
}

// list is that of the taps like t.
func (d *destination) list(t *tap) *[]*tap {
	if t.program != nil {
		return &d.choosy
	}
	return &d.taps
}

// tapped tells whether something takes from the topic d.
func (d *destination) tapped() bool { return len(d.taps)+len(d.choosy) > 0 }

// allTaps goes over all that take from the topic d.
func (d *destination) allTaps() iter.Seq[*tap] {
	return func(yield func(*tap) bool) {
		for _, list := range [...][]*tap{d.taps, d.choosy} {
			for _, t := range list {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// closeTap ends t. What waits in a backlog that is not durable goes with it.
func (c *core) closeTap(t *tap) {
	d, q := t.topic, t.q
	c.unslow(t)
	d.removeTap(t)
	c.release(t.program)
	if !t.durable {
		q.ended = true
		for q.count > 0 {
			e := q.take()
			c.unhold(e.msg)
		}
	}
	c.forget(d)
}

// issued counts what its consumers took.
func (t *tap) issued() (n uint64) {
	for _, s := range t.q.consumers {
		n += s.issued
	}
	return n
}
