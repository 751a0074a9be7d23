package broker

import "fmt"

// Overflow is what becomes of messages for a destination that has as much as it may have.
type Overflow uint8

// The actions. OverflowBlock has senders wait until there is room, at most as long as Options.BlockTimeout, and then refuses the
// SEND or COMMIT. OverflowReject refuses it at once. OverflowDropOldest takes it, and moves the oldest message that is in
// memory and that no consumer has to the error destination.
const (
	OverflowBlock Overflow = iota + 1
	OverflowReject
	OverflowDropOldest
)

// quota is what a queue or a durable subscription may have; 0 of a number is without end.
type quota struct {
	messages, bytes int64 // that wait for a consumer or are with one
	size            int64 // of one message
	overflow        Overflow
}

// limited tells whether there is anything to look after.
func (l *quota) limited() bool { return l.messages > 0 || l.bytes > 0 }

// exceeded tells whether so much is too much, and by which setting.
func (l *quota) exceeded(by load64) (setting PolicySetting, is bool) {
	switch {
	case l.messages > 0 && by.messages > l.messages:
		return PolicyMaxMessages, true
	case l.bytes > 0 && by.bytes > l.bytes:
		return PolicyMaxBytes, true
	}
	return 0, false
}

// load64 is an amount of messages, and their octets.
type load64 struct{ messages, bytes int64 }

func (l *load64) add(m load64) {
	l.messages += m.messages
	l.bytes += m.bytes
}

// holds is what is in q: what waits, and what consumers have.
func (q *backlog) holds() load64 {
	loose := int64(q.count-q.stored) + int64(q.flight.n-q.flight.stored)
	return load64{int64(q.accounted()) + loose, int64(q.account.Bytes) + q.loose + q.flight.loose - loose*overhead}
}

// weight is what a message that comes counts, its headers and its body.
func (m *Message) weight() int64 { return int64(len(m.Header.Raw) + len(m.Body)) }

// limits tells whether some destination has a quota at all.
func (c *core) limits() bool { return c.opt.Policies != nil && c.opt.Policies.quotas }

// demand is what an operation brings to the destinations that have a quota.
type demand struct {
	to   Address
	more load64
}

// demands adds up what op brings, by destination; what is due later does not count, as it takes no place now.
func (c *core) demands(op *Op) (list []demand, err *Error) {
	add := func(send *Op) {
		l := &c.policyOf(send.To, c.dests[send.To]).quota
		weight := send.Message.weight()
		if l.size > 0 && weight > l.size {
			err = tooLarge(send.To, l, weight)
		}
		for _, d := range c.queuesOf(send.To) {
			if l := &c.policyOf(d.addr, d).quota; l.size > 0 && weight > l.size {
				err = tooLarge(d.addr, l, weight)
			}
		}
		bounded := l.limited() && l.overflow != OverflowDropOldest || send.To.Kind == Topic && c.patterns.count+len(c.virtual) > 0
		if !bounded || c.later(send) || c.knowsID(send) {
			return
		}
		for i := range list {
			if list[i].to == send.To {
				list[i].more.add(load64{1, weight})
				return
			}
		}
		list = append(list, demand{send.To, load64{1, weight}})
	}
	if op.Kind == OpSend {
		add(op)
	}
	for i := range op.Sends {
		if err == nil {
			add(&op.Sends[i])
		}
	}
	return list, err
}

func tooLarge(to Address, l *quota, weight int64) *Error {
	return quotaError(to, PolicyMaxMessageSize, fmt.Sprintf("takes messages of %d octets at most, this one has %d", l.size, weight))
}

func quotaError(to Address, s PolicySetting, why string) *Error {
	return &Error{Kind: KindQuota, Message: to.String() + " " + why + " (" + s.String() + ")"}
}

// overQuota tells why a SEND or COMMIT cannot be done as a whole now, and whether it may wait for room.
func (c *core) overQuota(conn *Conn, op *Op) (why *Error, wait bool) {
	if !c.limits() || op.Kind != OpSend && op.Kind != OpCommit {
		return nil, false
	}
	list, err := c.demands(op)
	if err != nil {
		return err, false
	}
	for _, want := range list {
		d := c.dests[want.to]
		l := &c.policyOf(want.to, d).quota
		if s, never := l.exceeded(want.more); never && l.overflow != OverflowDropOldest {
			return quotaError(want.to, s, "never has room for this"), false
		}
		for _, q := range c.backlogsOf(want.to, d) {
			l := &c.policyOf(q.dest.addr, q.dest).quota // a durable subscription to a pattern has one of its own
			if !l.limited() || l.overflow == OverflowDropOldest {
				continue
			}
			if s, never := l.exceeded(want.more); never {
				return quotaError(q.dest.addr, s, "never has room for this"), false
			}
			all := want.more
			all.add(q.holds())
			all.add(c.settles(conn, op.Tx, q))
			s, is := l.exceeded(all)
			if !is {
				continue
			}
			why := quotaError(q.dest.addr, s, "is full")
			if l.overflow == OverflowReject {
				return why, false
			}
			c.crowded[q] = q.holds()
			return why, true
		}
	}
	return nil, false
}

// backlogsOf lists what a message for the address, of which d is the destination or nil, would go to and be counted in: the queue, or the durable subscriptions of a topic.
func (c *core) backlogsOf(a Address, d *destination) (list []*backlog) {
	switch {
	case a.Kind == Topic:
		for _, d := range c.queuesOf(a) {
			list = append(list, d.queue)
		}
		for _, d := range c.feeds(a, d) {
			for t := range d.allTaps() {
				if t.durable {
					list = append(list, t.q)
				}
			}
		}
	case d != nil:
		list = append(list, d.queue)
	}
	return list
}

// settles is what a transaction takes out of q, below 0.
func (c *core) settles(conn *Conn, tx uint64, q *backlog) (less load64) {
	t := conn.txs[tx]
	if t == nil {
		return less
	}
	for _, d := range t.settles {
		if d.q == q && !d.settled && !d.refused {
			less.add(load64{-1, -d.e.msg.weight()})
		}
	}
	return less
}

// relieve has those go on that wait for room where something has left.
func (c *core) relieve() {
	for q, was := range c.crowded {
		if now := q.holds(); now.messages < was.messages || now.bytes < was.bytes || q.forgotten || q.ended {
			c.recheck = true
			delete(c.crowded, q)
		}
	}
}

// swells notes that q got something that may be too much.
func (c *core) swells(q *backlog) {
	if q.swollen || !c.limits() || !q.isStored() {
		return
	}
	l := &c.policyOf(q.dest.addr, q.dest).quota
	if l.overflow != OverflowDropOldest {
		return
	}
	if _, is := l.exceeded(q.holds()); is {
		q.swollen = true
		c.swollen = append(c.swollen, q)
	}
}

// shedBatch bounds what one queue drops in a round.
const shedBatch = 256

// shed drops the oldest of what is too much. What is not in memory is read first.
func (c *core) shed() {
	list := c.swollen
	c.swollen = nil
	for _, q := range list {
		q.swollen = false
		if q.ended {
			continue
		}
		l := &c.policyOf(q.dest.addr, q.dest).quota
		for n := 0; ; n++ {
			setting, is := l.exceeded(q.holds())
			if !is || l.overflow != OverflowDropOldest {
				break
			}
			lane := q.oldestLane()
			if lane < 0 {
				if !q.whole {
					c.readAhead(q) // it is looked at again when that is there
				}
				break
			}
			if n == shedBatch {
				q.swollen = true
				c.swollen = append(c.swollen, q)
				break
			}
			e := q.lanes[lane].popFront()
			q.removedFrom(lane, &e)
			c.overflows(q, &e, setting)
		}
		c.mark(q)
	}
	c.again = c.again || len(c.swollen) > 0
}

// oldestLane is where the oldest message in memory is, below 0 if there is none.
func (q *backlog) oldestLane() int {
	lane := -1
	for i := range q.lanes {
		if l := &q.lanes[i]; l.len() > 0 && (lane < 0 || l.at(0).seq < q.lanes[lane].at(0).seq) {
			lane = i
		}
	}
	return lane
}

// overflows moves a message that is too much, and has left memory, to the error destination. Where that is full itself the
// message is dropped: else two such destinations could pass messages to each other for ever.
func (c *core) overflows(q *backlog, e *entry, s PolicySetting) {
	c.expiresNoMore(q, e)
	if e.stored() {
		c.dropRef(q, e)
	}
	m, d := e.msg, q.dest
	how := death{DeathOverflow, d.text + " had more than its " + s.String()}
	g := c.graveOf(d, m)
	if to := c.dests[g.to]; g.none == "" && g.to.Kind == Queue && to != nil && to.queue != nil {
		l := &c.policyOf(g.to, to).quota
		after := to.queue.holds()
		after.add(load64{1, m.weight()})
		if _, full := l.exceeded(after); full {
			g.none = "the error destination " + g.to.String() + " is full"
		}
	}
	if g.none != "" {
		c.stats.DeadDeleted++
		c.logDeath(d, m, how, "dead letter deleted: "+g.none)
	} else {
		c.bury(g, d, m, how)
	}
	c.unhold(m)
}
