package broker

import (
	"crypto/sha256"
	"slices"
	"time"

	"footfall/store"
)

// A SEND with an id that its destination was sent before, within a window of time and of so many ids, is a duplicate: it is
// answered as if it was taken, and is not. What a destination was sent is in the store, put there in one batch with the message, and in
// memory as a whole or not at all: it is read off the loop when the first SEND with an id comes, and leaves memory when it
// is old, or for others that are in use when all together take too much.

// sentIDs is what a destination was sent, in order.
type sentIDs struct {
	last  map[idHash]sentAt // by id, the last that came
	order ring[sentID]
	used  time.Time
}

type sentID struct {
	hash idHash
	sentAt
}

type sentAt struct {
	seq store.Seq
	at  int64 // milliseconds since the epoch
}

// idHash stands for an id. Nobody finds two that have the same.
type idHash [16]byte

func hashOf(id string) idHash {
	sum := sha256.Sum256([]byte(id))
	return idHash(sum[:16])
}

const (
	// idBytes is about what an id takes in memory.
	idBytes = 80
	// idsPage is how many ids are read or dropped in one step.
	idsPage = 1000
	// tidyEvery bounds the time between two looks for ids that are old.
	tidyEvery = time.Minute
	// idsStay is how long what was used stays in memory at least.
	idsStay = 5 * time.Second
)

// duplicates is the core's part of it.
type duplicates struct {
	known   map[*destination]*sentIDs // in memory
	count   int                       // ids in known
	away    bool                      // the store may have some that are not in memory
	timed   bool                      // a timer for tidyIDs runs
	reading bool                      // tidyIDs is looking into the store
	next    time.Time                 // when it is tidied again for the sake of memory
}

// remembers tells whether what d was sent is in memory. Of a destination that was made in this run it is, as there is nothing else.
func (c *core) remembers(d *destination) bool { return !d.idsAway || c.dups.known[d] != nil }

// unknownIDs lists the destinations of op whose ids are to be read first.
func (c *core) unknownIDs(op *Op) (list []*destination) {
	add := func(send *Op) {
		if send.Message.DedupID == "" {
			return
		}
		if d := c.dests[send.To]; d != nil && !c.remembers(d) {
			list = append(list, d)
		}
	}
	if op.Kind == OpSend {
		add(op)
	}
	for i := range op.Sends {
		add(&op.Sends[i])
	}
	return list
}

// recall reads what destinations were sent, after which conn goes on.
func (c *core) recall(conn *Conn, list []*destination) {
	keys := make([]store.DuplicateScan, len(list))
	for i, d := range list {
		keys[i] = store.DuplicateScan{Shard: d.shard, Destination: d.id, MaxCount: idsPage}
	}
	c.stats.DuplicateReads += uint64(len(list))
	versions := make([]uint64, len(list))
	for i, d := range list {
		versions[i] = d.idsVersion
	}
	c.search(conn, func(s Store, after uint64) (func(), error) {
		read := make([]*sentIDs, len(keys))
		for i, scan := range keys {
			ids, err := readIDs(s, after, scan)
			if err != nil {
				return nil, err
			}
			read[i] = ids
		}
		return func() {
			for i, d := range list {
				isThere := c.byID[destinationKey{d.shard, d.id}] == d
				if isThere && !c.remembers(d) && d.idsVersion == versions[i] { // else it is not what is there now
					c.learn(d, read[i])
				}
			}
		}, nil
	})
}

func readIDs(s Store, after uint64, scan store.DuplicateScan) (*sentIDs, error) {
	ids := &sentIDs{last: map[idHash]sentAt{}}
	scan.After = after
	for {
		found, more, err := s.ScanDuplicates(scan)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			ids.add(sentID{d.Hash, sentAt{d.Seq, d.At}})
		}
		if !more {
			return ids, nil
		}
		scan.From = found[len(found)-1].Seq + 1
	}
}

func (ids *sentIDs) add(id sentID) {
	ids.last[id.hash] = id.sentAt
	ids.order.pushBack(id)
}

// learn takes in what d was sent.
func (c *core) learn(d *destination, ids *sentIDs) {
	ids.used = c.now
	c.dups.known[d] = ids
	c.dups.count += ids.order.len()
}

// unlearn has what d was sent leave memory.
func (c *core) unlearn(d *destination) {
	if ids := c.dups.known[d]; ids != nil {
		c.dups.count -= ids.order.len()
		delete(c.dups.known, d)
		d.idsVersion++
	}
}

// manyIDs tells whether those in memory take too much of it.
func (c *core) manyIDs() bool { return int64(c.dups.count)*idBytes > c.opt.DuplicateBytes }

// isDuplicate tells whether d was sent the id before; otherwise it was now, and that goes with this round's batch.
func (c *core) isDuplicate(d *destination, id string) bool {
	ids := c.dups.known[d]
	if ids == nil {
		ids = &sentIDs{last: map[idHash]sentAt{}}
		c.learn(d, ids)
	}
	ids.used = c.now
	c.forgetIDs(d, ids)
	hash := hashOf(id)
	if sent, ok := ids.last[hash]; ok && !c.isPast(sent.at) {
		c.stats.Duplicates++
		return true
	}
	c.keep(d)
	sent := sentID{hash, sentAt{c.next(d.shard), c.ms}}
	ids.add(sent)
	c.dups.count++
	c.batch.PutDuplicate(store.Duplicate{Shard: d.shard, Destination: d.id, Seq: sent.seq, At: sent.at, Hash: sent.hash})
	return false
}

// forgets tells whether an id at the front is no longer of use.
func (c *core) forgets(ids *sentIDs, id *sentID) bool {
	return c.isPast(id.at) || ids.order.len() > c.opt.DuplicateIDs
}

func (c *core) isPast(at int64) bool { return at <= c.ms-c.opt.DuplicateWindow.Milliseconds() }

// forgetIDs drops ids that are no longer of use, as many as go into one step.
func (c *core) forgetIDs(d *destination, ids *sentIDs) {
	for range idsPage {
		if ids.order.len() == 0 || !c.forgets(ids, ids.order.at(0)) {
			return
		}
		id := ids.order.popFront()
		if ids.last[id.hash] == id.sentAt {
			delete(ids.last, id.hash)
		}
		c.dups.count--
		c.batch.DropDuplicate(d.shard, d.id, id.seq)
	}
}

// tidyIDs sees to it that old ids go, and that those in memory do not take too much of it.
func (c *core) tidyIDs() {
	for d, ids := range c.dups.known {
		c.forgetIDs(d, ids)
		if ids.order.len() == 0 {
			c.unlearn(d)
			d.idsAway = false
		}
	}
	for d, ids := range c.dups.known {
		if !c.manyIDs() {
			break
		}
		if c.now.Sub(ids.used) >= idsStay {
			c.unlearn(d)
			d.idsAway, c.dups.away = true, true
		}
	}
	if c.dups.away && !c.dups.reading {
		c.dropOldIDs()
	}
}

// tidyLater has tidyIDs done in a while, if there is something to tidy.
func (c *core) tidyLater() {
	if c.manyIDs() && !c.now.Before(c.dups.next) {
		c.dups.next = c.now.Add(idsStay)
		c.tidyIDs()
	}
	if c.dups.timed || len(c.dups.known) == 0 && !c.dups.away {
		return
	}
	c.dups.timed = true
	wait := min(tidyEvery, max(c.opt.DuplicateWindow, time.Second))
	c.timers.add(c.now.Add(wait), func() {
		c.dups.timed = false
		c.tidyIDs()
	})
}

// dropOldIDs looks into the store for old ids of destinations of which none are in memory.
func (c *core) dropOldIDs() {
	c.dups.reading, c.dups.away = true, false
	before := c.ms - c.opt.DuplicateWindow.Milliseconds() + 1
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		var old []store.Duplicate
		left := false
		for shard := range store.Shard(store.Shards) {
			found, some, err := s.FindOldDuplicates(store.OldDuplicates{After: after, Shard: shard, Before: before, MaxCount: idsPage - len(old)})
			if err != nil {
				return nil, err
			}
			old, left = append(old, found...), left || some
			if len(old) >= idsPage {
				break
			}
		}
		return func() {
			c.dups.reading = false
			c.dups.away = c.dups.away || left
			for _, id := range old {
				d := c.byID[destinationKey{id.Shard, id.Destination}]
				if d == nil || c.dups.known[d] == nil { // else they go when it forgets them
					c.batch.DropDuplicate(id.Shard, id.Destination, id.Seq)
				}
			}
			if len(old) >= idsPage {
				c.dropOldIDs()
			}
		}, nil
	})
}

// isDoubled tells whether something that op sent was not taken as a duplicate.
func (op *Op) isDoubled() bool {
	if op.Kind == OpSend {
		return op.Message.doubled
	}
	return slices.ContainsFunc(op.Sends, func(send Op) bool { return send.Message.doubled })
}

// knowsID tells whether a SEND is going to be a duplicate, when what its destination was sent is in memory.
func (c *core) knowsID(send *Op) bool {
	ids := c.dups.known[c.dests[send.To]]
	if send.Message.DedupID == "" || ids == nil {
		return false
	}
	sent, ok := ids.last[hashOf(send.Message.DedupID)]
	return ok && !c.isPast(sent.at)
}
