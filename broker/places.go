package broker

import "footfall/store"

// keepFor gives m, which came as seq to a topic, its place in each of the durable subscriptions that want it: one by itself, or
// one message that all of them share.
func (c *core) keepFor(durable []*tap, m *Message, seq store.Seq) {
	if len(durable) > 1 {
		shard := durable[0].q.account.Shard
		c.writeHead(m)
		m.owner, m.places = seq, uint32(len(durable))
		m.blob = c.batch.PutShared(shard, seq, c.scratch, m.Body, m.places)
	}
	for _, t := range durable {
		t.q.dest.received++
		c.enqueue(t.q, m, c.next(t.q.account.Shard))
	}
}

// leftOut tells whether nothing new is kept in memory for q: nobody is there to take from a durable subscription without
// consumers, and there may be many of those.
func (c *core) leftOut(q *backlog) bool {
	if q.tap == nil || len(q.consumers) > 0 {
		return false
	}
	c.cutAtEnd(q)
	return true
}

// cutAtEnd has what comes behind the last message in memory be in the store only.
func (c *core) cutAtEnd(q *backlog) {
	if !q.whole {
		return
	}
	q.whole, q.edge = false, place{}
	if last := q.last(); last != nil {
		q.edge = placeOf(last)
	}
}

// rest takes a durable subscription out of memory when its last consumer has left.
func (c *core) rest(q *backlog) {
	for q.count > 0 && q.last().stored() {
		q.edgeBefore(c)
	}
}

// letGo has e, which is stored, be in the store only.
func (c *core) letGo(e *entry) {
	e.msg.places = 0
	c.unhold(e.msg)
}

// leavesLast counts that the message loses a place, and tells whether that is known to be the last one.
func (m *Message) leavesLast() bool {
	if m.places == 0 {
		return false
	}
	m.places--
	return m.places == 0
}

// dropPlace takes a message out of a place in the store, of which is known where its body lies.
func (c *core) dropPlace(key store.RefKey, blob store.Blob, owner store.Seq, hasAttempts, last bool) {
	c.noteLeft(key)
	if owner == 0 {
		c.batch.DropRef(key, blob, hasAttempts)
		return
	}
	c.batch.DropSharedRef(key, owner, blob, hasAttempts, last)
	if !last {
		c.spend(key.Shard, owner)
	}
}

// spent is which shared messages of a shard may have lost their last place without that being known.
type spent struct {
	lo, hi   store.Seq
	n        int
	sweeping bool
}

// sweepAfter is how many places are dropped before it is looked for messages that have none any more; sweepPage how many
// records are looked at in one step.
const (
	sweepAfter = 16 << 10
	sweepPage  = 4 << 10
)

// spend notes that a shared message lost a place, which may have been its last.
func (c *core) spend(shard store.Shard, owner store.Seq) {
	s := &c.spent[shard]
	if s.n == 0 {
		s.lo, s.hi = owner, owner
	}
	s.n++
	s.lo, s.hi = min(s.lo, owner), max(s.hi, owner)
	if s.n >= sweepAfter && !s.sweeping {
		c.sweep(shard)
	}
}

// sweep drops what is left of shared messages among those that lost a place since the last time.
func (c *core) sweep(shard store.Shard) {
	s := &c.spent[shard]
	scan := store.SpentScan{Shard: shard, Lo: s.lo, Hi: s.hi, MaxLooked: sweepPage}
	*s = spent{sweeping: true}
	c.sweepFrom(scan)
}

func (c *core) sweepFrom(scan store.SpentScan) {
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		scan.After = after
		found, next, more, err := s.ScanSpent(scan)
		return func() {
			for _, f := range found {
				c.batch.DropSpent(f)
			}
			if more {
				scan.From = next
				c.sweepFrom(scan)
				return
			}
			c.spent[scan.Shard].sweeping = false
		}, err
	})
}
