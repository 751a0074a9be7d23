package broker

import "footfall/store"

// Retain says what a message for a topic does to the one that the topic keeps for new subscribers.
type Retain uint8

// The values: nothing; RetainSet takes its place; RetainRemove has the topic keep none.
const (
	RetainNone Retain = iota
	RetainSet
	RetainRemove
)

// mayRetain tells why the topic at a cannot keep m.
func (c *core) mayRetain(a Address, m *Message) *Error {
	if m.Retain != RetainSet || a.Kind != Topic || c.retained+m.Size()-c.dests[a].retains() <= c.opt.RetainedBytes {
		return nil
	}
	return tooMuchRetained(a)
}

func tooMuchRetained(a Address) *Error {
	return &Error{Kind: KindLimit, Message: "too much is retained to keep a message of " + a.String() + " for new subscribers (limits.retained-bytes)"}
}

func (d *destination) retains() int64 {
	if d == nil || d.retained == nil {
		return 0
	}
	return d.retained.Size()
}

// retain has the topic d keep m, or none, as m says.
func (c *core) retain(d *destination, m *Message) {
	if m.Retain == RetainNone {
		return
	}
	if err := c.mayRetain(d.addr, m); err != nil { // it was let in, and waited for its time
		c.opt.Log.Warn("a message is not kept for new subscribers", "destination", d.text, "reason", err.Message)
		return
	}
	if old := d.retained; old != nil {
		c.retained -= old.Size()
		d.retained = nil
		delete(c.retainers, d)
		c.unhold(old)
	}
	if m.Retain == RetainSet {
		d.retained = m
		c.retainers[d] = struct{}{}
		c.retained += m.Size()
		c.hold(m)
	}
}

// offer gives a new subscriber what its topics keep.
func (c *core) offer(t *tap) {
	for _, d := range c.retaining(t.topic) {
		m := d.retained
		switch {
		case m.expired(c.ms):
			c.retain(d, &Message{Retain: RetainRemove})
		case !t.wants(c, m) || !c.chooses(t, d, m):
		case t.durable:
			c.enqueue(t.q, m.another(), c.next(t.q.account.Shard))
		default:
			c.hold(m)
			t.q.put(entry{msg: m, seq: c.next(t.topic.shard)})
			c.mark(t.q)
		}
	}
}

// another is the same message for a place of its own.
func (m *Message) another() *Message {
	n := *m
	n.blob, n.head, n.owner, n.places, n.given = store.Blob{}, 0, 0, 0, 0
	n.job, n.holders, n.lenders = nil, 0, 0
	return &n
}
