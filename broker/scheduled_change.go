package broker

import (
	"context"
	"slices"

	"footfall/schedule"
)

// The changes of an operator act on all that waits under an id: one thing at each destination that has it. The loop
// searches for it as for a session's REMOVE, see search.go, and does the change in a round of its own turn, so that
// it comes before a firing or after it. Each method returns how many it changed, 0 where nothing waits any more, once
// that is on disk. When ctx ends first the change may happen or not.

// CancelScheduled takes back what waits under an id.
func (b *Broker) CancelScheduled(ctx context.Context, id string) (int, error) {
	return ask(ctx, b, func(c *core, answer func(int)) {
		c.lookUp(c.findID(id, func() {
			before := c.stats.Cancelled
			c.cancelID(id)
			count := int(c.stats.Cancelled - before)
			c.onDisk(func() { answer(count) })
		}))
	})
}

// RunScheduled has what waits under an id take its place now. Of a repeating job that is a delivery more: the job waits
// for its next time as before, and its count is what it was.
func (b *Broker) RunScheduled(ctx context.Context, id string) (int, error) {
	return b.changeScheduled(ctx, id, (*core).runNow)
}

// Reschedule has what waits under an id be due at another time, in milliseconds since the epoch; a time that is past is
// now. It keeps its id. Of a repeating job that moves the next delivery only; those after it are due where they
// were, but for those that would come before it.
func (b *Broker) Reschedule(ctx context.Context, id string, at int64) (int, error) {
	if at > schedule.MaxInstant {
		return 0, &Error{Kind: KindInvalid, Message: "nothing is due after the year 9999"}
	}
	return b.changeScheduled(ctx, id, func(c *core, t *timed) bool { return c.moveTo(t, max(at, c.ms)) })
}

// changeScheduled calls do with all that waits under an id, one after the other; it tells whether it did something.
func (b *Broker) changeScheduled(ctx context.Context, id string, do func(c *core, t *timed) bool) (int, error) {
	return ask(ctx, b, func(c *core, answer func(int)) {
		c.lookUp(c.findID(id, func() {
			changed := 0
			for _, t := range slices.Clone(c.loose[id]) {
				if do(c, t) {
					changed++
				}
			}
			c.changeEach(slices.Clone(c.hits), func(t *timed) {
				if do(c, t) {
					changed++
				}
			}, func() {
				c.onDisk(func() { answer(changed) })
			})
		}))
	})
}

// changeEach calls do with what hits lead to, and then done.
func (c *core) changeEach(hits []found, do func(*timed), done func()) {
	if len(hits) == 0 {
		done()
		return
	}
	c.reach(hits[0], true, func(t *timed, _ uint64) {
		if t != nil {
			do(t)
		}
		c.changeEach(hits[1:], do, done)
	})
}

// reach calls act with what a search came upon, where it waits now, and its octets; with nil if it is gone. It reads what is not in memory, with
// its body or without. It is called while a search is taken in.
func (c *core) reach(f found, body bool, act func(t *timed, octets uint64)) {
	f, waits := c.whereNow(f)
	if !waits {
		act(nil, 0)
		return
	}
	if t := c.agendas[f.dest.shard].bySeq[f.due.seq]; t != nil {
		act(t, t.m.octets())
		return
	}
	c.lookUp(func(s Store, after uint64) (func(), error) {
		due, octets, there, err := s.FindDue(after, f.key(), body)
		if err != nil {
			return nil, err
		}
		var m *Message
		if there {
			if m, _, err = decodeRecord(due.Head, due.Body, due.Blob, c.zones); err != nil {
				return nil, err
			}
		}
		return func() {
			now, waits := c.whereNow(f)
			switch {
			case waits && (now.due != f.due || c.agendas[f.dest.shard].bySeq[f.due.seq] != nil):
				c.reach(now, body, act) // it moved meanwhile, or came into memory
			case waits && there:
				act(&timed{due: f.due, stored: true, dest: f.dest, m: m}, octets)
			default:
				act(nil, 0)
			}
		}, nil
	})
}

// runNow gives t its place before its time.
func (c *core) runNow(t *timed) bool {
	if t.dest.doomed {
		return false
	}
	if t.m.job != nil {
		c.stats.Fired++
		c.takePlace(t.dest, t.m.firing(c.ms))
		return true
	}
	c.takeOut(t)
	t.m.DeliverAt = min(t.m.DeliverAt, c.ms)
	c.fired(t)
	return true
}

// moveTo has t wait for another time. What had no name is given its id as one, as that says where it waited.
func (c *core) moveTo(t *timed, at int64) bool {
	m, d := t.m, t.dest
	if d.doomed || t.stored && !m.named() && c.renamed[nameOf(d, m.ScheduledID)].due != (dueTime{}) {
		return false // a sender has just taken the id for something else
	}
	c.takeOut(t)
	next := &timed{due: dueTime{at, c.next(d.shard)}, stored: t.stored, dest: d, m: m}
	if t.stored {
		c.dropDue(t, m.octets(), m.blob, true)
	}
	m.DeliverAt = at
	if t.stored {
		m.ChosenID = m.ChosenID || m.job == nil
		c.storeDue(next)
		c.putName(next)
	}
	c.addDue(next)
	c.unhold(m)
	return true
}

// takeOut takes t out of the agenda, if it is there, and holds its message.
func (c *core) takeOut(t *timed) {
	a := &c.agendas[t.dest.shard]
	if a.bySeq[t.due.seq] != t {
		c.hold(t.m)
		return
	}
	a.remove(t)
	c.forgetLoose(t)
}
