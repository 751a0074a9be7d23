package broker

import (
	"time"

	"footfall/schedule"
)

// parked is what a connection asked for and has to wait with: the rest of its
// operations, from a SEND on that a watermark or a slow subscriber holds up.
type parked struct {
	entries  []inboxEntry
	next     int // the operation of entries[0] that waits
	deadline time.Time
	why      *Error // what it is refused with at the deadline; nil: no deadline
	barrier  bool   // among entries is something that no acknowledgement may overtake
}

// request works off a session's request as far as it goes.
func (c *core) request(e inboxEntry) {
	conn := e.conn
	if conn.parked != nil {
		c.overtake(conn, e.req)
		conn.parked.entries = append(conn.parked.entries, e)
		return
	}
	if at, why, wait := c.proceed(conn, e.req, 0); wait {
		if !conn.searching {
			c.stats.Blocked++
		}
		conn.parked = &parked{entries: []inboxEntry{e}, next: at, why: why}
		c.parked = append(c.parked, conn)
		c.limitWait(conn)
		c.overtake(conn, &Request{Ops: e.req.Ops[at+1:]})
		return
	}
	c.freed = append(c.freed, e)
}

// limitWait sets the time at which a parked SEND is refused.
func (c *core) limitWait(conn *Conn) {
	p := conn.parked
	p.deadline = time.Time{}
	if p.why == nil {
		return
	}
	p.deadline = c.now.Add(c.opt.BlockTimeout)
	c.timers.add(p.deadline, func() {
		if conn.parked == p && p.why != nil && !p.deadline.After(c.now) {
			c.refuse(conn)
		}
	})
}

// proceed works off the operations from the given one on. It stops at one that has to wait.
func (c *core) proceed(conn *Conn, req *Request, from int) (at int, why *Error, wait bool) {
	for i := from; i < len(req.Ops); i++ {
		if conn.ended && !conn.gone {
			return 0, nil, false // nothing counts after an ERROR or DISCONNECT
		}
		op := &req.Ops[i]
		if conn.gone && !op.sends() && op.Kind != OpCancel && op.Kind != OpCancelAll {
			continue // what it was given is given back, so a COMMIT would not be whole
		}
		if why, wait := c.holdsUp(conn, op); wait {
			return i, why, true
		}
		c.do(conn, op)
	}
	return 0, nil, false
}

// overtake carries out the acknowledgements among operations that have to wait: they
// are what makes room. Their receipts keep their turn. They overtake nothing but SENDs: what an ACK means
// may depend on a RECOVER or an ABORT before it.
func (c *core) overtake(conn *Conn, req *Request) {
	for i := range req.Ops {
		op := &req.Ops[i]
		switch {
		case conn.parked.barrier:
			return
		case op.sends() || op.Kind == OpReceipt:
			continue
		case op.Kind != OpAck && op.Kind != OpNack || op.Tx != 0:
			conn.parked.barrier = true
			return
		}
		before := c.changes()
		if err := c.ack(conn, op); err != nil {
			*op = Op{Kind: OpFail, Err: err, WantReceipt: op.WantReceipt, Receipt: op.Receipt}
			continue
		}
		if c.changes() != before {
			c.binds(conn)
		}
		*op = Op{Kind: OpReceipt, WantReceipt: op.WantReceipt, Receipt: op.Receipt}
	}
}

// holdsUp tells whether op has to wait now, and what it is refused with in the end.
func (c *core) holdsUp(conn *Conn, op *Op) (why *Error, wait bool) {
	sends := op.Sends
	switch op.Kind {
	case OpSend:
		if why, wait := c.sendHeldUp(op); wait {
			return why, true
		}
	case OpCommit:
		for i := range sends {
			if why, wait := c.sendHeldUp(&sends[i]); wait {
				return why, true
			}
		}
	}
	if why, wait := c.atStandstill(op); wait {
		return why, true
	}
	if c.toBeSearched(conn, op) {
		return nil, true
	}
	if why, wait := c.overQuota(conn, op); wait {
		return why, true
	}
	return nil, false
}

// later tells whether a SEND is not for now.
func (c *core) later(op *Op) bool {
	if p := c.opt.Policies; p != nil && p.overrides {
		if plan := c.policyOf(op.To, c.dests[op.To]).override; plan != nil {
			return plan.Kind != schedule.AtOnce
		}
	}
	m := op.Message
	return m.Delay > 0 || m.DeliverAt > c.ms || m.Plan != nil
}

func (c *core) sendHeldUp(op *Op) (*Error, bool) {
	m := op.Message
	c.memoryHigh = c.memoryHigh || c.pressed()
	if c.memoryHigh {
		return &Error{Kind: KindResource, Message: "the broker holds too many messages in memory to take one for " + op.To.String() + " (limits.memory)"}, true
	}
	later := c.later(op)
	if c.diskLow && m.Persistent && !op.To.IsTemporary() && (op.To.Kind != Topic || later || c.keeps(op.To)) {
		return &Error{Kind: KindResource, Message: "there is too little free disk to store a message for " + op.To.String() + " (store.disk-free)"}, true
	}
	if op.To.Kind == Topic && !later {
		if c.isSlow(op.To) {
			return nil, true
		}
	}
	return nil, false
}

// retryParked goes on with all that wait, in the order in which they began to.
func (c *core) retryParked() {
	waiting := c.parked
	c.parked = nil
	for _, conn := range waiting {
		if conn.parked != nil {
			c.unpark(conn)
		}
	}
}

func (c *core) unpark(conn *Conn) {
	p := conn.parked
	moved := false
	for len(p.entries) > 0 {
		e := p.entries[0]
		at, why, wait := c.proceed(conn, e.req, p.next)
		if wait {
			if moved || at != p.next {
				p.why = why // another one waits now, with a time limit of its own
				c.limitWait(conn)
			}
			p.next = at
			c.parked = append(c.parked, conn)
			return
		}
		p.entries, p.next, moved = p.entries[1:], 0, true
		c.freed = append(c.freed, e)
	}
	conn.parked = nil
}

// refuse ends the wait of conn's SEND, and conn with it.
func (c *core) refuse(conn *Conn) {
	p := conn.parked
	c.stats.Refused++
	if conn.gone {
		c.opt.Log.Warn("a SEND of a connection that has ended is dropped", "remote", conn.client.Remote, "reason", p.why.Message)
	}
	c.fail(conn, &p.entries[0].req.Ops[p.next], p.why)
	c.freed = append(c.freed, p.entries...)
	conn.parked = nil
}

// diskFree takes in how much disk is free.
func (c *core) diskFree(free uint64) {
	limit := c.opt.DiskFreeBytes
	switch {
	case limit <= 0:
	case !c.diskLow && free < uint64(limit):
		c.diskLow = true
		c.opt.Log.Warn("little free disk: persistent senders wait", "free", free, "limit", limit)
	case c.diskLow && free >= enough(limit):
		c.diskLow, c.recheck = false, true
		c.opt.Log.Info("free disk is above the watermark again: senders go on", "free", free)
	}
}
