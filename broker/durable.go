package broker

import (
	"fmt"
	"strings"

	"footfall/selector"
	"footfall/store"
)

// SubscriptionName is what a durable or shared subscription is known by: the client-id of those who use it, or their user where they
// have none, and the name that they gave it. The zero value is no name.
type SubscriptionName struct{ Owner, Name string }

// String returns OWNER:NAME, where the owner has each % and : as %25 and %3A, so that no two names look the same.
func (n SubscriptionName) String() string {
	return strings.NewReplacer("%", "%25", ":", "%3A").Replace(n.Owner) + ":" + n.Name
}

// ParseSubscriptionName reads what String wrote. Only the text that String would write is accepted.
func ParseSubscriptionName(text string) (SubscriptionName, bool) {
	owner, name, ok := strings.Cut(text, ":")
	n := SubscriptionName{strings.NewReplacer("%25", "%", "%3A", ":").Replace(owner), name}
	return n, ok && n.String() == text
}

// Address is that of a durable subscription of this name.
func (n SubscriptionName) Address() Address { return Address{Kind: Durable, Name: n.String()} }

// durable is what a durable subscription is beside its backlog, for as long as it exists. Its destination has the shard of the
// topic, so that one message in the store is enough for all subscriptions of a topic.
type durable struct {
	topic    Address
	user     string // who made it; others cannot use it
	clientID string
	selector string
	noLocal  bool
	doomed   bool // deleted, but not all of its messages are out of the store
}

// differs tells whether a SUBSCRIBE asks for something else than the durable subscription d is: then that is a new one.
func (d *destination) differs(op *SubscribeOp, program *selector.Program) bool {
	return d.durable.topic != op.From || d.queue.tap.program != program || d.durable.noLocal != op.NoLocal
}

// The properties of its destination are:
//
//	version  1 octet, durableVersion
//	flags    1 octet
//	kind     1 octet, that of the topic's address
//	texts    uvarint length and octets: the topic's name, user, client-id, selector
const durableVersion = 1

const (
	durableNoLocal = 1 << iota
	durableDoomed
)

func (s *durable) properties() string {
	var flags byte
	if s.noLocal {
		flags |= durableNoLocal
	}
	if s.doomed {
		flags |= durableDoomed
	}
	dst := []byte{durableVersion, flags, byte(s.topic.Kind)}
	for _, text := range []string{s.topic.Name, s.user, s.clientID, s.selector} {
		dst = appendText(dst, text)
	}
	return string(dst)
}

func decodeDurable(properties string) (*durable, error) {
	r := recordReader{rest: []byte(properties)}
	if v := r.octet(); v != durableVersion && r.err == nil {
		return nil, fmt.Errorf("%w: subscription version %d, this program knows %d", errRecord, v, durableVersion)
	}
	flags := r.octet()
	s := &durable{noLocal: flags&durableNoLocal != 0, doomed: flags&durableDoomed != 0}
	s.topic = Address{Kind: Kind(r.octet()), Name: r.text()}
	s.user, s.clientID, s.selector = r.text(), r.text(), r.text()
	if r.err != nil {
		return nil, r.err
	}
	if s.topic.Kind != Topic || flags > durableNoLocal|durableDoomed || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: subscription to %v with flags %x", errRecord, s.topic, flags)
	}
	return s, nil
}

// takeUp returns the destination of the durable subscription that a SUBSCRIBE names, after making it or, when it
// changed, making it anew, and whether that keeps the program.
func (c *core) takeUp(conn *Conn, op *SubscribeOp, program *selector.Program) (d *destination, kept bool, err *Error) {
	a := op.Durable.Address()
	d = c.dests[a]
	if d != nil {
		if err := d.refuses(conn); err != nil {
			return nil, false, err
		}
	}
	if op.NoCreate && (d == nil || d.differs(op, program)) {
		return nil, false, &Error{Kind: KindDenied, Message: "user " + quote(conn.client.User) + " may not create durable subscription " + quote(a.Name)}
	}
	if d != nil {
		if d.differs(op, program) {
			if err := d.inUse(conn, "is to be changed by "+quote(op.ID)); err != nil {
				return nil, false, err
			}
			if err := c.mayResolve(op.From); err != nil {
				return nil, false, err
			}
			c.doom(d)
			d = nil
		}
	}
	if d == nil {
		d, err = c.makeDurable(conn, op, a, program)
		return d, true, err
	}
	return d, false, c.full(d)
}

// full tells why d cannot have another consumer.
func (c *core) full(d *destination) *Error {
	if d.durable != nil && c.opt.ExclusiveDurables && d.queue.live() > 0 {
		return &Error{Kind: KindInUse, Message: "durable subscription " + quote(d.addr.Name) + " has a consumer, and may have one only (delivery.durable-sharing)"}
	}
	return nil
}

// mayResolve tells why a destination cannot be made, if it is not there.
func (c *core) mayResolve(a Address) *Error {
	if c.dests[a] == nil && (c.opt.NoAutoCreate || len(c.dests) >= c.opt.MaxDestinations) {
		_, err := c.resolve(a)
		return err
	}
	return nil
}

// refuses tells why conn cannot use the durable subscription d.
func (d *destination) refuses(conn *Conn) *Error {
	if user := conn.client.User; d.durable != nil && d.durable.user != user {
		return &Error{Kind: KindDenied, Message: "durable subscription " + quote(d.addr.Name) + " is not of user " + quote(user)}
	}
	return nil
}

// inUse tells why d cannot be deleted or changed by conn: somebody consumes it, or another connection has
// messages of it that are not acknowledged.
func (d *destination) inUse(conn *Conn, what string) *Error {
	if d.queue.live() > 0 {
		return &Error{Kind: KindInUse, Message: "durable subscription " + quote(d.addr.Name) + " " + what + ", but has a consumer"}
	}
	for x := d.queue.flight.front; x != nil; x = x.next {
		if x.sub.conn != conn && !x.sub.conn.disconnected {
			return &Error{Kind: KindInUse, Message: "durable subscription " + quote(d.addr.Name) + " " + what + ", but another connection has unacknowledged messages of it"}
		}
	}
	return nil
}

// live counts the consumers that may be given something. Those of a session that sent DISCONNECT may not, though it is not over.
func (q *backlog) live() (n int) {
	for _, s := range q.consumers {
		if !s.conn.ended {
			n++
		}
	}
	return n
}

// makeDurable makes a durable subscription to the topic that exists or not.
func (c *core) makeDurable(conn *Conn, op *SubscribeOp, a Address, program *selector.Program) (*destination, *Error) {
	topic, err := c.resolve(op.From)
	if err != nil {
		return nil, err
	}
	if len(c.dests) >= c.opt.MaxDestinations {
		c.forget(topic)
		return nil, &Error{Kind: KindLimit, Message: "too many destinations to make durable subscription " + quote(a.Name) + " (limits.destinations)"}
	}
	d := &destination{addr: a, text: a.String(), created: c.ms, shard: topic.shard}
	d.id = store.DestinationID(c.next(d.shard))
	d.durable = &durable{
		topic: op.From, user: conn.client.User, clientID: conn.client.ClientID, selector: op.Selector, noLocal: op.NoLocal,
	}
	d.queue = c.newQueue(d, store.Backlog{Shard: d.shard, ID: store.BacklogID(c.next(d.shard)), Destination: d.id})
	d.queue.whole = true
	c.dests[a] = d
	c.durables[a.Name] = d
	c.keep(d)
	c.touch(d.queue)
	c.tapFor(topic, d, program)
	c.offer(d.queue.tap)
	return d, nil
}

// tapFor has the durable subscription d get what comes to its topic and its selector wants.
func (c *core) tapFor(topic, d *destination, program *selector.Program) {
	topic.addTap(&tap{q: d.queue, durable: true, noLocal: d.durable.noLocal, clientID: d.durable.clientID, program: program})
}

// recoverDurable makes what it was of a durable subscription that the store knows.
func (c *core) recoverDurable(d *destination, properties string) error {
	var err error
	if d.durable, err = decodeDurable(properties); err != nil {
		return fmt.Errorf("durable subscription %s: %w", d.addr.Name, err)
	}
	if d.durable.doomed {
		d.doomed = true
		delete(c.dests, d.addr)
	}
	return nil
}

// recoverTap has what comes to its topic go into a durable subscription again, or goes on with its end.
func (c *core) recoverTap(d *destination) error {
	switch {
	case d.durable == nil && d.temp == nil && !d.doomed:
	case d.durable == nil || d.doomed:
		d.queue.ended = true
		c.purge(d)
	default:
		c.durables[d.addr.Name] = d
		program, err := c.compile(d.durable.selector)
		if err != nil {
			return fmt.Errorf("durable subscription %s has a selector that is refused now: %w", d.addr.Name, err)
		}
		c.tapFor(c.topicOf(d), d, program)
	}
	return nil
}

// topicOf finds or makes the topic of a durable subscription that was there at the start, whatever the limits are now.
func (c *core) topicOf(d *destination) *destination {
	topic := c.dests[d.durable.topic]
	if topic == nil {
		topic = &destination{addr: d.durable.topic, text: d.durable.topic.String(), created: d.created, shard: d.shard}
		topic.id = store.DestinationID(c.next(d.shard))
		c.file(topic)
	}
	return topic
}

// unsubscribeDurable ends a subscription of the connection, if it is there, and deletes the durable one that is named. That
// there is none is no error.
func (c *core) unsubscribeDurable(conn *Conn, op *Op) *Error {
	s := conn.subs[op.Sub]
	if s != nil && s.durable() == nil && s.op.Shared == (SubscriptionName{}) {
		return c.unsubscribe(conn, op.Sub) // the headers are of no meaning to it
	}
	d := c.dests[op.Durable.Address()]
	if d != nil {
		if err := d.refuses(conn); err != nil {
			return err
		}
	}
	if s != nil {
		if err := c.unsubscribe(conn, op.Sub); err != nil {
			return err
		}
	}
	if d == nil {
		c.stats.UnknownDurables++
		return nil
	}
	if err := d.inUse(conn, "is to be deleted"); err != nil {
		return err
	}
	c.doom(d)
	return nil
}

// mayUse tells why conn may not send where op does.
func (c *core) mayUse(conn *Conn, op *Op) *Error {
	if d := c.dests[op.To]; op.To.Kind == Durable && d != nil {
		return d.refuses(conn)
	}
	return c.mayMake(conn, op.To, op.NoCreate)
}

// mayMake tells why conn cannot use a queue that it would have to make and may not. Of a topic nothing is kept, and so everybody makes
// those.
func (c *core) mayMake(conn *Conn, a Address, noCreate bool) *Error {
	if !noCreate || a.Kind != Queue || a.IsTemporary() || a.Wildcard() || c.dests[a] != nil {
		return nil
	}
	return &Error{Kind: KindDenied, Message: "there is no destination " + quote(a.String()) + ", and user " + quote(conn.client.User) + " may not create it"}
}

// keeps tells whether what is sent to the topic at a is stored for somebody.
func (c *core) keeps(a Address) bool {
	if len(c.queuesOf(a)) > 0 {
		return true
	}
	for _, d := range c.feeds(a, c.dests[a]) {
		for t := range d.allTaps() {
			if t.durable {
				return true
			}
		}
	}
	return false
}

// source is the destination whose policies count for d.
func (d *destination) source() Address {
	if d.durable != nil {
		return d.durable.topic
	}
	return d.addr
}
