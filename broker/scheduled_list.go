package broker

import (
	"cmp"
	"errors"
	"slices"

	"footfall/schedule"
	"footfall/store"
)

// A page ends when it has so many octets of headers and bodies, or when so many messages were looked at.
const (
	scheduledBytes = 4 << 20
	scheduledLooks = 100_000
)

// waiting is a message as it waited at some moment.
type waiting struct {
	at     store.DueKey
	to     Address
	target store.DestinationID
	m      *Message // a copy, its body maybe the beginning only
	body   int64    // octets of all of the body
}

// scheduledPage is what a listing found.
type scheduledPage struct {
	found []waiting
	next  string
}

// listing is a page that is being put together: what is in memory first, then a merge of the shards in the store, step by step.
type listing struct {
	q      ScheduledQuery
	from   store.DueKey
	until  int64
	dest   *destination
	loose  []waiting
	found  []waiting // of the store
	bytes  int
	looked int
	answer func(scheduledPage)
}

func newListing(q ScheduledQuery) (*listing, error) {
	l := &listing{q: q, until: q.Until}
	if q.Until == 0 {
		l.until = schedule.MaxInstant
	}
	l.q.Limit = cmp.Or(q.Limit, 100)
	switch {
	case l.q.Limit < 1 || l.q.Limit > MaxScheduled:
		return nil, &Error{Kind: KindInvalid, Message: "a page of the schedule has 1 to 1000 messages"}
	case q.BodyBytes < 0 || q.BodyBytes > MaxScheduledBody:
		return nil, &Error{Kind: KindInvalid, Message: "a page of the schedule shows 0 to 65536 octets of each body"}
	case q.From > l.until:
		return nil, &Error{Kind: KindInvalid, Message: "the first time of the schedule is after the last"}
	}
	l.from.At = max(q.From, 0)
	if q.After != "" {
		from, ok := waitingPlace(q.After)
		if !ok {
			return nil, &Error{Kind: KindInvalid, Message: "no page of the schedule ended at " + quote(q.After)}
		}
		if from.At >= l.from.At {
			l.from = from
		}
	}
	return l, nil
}

func (l *listing) begin(c *core, answer func(scheduledPage)) {
	l.answer = answer
	if l.q.Destination != nil {
		if l.dest = c.dests[*l.q.Destination]; l.dest == nil || !l.dest.kept {
			answer(scheduledPage{})
			return
		}
	}
	if l.q.ID != "" {
		c.lookUp(c.findID(l.q.ID, func() { l.read(c, l.located(c)) }))
		return
	}
	l.loose = c.looseFrom(l)
	l.step(c)
}

// wants tells whether something is part of the list, but for its id.
func (l *listing) wants(at store.DueKey, d *destination) bool {
	return at.Compare(l.from) >= 0 && at.At <= l.until && (l.dest == nil || l.dest == d)
}

// step looks at some of what is in the store.
func (l *listing) step(c *core) {
	q := store.DueList{From: l.from, Until: l.until, MaxCount: 4096, MaxBytes: 4 << 20}
	if l.dest != nil {
		q.OneShard = true
		if q.From.Shard != l.dest.shard {
			q.From = inShard(q.From, l.dest.shard)
		}
	}
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		q.After = after
		var bad error
		next, more, err := s.ListDue(q, func(e *store.DueEntry) bool {
			l.looked++
			var wanted bool
			wanted, bad = l.take(e, c.zones)
			return wanted && bad == nil
		})
		if err = errors.Join(err, bad); err != nil {
			return nil, err
		}
		return func() {
			if more && !l.full() && l.looked < scheduledLooks {
				l.from = next
				l.step(c)
				return
			}
			l.finish(c, next, more)
		}, nil
	})
}

// inShard is the first place of a shard that is not before another one.
func inShard(k store.DueKey, s store.Shard) store.DueKey {
	from := store.DueKey{Shard: s, At: k.At}
	if s < k.Shard {
		from.At++
	}
	return from
}

func (l *listing) full() bool { return len(l.found) >= l.q.Limit || l.bytes >= scheduledBytes }

// take takes in one message of the store; false: it does not fit into the page.
func (l *listing) take(e *store.DueEntry, zones *schedule.Zones) (bool, error) {
	if l.full() {
		return false, nil
	}
	head := slices.Clone(e.Head)
	m, target, err := decodeRecord(head, nil, e.Blob, zones)
	if err != nil || m.back != nil || l.dest != nil && target != l.dest.id {
		return err == nil, err
	}
	if l.q.BodyBytes > 0 {
		m.Body = e.Body(l.q.BodyBytes)
	}
	l.found = append(l.found, waiting{at: e.Key, target: target, m: m, body: int64(e.Bytes) - int64(len(head))})
	l.bytes += len(head) + len(m.Body)
	return true, nil
}

// finish puts what is in memory in between, and cuts the page where it ends.
func (l *listing) finish(c *core, next store.DueKey, more bool) {
	var p scheduledPage
	for _, w := range l.found {
		if d := c.byID[destinationKey{w.at.Shard, w.target}]; d != nil && !d.doomed {
			w.to = d.addr
			p.found = append(p.found, w)
		}
	}
	for _, w := range l.loose {
		if !more || w.at.Compare(next) < 0 {
			p.found = append(p.found, w)
		}
	}
	slices.SortFunc(p.found, func(a, b waiting) int { return a.at.Compare(b.at) })
	if n := l.fit(p.found); n < len(p.found) {
		next, more = p.found[n].at, true
		p.found = p.found[:n]
	}
	if more {
		p.next = placeID(next)
	}
	l.answer(p)
}

// fit tells how many of a list fit into the page.
func (l *listing) fit(list []waiting) int {
	octets := 0
	for i, w := range list {
		if i == l.q.Limit || octets >= scheduledBytes {
			return i
		}
		octets += len(w.m.Header.Raw) + len(w.m.Body)
	}
	return len(list)
}

// copyOf makes of t what may be shown outside of the loop.
func copyOf(t *timed, body int) waiting {
	m := *t.m
	m.Body = m.Body[:min(body, len(m.Body))]
	return waiting{at: t.key(), to: t.dest.addr, m: &m, body: int64(len(t.m.Body))}
}

// looseFrom lists what waits in memory only and belongs into a list: the earliest, one more than there may be on its page.
func (c *core) looseFrom(l *listing) (list []waiting) {
	if len(c.loose) == 0 {
		return nil
	}
	most := l.q.Limit + 1
	var found []*timed
	byPlace := func(a, b *timed) int { return a.key().Compare(b.key()) }
	last := store.DueKey{Shard: store.Shards, At: l.until}
	for s := range c.agendas {
		if l.dest != nil && int(l.dest.shard) != s {
			continue
		}
		c.agendas[s].heap.visit(0, func(t *timed) bool {
			if t.key().Compare(last) > 0 {
				return false
			}
			if t.stored || t.m.back != nil || !l.wants(t.key(), t.dest) {
				return true
			}
			if found = append(found, t); len(found) >= 2*most {
				slices.SortFunc(found, byPlace)
				found = found[:most]
				last = found[most-1].key()
			}
			return true
		})
	}
	slices.SortFunc(found, byPlace)
	for _, t := range found[:min(most, len(found))] {
		list = append(list, copyOf(t, l.q.BodyBytes))
	}
	return list
}

// visit shows f the items from the i-th on down, and leaves out what is below one of which f says no.
func (h timedHeap) visit(i int, f func(*timed) bool) {
	if i < len(h) && f(h[i]) {
		h.visit(2*i+1, f)
		h.visit(2*i+2, f)
	}
}

// located is where the search for an id came upon what is part of the list, in its order.
func (l *listing) located(c *core) (list []found) {
	for _, f := range c.hits {
		if f, waits := c.whereNow(f); waits && l.wants(f.key(), f.dest) {
			list = append(list, f)
		}
	}
	for _, t := range c.loose[l.q.ID] {
		if l.wants(t.key(), t.dest) {
			list = append(list, found{dest: t.dest, due: t.due})
		}
	}
	slices.SortFunc(list, func(a, b found) int { return a.key().Compare(b.key()) })
	return list
}

// read looks at what was located, one after the other.
func (l *listing) read(c *core, list []found) {
	if len(list) == 0 || l.full() {
		var p scheduledPage
		p.found = l.found
		if len(list) > 0 {
			p.next = placeID(list[0].key())
		}
		l.answer(p)
		return
	}
	c.reach(list[0], l.q.BodyBytes > 0, func(t *timed, octets uint64) {
		if t != nil {
			w := copyOf(t, l.q.BodyBytes)
			w.body = int64(octets) - int64(t.m.head)
			l.found = append(l.found, w)
			l.bytes += len(t.m.Header.Raw) + len(w.m.Body)
		}
		l.read(c, list[1:])
	})
}
