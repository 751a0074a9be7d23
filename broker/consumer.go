package broker

import "footfall/selector"

// consumer is a subscription as one backlog knows it. A subscription to several destinations has several, which share its window
// and the numbers of its deliveries.
type consumer struct {
	*subscription
	q       *backlog
	text    string            // that its messages show as destination; empty: see destination.shown
	joined  uint64            // the how many-th consumer of q it is
	program *selector.Program // of what it takes from, or browses in, a queue or a durable subscription; nil: all
	lens    *lens             // with program
	at      int               // its index in subscription.consumers
	waits   bool              // it is in subscription.waiting
	left    bool              // it takes nothing any more
}

// open tells whether a message can be delivered now.
func (s *consumer) open(c *core) bool {
	return !s.barred() && !s.q.isPaused() && s.subscription.open(c)
}

// takeFrom has s take from one more destination, which the message names with text, or, if that is empty, by itself.
func (c *core) takeFrom(s *subscription, from Source) *Error {
	op, program := s.op, c.sharedProgram(s.wants)
	q, kept, err := c.sourceOf(s.conn, op, from.Address, program)
	if err != nil {
		c.release(program)
		return err
	}
	one := &consumer{subscription: s, q: q, at: len(s.consumers)}
	if from.Address.IsTemporary() {
		one.text = from.Text // its sender knows another one
	}
	switch {
	case kept || program == nil:
	case from.Address.Kind == Topic:
		c.release(program) // of a subscription that has it already
	case op.Browse != nil:
		one.program = program
	default:
		one.program, one.lens = program, q.openLens(program)
	}
	s.consumers = append(s.consumers, one)
	if op.Browse != nil {
		c.openBrowser(q, s, program)
	} else {
		q.join(one)
	}
	c.mark(q)
	return nil
}

// endConsumer has a consumer take nothing any more.
func (c *core) endConsumer(s *consumer) {
	q := s.q
	s.left = true
	if s.lens != nil {
		c.closeLens(q, s.lens)
	}
	c.release(s.program)
	c.abandoned(q.dest)
	if s.browser != nil {
		c.closeBrowser(q, s.subscription)
		return
	}
	q.part(s)
	q.leaveGroups(s)
	c.mark(q)
	switch {
	case q.tap == nil || len(q.consumers) > 0:
	case q.tap.durable:
		c.rest(q)
	default:
		c.closeTap(q.tap)
	}
}

// wake has looked at what s could be given, as it may have room again.
func (c *core) wake(s *subscription) {
	if !s.shares {
		c.mark(s.consumers[0].q)
		return
	}
	for s.waiting.len() > 0 {
		one := s.waiting.popFront()
		one.waits = false
		if !one.left {
			c.mark(one.q)
			return // the others have their turn if this one leaves room
		}
	}
}

// passOn sees to the consumers of q that share a window with others of their subscription, when q has given them what it could:
// where there was no room left they wait for it, where there is some it is for the others.
func (c *core) passOn(q *backlog) {
	if q.sharers == 0 {
		return
	}
	some := q.count > 0 || !q.whole
	for _, s := range q.consumers {
		switch {
		case !s.shares:
		case s.subscription.open(c):
			c.wake(s.subscription)
		case (some || s.lens != nil && s.lens.scanned != lastPlace()) && !s.waits:
			s.waits = true
			s.waiting.pushBack(s)
		}
	}
}

// flush gives s what it has room for of what has come.
func (c *core) flush(s *subscription) {
	for _, one := range s.consumers {
		if one.q.dirty || !s.shares {
			c.dispatch(one.q)
		}
	}
}

// durable is the durable subscription that s takes from, and from nothing else; nil if there is none.
func (s *subscription) durable() *durable {
	if len(s.consumers) != 1 || s.shares {
		return nil
	}
	return s.consumers[0].q.dest.durable
}

// shown is the destination that m has for a subscription to several.
func (d *destination) shown(m *Message) string {
	switch {
	case m.Destination != "":
		return m.Destination
	case d.durable != nil && !d.durable.topic.Wildcard():
		return d.durable.topic.String()
	}
	return d.text
}
