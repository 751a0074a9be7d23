package broker

import (
	"container/heap"
	"time"
)

// timers are things to be done at a time, by the loop.
type timers struct{ heap timerHeap }

type timer struct {
	at time.Time
	do func()
}

func (t *timers) add(at time.Time, do func()) { heap.Push(&t.heap, timer{at, do}) }

// run does what is due. What that adds for now is done as well.
func (t *timers) run(c *core) {
	for len(t.heap) > 0 && !t.heap[0].at.After(c.now) {
		heap.Pop(&t.heap).(timer).do()
	}
}

// next returns the time of the earliest.
func (t *timers) next() (time.Time, bool) {
	if len(t.heap) == 0 {
		return time.Time{}, false
	}
	return t.heap[0].at, true
}

type timerHeap []timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)        { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = timer{}
	*h = old[:len(old)-1]
	return t
}
