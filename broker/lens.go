package broker

import (
	"math"
	"slices"
	"sort"

	"footfall/selector"
	"footfall/store"
)

// lens is what the consumers of a queue see of it that share a selector.
//
// Of all that waits up to the place scanned, each message was looked at once: the places of those that match are in
// found, in order. A place stays in found when another consumer takes its message; whoever comes to it
// sees that it is gone. A message that comes, or comes back, to a place up to scanned is looked at when it comes, one
// behind it when the lens gets there. So a lens passes a million messages that do not match
// once, and what it holds in memory is bounded.
type lens struct {
	program   *selector.Program
	consumers int
	scanned   place
	found     ring[sighting]
	bytes     int64   // size of found
	full      bool    // it came upon one that there was no room for, and nothing has left found since
	search    *search // of what is behind the window, off the loop
}

// sighting is the place of a message that matches.
type sighting struct {
	at     place
	size   int64  // what it adds to memory: behind the window the whole message
	marked uint64 // the batch that says on disk that somebody may have seen it, 0 for none
}

// search is a look behind the window that is under way, and what happened since it was asked for.
type search struct {
	from place // exclusive, as lens.scanned
	// cut, with isCut, is the least place behind from at which a message was stored meanwhile.
	cut     place
	isCut   bool
	removed map[store.Seq]bool
	void    bool // the lens is closed, or went back
}

// glimpse is a message behind the window that lenses found, and how many of them.
type glimpse struct {
	e      entry
	lenses int
}

// sightings bounds lens.found, with half of the octets of the window; it may exceed these by one message.
func (l limits) sightings() int { return min(l.messages, 128) }

// few is from how few sightings on a lens looks for more.
func (l limits) few() int { return max(l.sightings()/4, 1) }

// look bounds the messages behind the window that one search looks at.
func (l limits) look() int { return 2 * l.messages }

// lastPlace is behind all places.
func lastPlace() place { return place{lane: store.Priorities, seq: math.MaxUint64} }

// openLens returns the lens of q for program, which is new when nobody looked through it.
func (q *backlog) openLens(program *selector.Program) *lens {
	for _, l := range q.lenses {
		if l.program == program {
			l.consumers++
			return l
		}
	}
	l := &lens{program: program, consumers: 1}
	q.lenses = append(q.lenses, l)
	q.index.Add(program, l)
	return l
}

// closeLens lets go of what l held when its last consumer is gone.
func (c *core) closeLens(q *backlog, l *lens) {
	if l.consumers--; l.consumers > 0 {
		return
	}
	c.rewind(q, l, place{})
	q.lenses = slices.DeleteFunc(q.lenses, func(o *lens) bool { return o == l })
	q.index.Remove(l.program, l)
}

// rewind has l look again at all behind the place to.
func (c *core) rewind(q *backlog, l *lens, to place) {
	for n := l.found.len(); n > 0 && to.less(l.found.at(n-1).at); n-- {
		c.lose(q, l, l.found.popBack())
	}
	if to.less(l.scanned) {
		l.scanned = to
	}
	if l.search != nil {
		l.search.void = true
		l.search = nil
	}
}

// lose takes a sighting off the accounts of l.
func (c *core) lose(q *backlog, l *lens, s sighting) {
	l.bytes -= s.size
	l.full = false
	if g := q.deep[s.at.seq]; g != nil && s.size > 0 {
		if g.lenses--; g.lenses == 0 {
			c.forgetDeep(q, s.at.seq)
		}
	}
}

// forgetDeep takes a message behind the window out of memory.
func (c *core) forgetDeep(q *backlog, seq store.Seq) {
	if g := q.deep[seq]; g != nil {
		delete(q.deep, seq)
		c.unhold(g.e.msg)
	}
}

// sight enters a message that matches and that l was to look at, or has it looked at later when l has enough.
func (c *core) sight(q *backlog, l *lens, e *entry, marked uint64) {
	at := placeOf(e)
	s := sighting{at: at, marked: marked}
	if !q.covers(at) {
		s.size = e.msg.Size()
	}
	n, i := l.found.len(), l.index(at)
	if i < n && l.found.at(i).at == at { // it came back, or left the window
		c.lose(q, l, l.found.remove(i))
		n--
	}
	full := n >= q.limit.sightings() || n > 0 && l.bytes+s.size > q.limit.bytes/2
	if full && i == n {
		c.rewind(q, l, before(at))
		l.full = true
		return
	}
	if s.size > 0 {
		c.keepDeep(q, e)
	}
	l.bytes += s.size
	l.found.insert(i, s)
	if full {
		c.rewind(q, l, before(l.found.at(n).at))
		l.full = true
	}
}

// keepDeep holds a message behind the window for one lens more.
func (c *core) keepDeep(q *backlog, e *entry) {
	g := q.deep[e.seq]
	if g == nil {
		if q.deep == nil {
			q.deep = map[store.Seq]*glimpse{}
		}
		g = &glimpse{}
		q.deep[e.seq] = g
		c.hold(e.msg)
		c.fill(q)
	}
	g.e = *e
	g.lenses++
}

// before is the place just before p, or before all places of its lane.
func before(p place) place {
	switch {
	case p.seq > 0:
		return place{p.lane, p.seq - 1}
	case p.lane > 0:
		return place{p.lane - 1, math.MaxUint64}
	}
	return place{}
}

// arrived has the lenses of q look at a message that is about to come to its place, or to come back.
func (c *core) arrived(q *backlog, e *entry) {
	if len(q.lenses) == 0 {
		return
	}
	at := placeOf(e)
	for _, l := range q.lenses {
		l.search.stored(at)
	}
	c.seeing.at, c.seeing.lenses = at, c.seeing.lenses[:0]
	c.look(q, e)
	q.index.Match(&c.probe, c.seeing.see)
	var marked uint64
	for _, l := range c.seeing.lenses {
		if marked == 0 && c.unmarked(q, e) && l.hasRoom(c, q) {
			marked = c.markSeen(q, e) // it is likely to be delivered as soon as it is on disk
		}
	}
	for _, l := range c.seeing.lenses {
		c.sight(q, l, e, marked)
	}
}

// seeing collects the lenses that match a message and have looked beyond its place.
type seeing struct {
	at     place
	lenses []*lens
	see    func(*lens)
}

// look makes e what the probe shows to selectors.
func (c *core) look(q *backlog, e *entry) {
	c.probed = properties{m: e.msg, destination: q.dest.text, deliveries: e.deliveries, redelivered: e.flags&entryRedelivered != 0}
	c.probe.Reset(&c.probed)
}

// entryAt returns what waits at a place in memory, nil when there is nothing any more.
func (q *backlog) entryAt(at place) *entry {
	if !q.covers(at) {
		if g := q.deep[at.seq]; g != nil {
			return &g.e
		}
		return nil
	}
	if i := q.find(at); i >= 0 {
		return q.lanes[at.lane].at(i)
	}
	return nil
}

// takeAt takes out what entryAt returned.
func (c *core) takeAt(q *backlog, at place) entry {
	if !q.covers(at) {
		g := q.deep[at.seq]
		delete(q.deep, at.seq)
		return g.e
	}
	return q.takeFrom(int(at.lane), q.find(at))
}

// unmarked tells whether the store does not know yet that somebody may have seen e.
func (c *core) unmarked(q *backlog, e *entry) bool {
	return e.stored() && e.flags&entryShown == 0 && e.seq > q.seen[e.msg.Priority]
}

// markSeen has the store know that somebody may have seen e, by a record of its own: the mark of the lane
// would say so of all before it too. It returns the batch.
func (c *core) markSeen(q *backlog, e *entry) uint64 {
	e.flags |= entryAttempts
	c.batch.PutAttempts(q.key(e), store.Attempts{Deliveries: e.deliveries, Failures: uint32(e.failures), Shown: c.epoch})
	c.touch(q) // has it dispatched when that is on disk
	if at := placeOf(e); !q.covers(at) {
		c.notePageAddition(q, e) // what was read before does not have the record
		for _, l := range q.lenses {
			l.search.stored(at)
		}
	}
	c.urgent = true
	return c.number
}

// left has the lenses keep what leaves the window for the store and that they found.
func (c *core) left(q *backlog, e *entry) {
	for _, l := range q.lenses {
		if s := l.sighting(placeOf(e)); s != nil {
			s.size = e.msg.Size()
			l.bytes += s.size
			c.keepDeep(q, e)
		}
	}
}

// surfaced says that what the lenses kept behind the window is in it now.
func (c *core) surfaced(q *backlog, at place) {
	for _, l := range q.lenses {
		if s := l.sighting(at); s != nil {
			l.bytes -= s.size
			s.size = 0
		}
	}
	c.forgetDeep(q, at.seq)
}

// sighting returns what l found at a place, nil for nothing.
func (l *lens) sighting(at place) *sighting {
	if i := l.index(at); i < l.found.len() && l.found.at(i).at == at {
		return l.found.at(i)
	}
	return nil
}

// index is where in found the place is, or would be.
func (l *lens) index(at place) int {
	return sort.Search(l.found.len(), func(i int) bool { return !l.found.at(i).at.less(at) })
}

// goneBehind tells the lenses that what was behind the window is gone from the store.
func (c *core) goneBehind(q *backlog, at place) {
	for _, l := range q.lenses {
		l.search.gone(at)
	}
	c.forgetDeep(q, at.seq)
}

// stored notes that a message came to a place; a nil search notes nothing.
func (s *search) stored(at place) {
	if s != nil && s.from.less(at) && (!s.isCut || at.less(s.cut)) {
		s.isCut, s.cut = true, at
	}
}

// gone notes that a message is gone from its place.
func (s *search) gone(at place) {
	if s == nil || !s.from.less(at) {
		return
	}
	if s.removed == nil {
		s.removed = map[store.Seq]bool{}
	}
	s.removed[at.seq] = true
}

// blur lets go of what the lenses of q hold behind its window, but for those whose consumers want it now.
func (c *core) blur(q *backlog) {
	for _, l := range q.lenses {
		if l.hasRoom(c, q) {
			continue
		}
		for i := range l.found.len() {
			if f := l.found.at(i); f.size > 0 {
				c.rewind(q, l, before(f.at))
				break
			}
		}
	}
}
