package broker

import (
	"math"
	"sort"
	"time"

	"footfall/selector"
)

// subscription is what a SUBSCRIBE made: a consumer, or several with one window.
type subscription struct {
	conn    *Conn
	op      *SubscribeOp
	number  uint64            // of the connection's subscriptions, from 1
	several bool              // it is to more than one destination, or may be
	shares  bool              // it has several consumers, or may have
	browser *browser          // nil: it consumes
	wants   *selector.Program // nil: all; each of its consumers shares it

	consumers []*consumer
	waiting   ring[*consumer] // of these, those that may have something that there was no room for
	follows   []pattern       // of queues, which it takes from as they are made
	following int             // of consumers, those in such queues

	window      int   // deliveries that may be outstanding; auto: unbounded but for the outbox
	windowBytes int64 // and their octets
	outstanding int   // not settled, and not in a transaction
	octets      int64 // Size of these
	lent        int64 // Size of what it has, also in transactions
	starved     bool  // in loans.starved

	issued  uint64    // deliveries so far
	moved   time.Time // when it was given something, or acknowledged it, last
	pending ring[*delivery]
	settled int // of pending, those already settled

	// after is the batch that must be on disk before the first delivery, as the answer to
	// SUBSCRIBE waits for it.
	after uint64
	ended bool // unsubscribed, or its connection is gone
	// graceOver says that what is pending is no longer its consumer's, but for what is in a transaction.
	graceOver bool

	// watched is when what is pending is looked through for what was not acknowledged in time, in milliseconds since the
	// epoch, 0 for never; looked is when that was last done.
	watched int64
	looked  time.Time
}

// auto tells whether writing a message settles it.
func (s *subscription) auto() bool { return s.op.Mode == AckAuto }

// open tells whether there is room for a message now.
func (s *subscription) open(c *core) bool {
	if s.ended || s.conn.ended || s.after > c.durable || c.drained {
		return false
	}
	if !s.conn.hasRoom(c) {
		return false
	}
	unbounded := s.auto() && s.op.Window == 0 && s.op.WindowBytes == 0
	if !unbounded && (s.outstanding >= s.window || s.octets >= s.windowBytes && s.outstanding > 0) {
		return false
	}
	return c.loans.affords(s)
}

// hasRoom tells whether the outbox has room for a message, or has the connection tell when it has.
func (conn *Conn) hasRoom(c *core) bool {
	if conn.unwrittenBytes < c.opt.OutboxBytes {
		return true
	}
	conn.full = true
	conn.eager.Store(true)
	if conn.written.Load() > 0 {
		c.again = true // it may have been told before we waited for it
	}
	return false
}

// room is about how many deliveries more s has room for.
func (s *subscription) room() int {
	if s.auto() && s.op.Window == 0 && s.op.WindowBytes == 0 {
		return math.MaxInt
	}
	return max(s.window-s.outstanding, 1)
}

// find returns the pending delivery of that number, nil when there is none.
func (s *subscription) find(number uint64) *delivery {
	n := s.pending.len()
	if n == 0 {
		return nil
	}
	// The numbers in pending rise; without holes the place is known.
	if first := (*s.pending.at(0)).number; number >= first && number-first < uint64(n) {
		if d := *s.pending.at(int(number - first)); d.number == number {
			return live(d)
		}
	}
	i := sort.Search(n, func(i int) bool { return (*s.pending.at(i)).number >= number })
	if i < n {
		if d := *s.pending.at(i); d.number == number {
			return live(d)
		}
	}
	return nil
}

func live(d *delivery) *delivery {
	if d.settled {
		return nil
	}
	return d
}

// noteSettled keeps pending free of what is settled: at its front always, elsewhere
// when it is more than half.
func (s *subscription) noteSettled() {
	s.settled++
	for s.pending.len() > 0 && (*s.pending.at(0)).settled {
		s.pending.popFront()
		s.settled--
	}
	if s.settled < 64 || s.settled*2 < s.pending.len() {
		return
	}
	var kept ring[*delivery]
	for i := range s.pending.len() {
		if d := *s.pending.at(i); !d.settled {
			kept.pushBack(d)
		}
	}
	s.pending, s.settled = kept, 0
}

// idle tells whether nothing of it is pending.
func (s *subscription) idle() bool { return s.pending.len() == 0 }

// messageIndex finds pending deliveries by message id, for clients of 1.0 and 1.1.
type messageIndex struct {
	ids   map[MessageID]*delivery
	users map[string]*delivery
}

func newMessageIndex(c *Conn) *messageIndex {
	x := &messageIndex{ids: map[MessageID]*delivery{}, users: map[string]*delivery{}}
	for _, s := range c.inOrder() {
		for i := range s.pending.len() {
			if d := *s.pending.at(i); !d.settled {
				x.add(d)
			}
		}
	}
	return x
}

// add: where a message is pending twice on one connection, as by two subscriptions of
// a topic, the first keeps the id until it is settled.
func (x *messageIndex) add(d *delivery) {
	if _, taken := x.ids[d.e.msg.ID]; !taken {
		x.ids[d.e.msg.ID] = d
	}
	if id := d.e.msg.UserID; id != "" && !d.hidden {
		if _, taken := x.users[id]; !taken {
			x.users[id] = d
		}
	}
}

func (x *messageIndex) remove(d *delivery) {
	if x.ids[d.e.msg.ID] == d {
		delete(x.ids, d.e.msg.ID)
	}
	if id := d.e.msg.UserID; id != "" && x.users[id] == d {
		delete(x.users, id)
	}
}
