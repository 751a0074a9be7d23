package broker

import (
	"slices"

	"footfall/frames"
	"footfall/schedule"
	"footfall/store"
)

// What waits for its time is for the most part in the store only, so that to find some of it by its name or its
// time takes a search off the loop. The operation that needs it is parked meanwhile, and goes on in the
// very round that takes the result in; what changed since the search began is in core.dropped and core.renamed.

// toBeSearched tells whether op needs a search that was not made, and begins it.
func (c *core) toBeSearched(conn *Conn, op *Op) bool {
	if conn.searching {
		return true
	}
	switch op.Kind {
	case OpSend, OpCommit:
		if list := c.unknownIDs(op); len(list) > 0 {
			c.recall(conn, list)
			return true
		}
		if names := c.unknownNames(op); len(names) > 0 {
			c.searchNames(conn, names)
			return true
		}
	case OpCancel:
		if c.hits == nil || c.hitsID != op.Schedule.ID {
			c.searchID(conn, op.Schedule.ID)
			return true
		}
	case OpCancelAll, OpBrowseSchedule:
		if conn.walked != op.Schedule {
			c.walk(conn, op, store.DueKey{At: op.Schedule.From})
			return true
		}
	}
	return false
}

// unknownNames lists the names that the SENDs of op may replace, and that were not looked for.
func (c *core) unknownNames(op *Op) (names []scheduleName) {
	add := func(send *Op) {
		if !send.Message.ChosenID {
			return
		}
		d := c.dests[send.To]
		if d == nil || !d.kept {
			return // nothing can wait there
		}
		if name := nameOf(d, send.Message.ScheduledID); !c.isKnown(name) {
			names = append(names, name)
		}
	}
	if op.Kind == OpSend {
		add(op)
	}
	for i := range op.Sends {
		add(&op.Sends[i])
	}
	return names
}

func (c *core) isKnown(name scheduleName) bool {
	_, ok := c.fresh[name]
	return ok
}

// search has read run off the loop, and then take by the loop, after which conn goes on.
func (c *core) search(conn *Conn, read load) {
	conn.searching = true
	c.lookUp(func(s Store, after uint64) (func(), error) {
		take, err := read(s, after)
		return func() {
			conn.searching = false
			take()
			if conn.parked != nil && !conn.searching {
				c.resume(conn)
			}
		}, err
	})
}

// lookUp has read run off the loop, and then what it returns by the loop, while it is kept what happens to what waits.
func (c *core) lookUp(read load) {
	c.searches++
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		take, err := read(s, after)
		return func() {
			take()
			c.fresh, c.hits = nil, nil
			c.searchEnds()
		}, err
	})
}

// searchEnds forgets what happened to what waits when the last search is over.
func (c *core) searchEnds() {
	if c.searches--; c.searches == 0 {
		clear(c.dropped)
		clear(c.renamed)
	}
}

// resume goes on with a parked connection, apart from the others that wait.
func (c *core) resume(conn *Conn) {
	c.parked = slices.DeleteFunc(c.parked, func(o *Conn) bool { return o == conn })
	c.unpark(conn)
}

func (c *core) searchNames(conn *Conn, names []scheduleName) {
	c.search(conn, func(s Store, after uint64) (func(), error) {
		results := map[scheduleName]found{}
		for _, n := range names {
			results[n] = found{}
			placed, err := findPlace(s, after, n.name, c.zones)
			if err != nil {
				return nil, err
			}
			named, err := findByName(s, after, n.shard, n.name)
			if err != nil {
				return nil, err
			}
			for _, h := range append(placed, named...) {
				if h.at.Shard == n.shard && h.at.Destination == n.dest {
					results[n] = found{due: dueTime{h.at.At, h.at.Seq}, octets: h.octets, blob: h.blob}
				}
			}
		}
		return func() { c.fresh = results }, nil
	})
}

// nameHit is a name that was found, and what it leads to.
type nameHit struct {
	at     store.ScheduleName
	octets uint64
	blob   store.Blob
}

func findByName(s Store, after uint64, shard store.Shard, name string) (hits []nameHit, err error) {
	names, err := s.FindNames(after, shard, name)
	for _, n := range names {
		due, octets, ok, err := s.FindDue(after, n.Due(), false)
		if err != nil {
			return nil, err
		}
		if ok { // else it moved on between the two looks, which the loop knows
			hits = append(hits, nameHit{n, octets, due.Blob})
		} else {
			hits = append(hits, nameHit{at: n})
		}
	}
	return hits, err
}

// findPlace looks where an id itself says that something waits, which has no name.
func findPlace(s Store, after uint64, id string, zones *schedule.Zones) ([]nameHit, error) {
	place, ok := waitingPlace(id)
	if !ok {
		return nil, nil
	}
	due, octets, ok, err := s.FindDue(after, place, false)
	if err != nil || !ok {
		return nil, err
	}
	m, target, err := decodeRecord(due.Head, nil, due.Blob, zones)
	if err != nil || m.named() || m.back != nil {
		return nil, err
	}
	at := store.ScheduleName{Shard: place.Shard, Destination: target, At: place.At, Seq: place.Seq}
	return []nameHit{{at, octets, due.Blob}}, nil
}

// searchID looks for an id at all destinations.
func (c *core) searchID(conn *Conn, id string) { c.search(conn, c.findID(id, func() {})) }

// findID looks for an id at all destinations: first as a place, as what waits may get a name and never loses it, and then
// as a name. What it came upon is in c.hits for then. Shards where nothing waits are not looked at: a look at each of them
// costs more than the one that finds it.
func (c *core) findID(id string, then func()) load {
	var waiting []store.Shard
	for shard := range c.agendas {
		if c.agendas[shard].account.Count > 0 {
			waiting = append(waiting, store.Shard(shard))
		}
	}
	return func(s Store, after uint64) (func(), error) {
		placed, err := findPlace(s, after, id, c.zones)
		var named []nameHit
		for _, shard := range waiting {
			if err != nil {
				return nil, err
			}
			var more []nameHit
			more, err = findByName(s, after, shard, id)
			named = append(named, more...)
		}
		return func() {
			c.hits, c.hitsID = []found{}, id // searched for, whatever there is
			for _, h := range named {
				c.hit(h, id)
			}
			for _, h := range placed {
				// An id names one thing at a destination.
				if !slices.ContainsFunc(named, func(n nameHit) bool { return n.at.Shard == h.at.Shard && n.at.Destination == h.at.Destination }) {
					c.hit(h, "")
				}
			}
			then()
		}, err
	}
}

func (c *core) hit(h nameHit, name string) {
	if d := c.byID[destinationKey{h.at.Shard, h.at.Destination}]; d != nil && !d.doomed {
		c.hits = append(c.hits, found{dest: d, due: dueTime{h.at.At, h.at.Seq}, octets: h.octets, blob: h.blob, name: name})
	}
}

// cancelID takes back all that the search for an id came upon, and what waits under it in memory.
func (c *core) cancelID(id string) {
	c.cancelLoose(id, nil)
	for _, f := range c.hits {
		c.cancel(f)
	}
}

// walkPage is how much of the schedule is looked at in one step.
const walkPage = 256

// walk goes over all that is due in the span of op, a page at a time, shard by shard, from a place on.
func (c *core) walk(conn *Conn, op *Op, from store.DueKey) {
	span := op.Schedule
	c.search(conn, func(s Store, after uint64) (func(), error) {
		read, more, err := readDues(s, store.DueScan{After: after, From: from, Until: span.Until, MaxCount: walkPage, MaxBytes: timelineBytes}, c.zones)
		if err != nil {
			return nil, err
		}
		return func() {
			c.walked(conn, op, from.Shard, read)
			switch {
			case more:
				last := read[len(read)-1].due
				c.walk(conn, op, store.DueKey{Shard: from.Shard, At: last.at, Seq: last.seq + 1})
			case from.Shard+1 < store.Shards:
				c.walk(conn, op, store.DueKey{Shard: from.Shard + 1, At: span.From})
			default:
				c.walkedLoose(op)
				conn.walked = span
			}
		}, nil
	})
}

// walked does to a page of what waits what op asks for.
func (c *core) walked(conn *Conn, op *Op, shard store.Shard, read []waitingMessage) {
	before := c.changes()
	for _, w := range read {
		d := c.byID[destinationKey{shard, w.target}]
		if d == nil || d.doomed || w.m.back != nil || c.dropped[store.DueKey{Shard: shard, At: w.due.at, Seq: w.due.seq}] {
			continue
		}
		if op.Kind == OpBrowseSchedule {
			c.describe(d, w.m, op.Schedule.ReplyTo)
			continue
		}
		f := found{dest: d, due: w.due, octets: w.m.octets(), blob: w.m.blob}
		if w.m.named() {
			f.name = w.m.ScheduledID
		}
		c.cancel(f)
	}
	if c.changes() != before {
		c.binds(conn)
	}
}

// walkedLoose does the same to what waits in memory only.
func (c *core) walkedLoose(op *Op) {
	for id, ts := range c.loose {
		for _, t := range slices.Clone(ts) { // which a cancel takes out of
			if t.due.at < op.Schedule.From || t.due.at > op.Schedule.Until {
				continue
			}
			if op.Kind == OpBrowseSchedule {
				c.describe(t.dest, t.m, op.Schedule.ReplyTo)
			} else {
				c.cancelLoose(id, t.dest)
			}
		}
	}
}

// describe sends a copy of what waits at d to those who asked.
func (c *core) describe(d *destination, m *Message, to Address) {
	h := m.Header
	h.Raw = frames.AppendHeader(append([]byte(nil), h.Raw...), h.Dialect, "original-destination", d.text)
	dest, err := c.resolve(to)
	if err != nil {
		c.opt.Log.Warn("no answer to who browses the schedule", "reply-to", to.String(), "reason", err.Message)
		return
	}
	seq := c.next(dest.shard)
	answer := &Message{
		Header: h, Body: m.Body, Priority: m.Priority, HasLength: m.HasLength, HasTimestamp: m.HasTimestamp,
		ScheduledID: m.ScheduledID, DeliverAt: m.DeliverAt, Timestamp: m.Timestamp,
		ID: MessageID{Shard: uint8(dest.shard), Seq: uint64(seq)},
	}
	if to.Kind == Topic {
		c.publish(to, dest, answer)
		return
	}
	c.enqueue(dest.queue, answer, seq)
}
