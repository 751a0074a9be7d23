package broker

import (
	"slices"

	"pgregory.net/rapid"
)

// deleteQueue has an operator delete a queue: whoever takes from it, or has something of it, ends with an ERROR.
func (h *history) deleteQueue(t *rapid.T) {
	a := Address{Kind: Queue, Name: rapid.SampledFrom(queueNames).Draw(t, "queue")}
	h.note("delete %s", a)
	if _, err := h.w.b.DeleteDestination(h.ctx(), a, Deletion{}); err != nil {
		if q := h.m.queue(a.Name); len(q.items) > 0 {
			t.Fatalf("%s was not deleted, and has %v: %v", a, q.items, err)
		}
		return
	}
	h.strict = false
	q := h.m.queue(a.Name)
	for _, c := range h.m.sortedConns() {
		if c.takesFrom(a, q) && !c.over {
			c.doomed, c.sends = true, nil
		}
	}
	for _, it := range slices.Clone(q.items) {
		if it.with != nil {
			h.m.settle(it.with)
		}
		h.m.drop(it)
	}
	h.m.waits = slices.DeleteFunc(h.m.waits, func(it *modelItem) bool { return it.sent.to == a })
	q.paused = false
}

// takesFrom tells whether c has a subscription to a queue, or something of it that it may acknowledge.
func (c *modelConn) takesFrom(a Address, q *modelBacklog) bool {
	for _, s := range c.numbers {
		if !s.ended && s.covers(a) || slices.ContainsFunc(s.pending, func(d *modelDelivery) bool { return d.item.in == q }) {
			return true
		}
	}
	return false
}

// pauseQueue has an operator pause the production or the consumption of a queue, or let both go on.
func (h *history) pauseQueue(t *rapid.T) {
	a := Address{Kind: Queue, Name: rapid.SampledFrom(queueNames).Draw(t, "queue")}
	what := rapid.SampledFrom([]Pause{0, 0, PauseProduction, PauseConsumption}).Draw(t, "what")
	h.note("pause %q of %s", what, a)
	h.setPaused(a, what)
}

// setPaused sets what is paused at a queue, if it is there.
func (h *history) setPaused(a Address, what Pause) {
	now, err := h.w.b.PauseDestination(h.ctx(), a, what, pauseAll&^what)
	if err == nil {
		h.m.queue(a.Name).paused = now&PauseConsumption != 0
		h.strict = false
	}
}
