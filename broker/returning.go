package broker

import "footfall/store"

// comeback is the place that a message returns to when its redelivery delay is over, and what happened to it there. It
// waits like a delayed message does, in the agenda of its shard: on disk in one place, and found again after a restart.
type comeback struct {
	backlog    store.BacklogID
	seq        store.Seq
	deliveries uint32
	failures   uint16
}

// returnAt has e, which is in no window of q and which somebody holds, wait to return to its place at a time, in milliseconds since the epoch.
func (c *core) returnAt(q *backlog, e *entry, at int64) {
	c.expiresNoMore(q, e)
	m := *e.msg // a copy, as a message may be in other places too
	m.holders, m.lenders = 0, 0
	m.back = &comeback{backlog: q.account.ID, seq: e.seq, deliveries: e.deliveries, failures: e.failures}
	if m.Expires != 0 {
		at = min(at, m.Expires)
	}
	t := &timed{due: dueTime{at, c.next(q.dest.shard)}, stored: e.stored(), dest: q.dest, m: &m}
	if t.stored {
		if m.owner != 0 { // others have the body too, so that a copy waits
			c.dropRef(q, e)
			m.owner, m.places, m.given, m.blob = 0, 0, 0, store.Blob{}
		} else {
			c.leavePlace(q, e, store.Blob{})
		}
		c.storeDueLazily(t)
		c.agendas[q.dest.shard].account.Returning++
	} else {
		c.looseReturning++
	}
	c.unhold(e.msg)
	c.addDue(t)
}

// storeDueLazily is storeDue for what nobody waits for.
func (c *core) storeDueLazily(t *timed) {
	urgent := c.urgent
	c.storeDue(t)
	c.urgent = urgent
}

// comesBack gives the message of t, which has left the agenda, its place again.
func (c *core) comesBack(t *timed) {
	m, back := t.m, t.m.back
	m.back = nil
	q := c.backlogs[backlogKey{t.dest.shard, back.backlog}]
	stays := q != nil && !q.ended && !m.expired(c.ms)
	if t.stored {
		c.dropDue(t, m.octets(), m.blob, stays)
		c.agendas[t.dest.shard].account.Returning--
	} else {
		c.looseReturning--
	}
	if !stays {
		m.blob = store.Blob{}
		if q != nil && !q.ended {
			c.expired(t.dest, m)
		}
		c.unhold(m)
		return
	}
	e := entry{msg: m, seq: back.seq, deliveries: back.deliveries, failures: back.failures, flags: entryRedelivered}
	if t.stored {
		urgent := c.urgent
		c.storeRef(q, &e)
		c.urgent = urgent
		c.putAttempts(q, &e)
	}
	c.expireLater(q, &e)
	c.reinsert(q, &e)
}
