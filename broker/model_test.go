package broker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// model is what the contract says of a broker, in sets and sorted lists: it knows no windows,
// no pages and no rounds. It does not say which consumer gets a message; it explains what each of them got.
type model struct {
	queues map[string]*modelBacklog
	conns  map[string]*modelConn
	former []*modelConn // gone, with SENDs that may still be taken
	waits  []*modelItem // for their time
	step   int
	began  int64 // when the step began, in ms
	errs   []string
	// restarts says that there was a start in this step, and what was uncertain is to be found out.
	restarts bool
}

// modelBacklog is a queue, or what one subscriber of a topic has coming.
type modelBacklog struct {
	name   string
	items  []*modelItem
	paused bool // nothing of it is delivered
}

// modelItem is one message for one backlog.
type modelItem struct {
	sent *modelSend
	in   *modelBacklog // nil while it waits for its time
	with *modelDelivery
	last *modelSub // who had it

	step  int  // in which it took its place
	fired bool // as its time had come
	since int  // the step in which it began to wait, at last

	// While it waits for its time: when it is due. Of a job also the place of that on its grid, which is another after a
	// reschedule. due stays with what took its place.
	due, slot int64
	expires   int64 // in ms since the epoch, 0 for never
	left      int64 // deliveries after the next, -1 for ever
	moved     bool  // what is due at the same time may come before it or after it
	anyOf     bool  // of several messages of a job some are lost, so that it is not known where it stands

	// The count that the next delivery shows is within these. They differ after a restart.
	least, most uint32
	// uncertain items may have been lost, as they were not persistent when the program ended.
	uncertain bool
}

type modelSend struct {
	to       Address
	by       *modelConn
	n        int // of all SENDs
	msg      *Message
	body     string
	delay    int64
	ttl      int64  // in ms, 0 for ever
	id       string // chosen by the sender
	job      *modelJob
	k        int
	receipt  string
	inCommit bool
}

type modelDelivery struct {
	item    *modelItem
	sub     *modelSub
	number  uint64
	id      MessageID
	written bool
	settled bool
	hidden  bool // it was shown under the broker's id
	tx      uint64
	nack    bool
}

type modelConn struct {
	name      string
	client    *client
	subs      map[string]*modelSub // live
	numbers   []*modelSub          // all, by number - 1
	sends     []*modelSend         // not known to be taken
	receipts  []string             // due, in order
	unwritten []*modelDelivery
	txs       map[uint64][]*modelDelivery
	lastTx    uint64
	doomed    bool              // it is to get an ERROR, as a queue was deleted
	over      bool              // it got an ERROR, or its CLOSE
	commits   map[string]uint64 // receipts of COMMITs whose effect is not known
}

func newModel() *model {
	return &model{queues: map[string]*modelBacklog{}, conns: map[string]*modelConn{}}
}

func (m *model) bad(format string, args ...any) {
	m.errs = append(m.errs, fmt.Sprintf(format, args...))
}

func (m *model) queue(name string) *modelBacklog {
	q := m.queues[name]
	if q == nil {
		q = &modelBacklog{name: "/queue/" + name}
		m.queues[name] = q
	}
	return q
}

func (it *modelItem) persistent() bool { return it.sent.msg.Persistent }
func (it *modelItem) String() string   { return it.sent.body }

// before tells whether a must be delivered before b: by priority, then in the order in which they took their
// places. Between a SEND and a message whose time came, in one step, there is no order.
func (it *modelItem) before(o *modelItem) bool {
	if p, q := it.sent.msg.Priority, o.sent.msg.Priority; p != q {
		return p > q
	}
	if it.anyOf || o.anyOf {
		return false
	}
	if it.step != o.step {
		return it.step < o.step
	}
	if it.fired != o.fired {
		return false
	}
	if it.fired && it.due != o.due {
		return it.due < o.due
	}
	if it.moved || o.moved {
		return false
	}
	if it.sent.to != o.sent.to { // to a pattern: of one sender they come in its order
		return it.sent.by == o.sent.by && !it.fired && it.sent.n < o.sent.n
	}
	return it.sent.msg.ID.Seq < o.sent.msg.ID.Seq
}

// drop takes an item out of the world.
func (m *model) drop(it *modelItem) {
	if it.in != nil {
		it.in.items = slices.DeleteFunc(it.in.items, func(o *modelItem) bool { return o == it })
		it.in = nil
	}
}

// settle ends a delivery.
func (m *model) settle(d *modelDelivery) {
	d.settled = true
	d.item.with = nil
	d.sub.pending = slices.DeleteFunc(d.sub.pending, func(o *modelDelivery) bool { return o == d })
}

func (m *model) acknowledged(d *modelDelivery) {
	m.settle(d)
	m.drop(d.item)
}

// giveBack returns a delivery to its place. What was written may have been seen; unwritten
// octets may still be, unless the connection is gone.
func (m *model) giveBack(d *modelDelivery, failed, gone bool) {
	m.settle(d)
	it := d.item
	switch {
	case d.written || failed:
		it.least++
		it.most++
	case !gone:
		it.most++
	}
	it.since = m.step
	if it.in == d.sub.coming && d.sub.ended {
		m.drop(it)
	}
}

// upTo lists what an ACK or NACK of d covers.
func (d *modelDelivery) upTo() []*modelDelivery {
	if d.sub.mode != AckClient {
		return []*modelDelivery{d}
	}
	var ds []*modelDelivery
	for _, p := range d.sub.pending {
		if p.number <= d.number && p.tx == 0 {
			ds = append(ds, p)
		}
	}
	return ds
}

func (m *model) ack(d *modelDelivery, tx uint64, nack bool) {
	for _, p := range d.upTo() {
		switch {
		case tx != 0:
			p.tx, p.nack = tx, nack
			d.sub.conn.txs[tx] = append(d.sub.conn.txs[tx], p)
		case nack:
			m.giveBack(p, true, false)
		default:
			m.acknowledged(p)
		}
	}
}

func (m *model) committed(c *modelConn, tx uint64) {
	for _, d := range c.txs[tx] {
		if d.nack {
			m.giveBack(d, true, false)
		} else {
			m.acknowledged(d)
		}
	}
	delete(c.txs, tx)
}

func (m *model) aborted(c *modelConn, tx uint64, now int64) {
	for _, d := range c.txs[tx] {
		d.tx = 0
		if d.sub.ended && d.sub.grace <= now {
			m.giveBack(d, false, false)
		}
	}
	delete(c.txs, tx)
}

// recovered is a RECOVER of one subscription. With auto there is nothing unacknowledged.
func (m *model) recovered(s *modelSub) {
	if s.mode == AckAuto {
		return
	}
	for _, d := range slices.Clone(s.pending) {
		if d.tx == 0 {
			m.giveBack(d, true, false)
		}
	}
}

// wrote tells that n messages were handed to the kernel.
func (m *model) wrote(c *modelConn, n int) {
	for _, d := range c.unwritten[:n] {
		d.written = true
		if d.sub.mode == AckAuto && !d.settled {
			m.acknowledged(d)
		}
	}
	c.unwritten = c.unwritten[n:]
}

// leave ends a connection.
func (m *model) leave(c *modelConn) {
	for _, s := range c.numbers {
		for _, d := range slices.Clone(s.pending) {
			s.ended = true
			m.giveBack(d, false, true)
		}
		m.end(s)
	}
	delete(m.conns, c.name)
	c.sends = slices.DeleteFunc(c.sends, func(s *modelSend) bool { return s.inCommit && s.msg.Timestamp == 0 })
	m.former = append(m.former, c)
}

// end takes a subscription away; what waits for a topic's subscriber goes with it.
func (m *model) end(s *modelSub) {
	s.ended = true
	if s.conn.subs[s.key] == s {
		delete(s.conn.subs, s.key)
	}
	for _, it := range slices.Clone(s.coming.items) {
		if it.with == nil {
			m.drop(it)
		}
	}
}

// tick lets the time pass: graces end, messages become due.
func (m *model) tick(now int64) {
	for _, c := range m.conns {
		for _, s := range c.numbers {
			if s.grace == 0 || s.grace > now {
				continue
			}
			s.grace = 0
			for _, d := range slices.Clone(s.pending) {
				if d.tx == 0 && s.mode != AckAuto {
					m.giveBack(d, false, false)
				}
			}
		}
	}
	m.waits = slices.DeleteFunc(m.waits, func(it *modelItem) bool { return !m.fire(it, now) })
}

// place gives an item that has none its place: one in a queue, or one with each subscriber of a topic.
func (m *model) place(it modelItem) {
	s := it.sent
	put := func(q *modelBacklog) {
		it.in, it.step, it.since = q, m.step, m.step
		placed := it
		q.items = append(q.items, &placed)
	}
	if s.to.Kind == Queue {
		put(m.queue(s.to.Name))
		return
	}
	for _, c := range m.conns {
		for _, sub := range c.subs {
			if sub.covers(s.to) && sub.wants(s) {
				put(sub.coming)
			}
		}
	}
}

// take finds out which SENDs were taken in this step: of each connection the first ones.
func (m *model) take(from, now int64) {
	var all []*modelSend
	for _, c := range slices.Concat(m.sortedConns(), m.former) {
		last := map[Address]uint64{}
		for len(c.sends) > 0 && c.sends[0].msg.Timestamp != 0 {
			s := c.sends[0]
			c.sends = c.sends[1:]
			if s.msg.Timestamp < from || s.msg.Timestamp > now {
				m.bad("%s has timestamp %d, outside of %d to %d", s.body, s.msg.Timestamp, from, now)
			}
			if id := s.msg.ID.Seq; id != 0 {
				if id <= last[s.to] {
					m.bad("%s of %s was taken before what was sent earlier", s.body, c.name)
				}
				last[s.to] = id
			}
			all = append(all, s)
		}
		for _, s := range c.sends {
			if s.msg.Timestamp != 0 {
				m.bad("%s of %s was taken before %s, that was sent earlier", s.body, c.name, c.sends[0].body)
			}
		}
	}
	m.former = slices.DeleteFunc(m.former, func(c *modelConn) bool { return len(c.sends) == 0 })
	slices.SortStableFunc(all, func(a, b *modelSend) int {
		return cmp.Or(cmp.Compare(a.msg.Timestamp, b.msg.Timestamp), cmp.Compare(a.msg.ID.Seq, b.msg.ID.Seq))
	})
	for _, s := range all {
		m.tick(s.msg.Timestamp - 1)
		m.taken(s, false)
	}
}

func (m *model) sortedConns() []*modelConn {
	var cs []*modelConn
	for _, c := range m.conns {
		cs = append(cs, c)
	}
	slices.SortFunc(cs, func(a, b *modelConn) int { return cmp.Compare(a.name, b.name) })
	return cs
}

// restarted is what a start finds: all connections are gone, and what was not persistent may be.
func (m *model) restarted() {
	for _, c := range m.sortedConns() {
		for _, s := range c.numbers {
			for _, d := range slices.Clone(s.pending) {
				it := d.item
				s.ended = true
				m.settle(d)
				if it.in == s.coming {
					m.drop(it)
					continue
				}
				it.least, it.most, it.since = max(1, it.least), it.most+1, m.step
			}
			m.end(s)
		}
	}
	clear(m.conns)
	m.former, m.restarts = nil, true
	for _, q := range m.queues {
		for _, it := range q.items {
			it.most = max(it.most, 1)
			if !it.persistent() {
				it.uncertain, it.least, it.most = true, 0, it.most+1
			}
		}
	}
	for _, it := range m.waits {
		it.uncertain = it.uncertain || !it.persistent()
	}
}

// err is what was found wrong since the last time.
func (m *model) err() error {
	if len(m.errs) == 0 {
		return nil
	}
	text := "step " + strconv.Itoa(m.step)
	for _, e := range m.errs {
		text += "\n  " + e
	}
	m.errs = nil
	return fmt.Errorf("%s", text)
}
