package broker

import (
	"slices"

	"footfall/store"
)

// cause is why a delivery goes back to its place.
type cause uint8

const (
	causeNack cause = iota
	causeRecover
	causeTimeout      // it was not acknowledged in time
	causeUnsubscribed // its consumer left it
	causeLost         // its connection ended without DISCONNECT
	causeClosed       // its connection ended with DISCONNECT
)

// isFailure tells whether every delivery that goes back for that cause failed. Of a lost connection only the
// oldest of each subscription did.
func (why cause) isFailure() bool { return why <= causeTimeout }

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

// dropRef takes e out of its place in the store, with its body.
func (c *core) dropRef(q *backlog, e *entry) { c.leavePlace(q, e, e.msg.blob) }

// leavePlace takes e out of its place in the store, with the chunks of a blob.
func (c *core) leavePlace(q *backlog, e *entry, blob store.Blob) {
	m := e.msg
	if m.owner == 0 {
		c.dropPlace(q, leaving{placeOf(e), placeOctets + int64(m.octets())}, blob, e.flags&entryAttempts != 0)
	} else {
		c.dropPlace(q, leaving{placeOf(e), placeOctets}, store.Blob{}, e.flags&entryAttempts != 0)
		c.giveBack(q, m, blob)
	}
	q.uncount(e)
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
		c.wake(s)
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

// putBack returns deliveries, of any backlogs, in the order they were made. What a consumer saw is marked, and counted as
// the cause demands; the redelivery policy says whether a message takes its place again at once, waits, or is a dead letter.
func (c *core) putBack(ds []*delivery, why cause) {
	if why == causeNack {
		c.stats.Nacked += uint64(len(ds))
	}
	var oldest *subscription
	for i, d := range ds {
		c.settle(d)
		failed := why.isFailure()
		if why == causeLost && d.written && (i == 0 || oldest != d.sub) {
			// A message that ends its consumer must end one day; those behind it may be innocent.
			oldest, failed = d.sub, true
		}
		c.attempted(d, failed)
		c.stats.Returned++
		if c.isLeft(d, why) || failed && c.died(d, why) || c.waits(d, why) {
			ds[i] = nil
		}
	}
	for _, d := range slices.Backward(ds) {
		if d != nil {
			c.replace(d)
		}
	}
}

// attempted counts a delivery that was not acknowledged.
func (c *core) attempted(d *delivery, failed bool) {
	if !d.written && !failed && d.sub.conn.gone {
		return // nobody saw it, nor will
	}
	e := &d.e
	e.deliveries++
	e.flags |= entryRedelivered | entryCounted
	if failed && e.failures < 1<<16-1 {
		e.failures++
	}
}

// isLeft drops the message of a topic's subscriber that has gone, as nobody is left to want it.
func (c *core) isLeft(d *delivery, why cause) bool {
	if !d.q.ended || why == causeNack && d.nack != nil && d.nack.Dead {
		return false
	}
	c.unhold(d.e.msg)
	return true
}

// waits has the message of a settled delivery wait where the redelivery policy says so.
func (c *core) waits(d *delivery, why cause) bool {
	ms := c.pause(d, why)
	if ms == 0 || d.e.msg.expired(c.ms) {
		return false
	}
	c.returnAt(d.q, &d.e, c.from+ms)
	return true
}

// replace puts the message of a settled delivery into its place.
func (c *core) replace(d *delivery) {
	q, e := d.q, &d.e
	if e.msg.expired(c.ms) {
		c.drop(q, e)
		return
	}
	if e.flags&entryCounted != 0 && e.stored() {
		c.putAttempts(q, e)
	}
	c.reinsert(q, e)
}

// putAttempts stores what happened to e in its place.
func (c *core) putAttempts(q *backlog, e *entry) {
	e.flags |= entryAttempts
	c.batch.PutAttempts(q.key(e), store.Attempts{Deliveries: e.deliveries, Failures: uint32(e.failures)})
}

// reinsert puts e, which somebody holds, into its place in memory, or leaves it to the store.
func (c *core) reinsert(q *backlog, e *entry) {
	e.flags &^= entryCounted
	switch {
	case q.covers(placeOf(e)):
		c.arrived(q, e)
		q.put(*e)
		c.fill(q)
		c.trim(q)
	case e.stored():
		c.arrived(q, e)
		c.notePageAddition(q, e)
		c.letGo(e)
	default:
		c.spill(q, e)
		c.unhold(e.msg)
	}
	c.mark(q)
}

// key is the place of e in the store.
func (q *backlog) key(e *entry) store.RefKey { return q.keyOf(placeOf(e)) }

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
