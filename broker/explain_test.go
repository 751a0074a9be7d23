package broker

import (
	"maps"
	"slices"

	"footfall/schedule"
	"footfall/store"
)

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
	found := false
	for _, i := range m.waiting(s) {
		if i.sent.body != body || i.with != nil {
			continue
		}
		expired := i.expires != 0 && i.expires <= m.began
		fits := o.Deliveries >= i.least && o.Deliveries <= i.most && !expired
		// Of several messages of a job it is the one that was due then. That is not known of all, as after a reschedule: the first that it can be.
		if fits && i.due == o.Message.DeliverAt {
			it = i
			break
		}
		if fits && !found || it == nil {
			it, found = i, fits
		}
	}
	if it == nil {
		m.bad("%s got %s from %s, where it does not wait", c.name, body, s.coming.name)
		return nil
	}
	if o.Deliveries < it.least || o.Deliveries > it.most || o.Redelivered != (o.Deliveries > 0) {
		m.bad("%s came with count %d, redelivered %v, not %d to %d", body, o.Deliveries, o.Redelivered, it.least, it.most)
	}
	it.least, it.most, it.uncertain = o.Deliveries, o.Deliveries, false
	d := &modelDelivery{item: it, sub: s, number: o.Number, id: o.Message.ID, hidden: o.HideUserID}
	if !d.hidden {
		m.distinct(c, it)
	}
	if s.several() != (o.Destination != "") || s.several() && o.Destination != it.sent.to.String() {
		m.bad("%s of %s came with the destination %q", body, it.sent.to, o.Destination)
	}
	if !s.wants(it.sent) {
		m.bad("%s got %s for %s, which wants %s", c.name, body, s.key, s.where.text)
	}
	it.with, it.last = d, s
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
			if y.with == nil && !y.uncertain && x.last.wants(y.sent) && y.before(x) && (y.since < m.step || strict) {
				m.bad("%v was delivered while %v waits before it in %s", x, y, x.in.name)
			}
		}
	}
}

// sequence checks that what one connection got of one backlog came in order, as far as the subscriptions want the same.
func (m *model) sequence(c *modelConn, got []*modelItem) {
	last := map[*modelBacklog]*modelItem{}
	for _, it := range got {
		if l := last[it.in]; l != nil && it.before(l) && l.last.wants(it.sent) {
			m.bad("%s got %v after %v", c.name, it, l)
		}
		last[it.in] = it
	}
}

// atRest checks what must hold when nothing moves any more.
func (m *model) atRest(parked map[*Conn]bool, starved map[*Conn]map[uint64]bool) {
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
			m.restful(c, s, starved[c.client.conn][s.number])
		}
	}
}

func (m *model) restful(c *modelConn, s *modelSub, starved bool) {
	outstanding := 0
	for _, d := range s.pending {
		if d.tx == 0 {
			outstanding++
		}
	}
	if starved {
		if len(s.pending) == 0 {
			m.bad("%s is starved on %s, and has nothing", c.name, s.key)
		}
		return
	}
	// After an ABORT more may be outstanding, but nothing comes in addition.
	if s.mode != AckAuto && s.last == m.step && outstanding > s.window {
		m.bad("%s has %d deliveries of %s, its window is %d", c.name, outstanding, s.key, s.window)
	}
	if c.client.stall || s.mode != AckAuto && outstanding >= s.window {
		return
	}
	for _, it := range m.waiting(s) {
		if it.with == nil && !it.uncertain && !it.in.paused && s.wants(it.sent) {
			m.bad("%v waits in %s and %s has room on %s", it, it.in.name, s.key, c.name)
			return
		}
	}
}

// scan counts what is in the store, or only in memory, by place and body, and checks that the accounts are right.
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
			msg, _, err := decodeRecord(r.Head, r.Body, r.Blob, &schedule.Zones{})
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
		for _, e := range q.onlyInMemory() {
			found[d.text+" "+bodyName(e.msg.Body)]++
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
		for _, t := range c.agendas[sh].heap {
			if !t.stored {
				found["due "+bodyName(t.m.Body)]++
			}
		}
	}
	return found
}

func (q *backlog) onlyInMemory() (es []*entry) {
	for i := range q.lanes {
		for j := range q.lanes[i].len() {
			es = append(es, q.lanes[i].at(j))
		}
	}
	for d := q.flight.front; d != nil; d = d.next {
		es = append(es, &d.e)
	}
	return slices.DeleteFunc(es, (*entry).stored)
}

// resolve finds out what became of the uncertain.
func (m *model) resolve(found map[string]int) {
	left := maps.Clone(found)
	lost := func(key string, its []*modelItem) (gone []*modelItem) {
		for _, uncertain := range []bool{false, true} { // what is certain first
			for _, it := range its {
				if it.uncertain != uncertain {
					continue
				}
				if it.uncertain = false; left[key+" "+it.sent.body] <= 0 && uncertain {
					gone = append(gone, it)
				}
				left[key+" "+it.sent.body]--
			}
		}
		for _, it := range its {
			it.anyOf = it.anyOf || slices.ContainsFunc(gone, func(o *modelItem) bool { return o.sent.body == it.sent.body })
		}
		return gone
	}
	for _, q := range m.queues {
		for _, it := range lost(q.name, q.items) {
			m.drop(it)
		}
	}
	m.cancel(lost("due", m.waits)...)
}

// compare checks that what lives is in one place each, in the store or in memory, and nothing else.
func (m *model) compare(found map[string]int) {
	want := map[string]int{}
	for _, q := range m.queues {
		for _, it := range q.items {
			want[q.name+" "+it.sent.body]++
		}
	}
	for _, it := range m.waits {
		want["due "+it.sent.body]++
	}
	for key := range want {
		if found[key] != want[key] {
			m.bad("%s is there %d times, not %d", key, found[key], want[key])
		}
		delete(found, key)
	}
	for key := range found {
		m.bad("%s is stored and should not be", key)
	}
}
