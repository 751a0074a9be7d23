package broker

import (
	"slices"

	"footfall/schedule"
)

// What the model knows of times: delays, jobs, names of what is scheduled, and expiry. It is the contract in its simplest
// words: a list of what waits, and one of what is in its place.

// modelJob is how a message comes again: after each period, or at each full minute.
type modelJob struct {
	period int64 // in ms
	count  int64 // deliveries after the first, -1 for ever
	cron   bool
}

func (j *modelJob) plan(delay int64) *schedule.Plan {
	r := schedule.Repeat{Delay: delay, Period: j.period, Count: j.count}
	if j.cron {
		cron, err := schedule.ParseCron("* * * * *")
		if err != nil {
			panic(err)
		}
		r = schedule.Repeat{Cron: cron}
	}
	return &schedule.Plan{Kind: schedule.Repeating, Repeat: r}
}

// first is when a job that is taken at an instant is due, next the first time of its grid that is after one.
func (j *modelJob) first(now, delay int64) int64 {
	if j.cron {
		return (now/60_000 + 1) * 60_000
	}
	return now + delay
}

func (j *modelJob) next(slot, after int64) int64 {
	period := j.period
	if j.cron {
		period = 60_000
	}
	for slot <= after {
		slot += period
	}
	return slot
}

// taken is a SEND that the broker took: it replaces what waits under its name, and takes its place, waits, or is
// past its time already. It is uncertain after a crash.
func (m *model) taken(s *modelSend, uncertain bool) {
	if s.id != "" {
		m.replaced(s, uncertain)
	}
	ms := s.msg.Timestamp
	it := modelItem{sent: s, uncertain: uncertain}
	if s.job != nil {
		it.due = s.job.first(ms, s.delay)
		if s.msg.DeliverAt == it.due+1 && !s.job.cron {
			it.due++ // counted from a time that is rounded up to a millisecond, so as not to be early
		}
		it.slot, it.left = it.due, s.job.count
		if s.job.cron {
			it.left = -1
		}
		m.waits = append(m.waits, &it)
		return
	}
	if s.ttl > 0 {
		it.expires = ms + s.ttl
		if s.msg.Expires != it.expires {
			m.bad("%s expires at %d, not %d after %d", s.body, s.msg.Expires, s.ttl, ms)
		}
	}
	switch {
	case s.ttl > 0 && it.expires <= ms+max(0, s.delay): // it expires before its time
	case s.delay <= 0:
		m.place(it)
	default:
		it.due = ms + s.delay
		m.waits = append(m.waits, &it)
	}
}

// replaced takes away what waits under the name of s. What was due at that very moment may have taken its place before.
func (m *model) replaced(s *modelSend, uncertain bool) {
	m.waits = slices.DeleteFunc(m.waits, func(it *modelItem) bool {
		if it.sent.msg.ScheduledID != s.id || it.sent.to != s.to {
			return false
		}
		if uncertain {
			it.uncertain = true
			return false
		}
		if it.due <= s.msg.Timestamp {
			placed := *it
			placed.uncertain, placed.fired, placed.moved = true, true, true
			m.place(placed)
			m.restarts = true
		}
		return true
	})
}

// fire has what is due by now take its place, each at its time. It tells whether it goes on waiting.
func (m *model) fire(it *modelItem, now int64) bool {
	for it.due <= now {
		m.arrive(it, it.due)
		if it.sent.job == nil || it.left == 0 {
			return false
		}
		if it.left > 0 {
			it.left--
		}
		it.slot = it.sent.job.next(it.slot, max(it.slot, it.due))
		it.due = it.slot
	}
	return true
}

// arrive gives what waits its place, or one message of a job.
func (m *model) arrive(it *modelItem, due int64) {
	placed := *it
	placed.fired, placed.due = true, due
	if it.sent.job != nil {
		placed.moved, placed.least, placed.most = true, 0, 0
		if it.sent.ttl > 0 {
			placed.expires = due + it.sent.ttl
		}
	}
	m.place(placed)
}

// expire drops what nobody has and nobody wants any more.
func (m *model) expire(now int64) {
	drop := func(q *modelBacklog) {
		q.items = slices.DeleteFunc(q.items, func(it *modelItem) bool {
			return it.with == nil && it.expires != 0 && it.expires <= now
		})
	}
	for _, q := range m.queues {
		drop(q)
	}
	for _, c := range m.conns {
		for _, s := range c.numbers {
			drop(s.coming)
		}
	}
}

// named lists what waits under an id.
func (m *model) named(id string) (its []*modelItem) {
	for _, it := range m.waits {
		if it.sent.msg.ScheduledID == id {
			its = append(its, it)
		}
	}
	return its
}

func (m *model) cancel(its ...*modelItem) {
	m.waits = slices.DeleteFunc(m.waits, func(it *modelItem) bool { return slices.Contains(its, it) })
}

// runNow has what waits take its place before its time; a job gives a message more.
func (m *model) runNow(it *modelItem, now int64) {
	if it.sent.job != nil {
		m.arrive(it, now)
		return
	}
	m.cancel(it)
	m.arrive(it, min(it.due, now))
}

// overdue is what a job may have done before a crash and after it: it is on its grid again, and what fell due is there
// once or several times.
func (m *model) overdue(now int64) {
	for _, it := range m.waits {
		if it.sent.job == nil {
			continue
		}
		for it.due <= now {
			placed := *it
			placed.uncertain = true
			m.arrive(&placed, it.due)
			it.slot = it.sent.job.next(it.slot, max(it.slot, it.due))
			it.due = it.slot
		}
	}
}
