package broker

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"footfall/store"
)

// agenda is what waits for its time in one shard. Like a backlog it is a window:
// all that is due up to edge is in memory, the rest in the store only.
type agenda struct {
	heap    dueHeap
	bytes   int64
	whole   bool
	edge    dueTime
	page    *duePage
	account store.Schedule
	touched bool
}

// dueTime orders what waits: by time, then in the order it was sent.
type dueTime struct {
	at  int64
	seq store.Seq
}

func (t dueTime) compare(o dueTime) int {
	return cmp.Or(cmp.Compare(t.at, o.at), cmp.Compare(t.seq, o.seq))
}

type dueItem struct {
	due  dueTime
	dest *destination
	m    *Message
}

// duePage is a scan that is under way.
type duePage struct {
	added []dueItem
	bytes int64
	cut   dueTime
	isCut bool
}

// memoryAgenda is what waits for its time and is not persistent.
type memoryAgenda struct{ heap dueHeap }

// An agenda keeps at least half of this in memory, if there is as much.
const (
	agendaItems = 2048
	agendaBytes = 1 << 20
)

// fireBatch bounds what takes its place in one round, so that live traffic goes on.
const fireBatch = 1000

// schedule has m wait for its time.
func (c *core) schedule(d *destination, m *Message) {
	if m.ScheduledID == "" {
		m.ScheduledID = m.ID.String()
	}
	item := dueItem{dueTime{m.DeliverAt, store.Seq(m.ID.Seq)}, d, m}
	if !m.Persistent {
		c.hold(m)
		heap.Push(&c.loose.heap, item)
		return
	}
	c.keep(d)
	a := &c.agendas[d.shard]
	a.account.Shard = d.shard
	c.scratch = appendHead(c.scratch[:0], m, d.id)
	m.head = uint32(len(c.scratch))
	m.blob = c.batch.PutDue(item.key(d.shard), c.scratch, m.Body)
	c.put |= 1 << d.shard
	a.account.Count++
	a.account.Bytes += m.octets()
	a.touched = true
	switch {
	case a.whole || item.due.compare(a.edge) <= 0:
		c.hold(m)
		a.push(item)
		c.trimAgenda(a)
	case a.page != nil:
		a.page.add(item)
	}
}

func (i *dueItem) key(shard store.Shard) store.DueKey {
	return store.DueKey{Shard: shard, At: i.due.at, Seq: i.due.seq}
}

func (a *agenda) push(i dueItem) {
	heap.Push(&a.heap, i)
	a.bytes += i.m.Size()
}

func (a *agenda) pop() dueItem {
	i := heap.Pop(&a.heap).(dueItem)
	a.bytes -= i.m.Size()
	return i
}

// trimAgenda drops the later half of a window that grew beyond its size.
func (c *core) trimAgenda(a *agenda) {
	if len(a.heap) <= agendaItems && (a.bytes <= agendaBytes || len(a.heap) < 2) {
		return
	}
	slices.SortFunc(a.heap, func(x, y dueItem) int { return x.due.compare(y.due) })
	half := len(a.heap) / 2
	for _, i := range a.heap[half:] {
		a.bytes -= i.m.Size()
		c.unhold(i.m)
	}
	clear(a.heap[half:])
	a.heap = a.heap[:half] // sorted, so it is a heap
	a.whole, a.edge = false, a.heap[half-1].due
	if a.page != nil {
		a.page.isCut, a.page.cut = true, dueTime{}
	}
}

func (p *duePage) add(i dueItem) {
	if len(p.added) < maxAdded && p.bytes < agendaBytes {
		p.added = append(p.added, i)
		p.bytes += i.m.Size()
		return
	}
	if !p.isCut || i.due.compare(p.cut) < 0 {
		p.isCut, p.cut = true, i.due
	}
}

// fire gives what is due its place.
func (c *core) fire() {
	budget := fireBatch
	for s := range c.agendas {
		a := &c.agendas[s]
		for budget > 0 && len(a.heap) > 0 && a.heap[0].due.at <= c.ms && a.heap[0].due.seq <= c.synced[s] {
			i := a.pop()
			budget--
			a.account.Count--
			a.account.Bytes -= i.m.octets()
			a.touched = true
			c.batch.DropDue(i.key(store.Shard(s)), i.m.blob, i.dest.addr.Kind == Queue)
			c.takePlace(i)
		}
		if !a.whole && a.page == nil && len(a.heap) < agendaItems/4 {
			a.page = &duePage{}
			c.loads = append(c.loads, load{agenda: a, shard: store.Shard(s)})
		}
	}
	for h := &c.loose.heap; budget > 0 && len(*h) > 0 && (*h)[0].due.at <= c.ms; budget-- {
		c.takePlace(heap.Pop(h).(dueItem))
	}
}

// takePlace gives a message whose time has come its place behind what is there.
func (c *core) takePlace(i dueItem) {
	c.stats.Fired++
	if i.dest.addr.Kind == Topic {
		c.publish(c.dests[i.dest.addr], i.m)
	} else {
		c.enqueue(i.dest.queue, i.m, c.next(i.dest.shard))
	}
	c.unhold(i.m)
}

// nextDue returns the earliest time at which fire has something to do, in
// milliseconds since the epoch. What is not on disk yet is looked at when it is.
func (c *core) nextDue() (int64, bool) {
	var least int64
	found := false
	consider := func(at int64) {
		if !found || at < least {
			least, found = at, true
		}
	}
	for s := range c.agendas {
		if h := c.agendas[s].heap; len(h) > 0 && h[0].due.seq <= c.synced[s] {
			consider(h[0].due.at)
		}
	}
	if h := c.loose.heap; len(h) > 0 {
		consider(h[0].due.at)
	}
	return least, found
}

// dueItems finds the destinations of what was read.
func (c *core) dueItems(shard store.Shard, read []waitingMessage) ([]dueItem, error) {
	items := make([]dueItem, len(read))
	for i, w := range read {
		d := c.byID[destinationKey{shard, w.target}]
		if d == nil {
			return nil, fmt.Errorf("%w: message %v waits for a destination that does not exist", errRecord, w.m.ID)
		}
		items[i] = dueItem{w.due, d, w.m}
	}
	return items, nil
}

// dueLoaded takes in a page of the agenda.
func (c *core) dueLoaded(a *agenda, items []dueItem, more bool) {
	p := a.page
	a.page = nil
	if p.isCut && p.cut == (dueTime{}) {
		return // the window was cut meanwhile, so this page does not join it; fire asks again
	}
	a.whole = !more
	if more {
		a.edge = items[len(items)-1].due
	}
	if p.isCut && (a.whole || p.cut.compare(a.edge) <= 0) {
		a.whole, a.edge = false, dueTime{p.cut.at, p.cut.seq - 1}
	}
	seen := make(map[store.Seq]bool, len(p.added))
	take := func(i dueItem) {
		if !seen[i.due.seq] && (a.whole || i.due.compare(a.edge) <= 0) {
			c.hold(i.m)
			a.push(i)
		}
	}
	for _, i := range p.added {
		take(i)
		seen[i.due.seq] = true
	}
	for _, i := range items {
		take(i)
	}
}

type dueHeap []dueItem

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due.compare(h[j].due) < 0 }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)        { *h = append(*h, x.(dueItem)) }
func (h *dueHeap) Pop() any {
	old := *h
	i := old[len(old)-1]
	old[len(old)-1] = dueItem{}
	*h = old[:len(old)-1]
	return i
}
