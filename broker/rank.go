package broker

import "slices"

// Consumers of a backlog stand in the order of their priorities, the highest first, and those of one priority in the order in
// which they are served: in turn.

// join adds a consumer.
func (q *backlog) join(s *consumer) {
	at := len(q.consumers)
	for at > 0 && q.consumers[at-1].op.Priority < s.op.Priority {
		at--
	}
	q.consumers = slices.Insert(q.consumers, at, s)
	q.joined++
	s.joined = q.joined
	if s.shares {
		q.sharers++
	}
	q.rank()
}

// part takes a consumer out.
func (q *backlog) part(s *consumer) {
	q.consumers = slices.DeleteFunc(q.consumers, func(o *consumer) bool { return o == s })
	if s.shares {
		q.sharers--
	}
	q.turn = 0
	q.rank()
}

// rank finds out whether priorities differ, and which exclusive consumer gets all: that of the highest priority which came
// first. It stays the one until it leaves, or one of a higher priority comes.
func (q *backlog) rank() {
	n := len(q.consumers)
	q.master = nil
	q.ranked = n > 0 && q.consumers[0].op.Priority != q.consumers[n-1].op.Priority
	for _, s := range q.consumers {
		if !s.op.Exclusive {
			continue
		}
		if m := q.master; m == nil || m.op.Priority == s.op.Priority && s.joined < m.joined {
			q.master = s
		}
	}
}

// begin is where the search for the next consumer begins.
func (q *backlog) begin() int {
	if q.ranked || q.turn >= len(q.consumers) {
		return 0
	}
	return q.turn
}

// served has others of its priority come before s.
func (q *backlog) served(s *consumer) {
	if !q.ranked {
		q.turn++
		return
	}
	at := slices.Index(q.consumers, s)
	for ; at+1 < len(q.consumers) && q.consumers[at+1].op.Priority == s.op.Priority; at++ {
		q.consumers[at], q.consumers[at+1] = q.consumers[at+1], s
	}
}

// barred tells whether another consumer gets all.
func (s *consumer) barred() bool { return s.q.master != nil && s.q.master != s }
