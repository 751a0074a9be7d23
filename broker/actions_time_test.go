package broker

import (
	"time"

	"pgregory.net/rapid"
)

// browsed is the queue that copies of what is scheduled go to.
const browsed = "browsed"

// timing draws when a message is due, how often, under which name, and how long it lives.
func (h *history) timing(t *rapid.T, s *modelSend) {
	s.delay = rapid.SampledFrom([]int64{0, 0, 0, 100, 500, 3000}).Draw(t, "delay")
	s.ttl = rapid.SampledFrom([]int64{0, 0, 0, 1, 400, 2000, 12_000}).Draw(t, "ttl")
	if rapid.IntRange(0, 7).Draw(t, "a job") == 7 {
		s.job = &modelJob{
			period: rapid.SampledFrom([]int64{200, 700, 5000}).Draw(t, "period"),
			count:  rapid.SampledFrom([]int64{-1, 0, 1, 4}).Draw(t, "count"),
			cron:   rapid.IntRange(0, 3).Draw(t, "cron") == 3,
		}
		if h.endless {
			s.job.count = -1
		}
		// Messages of a job look alike: of several with consumers it must not count which has expired.
		s.ttl = min(s.ttl, 1)
		s.delay = max(s.delay, 100) // while the store is slow nothing fires
		s.msg.Plan = s.job.plan(s.delay)
	} else {
		s.msg.Delay = s.delay
	}
	s.msg.TTL = s.ttl
	if !h.endless && rapid.IntRange(0, 5).Draw(t, "named") == 5 {
		s.id = rapid.SampledFrom([]string{"j1", "j2"}).Draw(t, "id")
		s.msg.ScheduledID, s.msg.ChosenID = s.id, true
		h.strict = false // a search parts the request
	}
}

// waiting draws the id of something that waits, and lists what else has that id.
func (h *history) waiting(t *rapid.T) (id string, its []*modelItem) {
	it, ok := some(t, h.m.waits, "what waits")
	if !ok {
		return "", nil
	}
	id = it.sent.msg.ScheduledID
	return id, h.m.named(id)
}

func (h *history) cancel(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	held := len(h.parked()) > 0 // what is removed may let a SEND go on in the midst of it
	op := h.receipt(c)
	if !held && rapid.IntRange(0, 7).Draw(t, "all") == 7 {
		op.Kind, op.Schedule = OpCancelAll, h.span(t)
		h.m.cancel(h.m.within(op.Schedule)...)
	} else {
		id, its := h.waiting(t)
		op.Kind, op.Schedule = OpCancel, &ScheduleOp{ID: id}
		h.m.cancel(its...)
	}
	h.note("cancel %+v", op.Schedule)
	h.do(c, op)
}

func (h *history) span(t *rapid.T) *ScheduleOp {
	now := time.Now().UnixMilli()
	return &ScheduleOp{
		From:    now + rapid.SampledFrom([]int64{0, 400}).Draw(t, "from"),
		Until:   now + rapid.SampledFrom([]int64{600, 100_000}).Draw(t, "until"),
		ReplyTo: Address{Kind: Queue, Name: browsed},
	}
}

// within lists what is due in a span.
func (m *model) within(s *ScheduleOp) (its []*modelItem) {
	for _, it := range m.waits {
		if it.due >= s.From && it.due <= s.Until {
			its = append(its, it)
		}
	}
	return its
}

// browse has copies of what is due in a span sent to a queue. They are not scheduled, do not expire, and are not persistent.
func (h *history) browse(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	op := h.receipt(c)
	op.Kind, op.Schedule = OpBrowseSchedule, h.span(t)
	for _, it := range h.m.within(op.Schedule) {
		shown := *it.sent
		shown.msg = &Message{Priority: it.sent.msg.Priority}
		shown.to, shown.ttl, shown.job, shown.id = op.Schedule.ReplyTo, 0, nil, ""
		h.m.place(modelItem{sent: &shown})
	}
	h.note("browse %+v", op.Schedule)
	h.do(c, op)
}

// changed checks how many an operator's change came upon.
func (h *history) changed(what, id string, n int, err error, its []*modelItem) {
	h.note("%s %s: %d", what, id, n)
	if err != nil || n != len(its) {
		h.m.bad("%s %s changed %d (%v), not %d", what, id, n, err, len(its))
	}
}

func (h *history) runNow(t *rapid.T) {
	if id, its := h.waiting(t); id != "" {
		h.strict = false
		n, err := h.w.b.RunScheduled(h.ctx(), id)
		h.changed("run", id, n, err, its)
		for _, it := range its {
			h.m.runNow(it, time.Now().UnixMilli())
		}
	}
}

func (h *history) reschedule(t *rapid.T) {
	if id, its := h.waiting(t); id != "" {
		h.strict = false
		now := time.Now().UnixMilli()
		at := now + rapid.SampledFrom([]int64{-1000, 0, 50, 200, 4000, 30_000}).Draw(t, "to")
		n, err := h.w.b.Reschedule(h.ctx(), id, at)
		h.changed("reschedule", id, n, err, its)
		for _, it := range its {
			it.due, it.moved = max(at, now), true
		}
	}
}

// endJobs lets time pass until nothing waits for it any more, nor is a SEND held up that may bring a job.
func (h *history) endJobs() {
	for range 20 {
		h.finish()
		h.begin()
		h.strict = false
		if len(h.m.waits) == 0 && len(h.parked()) == 0 {
			break
		}
		for h.cancelJob() {
			h.finish()
			h.begin()
			h.strict = false
		}
		h.pass(h.w.b.opt.BlockTimeout + time.Second)
	}
	h.finish()
}

// cancelJob ends a job, as some of them go on for ever. It is false if there is none.
func (h *history) cancelJob() bool {
	for _, it := range h.m.waits {
		if it.sent.job == nil {
			continue
		}
		id := it.sent.msg.ScheduledID
		n, err := h.w.b.CancelScheduled(h.ctx(), id)
		h.changed("cancel", id, n, err, h.m.named(id))
		h.m.cancel(h.m.named(id)...)
		return true
	}
	return false
}
