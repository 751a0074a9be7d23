package broker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"footfall/store"
)

// model is what the contract says of a broker, in sets and sorted lists: it knows no windows,
// no pages and no rounds. It does not say which consumer gets a message; it explains what each of them got.
type model struct {
	queues map[string]*modelBacklog
	conns  map[string]*modelConn
	former []*modelConn // gone, with SENDs that may still be taken
	waits  []*modelItem // for their time
	step   int
	errs   []string
	// restarts says that there was a start in this step, and what was uncertain is to be found out.
	restarts bool
}

// modelBacklog is a queue, or what one subscriber of a topic has coming.
type modelBacklog struct {
	name  string
	items []*modelItem
}

// modelItem is one message for one backlog.
type modelItem struct {
	sent *modelSend
	in   *modelBacklog // nil while it waits for its time
	with *modelDelivery

	step  int  // in which it took its place
	fired bool // as its time had come
	since int  // the step in which it began to wait, at last

	// The count that the next delivery shows is within these. They differ after a restart.
	least, most uint32
	// uncertain items may have been lost, as they were not persistent when the program ended.
	uncertain bool
}

type modelSend struct {
	to       Address
	msg      *Message
	body     string
	delay    int64
	receipt  string
	inCommit bool
}

type modelDelivery struct {
	item    *modelItem
	sub     *modelSub
	number  uint64
	written bool
	settled bool
	hidden  bool // it was shown under the broker's id
	tx      uint64
	nack    bool
}

type modelSub struct {
	conn    *modelConn
	key     string
	number  uint64
	mode    AckMode
	window  int
	from    Address
	backlog *modelBacklog
	issued  uint64
	last    int              // the step of the last delivery
	pending []*modelDelivery // not settled, in order
	ended   bool
	answer  string // the receipt of UNSUBSCRIBE, "" when it came or was never asked for
	closed  bool   // nothing may come any more
	grace   int64  // when what is pending is given back, in ms; 0: not
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
	if it.step != o.step {
		return it.step < o.step
	}
	if it.fired != o.fired {
		return false
	}
	if it.fired && it.sent.msg.DeliverAt != o.sent.msg.DeliverAt {
		return it.sent.msg.DeliverAt < o.sent.msg.DeliverAt
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
	if d.sub.from.Kind == Topic && d.sub.ended {
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
	if s.from.Kind == Topic {
		for _, it := range slices.Clone(s.backlog.items) {
			if it.with == nil {
				m.drop(it)
			}
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
	m.waits = slices.DeleteFunc(m.waits, func(it *modelItem) bool {
		if it.sent.msg.DeliverAt > now {
			return false
		}
		it.fired = true
		m.place(*it)
		return true
	})
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
			if sub.from == s.to {
				put(sub.backlog)
			}
		}
	}
}

// take finds out which SENDs were taken in this step: of each connection the first ones.
func (m *model) take(from, now int64) {
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
			if s.delay <= 0 {
				m.place(modelItem{sent: s})
				continue
			}
			if s.msg.DeliverAt != s.msg.Timestamp+s.delay {
				m.bad("%s is due at %d, not %d after %d", s.body, s.msg.DeliverAt, s.delay, s.msg.Timestamp)
			}
			m.waits = append(m.waits, &modelItem{sent: s})
		}
		for _, s := range c.sends {
			if s.msg.Timestamp != 0 {
				m.bad("%s of %s was taken before %s, that was sent earlier", s.body, c.name, c.sends[0].body)
			}
		}
	}
	m.former = slices.DeleteFunc(m.former, func(c *modelConn) bool { return len(c.sends) == 0 })
}

func (m *model) sortedConns() []*modelConn {
	var cs []*modelConn
	for _, c := range m.conns {
		cs = append(cs, c)
	}
	slices.SortFunc(cs, func(a, b *modelConn) int { return cmp.Compare(a.name, b.name) })
	return cs
}

// outputs explains what a connection got. It returns the items delivered, and the error that ended it.
func (m *model) outputs(c *modelConn, outs []Output) (got []*modelItem, end *Error) {
	for _, o := range outs {
		if end != nil {
			m.bad("%s got %s after its end", c.name, show(o))
		}
		switch o.Kind {
		case OutputMessage:
			if it := m.delivered(c, o); it != nil {
				got = append(got, it)
			}
		case OutputReceipt:
			m.receipt(c, o.Receipt)
		case OutputError:
			end = o.Err
			c.over = true
			if o.Err == nil {
				m.bad("%s got an ERROR that says nothing", c.name)
				end = &Error{}
			}
		case OutputClose:
			c.over, end = true, &Error{}
		}
	}
	return got, end
}

func (m *model) receipt(c *modelConn, id string) {
	if len(c.receipts) == 0 || c.receipts[0] != id {
		m.bad("%s got RECEIPT %s while %v were due", c.name, id, c.receipts)
		return
	}
	c.receipts = c.receipts[1:]
	for _, s := range c.numbers {
		if s.answer == id {
			s.answer, s.closed = "", true
		}
	}
}

func (m *model) delivered(c *modelConn, o Output) *modelItem {
	body := bodyName(o.Message.Body)
	if o.SubNumber == 0 || o.SubNumber > uint64(len(c.numbers)) {
		m.bad("%s got %s for subscription %d", c.name, body, o.SubNumber)
		return nil
	}
	s := c.numbers[o.SubNumber-1]
	if s.closed {
		m.bad("%s got %s for %s after the RECEIPT of UNSUBSCRIBE", c.name, body, s.key)
	}
	s.issued++
	s.last = m.step
	if o.Number != s.issued {
		m.bad("%s got delivery %d of %s, not %d", c.name, o.Number, s.key, s.issued)
	}
	var it *modelItem
	for _, i := range s.backlog.items {
		if i.sent.body == body && i.with == nil {
			it = i
			break
		}
	}
	if it == nil {
		m.bad("%s got %s from %s, where it does not wait", c.name, body, s.backlog.name)
		return nil
	}
	if o.Deliveries < it.least || o.Deliveries > it.most || o.Redelivered != (o.Deliveries > 0) {
		m.bad("%s came with count %d, redelivered %v, not %d to %d", body, o.Deliveries, o.Redelivered, it.least, it.most)
	}
	it.least, it.most, it.uncertain = o.Deliveries, o.Deliveries, false
	d := &modelDelivery{item: it, sub: s, number: o.Number, hidden: o.HideUserID}
	if !d.hidden {
		m.distinct(c, it)
	}
	it.with = d
	s.pending = append(s.pending, d)
	c.unwritten = append(c.unwritten, d)
	return it
}

// distinct checks that no other pending delivery of c is shown under the id of it.
func (m *model) distinct(c *modelConn, it *modelItem) {
	id := it.sent.msg.UserID
	if id == "" {
		return
	}
	for _, s := range c.numbers {
		for _, d := range s.pending {
			taken := d.sub.mode == AckAuto && !c.client.stall // perhaps, meanwhile
			if d.item.sent.msg.UserID == id && !d.hidden && !taken {
				m.bad("%s was given %v and %v under one id", c.name, d.item, it)
			}
		}
	}
}

func bodyName(body []byte) string {
	for i, b := range body {
		if b == '.' {
			return string(body[:i])
		}
	}
	return string(body)
}

// inOrder checks what came of one backlog in this step, got, for nobody may be passed over who waited all the while;
// with strict set, neither who was given back in this step.
func (m *model) inOrder(got []*modelItem, strict bool) {
	for _, x := range got {
		for _, y := range x.in.items {
			if y.with == nil && !y.uncertain && y.before(x) && (y.since < m.step || strict) {
				m.bad("%v was delivered while %v waits before it in %s", x, y, x.in.name)
			}
		}
	}
}

// sequence checks that what one connection got of one backlog came in order.
func (m *model) sequence(c *modelConn, got []*modelItem) {
	last := map[*modelBacklog]*modelItem{}
	for _, it := range got {
		if l := last[it.in]; l != nil && it.before(l) {
			m.bad("%s got %v after %v", c.name, it, l)
		}
		last[it.in] = it
	}
}

// atRest checks what must hold when nothing moves any more.
func (m *model) atRest(parked map[*Conn]bool) {
	for _, c := range m.conns {
		if c.over {
			continue
		}
		if len(c.receipts) > 0 && !parked[c.client.conn] {
			m.bad("%s still waits for receipts %v", c.name, c.receipts)
		}
		if len(c.sends) > 0 && !parked[c.client.conn] {
			m.bad("%s has SENDs that nobody took, from %s on", c.name, c.sends[0].body)
		}
		for _, s := range c.subs {
			m.restful(c, s)
		}
	}
}

func (m *model) restful(c *modelConn, s *modelSub) {
	outstanding := 0
	for _, d := range s.pending {
		if d.tx == 0 {
			outstanding++
		}
	}
	// After an ABORT more may be outstanding, but nothing comes in addition.
	if s.mode != AckAuto && s.last == m.step && outstanding > s.window {
		m.bad("%s has %d deliveries of %s, its window is %d", c.name, outstanding, s.key, s.window)
	}
	if c.client.stall || s.mode != AckAuto && outstanding >= s.window {
		return
	}
	for _, it := range s.backlog.items {
		if it.with == nil && !it.uncertain {
			m.bad("%v waits in %s and %s has room on %s", it, it.in.name, s.key, c.name)
			return
		}
	}
}

// restarted is what a start finds: all connections are gone, and what was not persistent may be.
func (m *model) restarted() {
	for _, c := range m.sortedConns() {
		for _, s := range c.numbers {
			for _, d := range slices.Clone(s.pending) {
				it := d.item
				s.ended = true
				m.settle(d)
				if s.from.Kind == Topic {
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

// scan counts what is in the store, by place and body, and checks that the accounts are right.
func (m *model) scan(c *core, s Store) (found map[string]int) {
	found = map[string]int{}
	for _, d := range c.dests {
		if d.queue == nil {
			continue
		}
		q := d.queue
		var count [store.Priorities]uint64
		var bytes uint64
		refs, _, err := s.ScanRefs(store.RefScan{
			From: store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: store.Priorities - 1}, MaxCount: 1 << 20, MaxBytes: 1 << 30,
		})
		if err != nil {
			m.bad("scan of %s: %v", d.text, err)
		}
		for _, r := range refs {
			msg, _, err := decodeRecord(r.Head, r.Body, r.Blob)
			if err != nil {
				m.bad("record in %s: %v", d.text, err)
				continue
			}
			count[r.Key.Priority]++
			bytes += msg.octets()
			found[d.text+" "+bodyName(msg.Body)]++
			if r.Key.Seq < q.account.Lanes[r.Key.Priority].Head {
				m.bad("%s lies before the head of %s", bodyName(msg.Body), d.text)
			}
		}
		for p, n := range count {
			if q.account.Lanes[p].Count != n {
				m.bad("the account of %s has %d of priority %d, stored are %d", d.text, q.account.Lanes[p].Count, p, n)
			}
		}
		if bytes != q.account.Bytes {
			m.bad("the account of %s has %d octets, stored are %d", d.text, q.account.Bytes, bytes)
		}
	}
	for sh := range c.agendas {
		dues, _, err := s.ScanDue(store.DueScan{From: store.DueKey{Shard: store.Shard(sh)}, Until: 1 << 62, MaxCount: 1 << 20, MaxBytes: 1 << 30})
		if err != nil {
			m.bad("scan of agenda %d: %v", sh, err)
		}
		if n := c.agendas[sh].account.Count; n != uint64(len(dues)) {
			m.bad("the account of agenda %d has %d, stored are %d", sh, n, len(dues))
		}
		for _, d := range dues {
			found["due "+bodyName(d.Body)]++
		}
	}
	return found
}

// resolve finds out what became of the uncertain.
func (m *model) resolve(found map[string]int) {
	for _, q := range m.queues {
		for _, it := range slices.Clone(q.items) {
			if it.uncertain && found[q.name+" "+it.sent.body] == 0 {
				m.drop(it)
			}
			it.uncertain = false
		}
	}
	m.waits = slices.DeleteFunc(m.waits, func(it *modelItem) bool { return it.uncertain && found["due "+it.sent.body] == 0 })
	for _, it := range m.waits {
		it.uncertain = false
	}
}

// compare checks that the store holds what lives, each message in one place.
func (m *model) compare(found map[string]int) {
	want := func(key string, it *modelItem) {
		if n := found[key]; n > 1 || n == 0 && it.persistent() {
			m.bad("%s is stored %d times", key, n)
		}
		delete(found, key)
	}
	for _, q := range m.queues {
		for _, it := range q.items {
			want(q.name+" "+it.sent.body, it)
		}
	}
	for _, it := range m.waits {
		want("due "+it.sent.body, it)
	}
	for key := range found {
		m.bad("%s is stored and should not be", key)
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
