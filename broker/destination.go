package broker

import (
	"footfall/selector"
	"footfall/store"
)

// destination is a queue, a topic or a durable subscription that exists.
type destination struct {
	addr    Address
	text    string // addr.String()
	shard   store.Shard
	id      store.DestinationID
	created int64
	kept    bool    // the store knows it
	policy  *policy // see core.policyOf

	// See duplicates.go.
	idsAway    bool   // the store may have ids that it was sent which are not in memory
	idsVersion uint64 // counts how often they left memory

	doomed bool  // it is being deleted, and nobody finds it
	paused Pause // what an operator put a stop to

	queue    *backlog   // of a queue or a durable subscription
	temp     *temporary // of a temporary destination
	durable  *durable   // of a durable subscription
	retained *Message   // of a topic, for new subscribers
	patterns []pattern  // of one that the topics feed which match them; else nil
	feeding  uint64     // the last SEND that fed it, see core.feeds
	// Of a topic, what takes from it: taps all that is sent, choosy what their selectors say, found by index.
	taps, choosy []*tap
	index        selector.Index[*tap]
	shared       map[SubscriptionName]*tap // of these, those that consumers share by a name
	slow         int                       // of these, those that hold up producers

	waiting int // what waits in memory only for its time

	received, delivered, acked uint64
}

// resolve finds the destination, or makes it. For a topic nothing is stored, and it
// is forgotten with its last subscriber.
func (c *core) resolve(a Address) (*destination, *Error) {
	if d := c.dests[a]; d != nil {
		return d, nil
	}
	if a.Kind == Durable {
		return nil, &Error{Kind: KindDestination, Message: "there is no durable subscription " + quote(a.Name)}
	}
	if c.opt.NoAutoCreate && !a.IsTemporary() && !a.Wildcard() && len(c.queuesOf(a)) == 0 {
		return nil, &Error{Kind: KindDestination, Message: "there is no destination " + a.String() + " and creation at first use is off"}
	}
	return c.open(a)
}

// open is resolve for what the broker itself needs.
func (c *core) open(a Address) (*destination, *Error) {
	if d := c.dests[a]; d != nil {
		return d, nil
	}
	if a.IsTemporary() {
		return c.openTemporary(a)
	}
	d, err := c.make(a)
	if err == nil && d.queue != nil {
		c.keep(d)
		c.touch(d.queue)
		c.virtualize(d)
		c.followed(d)
	}
	return d, err
}

// make makes the destination, which the store does not know yet.
func (c *core) make(a Address) (*destination, *Error) {
	if len(c.dests) >= c.opt.MaxDestinations {
		return nil, &Error{Kind: KindLimit, Message: "too many destinations to make " + a.String() + " (limits.destinations)"}
	}
	d := &destination{addr: a, text: a.String(), created: c.ms}
	d.shard = shardOf(a)
	d.id = store.DestinationID(c.next(d.shard))
	if a.Kind == Queue {
		id := store.BacklogID(c.next(d.shard))
		d.queue = c.newQueue(d, store.Backlog{Shard: d.shard, ID: id, Destination: d.id})
		d.queue.whole = true
	}
	c.file(d)
	return d, nil
}

// keep has the store know d, so that what is stored for it finds it again.
func (c *core) keep(d *destination) {
	if d.kept {
		return
	}
	d.kept = true
	c.byID[destinationKey{d.shard, d.id}] = d
	c.putDestination(d)
}

func (c *core) putDestination(d *destination) {
	rec := store.Destination{Shard: d.shard, ID: d.id, Kind: uint8(d.addr.Kind), Name: d.addr.Name, Created: d.created}
	switch {
	case d.durable != nil:
		rec.Properties = d.durable.properties()
	case d.temp != nil:
		rec.Properties = temporaryProperties
	default:
		rec.Properties = d.properties()
	}
	c.batch.PutDestination(rec)
}

type destinationKey struct {
	shard store.Shard
	id    store.DestinationID
}

type backlogKey struct {
	shard store.Shard
	id    store.BacklogID
}

func (c *core) newQueue(d *destination, account store.Backlog) *backlog {
	q := &backlog{dest: d, account: account, limit: limits{
		messages: c.opt.BacklogMessages, bytes: c.opt.BacklogBytes, loose: looseBytes,
	}}
	c.backlogs[backlogKey{account.Shard, account.ID}] = q
	return q
}

// looseBytes is what a queue may hold of non-persistent messages before they
// go to the store like others.
const looseBytes = 32 << 20

// forget drops a topic that has no subscriber and that nothing waits for.
func (c *core) forget(d *destination) {
	if d.addr.Kind == Topic && !d.tapped() && d.retained == nil && !d.kept {
		c.unfile(d)
		if d.temp != nil {
			c.disown(d)
		}
	}
}

// recoverState brings back what was there at the last end of the program. No message is read.
func (c *core) recoverState(r store.Recovered) {
	c.epoch = r.Epoch
	for i := range c.seq {
		c.seq[i] = store.FirstSeq(r.Epoch)
		c.synced[i] = c.seq[i]
	}
	for s := range c.expiries {
		c.expiries[s].whole = false // there is no account of these
	}
	for _, s := range r.Schedules { // before what goes on with a deletion
		c.agendas[s.Shard].account = s
		c.agendas[s.Shard].whole = s.Count == 0
	}
	var leftover []*destination
	for _, rec := range r.Destinations {
		d := &destination{addr: Address{Kind: Kind(rec.Kind), Name: rec.Name}, shard: rec.Shard, id: rec.ID, created: rec.Created}
		d.text = d.addr.String()
		d.kept, d.idsAway, c.dups.away = true, true, true
		c.dests[d.addr] = d
		c.byID[destinationKey{d.shard, d.id}] = d
		if rec.Properties == temporaryProperties && d.addr.Kind != Durable {
			c.recoverTemporary(d)
			leftover = append(leftover, d)
			continue
		}
		if err := c.recoverProperties(d, rec.Properties); err != nil {
			c.opt.Fatal(err)
			return
		}
		if d.doomed && d.durable == nil {
			leftover = append(leftover, d)
		}
	}
	for _, account := range r.Backlogs {
		d := c.byID[destinationKey{account.Shard, account.Destination}]
		if d == nil {
			c.opt.Log.Error("a backlog of no destination is left alone", "shard", account.Shard, "backlog", account.ID)
			continue
		}
		q := c.newQueue(d, account)
		q.whole = q.accounted() == 0
		for i := range account.Lanes {
			q.seen[i] = account.Lanes[i].Seen
			q.mayHaveLeft(i)
		}
		q.before = q.seen
		d.queue = q
		if d.temp == nil && !d.doomed {
			c.virtualize(d)
		}
		if err := c.recoverTap(d); err != nil {
			c.opt.Fatal(err)
			return
		}
	}
	for _, d := range leftover {
		switch {
		case d.queue != nil: // recoverTap saw to it
		case d.doomed:
			c.purge(d)
		default:
			c.dropRecord(d)
		}
	}
}
