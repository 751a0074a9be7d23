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

// giveBack counts that the shared message m has a place less, of a blob with its chunks. What a batch gives back of it is one record; the
// message goes with the last place that is known to be the last.
func (c *core) giveBack(q *backlog, m *Message, blob store.Blob) {
	if m.places == 1 {
		m.places, m.given = 0, 0
		c.batch.DropShared(q.account.Shard, m.owner, blob)
		return
	}
	if m.given == 0 {
		c.givers = append(c.givers, giver{m, q.account.Shard, m.owner, blob})
	}
	m.given++
	if m.places > 0 {
		m.places--
		return
	}
	c.spend(q.account.Shard, m.owner)
}

// giver is a shared message that lost places in this batch.
type giver struct {
	m     *Message
	shard store.Shard
	owner store.Seq
	blob  store.Blob
}

// writeGivers puts into the batch what it gives back of shared messages.
func (c *core) writeGivers() {
	for i, g := range c.givers {
		if g.m.given > 0 {
			c.batch.GiveBack(g.shard, g.owner, g.blob, g.m.given)
			g.m.given = 0
		}
		c.givers[i] = giver{}
	}
	c.givers = c.givers[:0]
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
