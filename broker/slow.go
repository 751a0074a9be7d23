package broker

import (
	"slices"

	"footfall/store"
)

// SlowConsumer is what happens when a consumer of a topic, other than of a durable subscription, has more coming than Options.TopicBytes.
type SlowConsumer uint8

// The actions. SlowBlock has the producers of the topic wait until it has caught up by half; if it takes nothing at all for
// Options.SlowConsumerTimeout it is disconnected. SlowDropOldest drops what waits for it longest, SlowDropNewest what comes, both without a word to
// anybody. SlowDisconnect ends its connection with an ERROR. Consumers that share a backlog are one consumer in this.
const (
	SlowBlock SlowConsumer = iota + 1
	SlowDropOldest
	SlowDropNewest
	SlowDisconnect
)

// give has t get a message that came as seq to the topic at an address. Only what its consumers have no room for counts against it.
func (c *core) give(t *tap, to Address, m *Message, seq store.Seq) {
	q, how := t.q, SlowBlock
	if q.bytes+m.Size() > c.opt.TopicBytes {
		if how = c.slowConsumer(to); q.isPaused() {
			how = SlowBlock // it is not the consumer that is slow
		}
		if how > SlowBlock {
			c.dispatch(q)
		}
	}
	if how == SlowDropNewest && q.count > 0 && q.bytes+m.Size() > c.opt.TopicBytes {
		c.stats.SlowDroppedNewest++
		return
	}
	c.hold(m)
	q.put(entry{msg: m, seq: seq})
	c.mark(q)
	switch {
	case q.bytes <= c.opt.TopicBytes:
	case how == SlowDropOldest:
		c.dropOldest(q)
	case how == SlowDisconnect:
		c.cutOff(t)
	case how == SlowBlock:
		c.holdUp(t)
	}
}

// slowConsumer is the action for consumers of the topic at an address.
func (c *core) slowConsumer(topic Address) SlowConsumer {
	return max(c.policyOf(topic, c.dests[topic]).slow, SlowBlock)
}

// dropOldest takes out of q what is too much, but for one message that is too much by itself.
func (c *core) dropOldest(q *backlog) {
	for q.bytes > c.opt.TopicBytes && q.count > 1 {
		lane := q.oldestLane()
		e := q.lanes[lane].popFront()
		q.removedFrom(lane, &e)
		c.unhold(e.msg)
		c.stats.SlowDroppedOldest++
	}
}

// cutOff disconnects the consumers of t later in this round.
func (c *core) cutOff(t *tap) {
	if t.doomed {
		return
	}
	t.doomed = true
	c.timers.add(c.now, func() {
		if t.doomed = false; !t.q.ended && t.q.bytes > c.opt.TopicBytes {
			c.stats.SlowCutOff += c.disconnectSlow(t, "has more coming than limits.topic-bytes allows (slow-consumer: disconnect)")
		}
	})
}

// holdUp has the producers of a topic wait for its consumers of t.
func (c *core) holdUp(t *tap) {
	if t.slow {
		return
	}
	t.slow, t.taken = true, t.issued()
	t.topic.slow++
	if t.topic.patterns != nil {
		c.slowPatterns++
	}
	t.judge = c.now.Add(c.opt.SlowConsumerTimeout)
	if !t.judging {
		c.judgeLater(t)
	}
}

func (c *core) judgeLater(t *tap) {
	t.judging = true
	c.timers.add(t.judge, func() { c.judgeSlow(t) })
}

// judgeSlow disconnects slow subscribers that took nothing since they were last looked at.
func (c *core) judgeSlow(t *tap) {
	t.judging = false
	if !t.slow || t.q.ended {
		return
	}
	if issued := t.issued(); issued != t.taken || t.q.isPaused() {
		t.taken, t.judge = issued, c.now.Add(c.opt.SlowConsumerTimeout)
	}
	if c.now.Before(t.judge) {
		c.judgeLater(t) // it was slow, was not, and is again
		return
	}
	c.stats.SlowConsumers += c.disconnectSlow(t, "took nothing for "+c.opt.SlowConsumerTimeout.String()+" while its topic went on (limits.topic-bytes, limits.slow-consumer-timeout)")
}

// disconnectSlow ends the connections of all consumers of t, and counts them.
func (c *core) disconnectSlow(t *tap, why string) (n uint64) {
	for _, s := range slices.Clone(t.q.consumers) {
		n++
		c.fail(s.conn, &Op{}, &Error{Kind: KindSlow, Message: "subscription " + quote(s.op.ID) + " to " + t.topic.text + " " + why})
		c.endSubscription(s.subscription)
	}
	return n
}

// eased lets the producers of a topic go on when its subscribers have caught up.
func (c *core) eased(q *backlog) {
	if t := q.tap; t != nil && t.slow && q.bytes <= c.opt.TopicBytes/2 {
		c.unslow(t)
	}
}

func (c *core) unslow(t *tap) {
	if t.slow {
		t.slow = false
		t.topic.slow--
		if t.topic.patterns != nil {
			c.slowPatterns--
		}
		c.recheck = true
	}
}
