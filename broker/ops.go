package broker

// do carries out one operation of conn.
func (c *core) do(conn *Conn, op *Op) {
	before := c.changes()
	err := c.apply(conn, op)
	if c.changes() != before || op.isDoubled() && (before > 0 || c.flights.len() > 0) {
		c.binds(conn) // a duplicate is answered when what it doubles is on disk
	}
	if err != nil {
		c.fail(conn, op, err)
		return
	}
	if op.Kind == OpDisconnect {
		c.leave(conn)
	}
	if op.WantReceipt {
		o := Output{Kind: OutputReceipt, Receipt: op.Receipt}
		switch {
		case op.Kind != OpSend:
		case op.Message.doubled:
			o.Duplicate = true
		case op.Message.DeliverAt != 0:
			o.ScheduledID, o.DeliverAt = op.Message.ScheduledID, op.Message.DeliverAt
		}
		c.answer(conn, o)
	}
	switch op.Kind {
	case OpSubscribe:
		// Its first message comes after its receipt.
		if s := conn.subs[op.Subscribe.ID]; conn.lastBatch > c.durable {
			c.holdBack(s)
		}
	case OpRecover:
		if op.WantReceipt {
			c.fence(conn, op.Sub)
		}
	case OpDisconnect:
		c.answer(conn, Output{Kind: OutputClose})
	}
}

// fence has what RECOVER delivers again come after its receipt, so that a client can tell it from what was on its way
// before.
func (c *core) fence(conn *Conn, id string) {
	if conn.lastBatch <= c.durable {
		return
	}
	for key, s := range conn.subs {
		if id == "" || key == id {
			c.holdBack(s)
		}
	}
}

// holdBack has s get nothing before what its connection did is on disk, and so the receipt for it out.
func (c *core) holdBack(s *subscription) {
	s.after, s.conn.fenced, c.urgent = s.conn.lastBatch, true, true
}

// leave gives conn what it has to get before a DISCONNECT, and nothing afterwards.
func (c *core) leave(conn *Conn) {
	for _, s := range conn.inOrder() {
		if !s.ended {
			c.flush(s)
		}
	}
	conn.ended, conn.disconnected = true, true
}

func (c *core) apply(conn *Conn, op *Op) *Error {
	if err, _ := c.atStandstill(op); err != nil {
		return err
	}
	if err, _ := c.overQuota(conn, op); err != nil {
		return err
	}
	switch op.Kind {
	case OpSend:
		if err := c.mayUse(conn, op); err != nil {
			return err
		}
		op.Message.sender = conn.id
		return c.send(op.To, op.Message)
	case OpSubscribe:
		return c.subscribe(conn, op.Subscribe)
	case OpUnsubscribe:
		if op.Durable != (SubscriptionName{}) {
			return c.unsubscribeDurable(conn, op)
		}
		return c.unsubscribe(conn, op.Sub)
	case OpAck, OpNack:
		return c.ack(conn, op)
	case OpRecover:
		return c.recoverDeliveries(conn, op.Sub, op.Nack)
	case OpCommit:
		return c.commitOp(conn, op)
	case OpAbort:
		c.abort(conn, op.Tx)
	case OpFail:
		return op.Err
	case OpCancel:
		c.cancelID(op.Schedule.ID)
	case OpReceipt, OpDisconnect, OpCancelAll, OpBrowseSchedule:
	}
	return nil
}

// commitOp does the whole of a transaction or nothing of it. The parts are in one batch since
// they are in one round.
func (c *core) commitOp(conn *Conn, op *Op) *Error {
	var retained int64
	for i := range op.Sends {
		send := &op.Sends[i]
		send.Message.sender = conn.id
		if err := c.mayUse(conn, send); err != nil {
			return err
		}
		if send.To.Kind == Topic && send.Message.Retain == RetainSet {
			retained += max(0, send.Message.Size()-c.dests[send.To].retains())
		}
		if c.retained+retained > c.opt.RetainedBytes && retained > 0 {
			return tooMuchRetained(send.To)
		}
		if c.isGone(send.To) {
			continue
		}
		if send.To.Kind != Topic || c.opt.NoAutoCreate || c.later(send) {
			if _, err := c.resolve(send.To); err != nil {
				return err
			}
		}
	}
	c.searches++ // as in a search: what one of them schedules under a name, another one may replace
	defer c.searchEnds()
	for i := range op.Sends {
		if err := c.send(op.Sends[i].To, op.Sends[i].Message); err != nil {
			return err // cannot be: resolved above
		}
	}
	c.commit(conn, op.Tx)
	return nil
}

// ack settles what an ACK or NACK names.
func (c *core) ack(conn *Conn, op *Op) *Error {
	a := &op.Ack
	if a.Credit > 0 {
		c.credit(conn, a)
	}
	if a.Invalid != "" {
		return neverGiven(a.Invalid)
	}
	d, err := c.named(conn, a)
	if err != nil {
		return err
	}
	if d == nil || d.tx != 0 {
		if a.names() {
			c.stats.StaleAcks++
		}
		return nil
	}
	ds := []*delivery{d}
	if s := d.sub; s.op.Mode == AckClient {
		ds = s.upTo(d)
	}
	if a.Extend > 0 {
		for _, d := range ds {
			c.extend(d, a.Extend)
		}
		return nil
	}
	if op.Tx != 0 {
		for _, d := range ds {
			if err := c.enlist(conn, d, op); err != nil {
				return err
			}
		}
		return nil
	}
	if op.Kind == OpNack {
		for _, d := range ds {
			d.nack = op.Nack
		}
		c.putBack(ds, causeNack)
		return nil
	}
	for _, d := range ds {
		c.acknowledge(d)
	}
	return nil
}

// upTo lists d and all before it that are pending: what an ACK in client mode covers.
// STOMP 1.2 ACK: of the subscription, not of the connection.
func (s *subscription) upTo(d *delivery) []*delivery {
	var ds []*delivery
	for i := range s.pending.len() {
		p := *s.pending.at(i)
		if !p.settled && p.tx == 0 {
			ds = append(ds, p)
		}
		if p == d {
			break
		}
	}
	return ds
}

func (a *AckOp) names() bool {
	return a.Number != 0 || a.UserID != "" || a.MessageID != (MessageID{})
}

// named finds the pending delivery that a names; nil when it is no longer pending, which
// is no error as it races by nature.
func (c *core) named(conn *Conn, a *AckOp) (*delivery, *Error) {
	switch {
	case a.Number != 0:
		s := conn.numbers[a.SubNumber]
		if s == nil {
			if a.SubNumber > conn.lastSub {
				return nil, neverGiven(a.Text)
			}
			return nil, nil
		}
		if a.Number > s.issued {
			return nil, neverGiven(a.Text)
		}
		return s.find(a.Number), nil
	case a.names():
		if a.UserID == "" && !c.given(a.MessageID) {
			return nil, neverGiven(a.Text)
		}
		return conn.byMessage(a), nil
	}
	return nil, nil
}

func (conn *Conn) byMessage(a *AckOp) *delivery {
	if a.Sub != "" {
		// The common case: clients acknowledge in the order of delivery.
		if s := conn.subs[a.Sub]; s != nil && s.pending.len() > 0 {
			if d := live(*s.pending.at(0)); d != nil && d.is(a) {
				return d
			}
		}
	}
	if conn.index == nil {
		conn.index = newMessageIndex(conn)
	}
	d := conn.index.ids[a.MessageID]
	if a.UserID != "" {
		d = conn.index.users[a.UserID]
	}
	if d != nil && a.Sub != "" && d.sub.op.ID != a.Sub {
		return conn.search(a)
	}
	return d
}

// search finds a message that is pending in several subscriptions of the connection.
func (conn *Conn) search(a *AckOp) *delivery {
	for _, s := range conn.inOrder() {
		if s.op.ID != a.Sub {
			continue
		}
		for i := range s.pending.len() {
			if d := live(*s.pending.at(i)); d != nil && d.is(a) {
				return d
			}
		}
	}
	return nil
}

func (d *delivery) is(a *AckOp) bool {
	if a.UserID != "" {
		return d.e.msg.UserID == a.UserID && !d.hidden
	}
	return d.e.msg.ID == a.MessageID
}

// credit widens the window, as far as a window may be wide.
func (c *core) credit(conn *Conn, a *AckOp) {
	s := conn.subs[a.Sub]
	if s == nil {
		s = conn.numbers[a.SubNumber]
	}
	if s == nil || s.ended {
		c.stats.StaleAcks++
		return
	}
	s.window += min(a.Credit, c.opt.MaxWindow-s.window)
	c.wake(s)
}

func neverGiven(text string) *Error {
	return &Error{Kind: KindUnknownAck, Message: "no message of this connection has the id " + quote(text)}
}
