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
	settled bool    // it is no longer pending

	prev, next *delivery // in q.flight
}

// flightList is what of a backlog is with consumers, in the order of delivery.
type flightList struct {
	front, back *delivery
	n, stored   int
	loose       int64 // Size of what is not stored
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
	if d.e.stored() {
		l.stored--
	} else {
		l.loose -= d.e.msg.Size()
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
