package broker

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"footfall/schedule"
	"footfall/store"
)

// agenda is what waits for its time in one shard.
type agenda struct {
	timeline
	account store.Schedule
	touched bool
}

// fireBatch bounds what takes its place in one round, so that live traffic goes on.
const fireBatch = 1000

// setTimes finds out when m is due and when it expires, from what its destination and its sender ask for and from now on.
func (c *core) setTimes(to Address, p *policy, m *Message) *Error {
	if p.override != nil {
		m.Plan, m.Delay = p.override, 0
	}
	p.limit(m)
	switch {
	case m.Plan != nil:
		at, ok := m.Plan.Due(c.now)
		if !ok {
			return &Error{Kind: KindInvalid, Message: "the schedule of the message for " + to.String() + " names no time before the year 10000"}
		}
		m.DeliverAt = at
		if job, ok := m.Plan.Repeat.Start(c.now); ok && m.Plan.Kind == schedule.Repeating {
			m.job = &job
		}
		m.Plan = nil
	case m.Delay != 0:
		m.DeliverAt, m.Delay = c.ms+min(m.Delay, math.MaxInt64-c.ms), 0
	}
	if m.job == nil { // each message of a job lives from its own time on
		m.lives(c.ms)
	}
	if m.DeliverAt <= c.ms && m.job == nil {
		m.DeliverAt = 0
		if !m.ChosenID {
			m.ScheduledID = ""
		}
	}
	return nil
}

// wait has m wait for its time.
func (c *core) wait(d *destination, m *Message) {
	if !m.ChosenID {
		m.ScheduledID = m.ID.String()
		if m.job == nil {
			// It says where the message waits, so that it is found without an index.
			m.ScheduledID = placeID(store.DueKey{Shard: d.shard, At: m.DeliverAt, Seq: store.Seq(m.ID.Seq)})
		}
	}
	t := &timed{due: dueTime{m.DeliverAt, store.Seq(m.ID.Seq)}, stored: m.Persistent, dest: d, m: m}
	c.keep(d)
	if t.stored {
		c.storeDue(t)
		if m.named() {
			c.putName(t)
		}
	}
	c.addDue(t)
}

// placeID is the id of what waits in a place and has no name.
func placeID(k store.DueKey) string {
	return MessageID{uint8(k.Shard), uint64(k.Seq)}.String() + "." + strconv.FormatInt(k.At, 36)
}

// waitingPlace reads what placeID wrote: the place of a message that has no name.
func waitingPlace(id string) (store.DueKey, bool) {
	i := strings.LastIndexByte(id, '.')
	if i < 0 {
		return store.DueKey{}, false
	}
	m, ok := ParseMessageID(id[:i])
	at, err := strconv.ParseInt(id[i+1:], 36, 64)
	if !ok || err != nil || m.Shard >= store.Shards || at <= 0 {
		return store.DueKey{}, false
	}
	return store.DueKey{Shard: store.Shard(m.Shard), At: at, Seq: store.Seq(m.Seq)}, true
}

// storeDue writes a message that waits, in a place of its own.
func (c *core) storeDue(t *timed) {
	m, shard := t.m, t.dest.shard
	a := &c.agendas[shard]
	c.scratch = appendHead(c.scratch[:0], m, t.dest.id)
	m.head = uint32(len(c.scratch))
	if m.blob != (store.Blob{}) {
		c.batch.PutDueBlob(t.key(), c.scratch, m.blob)
	} else {
		m.blob = c.batch.PutDue(t.key(), c.scratch, m.Body)
	}
	c.put |= 1 << shard
	c.urgent = true
	a.account.Shard = shard
	a.account.Count++
	a.account.Bytes += m.octets()
	a.touched = true
}

// dropDue takes it out of its place; the body stays where keepBlob says that it moves on in this batch.
func (c *core) dropDue(t *timed, octets uint64, blob store.Blob, keepBlob bool) {
	a := &c.agendas[t.dest.shard]
	c.batch.DropDue(t.key(), blob, keepBlob)
	a.account.Count--
	a.account.Bytes -= octets
	a.touched = true
	a.gone(t.due.seq)
	if c.searches > 0 {
		c.dropped[t.key()] = true
	}
}

func (t *timed) key() store.DueKey {
	return store.DueKey{Shard: t.dest.shard, At: t.due.at, Seq: t.due.seq}
}

// addDue puts what waits into the agenda's window, as far as it belongs there.
func (c *core) addDue(t *timed) {
	if !t.stored {
		t.dest.waiting++
	}
	if !t.stored && t.m.back == nil {
		c.loose[t.m.ScheduledID] = append(c.loose[t.m.ScheduledID], t)
	}
	dropped, kept := c.agendas[t.dest.shard].add(t)
	if kept {
		c.hold(t.m)
	}
	for _, d := range dropped {
		c.unhold(d.m)
	}
}

// fire gives what is due its place, in the order of the times.
func (c *core) fire() {
	budget := fireBatch
	for s := range c.agendas {
		a := &c.agendas[s]
		for budget > 0 {
			t := a.first()
			if t == nil || t.due.at > c.ms || t.stored && t.due.seq > c.synced[s] {
				break
			}
			budget--
			a.remove(t)
			c.forgetLoose(t)
			c.fired(t)
		}
		if a.low() {
			c.loadDue(a, store.Shard(s))
		}
	}
}

// fired carries out what t was waiting for.
func (c *core) fired(t *timed) {
	m, d := t.m, t.dest
	if m.back != nil {
		c.comesBack(t)
		return
	}
	c.stats.Fired++
	if m.job != nil {
		c.firedJob(t)
		return
	}
	if t.stored {
		c.dropDue(t, m.octets(), m.blob, d.queue != nil)
		if d.queue == nil {
			m.blob = store.Blob{}
		}
		if m.named() {
			c.dropName(d, m.ScheduledID)
		}
	}
	c.takePlace(d, m)
	c.unhold(m)
}

// firedJob gives one message of a job its place, and has the job wait for the next time.
func (c *core) firedJob(t *timed) {
	m, d := t.m, t.dest
	copied := m.firing(t.due.at)
	job := *m.job
	more := !d.doomed && job.Fire(c.now) && !m.expired(job.Due())
	if t.stored {
		c.dropDue(t, m.octets(), m.blob, more)
	}
	if more {
		c.waitAgain(t, job)
	} else if t.stored {
		c.dropName(d, m.ScheduledID)
	}
	c.unhold(m)
	c.takePlace(d, copied)
}

// waitAgain has the message of t, which has left its place, wait for the next time of its job.
func (c *core) waitAgain(t *timed, job schedule.Job) {
	m, d := t.m, t.dest
	m.job, m.DeliverAt = &job, job.Due()
	next := &timed{due: dueTime{m.DeliverAt, c.next(d.shard)}, stored: t.stored, dest: d, m: m}
	if next.stored {
		c.storeDue(next)
		c.putName(next)
	}
	c.addDue(next)
}

// setBack sees to repeating jobs when the wall clock was set back: those that wait for a period go on in the old
// rhythm, and are not held up until the clock shows the next time again.
func (c *core) setBack() {
	for s := range c.agendas {
		a := &c.agendas[s]
		for _, t := range slices.Clone(a.heap) {
			m := t.m
			if m.job == nil || t.dest.doomed || t.stored && t.due.seq > c.synced[s] {
				continue
			}
			job := *m.job
			if !job.SetBack(c.now) {
				continue
			}
			a.remove(t)
			c.forgetLoose(t)
			if t.stored {
				c.dropDue(t, m.octets(), m.blob, true)
			}
			c.waitAgain(t, job)
			c.unhold(m)
		}
	}
}

// takePlace gives a message whose time has come its place behind what is there.
func (c *core) takePlace(d *destination, m *Message) {
	seq := c.next(d.shard)
	if m.ID == (MessageID{}) {
		m.ID = MessageID{Shard: uint8(d.shard), Seq: uint64(seq)}
	}
	switch {
	case d.doomed:
		c.dropMoving(d, m)
	case m.expired(c.ms):
		c.discard(d, m)
	case d.addr.Kind == Topic:
		c.publish(d.addr, c.dests[d.addr], m)
	default:
		c.enqueue(d.queue, m, seq)
	}
}

// discard drops a message that expired while it waited, with the body that was to move on.
func (c *core) discard(d *destination, m *Message) {
	if m.blob != (store.Blob{}) && d.queue != nil {
		c.batch.DropBlob(store.Shard(d.shard), m.blob)
	}
	c.expired(d, m)
}

// nextDue returns the earliest time at which something is due or expires, in milliseconds
// since the epoch. What is not on disk yet is looked at when it is.
func (c *core) nextDue() (int64, bool) {
	least := int64(math.MaxInt64)
	for s := range c.agendas {
		for _, l := range []*timeline{&c.agendas[s].timeline, &c.expiries[s]} {
			if l != &c.agendas[s].timeline && c.expiryWaits {
				continue
			}
			if t := l.first(); t != nil && (!t.stored || t.due.seq <= c.synced[s]) {
				least = min(least, t.due.at)
			}
		}
	}
	return least, least < math.MaxInt64
}

// loadDue asks for the next page of an agenda.
func (c *core) loadDue(a *agenda, shard store.Shard) {
	scan := store.DueScan{
		From: store.DueKey{Shard: shard, At: a.edge.at, Seq: a.edge.seq + 1}, Until: math.MaxInt64,
		MaxCount: timelineItems / 2, MaxBytes: timelineBytes / 2,
	}
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		scan.After = after
		read, more, err := readDues(s, scan, c.zones)
		if err != nil {
			return nil, err
		}
		return func() {
			items, err := c.dueItems(a.page, shard, read)
			if err != nil {
				c.opt.Fatal(err)
				return
			}
			for _, t := range a.loaded(items, more) {
				c.hold(t.m)
			}
		}, nil
	})
}

// dueItems finds the destinations of what was read for a page. What left its place meanwhile may have none any more.
func (c *core) dueItems(page *timePage, shard store.Shard, read []waitingMessage) ([]*timed, error) {
	items := make([]*timed, len(read))
	for i, w := range read {
		d := c.byID[destinationKey{shard, w.target}]
		if d == nil && !page.lost(w.due.seq) {
			return nil, fmt.Errorf("%w: message %v waits for a destination that does not exist", errRecord, w.m.ID)
		}
		items[i] = &timed{due: w.due, stored: true, dest: d, m: w.m}
	}
	return items, nil
}

// forgetLoose takes what waits in memory only out of the index of its ids.
func (c *core) forgetLoose(t *timed) {
	if t.stored {
		return
	}
	t.dest.waiting--
	if t.m.back != nil {
		return
	}
	id := t.m.ScheduledID
	if rest := slices.DeleteFunc(c.loose[id], func(o *timed) bool { return o == t }); len(rest) > 0 {
		c.loose[id] = rest
		return
	}
	delete(c.loose, id)
}
