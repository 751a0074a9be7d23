package broker

import (
	"cmp"
	"time"

	"footfall/store"
)

// A message that leaves its place in the store is written in one of two ways. What leaves from the front of a lane, as most does, needs no
// record of its own: the head mark in the account of the backlog, which is written anyway, goes past it. What is left of its place is cleared
// away later, for many at a time. Anything else is dropped by itself.

// leaving is a place that was left since the last batch, and the octets of its record, about.
type leaving struct {
	place
	octets int64
}

// left is what is left of places in a lane below its head mark.
type left struct {
	n      int
	octets int64
	from   store.Seq // nothing is left below
}

// So much may be left in a lane, and for so long. The few messages that leave a queue which is hardly used are dropped by themselves: a
// range for each of many such queues would cost more.
const (
	fewLeave      = 16
	maxLeft       = 4096
	maxLeftOctets = 4 << 20
	clearAfter    = time.Second
)

// placeOctets is about what a place takes that has no message in it, as one of a shared message.
const placeOctets = 64

// gatherPlaces is how many places are left before the batch goes to the store.
const gatherPlaces = 16 << 10

// changes counts what this round's batch will change so far. It grows with each change.
func (c *core) changes() int { return c.batch.Len() + c.lefts }

// dropPlace takes a message out of a place in the store, and a body of its own that is in a blob.
func (c *core) dropPlace(q *backlog, l leaving, blob store.Blob, hasAttempts bool) {
	key := q.keyOf(l.place)
	c.noteLeft(key)
	c.batch.LeaveRef(key, blob, hasAttempts)
	q.leaving, q.lastLeft = append(q.leaving, l), max(q.lastLeft, l.seq)
	c.lefts++
	c.touch(q)
}

// keyOf is a place in the store.
func (q *backlog) keyOf(at place) store.RefKey {
	return store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: 9 - at.lane, Seq: at.seq}
}

// writeLeaving moves the head marks of q past what left it, and puts the rest of that into the batch.
func (c *core) writeLeaving(q *backlog) {
	if len(q.leaving) > 0 && q.flight.late == 0 || q.drops >= headsAfter {
		q.heads(c.seq[q.account.Shard] + 1)
	}
	few := len(q.leaving) <= cmp.Or(c.opt.fewLeave, fewLeave)
	for _, l := range q.leaving {
		lane := &q.left[l.lane]
		if l.seq >= q.account.Lanes[9-l.lane].Head || few && lane.n == 0 {
			c.batch.DropPlace(q.keyOf(l.place))
			continue
		}
		lane.n++
		lane.octets += l.octets
	}
	q.leaving, q.lastLeft = q.leaving[:0], 0
	c.clearLeft(q)
}

// clearLeft clears away what is left in q where that is much, or all when its time has come.
func (c *core) clearLeft(q *backlog) {
	some := false
	for i := range q.left {
		if lane := &q.left[i]; lane.n >= maxLeft || lane.octets >= maxLeftOctets || lane.n > 0 && q.clear {
			c.clearLane(q, uint8(i))
		}
		some = some || q.left[i].n > 0
	}
	q.clear = false
	if some && !q.clearing {
		q.clearing = true
		c.timers.add(c.now.Add(clearAfter), func() {
			q.clearing, q.clear = false, true
			c.lefts++
			c.touch(q)
		})
	}
}

// clearLane clears away what is left in a lane.
func (c *core) clearLane(q *backlog, lane uint8) {
	l := &q.left[lane]
	head := q.account.Lanes[9-lane].Head
	c.batch.DropLeft(q.keyOf(place{lane, l.from}), head)
	*l = left{from: head}
}

// mayHaveLeft has a lane be cleared of what an earlier run of the program may have left.
func (q *backlog) mayHaveLeft(priority int) {
	if q.account.Lanes[priority].Head > 0 {
		q.left[9-priority].n = 1
	}
}

// takeBack makes sure that a message can be put into a place that may have been left before: a head mark above it must not hide it, nor
// be lowered over what is left of others.
func (c *core) takeBack(q *backlog, at place) {
	if at.seq <= q.lastLeft {
		for _, l := range q.leaving {
			c.batch.DropPlace(q.keyOf(l.place))
		}
		q.leaving, q.lastLeft = q.leaving[:0], 0
	}
	if head := q.account.Lanes[9-at.lane].Head; at.seq < head {
		if q.left[at.lane].n > 0 {
			c.clearLane(q, at.lane)
		}
		q.left[at.lane].from = min(q.left[at.lane].from, at.seq)
	}
}
