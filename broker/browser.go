package broker

import (
	"math"
	"slices"

	"footfall/selector"
	"footfall/store"
)

// BrowseOp is what a SUBSCRIBE asks for that looks at a queue, or at a durable subscription, and takes nothing.
type BrowseOp struct {
	// From is the number of the first message that is wanted, see Output.Seq; 0: all that wait. Tail: none of those.
	From uint64
	Tail bool
	// Follow goes on with what comes later, and has no OutputBrowserEnd.
	Follow bool
}

// browser is a look at a backlog. It goes over it in passes: the first one shows what waits at its beginning, each later one
// what came since the one before. What is stored it reads off the loop, a page at a time, whether it is in the window or not.
type browser struct {
	s       *subscription
	op      *BrowseOp
	program *selector.Program // nil: all

	first, last store.Seq // of the pass, both inclusive
	ready       bool      // all of the pass that is stored is on disk
	at          place     // what comes next of the pass begins here
	over        bool      // all of the pass was read
	reading     bool
	page        []entry // read and not shown yet
	told        bool    // OutputBrowserEnd was given
}

// A page of a browser has so many messages, and octets of them.
const (
	browsePage  = 256
	browseBytes = 256 << 10
	browseLook  = 4096 // messages that a selector looks at for it
)

// openBrowser has s look at q and not consume it.
func (c *core) openBrowser(q *backlog, s *subscription, program *selector.Program) {
	b := &browser{s: s, op: s.op.Browse, program: program, over: true}
	b.last = store.Seq(max(b.op.From, 1)) - 1
	if b.op.Tail {
		b.last = c.seq[q.account.Shard]
	}
	s.browser = b
	q.browsers = append(q.browsers, b)
	c.pass(q, b)
}

// closeBrowser ends the look of s.
func (c *core) closeBrowser(q *backlog, s *subscription) {
	q.browsers = slices.DeleteFunc(q.browsers, func(b *browser) bool { return b.s == s })
	for i := range s.browser.page {
		c.unhold(s.browser.page[i].msg)
	}
	s.browser.page = nil
}

// pass begins the next pass: with what came since the last one, once it is on disk.
func (c *core) pass(q *backlog, b *browser) {
	b.first, b.last = b.last+1, max(b.last, c.seq[q.account.Shard])
	b.at, b.over, b.ready = place{}, false, false
	c.onDisk(func() {
		b.ready = true
		c.mark(q)
	})
}

// browse shows what b has room for, and sees to it that there is more.
func (c *core) browse(q *backlog, b *browser) {
	for !b.s.ended {
		for len(b.page) > 0 && b.open(c) {
			e := b.page[0]
			b.page = b.page[1:]
			if !e.msg.expired(c.ms) {
				c.exhibit(q, b, &e)
			}
			c.unhold(e.msg)
		}
		switch {
		case len(b.page) > 0 || b.reading || !b.ready:
			return
		case !b.over:
			c.readOn(q, b)
		case b.op.Follow && q.newest > b.last:
			c.pass(q, b)
		case !b.op.Follow && !b.told && b.open(c):
			b.told = true
			c.emit(b.s.conn, Output{Kind: OutputBrowserEnd, Tag: b.s.op.Tag, SubNumber: b.s.number})
			return
		default:
			return
		}
	}
}

// open tells whether something can be shown now.
func (b *browser) open(c *core) bool {
	return !b.s.ended && !b.s.conn.ended && !c.drained && b.s.after <= c.durable && b.s.conn.hasRoom(c)
}

// exhibit shows a message, which stays where it is.
func (c *core) exhibit(q *backlog, b *browser, e *entry) {
	s := b.s
	s.issued++
	size := e.msg.Size()
	c.hold(e.msg)
	s.conn.unwritten.pushBack(unwritten{shown: e.msg, size: size})
	s.conn.unwrittenBytes += size
	c.stats.Browsed++
	c.emit(s.conn, Output{
		Kind: OutputMessage, Message: e.msg, Tag: s.op.Tag, SubNumber: s.number, Number: s.issued, Seq: uint64(e.seq),
		Deliveries: e.deliveries, Redelivered: e.flags&entryRedelivered != 0,
	})
}

// readOn reads the next page of the pass.
func (c *core) readOn(q *backlog, b *browser) {
	if q.accounted() == 0 {
		c.leafed(q, b, nil, place{lane: store.Priorities - 1, seq: math.MaxUint64}, false)
		return
	}
	b.reading = true
	filter := store.RefFilter{MaxLooked: browseLook, RefScan: store.RefScan{
		From:     store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: 9 - b.at.lane, Seq: b.at.seq},
		MaxCount: browsePage, MaxBytes: browseBytes,
	}}
	for i := range filter.Heads {
		filter.Heads[i] = max(q.account.Lanes[i].Head, b.first)
	}
	v := c.view(q, b.program)
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		filter.After = after
		read, next, more, err := v.search(s, filter)
		return func() {
			b.reading = false
			if !b.s.ended {
				to := place{lane: store.Priorities - 1, seq: math.MaxUint64}
				if more {
					to = before(place{lane: 9 - next.Priority, seq: next.Seq})
				}
				c.leafed(q, b, read, to, more)
				c.mark(q)
			}
		}, err
	})
}

// leafed takes in a page of what is stored up to a place, and what lies in memory only between.
func (c *core) leafed(q *backlog, b *browser, read []entry, to place, more bool) {
	from := b.at
	if b.over = !more; more {
		b.at = place{to.lane, to.seq + 1}
		if to.seq >= b.last { // the rest of the lane came later
			to.seq = math.MaxUint64
			b.at = place{lane: to.lane + 1}
			b.over = b.at.lane == store.Priorities
		}
	}
	away := map[store.Seq]bool{}
	for d := q.flight.front; d != nil; d = d.next {
		away[d.e.seq] = true
	}
	for i := range read {
		e := &read[i]
		if e.seq > b.last || away[e.seq] {
			continue
		}
		b.page = append(b.page, *e)
	}
	c.looseBetween(q, b, from, to)
	for i := range b.page {
		c.hold(b.page[i].msg)
	}
}

// looseBetween puts what is in memory only, from a place on to another one, between what was read.
func (c *core) looseBetween(q *backlog, b *browser, from, to place) {
	if q.count == q.stored {
		return
	}
	for lane := from.lane; lane <= to.lane; lane++ {
		r := &q.lanes[lane]
		for i := range r.len() {
			e := r.at(i)
			at := placeOf(e)
			if to.less(at) {
				break
			}
			if !e.stored() && !at.less(from) && e.seq >= b.first && e.seq <= b.last && (b.program == nil || c.matches(q, b.program, e)) {
				b.page = append(b.page, *e)
			}
		}
	}
	slices.SortFunc(b.page, func(x, y entry) int {
		if placeOf(&x).less(placeOf(&y)) {
			return -1
		}
		return 1
	})
}
