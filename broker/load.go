package broker

import (
	"math"
	"sync"

	"footfall/schedule"
	"footfall/store"
)

// load is something to be read of the store, off the loop. What it returns is run by the loop.
type load func(s Store, after uint64) (then func(), err error)

// refill asks for the next page of q when its window runs low.
func (c *core) refill(q *backlog) {
	if q.plain() == 0 || q.sharers == len(q.consumers) && !q.hasOpen(c) {
		return // those that share a window come back when it has room: they may have very many backlogs
	}
	c.readAhead(q)
}

// readAhead is refill whether there are consumers or not.
func (c *core) readAhead(q *backlog) {
	if q.whole || q.page != nil || q.count > q.limit.messages/2 || q.count > 0 && q.bytes > q.limit.bytes/2 {
		return
	}
	if c.mustThirst(q) {
		return
	}
	from := q.start()
	q.page = &page{from: from}
	scan := store.RefScan{
		From:     store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: 9 - from.lane, Seq: from.seq},
		MaxCount: q.limit.messages - q.count,
		MaxBytes: int(max(1, q.limit.bytes-q.bytes)),
	}
	for i := range scan.Heads {
		scan.Heads[i] = q.account.Lanes[i].Head
	}
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		scan.After = after
		read, more, err := readRefs(s, scan, c.zones, c.epoch)
		return func() { c.loaded(q, read, more) }, err
	})
}

// notePageAddition tells a page under way of a stored message behind the window.
func (c *core) notePageAddition(q *backlog, e *entry) {
	p := q.page
	if p == nil {
		return
	}
	delete(p.removed, e.seq)
	if len(p.added) < maxAdded && p.bytes < q.limit.bytes {
		p.added = append(p.added, *e)
		p.bytes += e.msg.Size()
		return
	}
	if at := placeOf(e); !p.isCut || at.less(p.cut) {
		p.isCut, p.cut = true, at
	}
}

// notePageRemoval tells it of one that is gone.
func (c *core) notePageRemoval(q *backlog, e *entry) {
	if p := q.page; p != nil && !placeOf(e).less(p.from) {
		p.remove(e.seq)
	}
	for _, l := range q.lenses {
		l.search.gone(placeOf(e))
	}
}

func (p *page) remove(seq store.Seq) {
	if p.removed == nil {
		p.removed = map[store.Seq]bool{}
	}
	p.removed[seq] = true
}

// loaded takes in a page: what was read, and what happened since it was asked for.
func (c *core) loaded(q *backlog, read []entry, more bool) {
	p := q.page
	q.page = nil
	c.mark(q)
	if p.void || c.mustThirst(q) {
		return // it does not join the window any more, or there is no room for it; dispatch asks again
	}
	known := p.removed
	if known == nil {
		known = map[store.Seq]bool{}
	}
	for d := q.flight.front; d != nil; d = d.next {
		if !placeOf(&d.e).less(p.from) {
			known[d.e.seq] = true
		}
	}
	q.whole = !more
	if more {
		q.edge = placeOf(&read[len(read)-1])
	}
	if p.isCut && q.covers(p.cut) {
		q.whole, q.edge = false, place{p.cut.lane, p.cut.seq - 1}
	}
	take := func(e entry) {
		if known[e.seq] || !q.covers(placeOf(&e)) {
			return
		}
		g := q.deep[e.seq]
		if g != nil {
			e = g.e // it may be marked since
		}
		c.hold(e.msg)
		q.put(e)
		c.fill(q)
		if g != nil {
			c.surfaced(q, placeOf(&e))
		}
	}
	for i := len(p.added) - 1; i >= 0; i-- { // what came last is how it is now
		take(p.added[i])
		known[p.added[i].seq] = true
	}
	for i := range read {
		read[i].revive(&q.before)
		take(read[i])
	}
	c.swells(q)
}

// revive marks a message that may have been with a consumer before the last start, by the marks of then.
func (e *entry) revive(before *[store.Priorities]store.Seq) {
	if e.flags&entryAttempts == 0 && e.seq <= before[e.msg.Priority] {
		e.flags |= entryRedelivered
		e.deliveries = 1
	}
}

// loader reads pages off the loop.
type loader struct {
	mu    sync.Mutex
	ready sync.Cond
	queue []func()
	ended bool
	wg    sync.WaitGroup
}

func newLoader(workers int) *loader {
	l := &loader{}
	l.ready.L = &l.mu
	for range workers {
		l.wg.Go(l.work)
	}
	return l
}

// add has f run by a worker. It does not wait; there is at most one page under way for each backlog.
func (l *loader) add(f func()) {
	l.mu.Lock()
	l.queue = append(l.queue, f)
	l.mu.Unlock()
	l.ready.Signal()
}

func (l *loader) work() {
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.ended {
			l.ready.Wait()
		}
		if l.ended {
			l.mu.Unlock()
			return
		}
		f := l.queue[0]
		l.queue = l.queue[1:]
		l.mu.Unlock()
		f()
	}
}

func (l *loader) close() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.ready.Broadcast()
	l.wg.Wait()
}

// readRefs reads a page of a backlog.
func readRefs(s Store, scan store.RefScan, zones *schedule.Zones, epoch uint32) ([]entry, bool, error) {
	refs, more, err := s.ScanRefs(scan)
	if err != nil {
		return nil, false, err
	}
	entries := make([]entry, len(refs))
	for i := range refs {
		if entries[i], err = readEntry(&refs[i], zones, epoch); err != nil {
			return nil, false, err
		}
	}
	return entries, more, nil
}

// readEntry makes an entry of what was read of a backlog in an epoch. It keeps the octets.
func readEntry(r *store.Ref, zones *schedule.Zones, epoch uint32) (entry, error) {
	m, _, err := decodeRecord(r.Head, r.Body, r.Blob, zones)
	if err != nil {
		return entry{}, err
	}
	m.Priority = r.Key.Priority
	m.owner = r.Owner
	e := entry{msg: m, seq: r.Key.Seq, flags: entryStored}
	a := r.Attempts
	if a == (store.Attempts{}) {
		return e, nil
	}
	e.flags |= entryAttempts
	e.deliveries = a.Deliveries
	e.failures = uint16(min(a.Failures, math.MaxUint16))
	if a.Shown != 0 && a.Shown < epoch {
		e.deliveries++ // before the last start it may have been with a consumer
	}
	if e.deliveries > 0 {
		e.flags |= entryRedelivered | entryShown
	}
	return e, nil
}

// waitingMessage is what was read of an agenda.
type waitingMessage struct {
	due    dueTime
	m      *Message
	target store.DestinationID
}

// readDues reads a page of an agenda.
func readDues(s Store, scan store.DueScan, zones *schedule.Zones) ([]waitingMessage, bool, error) {
	dues, more, err := s.ScanDue(scan)
	if err != nil {
		return nil, false, err
	}
	read := make([]waitingMessage, len(dues))
	for i := range dues {
		d := &dues[i]
		m, target, err := decodeRecord(d.Head, d.Body, d.Blob, zones)
		if err != nil {
			return nil, false, err
		}
		read[i] = waitingMessage{dueTime{d.Key.At, d.Key.Seq}, m, target}
	}
	return read, more, nil
}
