package broker

import "footfall/store"

// scheduleName is a name that something is scheduled under: of a sender's choice or of a
// repeating job, at one destination.
type scheduleName struct {
	shard store.Shard
	dest  store.DestinationID
	name  string
}

// namedPlace is where it waits; the zero value is nowhere.
type namedPlace struct {
	due    dueTime
	octets uint64
	blob   store.Blob
}

// found is what a search came upon, at one moment: something that waits.
type found struct {
	dest   *destination
	due    dueTime
	octets uint64
	blob   store.Blob
	name   string // empty if the store knows no name for it
	// returning says that it waits to return to its place.
	returning bool
}

func nameOf(d *destination, name string) scheduleName { return scheduleName{d.shard, d.id, name} }

func (c *core) putName(t *timed) {
	d, m := t.dest, t.m
	c.batch.PutScheduleName(store.ScheduleName{Shard: d.shard, Destination: d.id, Name: m.ScheduledID, At: t.due.at, Seq: t.due.seq})
	if c.searches > 0 {
		c.renamed[nameOf(d, m.ScheduledID)] = namedPlace{t.due, m.octets(), m.blob}
	}
}

func (c *core) dropName(d *destination, name string) {
	c.batch.DropScheduleName(d.shard, d.id, name)
	if c.searches > 0 {
		c.renamed[nameOf(d, name)] = namedPlace{}
	}
}

// whereNow tells where what a search found waits now, if it does.
func (c *core) whereNow(f found) (found, bool) {
	if f.name == "" && c.dropped[f.key()] {
		f.name = placeID(f.key()) // unless it is gone it was given its id as a name
	}
	if f.name != "" {
		if now, changed := c.renamed[nameOf(f.dest, f.name)]; changed {
			f.due, f.octets, f.blob = now.due, now.octets, now.blob
		}
	}
	return f, f.due != (dueTime{}) && !c.dropped[f.key()]
}

func (f *found) key() store.DueKey {
	return store.DueKey{Shard: f.dest.shard, At: f.due.at, Seq: f.due.seq}
}

// cancel takes back what a search found, unless it is gone since.
func (c *core) cancel(f found) bool {
	f, waits := c.whereNow(f)
	if !waits {
		return false
	}
	t := &timed{due: f.due, stored: true, dest: f.dest}
	a := &c.agendas[f.dest.shard]
	if in := a.bySeq[f.due.seq]; in != nil {
		a.remove(in)
		c.unhold(in.m)
	}
	c.dropDue(t, f.octets, f.blob, false)
	if f.returning {
		a.account.Returning--
	}
	if f.name != "" {
		c.dropName(f.dest, f.name)
	}
	c.stats.Cancelled++
	return true
}

// cancelLoose takes back what waits in memory only under an id, at one destination or, if that is nil, at any.
func (c *core) cancelLoose(id string, at *destination) {
	for _, t := range append([]*timed(nil), c.loose[id]...) {
		if at != nil && t.dest != at {
			continue
		}
		c.forgetLoose(t)
		c.agendas[t.dest.shard].remove(t)
		c.unhold(t.m)
		c.stats.Cancelled++
	}
}

// replaceNamed takes back what waits at d under the name that m has: it was searched for before.
func (c *core) replaceNamed(d *destination, m *Message) {
	c.cancelLoose(m.ScheduledID, d)
	name := nameOf(d, m.ScheduledID)
	f, ok := c.fresh[name]
	if _, changed := c.renamed[name]; !ok && !changed {
		return
	}
	f.dest, f.name = d, m.ScheduledID
	c.cancel(f)
}
