package broker

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"footfall/frames"
)

// some draws one of those that are there; ok is false when there is none.
func some[T any](t *rapid.T, all []T, label string) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, label)], true
}

// conn draws a connection that nothing holds up.
func (h *history) conn(t *rapid.T) (*modelConn, bool) {
	parked := h.parked()
	var free []*modelConn
	for _, c := range h.m.sortedConns() {
		if !parked[c.client.conn] {
			free = append(free, c)
		}
	}
	return some(t, free, "connection")
}

func (h *history) receipt(c *modelConn) Op {
	h.ids++
	id := "r" + strconv.Itoa(h.ids)
	c.receipts = append(c.receipts, id)
	return Op{WantReceipt: true, Receipt: id}
}

func (h *history) connect(*rapid.T) {
	if len(h.m.conns) >= 4 {
		return
	}
	h.names++
	name := "c" + strconv.Itoa(h.names)
	h.m.conns[name] = &modelConn{
		name: name, client: h.w.connect(name), subs: map[string]*modelSub{}, txs: map[uint64][]*modelDelivery{}, commits: map[string]uint64{},
	}
}

func (h *history) send(t *rapid.T) {
	if c, ok := h.conn(t); ok {
		h.do(c, h.sends(t, c, rapid.IntRange(1, 6).Draw(t, "messages"))...)
	}
}

func (h *history) sends(t *rapid.T, c *modelConn, n int) []Op {
	var ops []Op
	for range n {
		op := h.receipt(c)
		h.sendOp(t, c, &op)
		ops = append(ops, op)
	}
	return ops
}

func (h *history) sendOp(t *rapid.T, c *modelConn, op *Op) *modelSend {
	h.bodies++
	s := &modelSend{body: "m" + strconv.Itoa(h.bodies), receipt: op.Receipt, by: c, n: h.bodies}
	s.to = h.address(t)
	s.msg = newMessage(s.body + ".")
	s.msg.Body = append(s.msg.Body, bytes.Repeat([]byte("x"), rapid.SampledFrom([]int{0, 100, 700}).Draw(t, "octets"))...)
	s.msg.Persistent = rapid.IntRange(0, 2).Draw(t, "persistent") < 2
	s.msg.Priority = rapid.SampledFrom([]uint8{4, 4, 4, 0, 9}).Draw(t, "priority")
	h.timing(t, s)
	s.msg.UserID = rapid.SampledFrom([]string{"", "", "ID:1", "ID:2"}).Draw(t, "user id")
	s.k = rapid.IntRange(0, 3).Draw(t, "k")
	s.msg.Header.Raw = frames.AppendHeader(s.msg.Header.Raw, s.msg.Header.Dialect, "k", strconv.Itoa(s.k))
	op.Kind, op.To, op.Message = OpSend, s.to, s.msg
	c.sends = append(c.sends, s)
	return s
}

func (h *history) subscribe(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok || len(c.subs) >= 3 {
		return
	}
	s := &modelSub{conn: c, key: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "key"), number: uint64(len(c.numbers) + 1)}
	if c.subs[s.key] != nil {
		return
	}
	s.mode = rapid.SampledFrom([]AckMode{AckClient, AckIndividual, AckAuto}).Draw(t, "mode")
	op := h.receipt(c)
	op.Kind = OpSubscribe
	op.Subscribe = &SubscribeOp{ID: s.key, Mode: s.mode}
	h.drawSources(t, s, op.Subscribe)
	if s.mode != AckAuto {
		s.window = rapid.SampledFrom([]int{1, 2, 3, 10}).Draw(t, "window")
		op.Subscribe.Window = s.window
		s.window = min(s.window, cmp.Or(h.w.opt.MaxWindow, s.window))
	}
	if rapid.IntRange(0, 2).Draw(t, "selective") == 0 {
		all := modelSelectors()
		s.where = all[rapid.IntRange(0, len(all)-1).Draw(t, "selector")]
		op.Subscribe.Selector = s.where.text
	}
	c.subs[s.key] = s
	c.numbers = append(c.numbers, s)
	h.do(c, op)
}

func (h *history) unsubscribe(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	key, ok := some(t, slices.Sorted(maps.Keys(c.subs)), "subscription")
	if !ok {
		return
	}
	s := c.subs[key]
	op := h.receipt(c)
	op.Kind, op.Sub = OpUnsubscribe, key
	s.ended, s.answer, s.grace = true, op.Receipt, time.Now().Add(time.Second).UnixMilli()
	delete(c.subs, key)
	h.do(c, op)
}

// deliveries lists what of c can be settled.
func (c *modelConn) deliveries() []*modelDelivery {
	var ds []*modelDelivery
	for _, s := range c.numbers {
		for _, d := range s.pending {
			if d.tx == 0 && s.mode != AckAuto {
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// settleOp draws a delivery of c, settles it in the model, and returns what does it.
func (h *history) settleOp(t *rapid.T, c *modelConn, kind OpKind, tx uint64) (op Op, ok bool) {
	d, ok := some(t, c.deliveries(), "delivery")
	if !ok {
		return op, false
	}
	op = h.receipt(c)
	op.Kind, op.Tx = kind, tx
	switch rapid.IntRange(0, 2).Draw(t, "named by") {
	case 0:
		op.Ack = AckOp{SubNumber: d.sub.number, Number: d.number}
	case 1:
		// By id alone the first of its pending deliveries is meant, as a topic's on two subscriptions.
		op.Ack = AckOp{MessageID: d.id, Sub: d.sub.key}
		if h.twice(c, d) {
			op.Ack = AckOp{SubNumber: d.sub.number, Number: d.number}
		}
	case 2:
		op.Ack = AckOp{SubNumber: d.sub.number, Number: d.number}
		// Messages of one job share it: while much goes on, another one may come to have it.
		if id := d.item.sent.msg.UserID; id != "" && !d.hidden && h.strict {
			op.Ack = AckOp{UserID: id}
		}
	}
	h.m.ack(d, tx, kind == OpNack)
	return op, true
}

// twice tells whether the message of d is pending in several subscriptions of c with the same key.
func (h *history) twice(c *modelConn, d *modelDelivery) bool {
	n := 0
	for _, s := range c.numbers {
		for _, p := range s.pending {
			if p.item.sent == d.item.sent && s.key == d.sub.key {
				n++
			}
		}
	}
	return n > 1
}

func (h *history) tx(t *rapid.T, c *modelConn) uint64 {
	if rapid.IntRange(0, 2).Draw(t, "in a transaction") < 2 {
		return 0
	}
	open := slices.Sorted(maps.Keys(c.txs))
	if len(open) < 2 {
		c.lastTx++
		open = append(open, c.lastTx)
	}
	return open[rapid.IntRange(0, len(open)-1).Draw(t, "transaction")]
}

func (h *history) settle(t *rapid.T, kind OpKind) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	if op, ok := h.settleOp(t, c, kind, h.tx(t, c)); ok {
		h.do(c, op)
	}
}

func (h *history) ack(t *rapid.T)  { h.settle(t, OpAck) }
func (h *history) nack(t *rapid.T) { h.settle(t, OpNack) }

// burst has several connections at it at once: SENDs, ACKs and NACKs, in requests of several and in several requests.
func (h *history) burst(t *rapid.T) {
	h.strict = false
	parked := h.parked()
	for range rapid.IntRange(2, 6).Draw(t, "requests") {
		c, ok := some(t, h.m.sortedConns(), "connection")
		if !ok || parked[c.client.conn] && len(c.sends) > 20 {
			continue
		}
		var ops []Op
		for range rapid.IntRange(1, 3).Draw(t, "operations") {
			kind := rapid.SampledFrom([]OpKind{OpSend, OpSend, OpAck, OpNack}).Draw(t, "kind")
			if kind == OpSend {
				ops = append(ops, h.sends(t, c, 1)...)
			} else if op, ok := h.settleOp(t, c, kind, 0); ok {
				ops = append(ops, op)
			}
		}
		if len(ops) > 0 {
			h.do(c, ops...)
		}
	}
}

func (h *history) recover(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	op := h.receipt(c)
	op.Kind = OpRecover
	if keys := slices.Sorted(maps.Keys(c.subs)); len(keys) > 0 && rapid.Bool().Draw(t, "one subscription") {
		op.Sub, _ = some(t, keys, "subscription")
		h.m.recovered(c.subs[op.Sub])
	} else {
		for _, s := range c.numbers {
			h.m.recovered(s)
		}
	}
	h.do(c, op)
}

func (h *history) commit(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	tx, ok := some(t, slices.Sorted(maps.Keys(c.txs)), "transaction")
	op := h.receipt(c)
	op.Kind = OpCommit
	if ok {
		op.Tx = tx
		c.commits[op.Receipt] = tx
	} else {
		c.lastTx++ // one that nothing was acknowledged in; without a number it would be a SEND
		op.Tx = c.lastTx
	}
	for range rapid.IntRange(0, 3).Draw(t, "messages") {
		op.Sends = append(op.Sends, h.sendInCommit(t, c, op.Receipt))
	}
	h.do(c, op)
}

func (h *history) address(t *rapid.T) Address {
	if h.oneQueue {
		return Address{Kind: Queue, Name: queueNames[0]}
	}
	if rapid.IntRange(0, 3).Draw(t, "a topic") == 3 {
		return Address{Kind: Topic, Name: rapid.SampledFrom(topicNames).Draw(t, "topic")}
	}
	return Address{Kind: Queue, Name: rapid.SampledFrom(queueNames).Draw(t, "queue")}
}

func (h *history) sendInCommit(t *rapid.T, c *modelConn, receipt string) (op Op) {
	s := h.sendOp(t, c, &op)
	s.receipt, s.inCommit = receipt, true
	return op
}

func (h *history) abort(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	tx, ok := some(t, slices.Sorted(maps.Keys(c.txs)), "transaction")
	if !ok {
		return
	}
	op := h.receipt(c)
	op.Kind, op.Tx = OpAbort, tx
	h.m.aborted(c, tx, time.Now().UnixMilli())
	h.do(c, op)
}

func (h *history) vanish(t *rapid.T) {
	if c, ok := some(t, h.m.sortedConns(), "connection"); ok {
		h.detach(c)
	}
}

func (h *history) disconnect(t *rapid.T) {
	if c, ok := h.conn(t); ok && !c.client.stall {
		op := h.receipt(c)
		op.Kind = OpDisconnect
		h.do(c, op)
	}
}

func (h *history) stall(t *rapid.T) {
	if c, ok := some(t, h.m.sortedConns(), "connection"); ok {
		c.client.mu.Lock()
		c.client.stall = true
		h.note("%s stalls", c.name)
		c.client.mu.Unlock()
	}
}

func (h *history) write(t *rapid.T) {
	c, ok := some(t, h.m.sortedConns(), "connection")
	if !ok || !c.client.stall {
		return
	}
	n := rapid.IntRange(0, len(c.unwritten)).Draw(t, "messages")
	h.note("%s writes %d", c.name, n)
	h.m.wrote(c, n)
	c.client.mu.Lock()
	c.client.write(n)
	if len(c.unwritten) == 0 {
		c.client.stall = false
	}
	c.client.mu.Unlock()
}

func (h *history) credit(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	key, ok := some(t, slices.Sorted(maps.Keys(c.subs)), "subscription")
	if !ok {
		return
	}
	op := h.receipt(c)
	op.Kind, op.Ack = OpAck, AckOp{Sub: key, Credit: rapid.IntRange(1, 3).Draw(t, "credit")}
	s := c.subs[key]
	s.window = min(s.window+op.Ack.Credit, cmp.Or(h.w.opt.MaxWindow, math.MaxInt))
	h.do(c, op)
}

func (h *history) advance(t *rapid.T) {
	h.strict = false
	d := rapid.SampledFrom([]time.Duration{
		time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 12 * time.Second, 40 * time.Second,
	}).Draw(t, "time")
	h.note("advance %v", d)
	h.pass(d)
}

func (h *history) disk(t *rapid.T) {
	h.strict = false
	free := uint64(1 << 20)
	if rapid.Bool().Draw(t, "free") {
		free = 1 << 40
	}
	h.note("disk has %d free", free)
	h.w.b.inbox.run(func() { h.w.b.core.diskFree(free) })
}

func (h *history) restart(t *rapid.T) {
	h.strict = false
	if rapid.Bool().Draw(t, "in good order") {
		h.detachAll()
	}
	h.note("restart")
	h.w.stop()
	h.m.take(h.began, time.Now().UnixMilli())
	h.m.restarted()
	h.w.again()
}
