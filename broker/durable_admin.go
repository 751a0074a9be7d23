package broker

import (
	"context"
	"slices"
	"strings"
)

// DurableQuery asks for durable subscriptions.
type DurableQuery struct {
	// Topic narrows it down to one topic; nil: any.
	Topic *Address
	// After is the name at which another page ended, as SubscriptionName.String writes it. Empty: the beginning.
	After string
	// Limit is the greatest number on a page, 1 to MaxDurables; 0: 100.
	Limit int
}

// MaxDurables bounds a page.
const MaxDurables = 1000

// DurableStats is a durable subscription as it is at some moment.
type DurableStats struct {
	Name SubscriptionName
	// Topic is what it is subscribed to, Selector and NoLocal what it wants of that.
	Topic    Address
	Selector string
	NoLocal  bool
	// User made it, from a connection with ClientID; both may be empty.
	User, ClientID string
	// Created is in milliseconds since the epoch.
	Created int64
	// Ready messages wait, Unacked ones are with consumers; Bytes are the octets of all of them.
	Ready, Unacked, Bytes int64
	// Received, Delivered and Acked count since the start of the broker.
	Received, Delivered, Acked uint64
	Consumers                  []ConsumerStats
}

// ConsumerStats is a consumer as it is at some moment.
type ConsumerStats struct {
	// Client is its session, ID the key of its subscription there.
	Client Client
	ID     string
	// Unacked are the messages that it has and has not acknowledged, Delivered those that it was given.
	Unacked   int
	Delivered uint64
}

// Durables lists durable subscriptions in the order of their names. next is the After of the next page, empty at the end. An error
// is a *Error about the query, ErrClosed, or that of ctx.
func (b *Broker) Durables(ctx context.Context, q DurableQuery) (list []DurableStats, next string, err error) {
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.Limit < 1 || q.Limit > MaxDurables {
		return nil, "", &Error{Kind: KindInvalid, Message: "a page of durable subscriptions has 1 to 1000"}
	}
	var names []string
	if err := b.callOr(ctx, func(c *core) {
		for name, d := range c.durables {
			if name > q.After && (q.Topic == nil || *q.Topic == d.durable.topic) {
				names = append(names, name)
			}
		}
	}); err != nil {
		return nil, "", err
	}
	slices.Sort(names)
	if len(names) > q.Limit {
		names = names[:q.Limit]
		next = names[q.Limit-1]
	}
	err = b.callOr(ctx, func(c *core) {
		for _, name := range names {
			if d := c.durables[name]; d != nil {
				list = append(list, d.durableStats())
			}
		}
	})
	return list, next, err
}

// Durable looks at one durable subscription; false: there is none of that name.
func (b *Broker) Durable(ctx context.Context, name SubscriptionName) (s DurableStats, ok bool, err error) {
	err = b.callOr(ctx, func(c *core) {
		if d := c.durables[name.String()]; d != nil {
			s, ok = d.durableStats(), true
		}
	})
	return s, ok, err
}

// DeleteDurable deletes a durable subscription with all that it keeps; false: there is none of that name. While it is in use that is
// a *Error of KindInUse, unless force says to take it away from its consumers, whose connections end with an ERROR. It returns
// when the deletion is on disk. When ctx ends first it may happen or not.
func (b *Broker) DeleteDurable(ctx context.Context, name SubscriptionName, force bool) (deleted bool, err error) {
	type result struct {
		deleted bool
		err     *Error
	}
	r, err := ask(ctx, b, func(c *core, answer func(result)) {
		d := c.durables[name.String()]
		if d == nil {
			answer(result{})
			return
		}
		if force {
			c.takeAway(d, "durable subscription "+quote(d.addr.Name))
		} else if err := d.inUse(nil, "is to be deleted"); err != nil {
			answer(result{err: err})
			return
		}
		c.doom(d)
		c.onDisk(func() { answer(result{deleted: true}) })
	})
	if err == nil && r.err != nil {
		err = r.err
	}
	return r.deleted, err
}

func (d *destination) durableStats() DurableStats {
	name, _ := ParseSubscriptionName(d.addr.Name)
	s := DurableStats{
		Name: name, Topic: d.durable.topic, Selector: d.durable.selector, NoLocal: d.durable.noLocal,
		User: d.durable.user, ClientID: d.durable.clientID, Created: d.created,
		Bytes: int64(d.queue.account.Bytes) + d.queue.loose, Received: d.received, Delivered: d.delivered, Acked: d.acked,
	}
	s.Ready, s.Unacked = d.depth()
	for _, x := range d.queue.consumers {
		s.Consumers = append(s.Consumers, ConsumerStats{Client: x.conn.client, ID: x.op.ID, Unacked: x.outstanding, Delivered: x.issued})
	}
	slices.SortFunc(s.Consumers, func(a, b ConsumerStats) int { return strings.Compare(a.Client.Remote+a.ID, b.Client.Remote+b.ID) })
	return s
}

// callOr is call with an error for why it was not done.
func (b *Broker) callOr(ctx context.Context, f func(c *core)) error {
	if b.call(ctx, f) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrClosed
}
