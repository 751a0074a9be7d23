package broker

import (
	"math"

	"footfall/store"
)

// doom deletes a destination: from now on nobody finds it, and who subscribed to it gets nothing more. Its messages, which may be very many,
// leave the store step by step, also over a restart: the record that says so goes with this batch.
func (c *core) doom(d *destination) {
	for _, s := range d.subscriptions() { // of a durable one those of sessions that sent DISCONNECT
		c.endSubscription(s)
	}
	if d.retained != nil {
		c.retain(d, &Message{Retain: RetainRemove})
	}
	if c.dests[d.addr] == d { // else it went with its last subscriber
		c.unfile(d)
	}
	d.doomed = true
	c.noteStanding(d, -1)
	c.recheck = true // who waits to send to it may make it anew
	if d.durable != nil {
		delete(c.durables, d.addr.Name)
		d.durable.doomed = true
		c.closeTap(d.queue.tap)
	}
	if !d.kept {
		return // a topic, of which nothing is stored
	}
	c.putDestination(d)
	if d.queue != nil {
		c.abandon(d.queue)
	}
	c.purge(d)
}

// purge drops all that waits for its time at d, and then all that is stored in it, and then d.
func (c *core) purge(d *destination) {
	c.dropLoose(d)
	if c.agendas[d.shard].account.Count == 0 {
		c.purgePlaces(d)
		return
	}
	c.purgeDues(d, store.DueKey{Shard: d.shard})
}

// A step of a purge looks at so many messages.
const (
	purgeRefsPage = 1000
	purgeDuesPage = 4096
)

// purgeDues takes back what waits for its time at d, from a place on.
func (c *core) purgeDues(d *destination, from store.DueKey) {
	c.lookUp(func(s Store, after uint64) (func(), error) {
		var hits []found
		var bad error
		q := store.DueList{After: after, From: from, Until: math.MaxInt64, OneShard: true, MaxCount: purgeDuesPage, MaxBytes: 4 << 20}
		next, more, err := s.ListDue(q, func(e *store.DueEntry) bool {
			var m *Message
			var target store.DestinationID
			if m, target, bad = decodeRecord(e.Head, nil, e.Blob, c.zones); bad != nil {
				return false
			}
			if target == d.id {
				f := found{dest: d, due: dueTime{e.Key.At, e.Key.Seq}, octets: e.Bytes, blob: e.Blob, returning: m.back != nil}
				if m.named() {
					f.name = m.ScheduledID
				}
				hits = append(hits, f)
			}
			return true
		})
		if bad != nil {
			err = bad
		}
		return func() {
			for _, f := range hits {
				c.cancel(f)
			}
			if more {
				c.purgeDues(d, next)
				return
			}
			c.purgePlaces(d)
		}, err
	})
}

// purgePlaces drops all that is stored in d; of a topic that is nothing.
func (c *core) purgePlaces(d *destination) {
	if d.queue == nil {
		c.purged(d)
		return
	}
	c.purgeRefs(d, store.RefKey{Shard: d.shard, Backlog: d.queue.account.ID, Priority: store.Priorities - 1})
}

// purgeRefs drops what is stored in d, from a place on.
func (c *core) purgeRefs(d *destination, from store.RefKey) {
	q := d.queue
	scan := store.RefScan{From: from, MaxCount: purgeRefsPage, MaxBytes: 4 << 20}
	for i := range scan.Heads {
		scan.Heads[i] = q.account.Lanes[i].Head
	}
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		scan.After = after
		read, more, err := readRefs(s, scan, c.zones, c.epoch)
		return func() {
			for i := range read {
				c.expiresNoMore(q, &read[i])
				c.dropRef(q, &read[i])
			}
			if more {
				last := q.key(&read[len(read)-1])
				last.Seq++
				c.purgeRefs(d, last)
				return
			}
			c.purged(d)
		}, err
	})
}

// purged forgets a destination that has nothing any more.
func (c *core) purged(d *destination) {
	if q := d.queue; q != nil {
		q.forgotten = true
		delete(c.backlogs, backlogKey{d.shard, q.account.ID})
		c.batch.DropBacklog(d.shard, q.account.ID)
	}
	delete(c.byID, destinationKey{d.shard, d.id})
	c.unlearn(d)
	c.batch.DropDuplicates(d.shard, d.id)
	c.batch.DropDestination(d.shard, d.id)
}

// dropMoving drops a message whose time came when its destination was being deleted, with the body that was to move on.
func (c *core) dropMoving(d *destination, m *Message) {
	if m.blob != (store.Blob{}) {
		c.batch.DropBlob(d.shard, m.blob)
	}
	c.stats.Cancelled++
}
