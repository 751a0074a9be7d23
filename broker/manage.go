package broker

import (
	"context"
	"fmt"
)

// The changes of an operator to queues and topics. Each is on disk when the method returns; when ctx ends first it may happen or not. An error is a *Error
// about the request, ErrClosed, or that of ctx. Temporary destinations and patterns cannot be named.

// DestinationDetail is a destination with what an operator said of it.
type DestinationDetail struct {
	DestinationStats
	// Paused is what is paused.
	Paused Pause
	// Durables counts the durable subscriptions of a topic, Browsers those who look at a queue.
	Durables, Browsers int
	// Kept says that it is there after a restart too.
	Kept bool
}

// Deletion says when a destination is not to be deleted, after RabbitMQ.
type Deletion struct {
	// Unused leaves one alone that has consumers, browsers or durable subscriptions, Empty one that has messages, in a queue or in
	// durable subscriptions of a topic, with consumers or not. What waits for its time does not count.
	Unused, Empty bool
}

// Deleted is what went with a destination.
type Deleted struct {
	// Messages were in its queue, or in durable subscriptions of a topic. What waited for its time goes too, and is not counted.
	Messages int64
	// Consumers are those whose connections end, Durables durable subscriptions that were deleted.
	Consumers, Durables int
}

// LookAt looks at one queue or topic; an error of KindDestination says that there is none.
func (b *Broker) LookAt(ctx context.Context, a Address) (DestinationDetail, error) {
	return look(ctx, b, func(c *core) (DestinationDetail, *Error) {
		d, err := c.existing(a)
		if err != nil {
			return DestinationDetail{}, err
		}
		return d.detail(), nil
	})
}

// CreateDestination makes a queue or a topic, whatever Options.NoAutoCreate says; false: it was there. A topic that was made so is there until it is
// deleted.
func (b *Broker) CreateDestination(ctx context.Context, a Address) (made bool, err error) {
	return change(ctx, b, func(c *core) (bool, *Error) {
		if err := manageable(a); err != nil {
			return false, err
		}
		was := c.dests[a]
		d, err := c.open(a)
		if err != nil {
			return false, err
		}
		made := was == nil || !was.kept
		c.keep(d)
		return made, nil
	})
}

// DeleteDestination deletes a queue or a topic with all that it has: messages, what waits for its time there, and the durable subscriptions of a topic. Its consumers, and
// theirs, get an ERROR that names their subscription, and their connections end. A later SEND or SUBSCRIBE makes it anew. From the moment that it is on disk the
// destination is gone, also after a crash; its messages leave the store after that, step by step.
func (b *Broker) DeleteDestination(ctx context.Context, a Address, when Deletion) (Deleted, error) {
	return change(ctx, b, func(c *core) (Deleted, *Error) {
		d, err := c.existing(a)
		if err != nil {
			return Deleted{}, err
		}
		detail := d.detail()
		out := Deleted{Messages: d.holdings(), Consumers: detail.Consumers, Durables: detail.Durables}
		switch users := detail.Consumers + detail.Browsers + detail.Durables; {
		case when.Unused && users > 0:
			return Deleted{}, &Error{Kind: KindInUse, Message: fmt.Sprintf("%s is in use: it has %d consumers, %d browsers and %d durable subscriptions", d.text, detail.Consumers, detail.Browsers, detail.Durables)}
		case when.Empty && out.Messages > 0:
			return Deleted{}, &Error{Kind: KindInUse, Message: fmt.Sprintf("%s is not empty: it has %d messages", d.text, out.Messages)}
		}
		c.stats.DestinationsDeleted++
		c.delete(d)
		return out, nil
	})
}

// PauseDestination puts a stop to what is in set, and lets go on what is in clear; it returns what is paused then. It counts after a restart too.
func (b *Broker) PauseDestination(ctx context.Context, a Address, set, clear Pause) (Pause, error) {
	return change(ctx, b, func(c *core) (Pause, *Error) {
		d, err := c.existing(a)
		if err != nil {
			return 0, err
		}
		c.setPaused(d, (d.paused|set)&^clear)
		return d.paused, nil
	})
}

// change has the loop do something, and waits until that is on disk.
func change[T any](ctx context.Context, b *Broker, do func(c *core) (T, *Error)) (T, error) {
	return request(ctx, b, do, (*core).onDisk)
}

// look has the loop look at something, and waits for no disk.
func look[T any](ctx context.Context, b *Broker, at func(c *core) (T, *Error)) (T, error) {
	return request(ctx, b, at, func(_ *core, answer func()) { answer() })
}

func request[T any](ctx context.Context, b *Broker, do func(c *core) (T, *Error), when func(c *core, answer func())) (T, error) {
	type result struct {
		value T
		err   *Error
	}
	r, err := ask(ctx, b, func(c *core, answer func(result)) {
		v, err := do(c)
		when(c, func() { answer(result{v, err}) })
	})
	if err == nil && r.err != nil {
		err = r.err
	}
	return r.value, err
}

// manageable tells why the destination at a cannot be looked at or changed by its name.
func manageable(a Address) *Error {
	if a.Kind != Queue && a.Kind != Topic || a.IsTemporary() || a.Wildcard() || a.Name == "" {
		return &Error{Kind: KindInvalid, Message: "what is managed is a queue or a topic, and no pattern: not " + quote(a.String())}
	}
	return nil
}

func (c *core) existing(a Address) (*destination, *Error) {
	if err := manageable(a); err != nil {
		return nil, err
	}
	d := c.dests[a]
	if d == nil {
		return nil, notThere(a)
	}
	return d, nil
}

func notThere(a Address) *Error {
	what := a.Kind.String()
	if a.Kind == Durable {
		what = "durable subscription"
	}
	return &Error{Kind: KindDestination, Message: "there is no " + what + " " + quote(a.Name)}
}

func (d *destination) detail() DestinationDetail {
	out := DestinationDetail{DestinationStats: d.stats(), Paused: d.paused, Kept: d.kept, Durables: len(d.durables())}
	if d.queue != nil {
		out.Browsers = len(d.queue.browsers)
	}
	return out
}

// durables lists the durable subscriptions of a topic.
func (d *destination) durables() (list []*destination) {
	for t := range d.allTaps() {
		if t.durable {
			list = append(list, t.q.dest)
		}
	}
	return list
}

// holdings counts the messages of a queue, or of the durable subscriptions of a topic.
func (d *destination) holdings() (n int64) {
	if d.queue != nil {
		return d.queue.holds().messages
	}
	for _, durable := range d.durables() {
		n += durable.holdings()
	}
	return n
}

// subscriptions lists those who take from d itself, or browse it.
func (d *destination) subscriptions() (list []*subscription) {
	if q := d.queue; q != nil {
		for _, x := range q.consumers {
			list = append(list, x.subscription)
		}
		for _, b := range q.browsers {
			list = append(list, b.s)
		}
	}
	for t := range d.allTaps() {
		if !t.durable {
			for _, x := range t.q.consumers {
				list = append(list, x.subscription)
			}
		}
	}
	return list
}

// delete deletes a queue or a topic.
func (c *core) delete(d *destination) {
	for _, durable := range d.durables() {
		c.takeAway(durable, "durable subscription "+quote(durable.addr.Name)+" of "+d.text)
		c.doom(durable)
	}
	c.takeAway(d, d.text)
	c.doom(d)
}

// takeAway ends the connections of all that consume d, browse it, or have something of it; called is what is being deleted.
func (c *core) takeAway(d *destination, called string) {
	gone := func(s *subscription) {
		if s.conn.ended {
			return // it was told, and may have very many of the messages
		}
		c.fail(s.conn, &Op{}, &Error{Kind: KindDeleted, Message: fmt.Sprintf("subscription %s: %s was deleted by an operator", quote(s.op.ID), called)})
	}
	for _, s := range d.subscriptions() {
		gone(s)
	}
	if d.queue == nil {
		return
	}
	for x := d.queue.flight.front; x != nil; x = x.next {
		gone(x.sub)
	}
}
