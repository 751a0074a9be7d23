package broker

import (
	"math"
	"math/bits"
)

// loans is what consumers have of messages in memory, until it is acknowledged or comes back. It is bounded whatever windows they ask
// for. From half of the bound on each of them has at most an equal share of that half, so that a slow or
// greedy one takes nothing away from the others, and together they stay within the bound.
type loans struct {
	limit     int64
	floor     int64 // of the share
	total     int64 // Size of the messages that consumers have, each counted once
	borrowers int64 // subscriptions that have something
	sharing   bool  // total has passed half of the limit, and has not come well below it

	starved []*subscription // that were refused something for their share
	least   int64           // of the shares that they were refused for
}

// leastShare is what each consumer may have at any time, or less where the limit is small. A message that is larger it
// may have alone.
const leastShare = 16 << 10

func newLoans(limit int64) loans { return loans{limit: limit, floor: min(leastShare, limit/64)} }

// lend counts a message that goes to s, end one that is no longer there.
func (l *loans) lend(s *subscription, m *Message) {
	if s.lent == 0 {
		l.borrowers++
	}
	s.lent += m.Size()
	if m.lenders++; m.lenders == 1 {
		l.total += m.Size()
	}
	l.sharing = l.sharing || l.total > l.limit/2
}

func (l *loans) end(s *subscription, m *Message) {
	if s.lent -= m.Size(); s.lent == 0 {
		l.borrowers--
	}
	if m.lenders--; m.lenders == 0 {
		l.total -= m.Size()
	}
	l.sharing = l.sharing && l.total > l.limit/2/10*9
}

// share is how much a consumer may have before it gets more. It is a power of two, so that it does not change with
// every consumer that comes or goes.
func (l *loans) share() int64 {
	if !l.sharing {
		return math.MaxInt64
	}
	share := uint64(l.limit / 2 / max(l.borrowers, 1))
	return max(l.floor, int64(1)<<bits.Len64(share)>>1)
}

// affords tells whether s may have another message. One that may not is remembered.
func (l *loans) affords(s *subscription) bool {
	share := l.share()
	if s.lent == 0 || s.lent < share {
		return true
	}
	if !s.starved {
		s.starved = true
		l.starved = append(l.starved, s)
		if len(l.starved) == 1 {
			l.least = math.MaxInt64
		}
	}
	l.least = min(l.least, share)
	return false
}

// feed has those looked at again that were refused for a share that has grown since.
func (c *core) feed() {
	l := &c.loans
	if len(l.starved) == 0 || l.share() <= l.least {
		return
	}
	for i, s := range l.starved {
		s.starved = false
		c.wake(s)
		l.starved[i] = nil
	}
	l.starved = l.starved[:0]
}

// hungry counts the consumers that get nothing more for their share.
func (l *loans) hungry() (n int) {
	share := l.share()
	for _, s := range l.starved {
		if !s.ended && s.lent >= share {
			n++
		}
	}
	return n
}
