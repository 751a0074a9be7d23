package broker

import "footfall/store"

// delivery is a message on its way at one consumer, until it is acknowledged or
// put back.
type delivery struct {
	q      *backlog
	sub    *subscription
	e      entry
	number uint64 // of the subscription's deliveries, from 1

	tx      uint64  // the transaction that settles it, 0 for none
	refused bool    // how
	nack    *NackOp // what came with that, nil for nothing
	due     int64   // when it has to be acknowledged, in milliseconds since the epoch; 0: at any time
	hidden  bool    // the client was shown our id of it, not its sender's
	written bool    // its last octet was handed to the kernel
	late    bool    // one behind it in its lane was delivered before
	settled bool    // it is no longer pending

	prev, next *delivery // in q.flight
}

// flightList is what of a backlog is with consumers, in the order of delivery.
type flightList struct {
	front, back *delivery
	n, stored   int
	loose       int64 // Size of what is not stored
	lanes       [store.Priorities]flightLane
	late        int // deliveries that are
}

// flightLane counts what of one priority is in flight, and has the greatest place of those that are not late since there was none.
type flightLane struct {
	n      int
	newest store.Seq
}

func (l *flightList) push(d *delivery) {
	d.prev, d.next = l.back, nil
	if l.back != nil {
		l.back.next = d
	} else {
		l.front = d
	}
	l.back = d
	l.n++
	lane := &l.lanes[d.e.msg.Priority]
	if lane.n++; d.e.seq > lane.newest {
		lane.newest = d.e.seq
	} else {
		d.late = true
		l.late++
	}
	if d.e.stored() {
		l.stored++
	} else {
		l.loose += d.e.msg.Size()
	}
}

func (l *flightList) remove(d *delivery) {
	if d.prev != nil {
		d.prev.next = d.next
	} else {
		l.front = d.next
	}
	if d.next != nil {
		d.next.prev = d.prev
	} else {
		l.back = d.prev
	}
	d.prev, d.next = nil, nil
	l.n--
	lane := &l.lanes[d.e.msg.Priority]
	if lane.n--; lane.n == 0 {
		lane.newest = 0
	}
	if d.late {
		l.late--
	}
	if d.e.stored() {
		l.stored--
	} else {
		l.loose -= d.e.msg.Size()
	}
}

// first lowers each number of least to the least that is in flight of its priority. It is quick unless something is late.
func (l *flightList) first(least *[store.Priorities]store.Seq) {
	lanes := 0
	for p := range l.lanes {
		if l.lanes[p].n > 0 {
			lanes++
		}
	}
	var seen [store.Priorities]bool
	for d := l.front; d != nil && (lanes > 0 || l.late > 0); d = d.next {
		p := d.e.msg.Priority
		least[p] = min(least[p], d.e.seq)
		if !seen[p] {
			seen[p] = true
			lanes--
		}
	}
}

// has tells whether a consumer has the message of that number.
func (l *flightList) has(seq store.Seq) bool {
	for d := l.front; d != nil; d = d.next {
		if d.e.seq == seq {
			return true
		}
	}
	return false
}

// deliveries makes delivery values by the slab: they come and go by the million.
type deliveries struct{ slab []delivery }

func (s *deliveries) make() *delivery {
	if len(s.slab) == 0 {
		s.slab = make([]delivery, 32)
	}
	d := &s.slab[0]
	s.slab = s.slab[1:]
	return d
}
