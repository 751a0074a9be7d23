package broker

import (
	"math/bits"
	"sort"

	"footfall/selector"
	"footfall/store"
)

// entry is a message in its place, in memory.
type entry struct {
	msg        *Message
	seq        store.Seq
	deliveries uint32
	failures   uint16
	flags      uint8
}

const (
	entryStored      = 1 << iota // it has a place in the store
	entryRedelivered             // somebody may have seen it
	entryAttempts                // it has an attempts record in the store
	entryCounted                 // what happened to it is not in that record yet
	entryShown                   // the store knows that somebody may have seen it, by that record
)

func (e *entry) stored() bool { return e.flags&entryStored != 0 }

// place is the order of delivery: higher priority first, then lower seq.
type place struct {
	lane uint8 // 9 - priority
	seq  store.Seq
}

func (p place) less(q place) bool {
	return p.lane < q.lane || p.lane == q.lane && p.seq < q.seq
}

func placeOf(e *entry) place { return place{lane: 9 - e.msg.Priority, seq: e.seq} }

// backlog is what waits for one set of consumers: a queue's, or one topic
// subscription's. It is a window: all that waits up to the place edge is in
// memory, what lies behind it is in the store only and is paged in ahead of need.
type backlog struct {
	dest  *destination
	tap   *tap // fills it from a topic; nil of a queue
	limit limits
	ended bool // no consumer comes to it any more

	lanes    [store.Priorities]ring[entry]
	nonEmpty uint16 // bit i: lanes[i] has entries
	count    int    // entries in lanes
	stored   int    // of these, those in the store
	bytes    int64  // Size of what is in lanes
	loose    int64  // of these, of what is not in the store

	// whole says that nothing waits behind the window; else edge is its last place.
	whole bool
	edge  place
	page  *page // being loaded

	// account is what the store is told at the end of each round that changed it. Its
	// counts cover what waits and what is in flight.
	account store.Backlog
	// seen is account.Lanes[].Seen as it is on disk: a message in the store is
	// shown to a consumer only up to it, so that after a crash it is known which
	// messages may have been seen. before is what it was at the start.
	seen, before [store.Priorities]store.Seq
	newest       store.Seq              // the last that took a place here
	drops        int                    // since the heads were last worked out
	leaving      []leaving              // since the last batch
	lastLeft     store.Seq              // the greatest of these
	left         [store.Priorities]left // by lane

	// lenses are those of consumers with selectors, index finds those that a message matches; deep
	// is what they found behind the window.
	lenses []*lens
	index  selector.Index[*lens]
	deep   map[store.Seq]*glimpse

	flight     flightList
	consumers  []*consumer
	browsers   []*browser
	groups     map[string]*group // who gets the messages of a group
	grouped    int               // entries in lanes that are of groups
	regrouping bool              // a timer runs
	turn       int               // the consumer whose turn it is, if they are not ranked
	ranked     bool              // their priorities differ
	master     *consumer         // the exclusive consumer that gets all, nil if none is exclusive
	joined     uint64            // consumers so far
	sharers    int               // of consumers, those of subscriptions with others

	dirty     bool // in core.dirty: may have something to dispatch
	touched   bool // in core.touched: account changed in this round
	filled    bool // in core.filled
	thirsty   bool // in core.thirsty
	swollen   bool // in core.swollen
	forgotten bool // the store does not know it any more
	clear     bool // what is left is to be cleared away
	clearing  bool // a timer runs for that
}

// limits bound the window of a backlog.
type limits struct {
	messages int   // in the store as well
	bytes    int64 // in the store as well
	loose    int64 // octets of what is in memory only
}

// page is a scan of the store that is under way, and what happened since it was asked for.
type page struct {
	from    place
	added   []entry // stored entries behind the edge, in order of arrival
	bytes   int64   // Size of these
	removed map[store.Seq]bool
	// cut, with isCut, is the least place that did not fit into added.
	cut   place
	isCut bool
	void  bool // the window was thrown away meanwhile
}

// maxAdded bounds page.added.
const maxAdded = 1024

// covers tells whether the window reaches over p.
func (q *backlog) covers(p place) bool { return q.whole || !q.edge.less(p) }

// isStored tells whether what is persistent in q is in the store, as it is of a queue and of a durable subscription. What other
// subscribers of a topic have coming is in memory only.
func (q *backlog) isStored() bool { return q.dest.queue != nil }

// put puts e into the window, in its place.
func (q *backlog) put(e entry) {
	i := 9 - e.msg.Priority
	lane := &q.lanes[i]
	n := lane.len()
	switch {
	case n == 0 || lane.at(n-1).seq < e.seq:
		lane.pushBack(e)
	case e.seq < lane.at(0).seq:
		lane.pushFront(e)
	default:
		at := sort.Search(n, func(j int) bool { return lane.at(j).seq > e.seq })
		lane.insert(at, e)
	}
	q.counted(&e, 1)
	q.nonEmpty |= 1 << i
}

func (q *backlog) counted(e *entry, sign int) {
	q.count += sign
	if e.msg.Group != "" {
		q.grouped += sign
	}
	size := int64(sign) * e.msg.Size()
	q.bytes += size
	if e.stored() {
		q.stored += sign
	} else {
		q.loose += size
	}
}

// first returns the entry whose turn it is, nil when the window is empty.
func (q *backlog) first() *entry {
	if q.nonEmpty == 0 {
		return nil
	}
	return q.lanes[bits.TrailingZeros16(q.nonEmpty)].at(0)
}

// take removes what first returned.
func (q *backlog) take() entry {
	i := bits.TrailingZeros16(q.nonEmpty)
	e := q.lanes[i].popFront()
	q.removedFrom(i, &e)
	return e
}

func (q *backlog) removedFrom(lane int, e *entry) {
	q.counted(e, -1)
	if q.lanes[lane].len() == 0 {
		q.nonEmpty &^= 1 << lane
	}
}

// last returns the entry that would be delivered last.
func (q *backlog) last() *entry {
	if q.nonEmpty == 0 {
		return nil
	}
	lane := &q.lanes[15-bits.LeadingZeros16(q.nonEmpty)]
	return lane.at(lane.len() - 1)
}

// takeLast removes what last returned.
func (q *backlog) takeLast() entry {
	i := 15 - bits.LeadingZeros16(q.nonEmpty)
	e := q.lanes[i].popBack()
	q.removedFrom(i, &e)
	return e
}

// find returns the index in its lane of what waits at a place of the window, negative when there is nothing.
func (q *backlog) find(at place) int {
	lane := &q.lanes[at.lane]
	i := sort.Search(lane.len(), func(i int) bool { return lane.at(i).seq >= at.seq })
	if i == lane.len() || lane.at(i).seq != at.seq {
		return -1
	}
	return i
}

// after returns the index in a lane of the window of the first message behind seq.
func (q *backlog) after(lane uint8, seq store.Seq) int {
	r := &q.lanes[lane]
	return sort.Search(r.len(), func(i int) bool { return r.at(i).seq > seq })
}

// takeFrom takes an entry out of the middle of a lane.
func (q *backlog) takeFrom(lane, i int) entry {
	e := q.lanes[lane].remove(i)
	q.removedFrom(lane, &e)
	return e
}

// over tells whether the window is larger than its limits.
func (q *backlog) over() bool {
	return q.stored > q.limit.messages || q.stored > 1 && q.bytes-q.loose > q.limit.bytes || q.loose > q.limit.loose
}

// plain is the number of consumers without a selector.
func (q *backlog) plain() int {
	n := len(q.consumers)
	for _, l := range q.lenses {
		n -= l.consumers
	}
	return n
}

// waiting is the number of messages that wait, in memory or not.
func (q *backlog) waiting() int64 {
	return int64(q.accounted()) - int64(q.flight.stored) + int64(q.count-q.stored)
}

// accounted is the number of messages in the store, in flight or not.
func (q *backlog) accounted() uint64 {
	var n uint64
	for i := range q.account.Lanes {
		n += q.account.Lanes[i].Count
	}
	return n
}

// start returns the place at which the next page begins.
func (q *backlog) start() place {
	return place{lane: q.edge.lane, seq: q.edge.seq + 1}
}

// headsAfter is how many drops there are before the heads are worked out whatever that takes.
const headsAfter = 1024

// heads works out the least Seq of each lane that is still stored, for the marks below
// which a scan never looks. In flight, in the window, or behind its edge.
func (q *backlog) heads(next store.Seq) {
	var least [store.Priorities]store.Seq
	for i := range least {
		least[i] = next
		if lane := &q.lanes[9-i]; lane.len() > 0 {
			least[i] = lane.at(0).seq // it may be stored later, so it counts in any case
		}
		if !q.whole {
			switch at := uint8(9 - i); {
			case at == q.edge.lane:
				least[i] = min(least[i], q.edge.seq+1)
			case q.edge.lane < at: // not read yet: the old mark holds
				least[i] = min(least[i], q.account.Lanes[i].Head)
			}
		}
	}
	q.flight.first(&least)
	for i := range least {
		q.account.Lanes[i].Head = max(q.account.Lanes[i].Head, least[i])
	}
	q.drops = 0
}
