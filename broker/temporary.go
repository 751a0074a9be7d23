package broker

import (
	"slices"
	"strconv"

	"footfall/store"
)

// Owner is the session that a temporary destination goes with. The zero value is nobody's: such a destination stays.
type Owner struct {
	// Conn is the Conn.ID of the session, or Nobody.
	Conn uint64
	// Plain says that the name is one as other destinations have it, as clients of Apollo make them. Then all connections of the
	// session's user take from it, and it is there for as long as one of them does.
	Plain bool
}

// Nobody is the Owner.Conn of a temporary destination whose session is surely over.
const Nobody = ^uint64(0)

// temporary is what a temporary destination is beside others.
type temporary struct {
	user string // of the owner
	// orphan says that the owner is gone, so that it goes with its last consumer.
	orphan bool
}

// IsTemporary tells whether a destination there goes with its session.
func (a Address) IsTemporary() bool { return a.Owner != Owner{} }

// Form is the kind as permissions know it: that of Kind, or temp-queue or temp-topic of a temporary destination whose name
// is its owner's own.
func (a Address) Form() string {
	if a.IsTemporary() && !a.Owner.Plain {
		return "temp-" + a.Kind.String()
	}
	return a.Kind.String()
}

// ownerText is what String shows before the name of a temporary destination.
func (a Address) ownerText() string {
	if !a.IsTemporary() || a.Owner.Plain {
		return ""
	}
	return strconv.FormatUint(a.Owner.Conn, 36) + "."
}

// isGone tells whether a is a temporary destination that nobody can make any more. What is sent there is dropped: that the one who asked has
// left is no fault of the one who answers.
func (c *core) isGone(a Address) bool {
	return a.IsTemporary() && c.dests[a] == nil && c.conns[a.Owner.Conn] == nil
}

// openTemporary makes a temporary destination. Nothing is stored for it before something of it has to leave memory.
func (c *core) openTemporary(a Address) (*destination, *Error) {
	owner := c.conns[a.Owner.Conn]
	if owner == nil {
		return nil, &Error{Kind: KindDestination, Message: "the connection of temporary destination " + quote(a.String()) + " is gone"}
	}
	if len(owner.temporaries) >= c.opt.MaxTemporaries {
		return nil, &Error{Kind: KindLimit, Message: "too many temporary destinations of one connection to make " + quote(a.String()) + " (limits.temporary-destinations)"}
	}
	d, err := c.make(a)
	if err != nil {
		return nil, err
	}
	d.temp = &temporary{user: owner.client.User}
	if owner.temporaries == nil {
		owner.temporaries = map[*destination]struct{}{}
	}
	owner.temporaries[d] = struct{}{}
	return d, nil
}

// mayTake tells why conn cannot subscribe to a: of a temporary destination only its owner can, or its owner's user.
func (c *core) mayTake(conn *Conn, a Address) *Error {
	if !a.IsTemporary() || a.Owner.Conn == conn.id {
		return nil
	}
	if !c.outlives(a) {
		return &Error{Kind: KindDenied, Message: "temporary destination " + quote(a.String()) + " is of another connection (delivery.temporary-sharing)"}
	}
	d, owner := c.dests[a], c.conns[a.Owner.Conn]
	var user string
	switch {
	case d != nil:
		user = d.temp.user
	case owner != nil:
		user = owner.client.User
	default:
		return nil // resolve says that it is gone
	}
	if user != conn.client.User {
		return &Error{Kind: KindDenied, Message: "temporary destination " + quote(a.String()) + " is not of user " + quote(conn.client.User)}
	}
	return nil
}

// outlives tells whether other connections of a user can take from a temporary destination, which then stays while one does.
func (c *core) outlives(a Address) bool { return a.Owner.Plain || c.opt.SharedTemporaries }

// orphan has the temporary destinations of conn, which is gone, go too.
func (c *core) orphan(conn *Conn) {
	for d := range conn.temporaries {
		d.temp.orphan = true
		c.leaving = append(c.leaving, d)
	}
	conn.temporaries = nil
}

// abandoned notes that a consumer of d left, which may have been the last one.
func (c *core) abandoned(d *destination) {
	if d.temp != nil && d.temp.orphan {
		c.leaving = append(c.leaving, d)
	}
}

// endTemporaries ends those temporary destinations that nobody has any more.
func (c *core) endTemporaries() {
	for i, d := range c.leaving {
		c.leaving[i] = nil
		if c.dests[d.addr] == d && !d.consumed() {
			c.endTemporary(d)
		}
	}
	c.leaving = c.leaving[:0]
}

// disown notes that a temporary destination is gone.
func (c *core) disown(d *destination) {
	c.stats.TemporariesEnded++
	if owner := c.conns[d.addr.Owner.Conn]; owner != nil {
		delete(owner.temporaries, d)
	}
}

// consumed tells whether somebody takes from d, or browses it.
func (d *destination) consumed() bool {
	return d.tapped() || d.queue != nil && len(d.queue.consumers)+len(d.queue.browsers) > 0
}

// endTemporary deletes a temporary destination with all that is in it.
func (c *core) endTemporary(d *destination) {
	delete(c.dests, d.addr)
	d.doomed = true
	c.disown(d)
	if d.retained != nil {
		c.retain(d, &Message{Retain: RetainRemove})
	}
	if d.queue != nil {
		c.abandon(d.queue)
	}
	switch {
	case d.kept && d.queue != nil:
		c.purge(d)
	case d.kept:
		c.dropLoose(d)
		c.dropRecord(d)
	default:
		c.dropLoose(d)
		if q := d.queue; q != nil {
			q.forgotten = true
			delete(c.backlogs, backlogKey{d.shard, q.account.ID})
		}
	}
}

// dropRecord has the store forget a temporary destination of which nothing is stored but itself.
func (c *core) dropRecord(d *destination) {
	delete(c.byID, destinationKey{d.shard, d.id})
	c.batch.DropDestination(d.shard, d.id)
}

// temporaryProperties are those of a temporary destination in the store, so that the next start finds it and deletes it.
const temporaryProperties = "t"

// recoverTemporary sees to a temporary destination that was there at the last end of the program: nobody finds it, and it is deleted.
func (c *core) recoverTemporary(d *destination) {
	delete(c.dests, d.addr)
	d.doomed = true
	d.temp = &temporary{orphan: true}
}

// abandon drops what is in memory of q, to which no consumer comes any more, and takes back what is in flight.
func (c *core) abandon(q *backlog) {
	for x := q.flight.front; x != nil; x = q.flight.front {
		c.settle(x)
		c.abandonEntry(q, &x.e)
	}
	for q.count > 0 {
		e := q.take()
		c.abandonEntry(q, &e)
	}
	q.ended, q.whole, q.edge = true, false, place{}
	if q.page != nil {
		q.page.void = true
	}
}

func (c *core) abandonEntry(q *backlog, e *entry) {
	if e.stored() {
		e.msg.places = 0
	} else {
		c.expiresNoMore(q, e)
	}
	c.unhold(e.msg)
}

// dropLoose drops what waits for its time at d in memory only.
func (c *core) dropLoose(d *destination) {
	if d.waiting == 0 {
		return
	}
	a := &c.agendas[d.shard]
	for _, t := range slices.Clone(a.heap) {
		if t.dest != d || t.stored {
			continue
		}
		a.remove(t)
		c.forgetLoose(t)
		if t.m.back != nil {
			c.looseReturning--
		}
		c.unhold(t.m)
		c.stats.Cancelled++
	}
}

// shardOf is where a destination is stored.
func shardOf(a Address) store.Shard { return store.ShardOf(uint8(a.Kind), a.Name) }
