package broker

import (
	"cmp"

	"footfall/store"
)

// dispatch gives consumers of q what they have room for, in turn.
func (c *core) dispatch(q *backlog) {
	switch {
	case len(q.lenses) > 0:
		c.share(q)
	case q.grouped > 0:
		c.dealGroups(q)
	default:
		c.deal(q)
	}
	c.eased(q)
	c.refill(q)
	c.passOn(q)
	for _, b := range q.browsers {
		c.browse(q, b)
	}
}

// deal is dispatch where no message is of a group, and no consumer has a selector.
func (c *core) deal(q *backlog) {
	for {
		e := q.first()
		if e == nil {
			return
		}
		if c.isDead(q, e) {
			dead := q.take()
			c.drop(q, &dead)
			continue
		}
		s := q.nextOpen(c)
		if s == nil || e.stored() && !c.showable(q, e) {
			return
		}
		c.deliver(q, s, q.take(), false)
	}
}

// isDead tells whether what waits in q has expired and can be dropped.
func (c *core) isDead(q *backlog, e *entry) bool {
	return e.msg.expired(c.ms) && (!e.stored() || e.seq <= c.synced[q.dest.shard])
}

// showable tells whether a stored message may be seen by a consumer: it is on disk, and so is the mark
// that somebody may have seen it.
func (c *core) showable(q *backlog, e *entry) bool {
	if e.seq > c.synced[q.dest.shard] {
		return false
	}
	p := e.msg.Priority
	if e.seq <= q.seen[p] {
		return true
	}
	// One batch for all that will be wanted next.
	lane := &q.lanes[9-p]
	target := e.seq
	for i := min(lane.len(), q.limit.messages) - 1; i >= 0; i-- {
		if last := lane.at(i); last.stored() && last.seq <= c.synced[q.dest.shard] {
			target = max(target, last.seq)
			break
		}
	}
	c.raiseSeen(q, p, target)
	return false
}

func (c *core) raiseSeen(q *backlog, priority uint8, to store.Seq) {
	if lane := &q.account.Lanes[priority]; lane.Seen < to {
		lane.Seen = to
		c.touch(q)
		c.urgent = true
	}
}

// nextOpen returns the consumer whose turn it is among those with room and without a selector, nil when there is none.
func (q *backlog) nextOpen(c *core) *consumer {
	n, begin := len(q.consumers), q.begin()
	for i := range n {
		at := begin + i
		if at >= n {
			at -= n
		}
		if s := q.consumers[at]; s.lens == nil && s.open(c) {
			q.turn = at
			return s
		}
	}
	return nil
}

// hasOpen tells whether a consumer without a selector has room.
func (q *backlog) hasOpen(c *core) bool {
	for _, s := range q.consumers {
		if s.lens == nil && s.open(c) {
			return true
		}
	}
	return false
}

// deliver gives s a message that was taken out of q, which may be the first one of its group that s gets.
func (c *core) deliver(q *backlog, s *consumer, e entry, first bool) {
	d := c.slab.make()
	d.q, d.sub, d.e = q, s.subscription, e
	s.issued++
	s.moved = c.now
	d.number = s.issued
	q.flight.push(d)
	q.served(s)
	conn := s.conn
	m := d.e.msg
	if m.UserID != "" {
		d.hidden = !conn.claim(m.UserID)
	}
	if !s.auto() {
		s.pending.pushBack(d)
		if conn.index != nil {
			conn.index.add(d)
		}
	}
	s.hold(d)
	c.loans.lend(s.subscription, m)
	c.watch(d)
	size := m.Size()
	conn.unwritten.pushBack(unwritten{d: d, size: size})
	conn.unwrittenBytes += size

	o := Output{
		Kind: OutputMessage, Message: m, Tag: s.op.Tag, SubNumber: s.number, Number: d.number,
		Deliveries: d.e.deliveries, Redelivered: d.e.flags&entryRedelivered != 0, HideUserID: d.hidden, GroupFirst: first,
	}
	if s.several {
		o.Destination = cmp.Or(s.text, q.dest.shown(m))
	}
	c.emit(conn, o)
	q.dest.delivered++
	c.stats.Delivered++
	if o.Redelivered {
		c.stats.Redelivered++
	}
}

// claim notes that a sender's id is pending here, and tells whether it was not yet.
func (conn *Conn) claim(userID string) bool {
	if conn.userIDs == nil {
		conn.userIDs = map[string]int{}
	}
	conn.userIDs[userID]++
	return conn.userIDs[userID] == 1
}

func (conn *Conn) disclaim(userID string) {
	if conn.userIDs[userID]--; conn.userIDs[userID] == 0 {
		delete(conn.userIDs, userID)
	}
}

// hold counts d against the window, release takes it off.
func (s *subscription) hold(d *delivery) {
	s.outstanding++
	s.octets += d.e.msg.Size()
}

func (s *subscription) release(c *core, d *delivery) {
	s.outstanding--
	s.moved = c.now
	s.octets -= d.e.msg.Size()
	if !s.ended {
		c.wake(s)
	}
}

// wrote takes in what conn's writer reported since the last time.
func (c *core) wrote(conn *Conn) {
	n := conn.written.Swap(0)
	for ; n > 0 && conn.unwritten.len() > 0; n-- {
		u := conn.unwritten.popFront()
		conn.unwrittenBytes -= u.size
		if u.d == nil {
			c.unhold(u.shown)
			continue
		}
		u.d.written = true
		if u.d.sub.auto() && !u.d.settled {
			c.acknowledge(u.d)
			c.bindsIfStored(conn, u.d)
		}
	}
	if conn.full && conn.unwrittenBytes <= c.opt.OutboxBytes/2 {
		conn.full = false
		conn.eager.Store(conn.auto)
		for _, s := range conn.inOrder() {
			if !s.ended {
				c.wake(s)
			}
		}
	}
}

// bindsIfStored makes answers wait for the batch that forgets d, as a DISCONNECT's does.
func (c *core) bindsIfStored(conn *Conn, d *delivery) {
	if d.e.stored() {
		c.binds(conn)
	}
}
