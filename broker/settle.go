package broker

import "footfall/store"

// cause is why a delivery goes back to its place.
type cause uint8

const (
	causeNack cause = iota
	causeRecover
	causeUnsubscribed // its consumer left it
	causeLost         // its connection ended without DISCONNECT
	causeClosed       // its connection ended with DISCONNECT
)

// acknowledge takes d's message out of the world.
func (c *core) acknowledge(d *delivery) {
	q := d.q
	c.settle(d)
	c.expiresNoMore(q, &d.e)
	if d.e.stored() {
		c.dropRef(q, &d.e)
	}
	c.unhold(d.e.msg)
	q.dest.acked++
	c.stats.Acked++
}

// dropRef takes e out of its place in the store.
func (c *core) dropRef(q *backlog, e *entry) {
	c.dropPlace(q.key(e), e.msg.blob, e.msg.owner, e.flags&entryAttempts != 0, e.msg.leavesLast())
	q.uncount(e)
	c.touch(q)
	c.notePageRemoval(q, e)
}

// settle ends d as far as its consumer goes.
func (c *core) settle(d *delivery) {
	s := d.sub
	d.q.flight.remove(d)
	d.settled = true
	d.q.leaveGroup(d)
	c.loans.end(s, d.e.msg)
	if d.tx == 0 {
		s.release(c, d)
	} else if s.starved && !s.ended {
		c.mark(s.q)
	}
	conn := s.conn
	if id := d.e.msg.UserID; id != "" {
		conn.disclaim(id)
	}
	if s.auto() {
		return
	}
	if conn.index != nil {
		conn.index.remove(d)
	}
	s.noteSettled()
	if s.ended && s.idle() {
		delete(conn.numbers, s.number)
	}
}

// putBack returns deliveries, of any backlogs, in the order they were made, to their
// places. What a consumer saw is marked, and counted as the cause demands.
func (c *core) putBack(ds []*delivery, why cause) {
	var oldest *subscription
	for i, d := range ds {
		c.settle(d)
		failed := why == causeNack || why == causeRecover
		if why == causeLost && d.written && (i == 0 || oldest != d.sub) {
			// A message that ends its consumer must end one day; those behind it may be innocent.
			oldest, failed = d.sub, true
		}
		c.attempted(d, failed)
	}
	for i := len(ds) - 1; i >= 0; i-- {
		c.replace(ds[i])
	}
}

// attempted counts a delivery that was not acknowledged.
func (c *core) attempted(d *delivery, failed bool) {
	if !d.written && !failed && d.sub.conn.gone {
		return // nobody saw it, nor will
	}
	e := &d.e
	e.deliveries++
	e.flags |= entryRedelivered
	if failed && e.failures < 1<<16-1 {
		e.failures++
	}
	if e.stored() {
		e.flags |= entryAttempts
		c.batch.PutAttempts(d.q.key(e), store.Attempts{Deliveries: e.deliveries, Failures: uint32(e.failures)})
	}
}

// replace puts the message of a settled delivery where the redelivery policy says. There
// is one policy yet: its old place.
func (c *core) replace(d *delivery) {
	q, e := d.q, &d.e
	c.stats.Returned++
	switch {
	case q.ended:
		c.unhold(e.msg) // nobody is left to want it
		return
	case e.msg.expired(c.ms):
		c.drop(q, e)
		return
	case q.covers(placeOf(e)):
		q.put(*e)
		c.fill(q)
		c.trim(q)
	case e.stored():
		c.notePageAddition(q, e)
		c.letGo(e)
	default:
		c.spill(q, e)
		c.unhold(e.msg)
	}
	c.mark(q)
}

// key is the place of e in the store.
func (q *backlog) key(e *entry) store.RefKey {
	return store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: e.msg.Priority, Seq: e.seq}
}

// recount enters e into the account, uncount takes it out.
func (q *backlog) recount(e *entry) {
	lane := &q.account.Lanes[e.msg.Priority]
	if lane.Count == 0 || e.seq < lane.Head {
		lane.Head = e.seq
	}
	lane.Count++
	q.account.Bytes += e.msg.octets()
}

func (q *backlog) uncount(e *entry) {
	q.account.Lanes[e.msg.Priority].Count--
	q.account.Bytes -= e.msg.octets()
	q.drops++
}
