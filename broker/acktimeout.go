package broker

import (
	"time"

	"footfall/schedule"
)

// watch sets the time by which d has to be acknowledged, where there is one.
func (c *core) watch(d *delivery) {
	s := d.sub
	if s.auto() || s.ended {
		return
	}
	timeout := s.op.AckTimeout
	if p := c.policyOf(d.q.dest.addr, d.q.dest).ackTimeout; p != nil {
		timeout = *p
	}
	if timeout <= 0 {
		return
	}
	d.due = c.from + max(timeout.Milliseconds(), 1)
	c.watchFrom(s, d.due)
}

// extend gives d more time from now on, if it has not as much time as it wants.
func (c *core) extend(d *delivery, ms int64) {
	if d.due != 0 {
		d.due = c.from + min(ms, schedule.MaxDelay.Milliseconds())
		c.watchFrom(d.sub, d.due)
	}
}

// lookEvery is how often the pending deliveries of a subscription are looked through, at most.
const lookEvery = 20 * time.Millisecond

// watchFrom has the deliveries of s looked at when one of them is overdue.
func (c *core) watchFrom(s *subscription, due int64) {
	if s.watched != 0 && s.watched <= due {
		return
	}
	s.watched = due
	at := time.UnixMilli(due)
	if least := s.looked.Add(lookEvery); at.Before(least) {
		at = least
	}
	c.timers.add(at, func() {
		if s.watched == due {
			c.takeOverdue(s)
		}
	})
}

// takeOverdue takes back what s did not acknowledge in time, but for what an open transaction settles.
func (c *core) takeOverdue(s *subscription) {
	s.watched, s.looked = 0, c.now
	if s.conn.gone {
		return
	}
	var overdue []*delivery
	next := int64(0)
	for i := range s.pending.len() {
		d := *s.pending.at(i)
		switch {
		case d.settled || d.due == 0 || d.tx != 0:
		case d.due <= c.ms:
			overdue = append(overdue, d)
		case next == 0 || d.due < next:
			next = d.due
		}
	}
	if next != 0 {
		c.watchFrom(s, next)
	}
	c.stats.AckTimeouts += uint64(len(overdue))
	c.putBack(overdue, causeTimeout)
}
