package broker

import "footfall/store"

// send takes a message in: to its place, to those who are subscribed, or to wait for its time.
func (c *core) send(to Address, m *Message) *Error {
	m.Timestamp = c.ms
	m.Priority = min(m.Priority, store.Priorities-1)
	d := c.dests[to]
	if d == nil && to.Kind == Durable {
		_, err := c.resolve(to)
		return err
	}
	if to.IsTemporary() {
		if c.isGone(to) {
			c.stats.DroppedNoOwner++
			return nil
		}
		m.Persistent = false // it does not outlive the program
	}
	if err := c.mayRetain(to, m); err != nil {
		return err
	}
	if err := c.setTimes(to, c.policyOf(to, d), m); err != nil {
		return err
	}
	if m.DedupID != "" {
		var err *Error
		if d, err = c.resolve(to); err != nil {
			return err
		}
		if m.doubled = c.isDuplicate(d, m.DedupID); m.doubled {
			return nil
		}
	}
	if to.Kind == Topic {
		c.stats.ReceivedTopic++
		if m.DeliverAt == 0 && !m.ChosenID {
			if d == nil && c.opt.NoAutoCreate && !to.IsTemporary() && len(c.queuesOf(to)) == 0 {
				_, err := c.resolve(to)
				return err
			}
			if d == nil && m.Retain == RetainSet {
				var err *Error
				if d, err = c.resolve(to); err != nil {
					return err
				}
			}
			c.publish(to, d, m)
			return nil
		}
	} else {
		c.stats.ReceivedQueue++
	}
	if d == nil {
		var err *Error
		if d, err = c.resolve(to); err != nil {
			return err
		}
	}
	d.received++
	if m.Destination == d.text {
		m.Destination = ""
	}
	m.ID = MessageID{Shard: uint8(d.shard), Seq: uint64(c.next(d.shard))}
	if m.ChosenID {
		c.replaceNamed(d, m)
	}
	switch {
	case m.expired(max(c.ms, m.DeliverAt)):
		// WebLogic: what expires before its time of delivery is taken, and expires silently.
		m.DeliverAt, m.ScheduledID = 0, ""
		c.expired(d, m)
		c.forget(d)
	case m.DeliverAt != 0:
		c.wait(d, m)
	case d.addr.Kind == Topic:
		c.publish(to, d, m)
		c.forget(d)
	default:
		c.enqueue(d.queue, m, store.Seq(m.ID.Seq))
	}
	return nil
}

// publish gives m to all that are subscribed at this moment to the topic at an address, of which d is the destination, or nil.
func (c *core) publish(to Address, d *destination, m *Message) {
	feeds := c.feeds(to, d)
	switch many := len(feeds) > 0 && feeds[len(feeds)-1].patterns != nil; {
	case many || d != nil && m.Retain == RetainSet:
		m.tells(to)
	case d != nil && m.Destination == d.text:
		m.Destination = ""
	}
	if d != nil {
		c.retain(d, m)
	}
	queues := c.queuesOf(to)
	if len(feeds)+len(queues) == 0 {
		c.stats.DroppedNoSubscriber++
		return
	}
	if m.ID == (MessageID{}) {
		shard := shardOf(to)
		m.ID = MessageID{Shard: uint8(shard), Seq: uint64(c.next(shard))}
	}
	kept := m
	for _, from := range feeds {
		if c.publishIn(from, to, m, kept) {
			kept = m.another() // each shard has one of its own
		}
	}
	for _, d := range queues {
		c.copyInto(d, m)
	}
}

// publishIn gives m, which was sent to a topic, to those who take from d, which is that or a pattern. It tells whether that stored kept,
// which is the same message.
func (c *core) publishIn(d *destination, to Address, m, kept *Message) bool {
	d.received++
	seq := c.next(d.shard)
	c.matched = append(c.matched[:0], d.taps...)
	if len(d.choosy) > 0 {
		c.probed = properties{m: m, destination: c.textOf(to)}
		c.probe.Reset(&c.probed)
		d.index.Match(&c.probe, c.match)
	}
	durable := c.fanOut[:0]
	for _, t := range c.matched {
		switch {
		case !t.wants(c, m):
		case t.durable:
			durable = append(durable, t)
		default:
			c.give(t, to, m, seq)
		}
	}
	c.keepFor(durable, kept, seq)
	stored := len(durable) > 0
	clear(durable)
	c.fanOut = durable[:0]
	clear(c.matched)
	return stored
}

// enqueue gives m the place seq in a queue.
func (c *core) enqueue(q *backlog, m *Message, seq store.Seq) {
	e := entry{msg: m, seq: seq}
	q.newest = max(q.newest, seq)
	inside := q.covers(placeOf(&e)) && !c.leftOut(q)
	if m.Persistent || m.owner != 0 || !inside {
		c.storeRef(q, &e)
	}
	c.expireLater(q, &e)
	c.arrived(q, &e)
	if !inside {
		m.places = 0
		c.notePageAddition(q, &e)
		c.mark(q)
		c.swells(q)
		return
	}
	c.hold(m)
	q.put(e)
	c.fill(q)
	if e.stored() && q.hasOpen(c) {
		// It is likely to be delivered as soon as it is on disk: the mark that it was seen goes with it.
		c.raiseSeen(q, m.Priority, seq)
	}
	c.trim(q)
	c.mark(q)
	c.swells(q)
}

// storeRef writes the place of e, with its message.
func (c *core) storeRef(q *backlog, e *entry) {
	m := e.msg
	e.flags |= entryStored
	c.keep(q.dest)
	delete(c.leftPlaces, q.key(e))
	c.takeBack(q, placeOf(e))
	switch {
	case m.owner != 0:
		c.batch.PutSharedRef(q.key(e), m.owner, m.octets())
	case m.blob != (store.Blob{}):
		c.writeHead(m)
		c.batch.PutRefBlob(q.key(e), c.scratch, m.blob)
	default:
		c.writeHead(m)
		m.blob = c.batch.PutRef(q.key(e), c.scratch, m.Body)
	}
	c.put |= 1 << q.account.Shard
	c.urgent = true
	q.recount(e)
	c.touch(q)
	if m.Expires != 0 {
		c.batch.PutExpiry(store.Expiry{At: m.Expires, Ref: q.key(e), Blob: m.blob, Bytes: m.octets(), Owner: m.owner})
	}
}

// writeHead writes the head of m into c.scratch.
func (c *core) writeHead(m *Message) {
	c.scratch = appendHead(c.scratch[:0], m, 0)
	m.head = uint32(len(c.scratch))
}

// trim keeps the window of q within its limits. What is only in memory goes to the store when it has to leave.
func (c *core) trim(q *backlog) {
	if !q.over() {
		return
	}
	for q.count > 1 && q.over() {
		q.edgeBefore(c)
	}
}

// edgeBefore takes the last message out of memory.
func (q *backlog) edgeBefore(c *core) {
	e := q.takeLast()
	if q.page != nil {
		q.page.void = true
	}
	q.whole = false
	if last := q.last(); last != nil {
		q.edge = placeOf(last)
	} else {
		q.edge = place{}
	}
	if !e.stored() {
		c.spill(q, &e)
	} else {
		c.left(q, &e)
	}
	c.unhold(e.msg)
}

// spill stores a message that was only in memory.
func (c *core) spill(q *backlog, e *entry) {
	c.expiresNoMore(q, e)
	c.storeRef(q, e)
	c.expireLater(q, e)
	if e.deliveries > 0 {
		e.flags |= entryAttempts
		c.batch.PutAttempts(q.key(e), store.Attempts{Deliveries: e.deliveries, Failures: uint32(e.failures)})
	}
	c.arrived(q, e)
	c.notePageAddition(q, e)
}
