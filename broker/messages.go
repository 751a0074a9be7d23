package broker

import (
	"context"

	"footfall/frames"
)

// MessageQuery asks for the messages of a queue or of a durable subscription, in the order in which they would be delivered; what
// waits for its time is not among them.
type MessageQuery struct {
	From Address
	// ID is that of one message; Selector says which are wanted, in the language of package selector. Empty: all.
	ID, Selector string
	// After is where another page ended. Empty: the beginning.
	After string
	// Limit is how many messages are looked at, 1 to MaxDead; 0: 100.
	Limit int
	// BodyBytes is how many octets of each body are wanted, 0 to MaxScheduledBody.
	BodyBytes int
}

// QueuedMessage is a message in its place.
type QueuedMessage struct {
	// ID names its place, for as long as it is there.
	ID         string
	MessageID  string
	Priority   uint8
	Persistent bool
	// Sent is when the broker took it, Expires when nobody wants it any more, 0 for never, in milliseconds since the epoch.
	Sent, Expires int64
	// Deliveries are those that were not acknowledged, Failures those that count towards the limit of redeliveries.
	Deliveries, Failures int
	Group                string
	// Unacked says that a consumer has it.
	Unacked bool
	Header  frames.Header
	// BodySize is the size of the body in octets, Body its beginning, as far as it was asked for.
	BodySize int64
	Body     []byte
}

// Messages returns a page. next is the After of the next page, empty at the end; a page may be empty and still have a next one. Errors are as those
// of DeadLetters.
func (b *Broker) Messages(ctx context.Context, q MessageQuery) (list []QueuedMessage, next string, err error) {
	if q.BodyBytes < 0 || q.BodyBytes > MaxScheduledBody {
		return nil, "", &Error{Kind: KindInvalid, Message: "a page of messages shows 0 to 65536 octets of each body"}
	}
	p, err := b.deadPage(ctx, q.From, DeadFilter{ID: q.ID, Selector: q.Selector}, q.After, q.Limit, func(_ *core, _ *backlog, list []deadEntry) []deadEntry { return list })
	if err != nil {
		return nil, "", err
	}
	for i := range p.list {
		list = append(list, p.list[i].queued(q.BodyBytes))
	}
	return list, p.next, nil
}

// MessagesChanged is what became of a page of messages. Homeless are those that the other destination cannot take, as a topic that nobody is
// subscribed to.
type MessagesChanged = DeadChanged

// MoveMessages takes a page of messages out of their places and puts them at the end of another queue, or publishes them to a topic, each in one
// write. They keep their headers, priority and time to live, and lose the count of their failures. What a consumer has stays.
func (b *Broker) MoveMessages(ctx context.Context, q MessageQuery, to Address) (MessagesChanged, error) {
	if err := otherPlace(q.From, to); err != nil {
		return MessagesChanged{}, err
	}
	return b.changePage(ctx, q, func(c *core, from *backlog, e *entry) bool {
		d, ok := c.placeFor(to)
		if !ok {
			return false
		}
		if c.takeOutOf(from, e) {
			c.putInto(to, d, e.msg.moving())
			c.unhold(e.msg)
		}
		return true
	})
}

// CopyMessages puts copies of a page of messages at the end of another queue, or publishes them to a topic. A copy has an id of its own.
func (b *Broker) CopyMessages(ctx context.Context, q MessageQuery, to Address) (MessagesChanged, error) {
	if err := otherPlace(q.From, to); err != nil {
		return MessagesChanged{}, err
	}
	return b.changePage(ctx, q, func(c *core, _ *backlog, e *entry) bool {
		d, ok := c.placeFor(to)
		if !ok {
			return false
		}
		m := e.msg.moving()
		m.ID = MessageID{}
		c.putInto(to, d, m)
		return true
	})
}

// DeleteMessages deletes a page of messages. What a consumer has stays.
func (b *Broker) DeleteMessages(ctx context.Context, q MessageQuery) (MessagesChanged, error) {
	return b.changePage(ctx, q, discardPlace)
}

// discardPlace drops a message that no consumer has.
func discardPlace(c *core, from *backlog, e *entry) bool {
	if c.takeOutOf(from, e) {
		c.unhold(e.msg)
	}
	return true
}

func (b *Broker) changePage(ctx context.Context, q MessageQuery, do func(*core, *backlog, *entry) bool) (MessagesChanged, error) {
	return b.changeAt(ctx, q.From, DeadFilter{ID: q.ID, Selector: q.Selector}, q.After, q.Limit, do)
}

func otherPlace(from, to Address) error {
	if err := manageable(to); err != nil {
		return err
	}
	if from == to {
		return &Error{Kind: KindInvalid, Message: "the messages are in " + quote(to.String()) + " already"}
	}
	return nil
}

// placeFor makes sure that there is somebody or something at an address that takes messages; the destination of a topic may be nil.
func (c *core) placeFor(to Address) (*destination, bool) {
	d := c.dests[to]
	switch {
	case to.Kind == Queue:
		var err *Error
		d, err = c.open(to)
		return d, err == nil
	case to.Kind == Topic:
		return d, !to.Wildcard() && len(c.feeds(to, d)) > 0
	}
	return d, d != nil
}

// putInto gives a message that an operator moves its new place.
func (c *core) putInto(to Address, d *destination, m *Message) {
	c.policyOf(to, d).limit(m)
	if m.Expires == 0 {
		m.lives(c.ms)
	}
	if to.Kind == Topic {
		c.publish(to, d, m)
		return
	}
	seq := c.next(d.shard)
	if m.ID == (MessageID{}) {
		m.ID = MessageID{Shard: uint8(d.shard), Seq: uint64(seq)}
	}
	c.enqueue(d.queue, m, seq)
}

// moving is a copy of m for another place, which expires when m does.
func (m *Message) moving() *Message {
	out := m.again()
	out.Expires = m.Expires
	return out
}

// queued makes of it what is shown.
func (e *deadEntry) queued(body int) QueuedMessage {
	m := e.msg
	out := QueuedMessage{
		ID: deadID(placeOf(&e.entry)), MessageID: m.ID.String(), Priority: m.Priority, Persistent: m.Persistent, Sent: m.Timestamp, Expires: m.Expires,
		Deliveries: int(e.deliveries), Failures: int(e.failures), Group: m.Group, Unacked: e.held, Header: m.Header, BodySize: int64(len(m.Body)),
	}
	if m.UserID != "" {
		out.MessageID = m.UserID
	}
	if body > 0 {
		out.Body = m.Body[:min(body, len(m.Body))]
	}
	return out
}
