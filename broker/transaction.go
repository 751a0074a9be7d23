package broker

// transaction is what the loop knows of one: the deliveries that it settles. Its
// SENDs are with the session until COMMIT.
type transaction struct {
	settles []*delivery
	bytes   int64
}

// enlist has the transaction settle d, which makes room in the window of its subscription.
func (c *core) enlist(conn *Conn, d *delivery, op *Op) *Error {
	tx := op.Tx
	t := conn.txs[tx]
	if t == nil {
		t = &transaction{}
		if conn.txs == nil {
			conn.txs = map[uint64]*transaction{}
		}
		conn.txs[tx] = t
	}
	if len(t.settles) >= c.opt.TransactionActions || t.bytes >= c.opt.TransactionBytes {
		return &Error{Kind: KindLimit, Message: "too much is acknowledged in one transaction (limits.transaction-actions, limits.transaction-bytes)"}
	}
	t.settles = append(t.settles, d)
	t.bytes += d.e.msg.Size()
	if op.Nack != nil {
		t.bytes += int64(len(op.Nack.Reason))
	}
	d.tx, d.refused, d.nack = tx, op.Kind == OpNack, op.Nack
	d.sub.release(c, d)
	return nil
}

// commit settles what tx took hold of. The SENDs were done before in the same batch.
func (c *core) commit(conn *Conn, tx uint64) {
	t := conn.txs[tx]
	if t == nil {
		return
	}
	delete(conn.txs, tx)
	var back []*delivery
	for _, d := range t.settles {
		if d.settled {
			continue // its subscription was deleted
		}
		if d.refused {
			back = append(back, d)
			continue
		}
		c.acknowledge(d)
	}
	c.putBack(back, causeNack)
}

// abort makes what tx took hold of pending again. STOMP leaves open what becomes of it;
// clients that replay the messages themselves must not get them from us as well.
func (c *core) abort(conn *Conn, tx uint64) {
	t := conn.txs[tx]
	if t == nil {
		return
	}
	delete(conn.txs, tx)
	for _, d := range t.settles {
		d.tx, d.nack = 0, nil
		if !d.settled {
			d.sub.hold(d)
			c.watch(d)
		}
	}
	for _, d := range t.settles {
		if d.sub.graceOver {
			c.returnLater(d.sub)
		}
	}
}
