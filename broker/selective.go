package broker

import (
	"footfall/schedule"
	"footfall/selector"
	"footfall/store"
)

// share is dispatch for a queue on which some consumers have selectors: each in its turn gets the first of
// what it wants, and may have for the sake of its group.
func (c *core) share(q *backlog) {
	for {
		s, at := c.nextWanted(q)
		if s == nil {
			break
		}
		e := c.takeAt(q, at)
		if s.lens != nil {
			c.lose(q, s.lens, s.lens.found.remove(s.lens.index(at)))
			e.flags |= entryShown
		}
		c.deliver(q, s, e, c.assign(q, e.msg, s))
	}
	for _, l := range q.lenses {
		if l.found.len() < q.limit.few() && !l.full && l.hasRoom(c, q) {
			c.lookOn(q, l)
		}
	}
}

// nextWanted returns the consumer whose turn it is among those with room for which there is a message, and its place.
func (c *core) nextWanted(q *backlog) (*consumer, place) {
	n, begin := len(q.consumers), q.begin()
	for i := range n {
		at := begin + i
		if at >= n {
			at -= n
		}
		s := q.consumers[at]
		if !s.open(c) {
			continue
		}
		wanted, ok := place{}, false
		if s.lens != nil {
			wanted, ok = c.nextSighted(q, s)
		} else {
			wanted, ok = c.nextOfAll(q, s)
		}
		if ok {
			q.turn = at
			return s, wanted
		}
	}
	return nil, place{}
}

// nextOfAll returns the place of the first message that s, which wants all, may have, if it can be shown.
func (c *core) nextOfAll(q *backlog, s *consumer) (place, bool) {
	for lane := range q.lanes {
		r := &q.lanes[lane]
		for i := 0; i < r.len(); {
			e := r.at(i)
			switch {
			case c.isDead(q, e):
				dead := q.takeFrom(lane, i)
				c.drop(q, &dead)
			case !c.groupAllows(q, e.msg, s):
				i++
			default:
				return placeOf(e), !e.stored() || c.showable(q, e)
			}
		}
	}
	return place{}, false
}

// nextSighted is the same for a consumer with a selector.
func (c *core) nextSighted(q *backlog, s *consumer) (place, bool) {
	l := s.lens
	if l.found.len() == 0 {
		c.lookOn(q, l)
	}
	for i := 0; i < l.found.len(); {
		at := l.found.at(i).at
		e := q.entryAt(at)
		switch {
		case e == nil:
			if c.lose(q, l, l.found.remove(i)); l.found.len() == 0 {
				c.lookOn(q, l)
			}
		case c.isDead(q, e):
			dead := c.takeAt(q, at)
			c.drop(q, &dead)
		case !c.groupAllows(q, e.msg, s):
			i++
		default:
			return at, !e.stored() || c.sightShowable(q, s, e, i)
		}
	}
	return place{}, false
}

// groupAllows tells whether s may have a message for the sake of its group: it is of none, s is its consumer, or that one is gone,
// stuck, or does not want it, and has nothing of the group.
func (c *core) groupAllows(q *backlog, m *Message, s *consumer) bool {
	g := q.groups[m.Group]
	switch {
	case m.Group == "" || g == nil || g.owner == s:
		return true
	case g.flight > 0:
		return false
	case g.owner.ended:
		return true
	case g.owner.lens != nil && !c.matches(q, g.owner.program, &entry{msg: m}):
		return true
	case g.owner.open(c):
		return false // it gets it in its turn
	}
	patience := g.owner.moved.Add(c.opt.GroupPatience)
	if !c.now.Before(patience) {
		return true
	}
	c.regroup(q, patience)
	return false
}

// matches tells whether a selector wants e.
func (c *core) matches(q *backlog, p *selector.Program, e *entry) bool {
	c.look(q, e)
	return p.Match(&c.probe)
}

// sightShowable is showable for what a lens found.
func (c *core) sightShowable(q *backlog, s *consumer, e *entry, at int) bool {
	if e.seq > c.synced[q.dest.shard] {
		return false
	}
	l := s.lens
	if f := l.found.at(at); !c.unmarked(q, e) || f.marked != 0 && f.marked <= c.durable {
		return true
	} else if f.marked != 0 {
		return false
	}
	// One batch for all that s has room for.
	for i := range min(s.room(), l.found.len()-at) {
		f := l.found.at(at + i)
		if e := q.entryAt(f.at); f.marked == 0 && e != nil && c.unmarked(q, e) && e.seq <= c.synced[q.dest.shard] {
			f.marked = c.markSeen(q, e)
		}
	}
	return false
}

// hasRoom tells whether some consumer that looks through l could be given a message.
func (l *lens) hasRoom(c *core, q *backlog) bool {
	for _, s := range q.consumers {
		if s.lens == l && s.open(c) {
			return true
		}
	}
	return false
}

// lookOn has l find more: in the window at once, behind it off the loop.
func (c *core) lookOn(q *backlog, l *lens) {
	if l.search != nil {
		return
	}
	for lane := l.scanned.lane; lane < store.Priorities; lane++ {
		r := &q.lanes[lane]
		from := store.Seq(0)
		if lane == l.scanned.lane {
			from = l.scanned.seq
		}
		for i := q.after(lane, from); i < r.len(); i++ {
			if l.found.len() >= q.limit.few() {
				return
			}
			e := r.at(i)
			l.scanned = placeOf(e)
			if c.matches(q, l.program, e) {
				if c.sight(q, l, e, 0); l.scanned.less(placeOf(e)) {
					return // there is no room for it
				}
			}
		}
	}
	if q.whole {
		l.scanned = lastPlace()
		return
	}
	if l.scanned.less(q.edge) {
		l.scanned = q.edge
	}
	if l.scanned != lastPlace() {
		c.searchBehind(q, l)
	}
}

// searchBehind has the store searched for what l wants behind the window.
func (c *core) searchBehind(q *backlog, l *lens) {
	under := &search{from: l.scanned}
	l.search = under
	filter := store.RefFilter{MaxLooked: q.limit.look()}
	filter.From = store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: 9 - l.scanned.lane, Seq: l.scanned.seq + 1}
	filter.MaxCount, filter.MaxBytes = q.limit.sightings()-l.found.len(), int(max(q.limit.bytes/2-l.bytes, 1))
	for i := range filter.Heads {
		filter.Heads[i] = q.account.Lanes[i].Head
	}
	v := c.view(q, l.program)
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		filter.After = after
		found, next, more, err := v.search(s, filter)
		return func() {
			c.stats.Searches++
			c.stats.Searched += v.looked
			c.searched(q, l, under, found, next, more)
		}, err
	})
}

// searched takes in what was found behind the window, and what happened since it was searched for.
func (c *core) searched(q *backlog, l *lens, under *search, found []entry, next store.RefKey, more bool) {
	if under.void {
		return
	}
	l.search = nil
	c.mark(q)
	to := lastPlace()
	if more {
		to = before(place{lane: 9 - next.Priority, seq: next.Seq})
	}
	if under.isCut && !to.less(under.cut) {
		to = before(under.cut)
	}
	l.scanned = to
	away := q.away(under.from)
	for i := range found {
		e := &found[i]
		at := placeOf(e)
		if l.scanned.less(at) {
			return // looked at later
		}
		if under.removed[e.seq] || away[e.seq] {
			continue
		}
		if here := q.entryAt(at); here != nil {
			e = here // what is in memory knows more
		} else if q.covers(at) {
			continue // somebody took it out of the window
		}
		c.sight(q, l, e, 0)
	}
}

// away is what consumers have of q behind a place.
func (q *backlog) away(from place) map[store.Seq]bool {
	var away map[store.Seq]bool
	for d := q.flight.front; d != nil; d = d.next {
		if from.less(placeOf(&d.e)) {
			if away == nil {
				away = map[store.Seq]bool{}
			}
			away[d.e.seq] = true
		}
	}
	return away
}

// view is a selector's look at stored messages, off the loop. Without a program it sees all.
type view struct {
	program     *selector.Program
	destination string
	before      [store.Priorities]store.Seq // backlog.before
	zones       *schedule.Zones
	epoch       uint32
	looked      uint64 // messages
}

func (c *core) view(q *backlog, program *selector.Program) view {
	return view{program: program, destination: q.dest.text, before: q.before, zones: c.zones, epoch: c.epoch}
}

// search reads what matches.
func (v *view) search(s Store, filter store.RefFilter) ([]entry, store.RefKey, bool, error) {
	var m selector.Message
	filter.Want = func(at store.RefKey, head, body []byte, a store.Attempts) (bool, error) {
		v.looked++
		if v.program == nil {
			return true, nil
		}
		ref := store.Ref{Key: at, Head: head, Body: body, Attempts: a}
		e, err := v.entry(&ref)
		if err != nil {
			return false, err
		}
		m.Reset(&properties{m: e.msg, destination: v.destination, deliveries: e.deliveries, redelivered: e.flags&entryRedelivered != 0})
		return v.program.Match(&m), nil
	}
	refs, next, more, err := s.FilterRefs(filter)
	m.Reset(nil) // the last of it is the store's
	if err != nil {
		return nil, next, false, err
	}
	found := make([]entry, len(refs))
	for i := range refs {
		if found[i], err = v.entry(&refs[i]); err != nil {
			return nil, next, false, err
		}
	}
	return found, next, more, nil
}

func (v *view) entry(r *store.Ref) (entry, error) {
	e, err := readEntry(r, v.zones, v.epoch)
	if err == nil {
		e.revive(&v.before)
	}
	return e, err
}
