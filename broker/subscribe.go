package broker

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"footfall/selector"
	"footfall/store"
)

// subscribe adds a consumer, or several where it names several destinations.
func (c *core) subscribe(conn *Conn, op *SubscribeOp) *Error {
	if conn.subs[op.ID] != nil {
		return &Error{Kind: KindDuplicate, Message: "subscription id " + quote(op.ID) + " is in use on this connection"}
	}
	sources, follows, err := c.sources(conn, op)
	if err != nil {
		return err
	}
	program, err := c.compile(op.Selector)
	if err != nil {
		return err
	}
	conn.lastSub++
	s := &subscription{conn: conn, op: op, number: conn.lastSub, wants: program, window: op.Window, windowBytes: op.WindowBytes}
	s.several = op.Parts != nil || op.From.Wildcard()
	s.shares, s.follows = op.Parts != nil || follows != nil, follows
	if s.window == 0 {
		s.window = c.opt.Window
	}
	if s.windowBytes == 0 {
		s.windowBytes = c.opt.WindowBytes
		if op.Window > 0 && s.auto() {
			s.windowBytes = math.MaxInt64
		}
	}
	s.window = min(s.window, c.opt.MaxWindow)
	s.windowBytes = min(s.windowBytes, c.opt.MaxWindowBytes)
	for _, from := range sources {
		if err = c.takeFrom(s, from); err != nil {
			break
		}
	}
	if err == nil {
		err = c.follow(s)
	}
	if err != nil {
		c.endConsumers(s) // of its other parts
		return err
	}
	if s.auto() {
		conn.auto = true
		conn.eager.Store(true) // what is written is settled by that
	}
	conn.subs[op.ID] = s
	conn.numbers[s.number] = s
	return nil
}

// sourceOf returns the backlog that a SUBSCRIBE is to take from, and whether what fills that keeps the program.
func (c *core) sourceOf(conn *Conn, op *SubscribeOp, from Address, program *selector.Program) (q *backlog, kept bool, err *Error) {
	if op.Durable != (SubscriptionName{}) {
		if from.IsTemporary() {
			return nil, false, &Error{Kind: KindInvalid, Message: "durable subscription " + quote(op.Durable.String()) + " to " + quote(from.String()) + ", which is temporary"}
		}
		d, kept, err := c.takeUp(conn, op, program)
		if err != nil {
			return nil, false, err
		}
		return d.queue, kept, nil
	}
	d, err := c.resolve(from)
	if err != nil {
		return nil, false, err
	}
	if op.Browse != nil && d.addr.Kind == Topic {
		c.forget(d)
		return nil, false, &Error{Kind: KindInvalid, Message: "there is nothing to browse in " + d.text + ": a topic keeps nothing"}
	}
	if d.addr.Kind != Topic {
		if err := d.refuses(conn); err != nil {
			return nil, false, err
		}
		if op.Browse != nil {
			return d.queue, false, nil
		}
		return d.queue, false, c.full(d)
	}
	t := d.shared[op.Shared]
	switch {
	case t == nil:
		t = newTap(d, op, program)
		d.addTap(t)
		c.offer(t)
		return t.q, true, nil
	case t.program != program:
		return nil, false, &Error{
			Kind:    KindInUse,
			Message: "shared subscription " + quote(op.Shared.String()) + " to " + d.text + " has consumers and another selector than " + quote(op.Selector),
		}
	}
	return t.q, false, nil
}

// compile returns the program of a selector, nil for one that is empty.
func (c *core) compile(text string) (*selector.Program, *Error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	p, err := c.selectors.Compile(text)
	if err != nil {
		return nil, &Error{Kind: KindSelector, Message: err.Error() + ", in " + quote(text)}
	}
	return p, nil
}

// sharedProgram returns a program for one more that uses it.
func (c *core) sharedProgram(p *selector.Program) *selector.Program {
	if p == nil {
		return nil
	}
	return c.selectors.Share(p)
}

// release says that one more subscription does not need its program any more.
func (c *core) release(p *selector.Program) {
	if p != nil {
		c.selectors.Release(p)
	}
}

// unsubscribe ends a subscription. What it was given can still be acknowledged for a while.
func (c *core) unsubscribe(conn *Conn, id string) *Error {
	s := conn.subs[id]
	if s == nil {
		return &Error{Kind: KindUnknownSub, Message: "there is no subscription " + quote(id) + " on this connection"}
	}
	for _, one := range s.consumers {
		if one.q.dest.addr.Kind == Topic {
			c.dispatch(one.q) // what was sent before it
		}
	}
	c.endSubscription(s)
	if s.idle() {
		delete(conn.numbers, s.number)
		return nil
	}
	c.timers.add(c.now.Add(c.opt.UnsubscribeGrace), func() { c.returnLater(s) })
	return nil
}

// endSubscription takes s away from its connection and its backlogs.
func (c *core) endSubscription(s *subscription) {
	if s.ended {
		return
	}
	s.ended = true
	delete(s.conn.subs, s.op.ID)
	c.endConsumers(s)
}

// endConsumers takes s away from all backlogs.
func (c *core) endConsumers(s *subscription) {
	c.unfollow(s)
	for _, one := range s.consumers {
		c.endConsumer(one)
	}
	s.waiting = ring[*consumer]{}
	c.release(s.wants)
	s.wants = nil
}

// returnLater gives back what an ended subscription still holds, but for what is in a transaction.
func (c *core) returnLater(s *subscription) {
	s.graceOver = true
	if s.conn.gone {
		return
	}
	c.putBack(s.held(), causeUnsubscribed)
}

// held lists what is pending and in no transaction, in the order of delivery.
func (s *subscription) held() []*delivery {
	var ds []*delivery
	for i := range s.pending.len() {
		if d := *s.pending.at(i); !d.settled && d.tx == 0 {
			ds = append(ds, d)
		}
	}
	return ds
}

// recoverDeliveries is JMS' Session.recover: all that is unacknowledged returns to its place
// and is delivered again from the first on.
func (c *core) recoverDeliveries(conn *Conn, id string, nack *NackOp) *Error {
	if id != "" {
		s := conn.subs[id]
		if s == nil {
			return &Error{Kind: KindUnknownSub, Message: "there is no subscription " + quote(id) + " on this connection to recover"}
		}
		c.recovered(s, nack)
		return nil
	}
	for _, s := range conn.inOrder() {
		c.recovered(s, nack)
	}
	return nil
}

func (c *core) recovered(s *subscription, nack *NackOp) {
	ds := s.held()
	c.stats.Recovered += uint64(len(ds))
	for _, d := range ds {
		d.nack = nack
		c.mark(d.q) // of several parts first the one that was delivered first
	}
	c.putBack(ds, causeRecover)
}

// inOrder lists the subscriptions with something pending, the oldest first.
func (conn *Conn) inOrder() []*subscription {
	all := make([]*subscription, 0, len(conn.numbers))
	for _, s := range conn.numbers {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *subscription) int { return int(a.number) - int(b.number) })
	return all
}

// detach ends a session: what it holds returns to its place, in order.
func (c *core) detach(conn *Conn) {
	if conn.gone {
		return
	}
	c.wrote(conn)
	why := causeLost
	if conn.disconnected {
		why = causeClosed
	}
	conn.ended, conn.gone = true, true
	delete(c.conns, conn.id)
	var ds []*delivery
	for _, s := range conn.inOrder() {
		c.endSubscription(s)
		for i := range s.pending.len() {
			if d := *s.pending.at(i); !d.settled {
				d.sub.rejoin(d)
				ds = append(ds, d)
			}
		}
	}
	for i := range conn.unwritten.len() {
		u := conn.unwritten.at(i)
		if d := u.d; d == nil {
			c.unhold(u.shown)
		} else if d.sub.auto() && !d.settled {
			ds = append(ds, d)
		}
	}
	c.putBack(ds, why)
	c.orphan(conn)
	conn.txs, conn.index = nil, nil
	conn.unwritten, conn.held = ring[unwritten]{}, ring[held]{}
	clear(conn.numbers)
}

// rejoin takes d out of its transaction, which is over.
func (s *subscription) rejoin(d *delivery) {
	if d.tx != 0 {
		d.tx, d.nack = 0, nil
		s.hold(d)
	}
}

// quote shows a client's text in an ERROR, at a bearable length.
func quote(text string) string {
	const most = 128
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strconv.Quote(text)
}

// given tells whether a message id may have been given to somebody: its number is not beyond what the shard gave.
func (c *core) given(id MessageID) bool {
	return id.Shard < store.Shards && store.Seq(id.Seq) <= c.seq[id.Shard]
}
