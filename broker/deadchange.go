package broker

import (
	"context"
	"strings"

	"footfall/store"
)

// DeadChanged is what became of a page of dead letters.
type DeadChanged struct {
	// Changed counts those that were sent back or deleted, Unacked those that a consumer has, Homeless those that nothing tells where they came from, or that
	// cannot go there; both are left where they are.
	Changed, Unacked, Homeless int
	// Next is the After of the next page, empty at the end.
	Next string
}

// RetryDead sends a page of dead letters back to where they died, or to another destination if to is not nil: at the end of it, with no failures
// counted, without a time to live but for what the policy of the destination says. They keep what tells of their deaths. Each is moved in one
// write, and the answer comes when that is on disk. When ctx ends first it may happen or not. Errors are as those of DeadLetters.
func (b *Broker) RetryDead(ctx context.Context, q DeadQuery, to *Address) (DeadChanged, error) {
	return b.changeDead(ctx, q, func(c *core, from *backlog, e *entry) bool { return c.retry(from, e, to) })
}

// PurgeDead deletes a page of dead letters.
func (b *Broker) PurgeDead(ctx context.Context, q DeadQuery) (DeadChanged, error) {
	return b.changeDead(ctx, q, discardPlace)
}

// changeDead calls do for each message of a page that no consumer has; false says that it was left where it is.
func (b *Broker) changeDead(ctx context.Context, q DeadQuery, do func(*core, *backlog, *entry) bool) (DeadChanged, error) {
	return b.changeAt(ctx, Address{Kind: Queue, Name: q.Queue}, q.DeadFilter, q.After, q.Limit, do)
}

// changeAt is changeDead for what is at an address.
func (b *Broker) changeAt(ctx context.Context, at Address, f DeadFilter, after string, limit int, do func(*core, *backlog, *entry) bool) (DeadChanged, error) {
	var done DeadChanged
	p, err := b.deadPage(ctx, at, f, after, limit, func(c *core, from *backlog, list []deadEntry) []deadEntry {
		for i := range list {
			switch e := &list[i]; {
			case e.held:
				done.Unacked++
			case do(c, from, &e.entry):
				done.Changed++
			default:
				done.Homeless++
			}
		}
		return nil
	})
	if err != nil {
		return DeadChanged{}, err
	}
	done.Next = p.next
	return done, nil
}

// retry sends a dead letter back.
func (c *core) retry(q *backlog, e *entry, to *Address) bool {
	target, ok := c.origin(e.msg)
	if to != nil {
		target, ok = *to, true
	}
	if !ok || target == q.dest.addr {
		return false
	}
	d, ok := c.placeFor(target)
	if !ok {
		return false // nobody would get it
	}
	if !c.takeOutOf(q, e) {
		return true // it is gone
	}
	c.putInto(target, d, e.msg.again())
	c.unhold(e.msg)
	c.stats.DeadRetried++
	return true
}

// origin is where a dead letter died at last: in a durable subscription, if that exists, or at a destination.
func (c *core) origin(m *Message) (Address, bool) {
	if name, ok := m.Header.Get("original-subscription"); ok {
		if a := (Address{Kind: Durable, Name: name}); c.dests[a] != nil {
			return a, true
		}
	}
	text, _ := m.Header.Get("original-destination")
	for _, kind := range []Kind{Queue, Topic} {
		if name, ok := strings.CutPrefix(text, "/"+kind.String()+"/"); ok && name != "" {
			return Address{Kind: kind, Name: name}, true
		}
	}
	return Address{}, false
}

// again is a copy of m for another place.
func (m *Message) again() *Message {
	return &Message{
		Header: m.Header, Body: m.Body, UserID: m.UserID, Priority: m.Priority, Persistent: m.Persistent,
		RedeliveryLimit: m.RedeliveryLimit, HasRedeliveryLimit: m.HasRedeliveryLimit,
		HasLength: m.HasLength, HasTimestamp: m.HasTimestamp, ID: m.ID, Timestamp: m.Timestamp, Group: m.Group, GroupEnd: m.GroupEnd,
	}
}

// takeOutOf takes a message that no consumer has out of its place in q; false: it is there no more. Afterwards it is held once.
func (c *core) takeOutOf(q *backlog, e *entry) bool {
	if at := placeOf(e); q.covers(at) {
		i := q.find(at)
		if i < 0 {
			return false
		}
		*e = q.takeFrom(int(at.lane), i)
	} else {
		// Behind the window, and nobody has it: so it is as it was read, but for its attempts.
		e.flags |= entryAttempts
		c.hold(e.msg)
		c.goneBehind(q, at)
	}
	c.expiresNoMore(q, e)
	if e.stored() {
		c.dropRef(q, e)
	}
	c.mark(q)
	return true
}

// noteLeft keeps that a place was left, while places are looked at off the loop.
func (c *core) noteLeft(key store.RefKey) {
	if c.walks > 0 {
		if c.leftPlaces == nil {
			c.leftPlaces = map[store.RefKey]bool{}
		}
		c.leftPlaces[key] = true
	}
}
