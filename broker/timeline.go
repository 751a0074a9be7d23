package broker

import (
	"cmp"
	"container/heap"
	"slices"

	"footfall/store"
)

// dueTime orders what has a time: by the time, then in the order in which it came.
type dueTime struct {
	at  int64
	seq store.Seq
}

func (t dueTime) compare(o dueTime) int {
	return cmp.Or(cmp.Compare(t.at, o.at), cmp.Compare(t.seq, o.seq))
}

// timed is something that has a time: a message that waits for it, or one that expires then.
type timed struct {
	due    dueTime
	stored bool
	index  int // in its timeline's heap

	// A message that waits:
	dest *destination
	m    *Message

	// A message that expires:
	q        *backlog
	priority uint8
	blob     store.Blob
	octets   uint64
	owner    store.Seq
}

func (t *timed) size() int64 {
	if t.m != nil {
		return t.m.Size()
	}
	return overhead
}

// timeline is what has a time in one shard. Like a backlog it is a window: all that is stored and due up to edge
// is in memory, the rest in the store only. What is not stored is in memory always.
type timeline struct {
	heap  timedHeap
	bySeq map[store.Seq]*timed
	count int   // in the heap and stored
	bytes int64 // of these

	// whole says that nothing lies behind the window, else edge is its last time.
	whole bool
	edge  dueTime
	page  *timePage // being loaded
}

// timePage is a scan that is under way, and what happened since it was asked for.
type timePage struct {
	added   []*timed
	bytes   int64
	removed map[store.Seq]bool
	// cut, with isCut, is the least time that did not fit into added.
	cut   dueTime
	isCut bool
	void  bool // the window lost its end meanwhile
}

// A timeline keeps at least half of this in memory, if there is as much.
const (
	timelineItems = 2048
	timelineBytes = 1 << 20
)

func (l *timeline) covers(t dueTime) bool { return l.whole || t.compare(l.edge) <= 0 }

// first returns the earliest item, if there is none earlier behind the edge.
func (l *timeline) first() *timed {
	if len(l.heap) == 0 || !l.covers(l.heap[0].due) {
		return nil
	}
	return l.heap[0]
}

// add takes a new item in. It returns what left the window for that, and whether the item itself is in memory.
func (l *timeline) add(t *timed) (dropped []*timed, kept bool) {
	switch {
	case !t.stored || l.covers(t.due):
		l.push(t)
		return l.trim(), true
	case l.page != nil:
		l.page.add(t)
	}
	return nil, false
}

func (l *timeline) push(t *timed) {
	heap.Push(&l.heap, t)
	if l.bySeq == nil {
		l.bySeq = map[store.Seq]*timed{}
	}
	l.bySeq[t.due.seq] = t
	if t.stored {
		l.count++
		l.bytes += t.size()
	}
}

// remove takes an item out of the window.
func (l *timeline) remove(t *timed) {
	heap.Remove(&l.heap, t.index)
	l.left(t)
}

func (l *timeline) left(t *timed) {
	delete(l.bySeq, t.due.seq)
	if t.stored {
		l.count--
		l.bytes -= t.size()
	}
}

// gone tells a page under way that a stored item is no more.
func (l *timeline) gone(seq store.Seq) {
	if p := l.page; p != nil {
		if p.removed == nil {
			p.removed = map[store.Seq]bool{}
		}
		p.removed[seq] = true
	}
}

// trim drops the later half of a window that grew beyond its size, but for what is only in memory.
func (l *timeline) trim() (dropped []*timed) {
	if l.count <= timelineItems && (l.bytes <= timelineBytes || l.count < 2) {
		return nil
	}
	slices.SortFunc(l.heap, func(a, b *timed) int { return a.due.compare(b.due) })
	keep, half := l.heap[:0], l.count/2
	for _, t := range l.heap {
		switch {
		case !t.stored:
			keep = append(keep, t)
		case half > 0:
			half--
			keep = append(keep, t)
			l.edge = t.due
		default:
			l.left(t)
			dropped = append(dropped, t)
		}
	}
	clear(l.heap[len(keep):])
	l.heap = keep // sorted, so it is a heap
	for i, t := range l.heap {
		t.index = i
	}
	l.whole = false
	if l.page != nil {
		l.page.void = true
	}
	return dropped
}

// lost tells whether what was read of an item is of no meaning any more.
func (p *timePage) lost(seq store.Seq) bool { return p.void || p.removed[seq] }

func (p *timePage) add(t *timed) {
	delete(p.removed, t.due.seq) // it may have been there before, as what returns to its place
	if len(p.added) < maxAdded && p.bytes < timelineBytes {
		p.added = append(p.added, t)
		p.bytes += t.size()
		return
	}
	if !p.isCut || t.due.compare(p.cut) < 0 {
		p.isCut, p.cut = true, t.due
	}
}

// low tells whether the next page is due to be asked for, and begins it.
func (l *timeline) low() bool {
	if l.whole || l.page != nil || l.count >= timelineItems/4 {
		return false
	}
	l.page = &timePage{}
	return true
}

// loaded takes in a page that was read, and returns what of it is in memory now. Items came in order.
func (l *timeline) loaded(items []*timed, more bool) (kept []*timed) {
	p := l.page
	l.page = nil
	if p.void {
		return nil // it does not join the window any more, and is asked for again
	}
	l.whole = !more
	if more {
		l.edge = items[len(items)-1].due
	}
	if p.isCut && l.covers(p.cut) {
		l.whole, l.edge = false, dueTime{p.cut.at, p.cut.seq - 1}
	}
	for _, t := range append(p.added, items...) {
		if l.bySeq[t.due.seq] == nil && !p.removed[t.due.seq] && l.covers(t.due) {
			l.push(t)
			kept = append(kept, t)
		}
	}
	return kept
}

type timedHeap []*timed

func (h timedHeap) Len() int           { return len(h) }
func (h timedHeap) Less(i, j int) bool { return h[i].due.compare(h[j].due) < 0 }
func (h timedHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timedHeap) Push(x any) {
	t := x.(*timed)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timedHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return t
}
