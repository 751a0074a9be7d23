package broker

import "footfall/store"

// send takes a message in: to its place, to those who are subscribed, or to wait for its time.
func (c *core) send(to Address, m *Message) *Error {
	m.Timestamp = c.ms
	m.Priority = min(m.Priority, store.Priorities-1)
	d := c.dests[to]
	if err := c.setTimes(to, c.policyOf(to, d), m); err != nil {
		return err
	}
	if to.Kind == Topic {
		c.stats.ReceivedTopic++
		if m.DeliverAt == 0 && !m.ChosenID {
			if d == nil && c.opt.NoAutoCreate {
				_, err := c.resolve(to)
				return err
			}
			c.publish(d, m)
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
		c.publish(d, m)
		c.forget(d)
	default:
		c.enqueue(d.queue, m, store.Seq(m.ID.Seq))
	}
	return nil
}

// publish gives m to all that are subscribed to the topic d at this moment, which may be nil.
func (c *core) publish(d *destination, m *Message) {
	if d == nil || len(d.subs) == 0 {
		c.stats.DroppedNoSubscriber++
		return
	}
	d.received++
	if m.Destination == d.text {
		m.Destination = ""
	}
	seq := c.next(d.shard)
	if m.ID == (MessageID{}) {
		m.ID = MessageID{Shard: uint8(d.shard), Seq: uint64(seq)}
	}
	for _, s := range d.subs {
		c.hold(m)
		s.q.put(entry{msg: m, seq: seq})
		c.mark(s.q)
		c.checkSlow(s)
	}
}

// enqueue gives m the place seq in a queue.
func (c *core) enqueue(q *backlog, m *Message, seq store.Seq) {
	e := entry{msg: m, seq: seq}
	inside := q.covers(placeOf(&e))
	if m.Persistent || !inside {
		c.storeRef(q, &e)
	}
	c.expireLater(q, &e)
	if !inside {
		c.notePageAddition(q, &e)
		c.mark(q)
		return
	}
	c.hold(m)
	q.put(e)
	c.fill(q)
	if e.stored() && q.nextOpen(c) != nil {
		// It is likely to be delivered as soon as it is on disk: the mark that it was seen goes with it.
		c.raiseSeen(q, m.Priority, seq)
	}
	c.trim(q)
	c.mark(q)
}

// storeRef writes the place of e, with its message.
func (c *core) storeRef(q *backlog, e *entry) {
	m := e.msg
	e.flags |= entryStored
	c.scratch = appendHead(c.scratch[:0], m, 0)
	m.head = uint32(len(c.scratch))
	if m.blob != (store.Blob{}) {
		c.batch.PutRefBlob(q.key(e), c.scratch, m.blob)
	} else {
		m.blob = c.batch.PutRef(q.key(e), c.scratch, m.Body)
	}
	c.put |= 1 << q.account.Shard
	c.urgent = true
	q.recount(e)
	c.touch(q)
	if m.Expires != 0 {
		c.batch.PutExpiry(store.Expiry{At: m.Expires, Ref: q.key(e), Blob: m.blob, Bytes: m.octets()})
	}
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
	if !e.stored() {
		c.spill(q, &e)
	}
	c.unhold(e.msg)
	if q.page != nil {
		q.page.void = true
	}
	q.whole = false
	if last := q.last(); last != nil {
		q.edge = placeOf(last)
	} else {
		q.edge = place{}
	}
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
	c.notePageAddition(q, e)
}

// checkSlow looks whether the subscriber of a topic holds up its producers.
func (c *core) checkSlow(s *subscription) {
	if s.slow || s.q.bytes <= c.opt.TopicBytes {
		return
	}
	s.slow, s.taken = true, s.issued
	s.q.dest.slow++
	s.judge = c.now.Add(c.opt.SlowConsumerTimeout)
	if !s.judging {
		c.judgeLater(s)
	}
}

func (c *core) judgeLater(s *subscription) {
	s.judging = true
	c.timers.add(s.judge, func() { c.judgeSlow(s) })
}

// judgeSlow disconnects a slow subscriber that took nothing since it was last looked at.
func (c *core) judgeSlow(s *subscription) {
	s.judging = false
	if !s.slow || s.ended {
		return
	}
	if s.issued != s.taken {
		s.taken, s.judge = s.issued, c.now.Add(c.opt.SlowConsumerTimeout)
	}
	if c.now.Before(s.judge) {
		c.judgeLater(s) // it was slow, was not, and is again
		return
	}
	c.stats.SlowConsumers++
	c.fail(s.conn, &Op{}, &Error{
		Kind:    KindSlow,
		Message: "subscription " + quote(s.op.ID) + " to " + s.q.dest.text + " took nothing for " + c.opt.SlowConsumerTimeout.String() + " while its topic went on (limits.topic-bytes, limits.slow-consumer-timeout)",
	})
	c.endSubscription(s)
}

// eased lets the producers of a topic go on when its subscriber has caught up.
func (c *core) eased(q *backlog) {
	if q.dest.slow == 0 || len(q.consumers) == 0 {
		return
	}
	if s := q.consumers[0]; s.slow && q.bytes <= c.opt.TopicBytes/2 {
		c.unslow(s)
	}
}

func (c *core) unslow(s *subscription) {
	if s.slow {
		s.slow = false
		s.q.dest.slow--
		c.recheck = true
	}
}
