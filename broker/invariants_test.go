package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing/synctest"

	"footfall/store"
)

// settle has the store know all that was done, also what nobody waits for.
func (w *world) settle() {
	synctest.Wait()
	w.b.call(context.Background(), func(c *core) { c.urgent = c.urgent || c.changes() > 0 })
	synctest.Wait()
}

// check proves what must hold of the loop's state at any rest.
func (w *world) check() error {
	w.settle()
	err := errors.New("the loop did not turn")
	w.b.call(context.Background(), func(c *core) { err = c.invariants() })
	return err
}

func (c *core) invariants() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	holders := map[*Message]int32{}
	lent := map[*subscription]int64{}
	lenders := map[*Message]int32{}
	for addr, d := range c.dests {
		if addr != d.addr {
			bad("%v is filed as %v", d.addr, addr)
		}
		queues := []*backlog{d.queue}
		if d.queue == nil {
			queues = nil
			for t := range d.allTaps() {
				if !t.durable {
					queues = append(queues, t.q)
				}
				if list := d.list(t); (*list)[t.at] != t {
					bad("a tap of %s is not where it says", d.text)
				}
			}
			if d.index.Len() != len(d.choosy) {
				bad("%s has an index of %d, with %d that choose", d.text, d.index.Len(), len(d.choosy))
			}
		}
		for _, q := range queues {
			c.backlogInvariants(q, holders, bad)
			if d.queue == q && q.count+len(q.deep) > 0 && !q.filled {
				bad("%s has something in memory and is not known for it", d.text)
			}
			for d := q.flight.front; d != nil; d = d.next {
				lent[d.sub] += d.e.msg.Size()
				lenders[d.e.msg]++
			}
			c.lensInvariants(q, holders, bad)
		}
	}
	for s := range c.agendas {
		a := &c.agendas[s]
		if a.whole && a.count != int(a.account.Count) {
			bad("agenda %d is whole with %d of %d", s, a.count, a.account.Count)
		}
		for _, i := range a.heap {
			holders[i.m]++
		}
		c.timelineInvariants(&a.timeline, bad)
		c.timelineInvariants(&c.expiries[s], bad)
	}
	if c.searches != 0 || len(c.dropped)+len(c.renamed) != 0 || c.fresh != nil || c.hits != nil {
		bad("%d searches at rest, with %d and %d changes kept", c.searches, len(c.dropped), len(c.renamed))
	}
	ids := 0
	for d, known := range c.dups.known {
		ids += known.order.len()
		if c.byID[destinationKey{d.shard, d.id}] != d || len(known.last) > known.order.len() {
			bad("%s has %d ids by name and %d in order", d.text, len(known.last), known.order.len())
		}
	}
	if ids != c.dups.count {
		bad("%d ids in memory, counted %d", ids, c.dups.count)
	}
	var memory int64
	for m, n := range holders {
		memory += m.Size()
		// A topic's delivery to one who unsubscribed may still hold it.
		if m.holders < n {
			bad("message %v has %d holders, not %d", m.ID, m.holders, n)
		}
	}
	for _, conn := range c.conns {
		c.connInvariants(conn, bad)
	}
	if c.memory < memory || len(holders) == 0 && len(c.conns) == 0 && c.memory != 0 {
		bad("memory is %d, held are %d", c.memory, memory)
	}
	c.loansInvariants(lent, lenders, bad)
	return errors.Join(errs...)
}

func (c *core) loansInvariants(lent map[*subscription]int64, lenders map[*Message]int32, bad func(string, ...any)) {
	var total int64
	for m, n := range lenders {
		total += m.Size()
		if m.lenders < n {
			bad("message %v has %d lenders, not %d", m.ID, m.lenders, n)
		}
	}
	for s, n := range lent {
		if s.lent < n || s.lent > n && !(s.ended && s.shares) { // what it has of its topics is in no backlog then
			bad("consumer %s has %d octets, kept %d", s.op.ID, n, s.lent)
		}
	}
	// A topic's deliveries to one who unsubscribed are in no backlog any more.
	if l := &c.loans; l.total < total || l.borrowers < int64(len(lent)) || len(c.conns) == 0 && (l.total != 0 || l.borrowers != 0) {
		bad("%d octets are with %d consumers, kept %d and %d", total, len(lent), l.total, l.borrowers)
	}
}

func (c *core) backlogInvariants(q *backlog, holders map[*Message]int32, bad func(string, ...any)) {
	name := q.dest.text
	count, stored := 0, 0
	var bytes, loose int64
	var perLane [10]uint64
	for i := range q.lanes {
		lane := &q.lanes[i]
		if (q.nonEmpty&(1<<i) != 0) != (lane.len() > 0) {
			bad("%s: lane %d and its bit differ", name, i)
		}
		for j := range lane.len() {
			e := lane.at(j)
			holders[e.msg]++
			count++
			bytes += e.msg.Size()
			if e.stored() {
				stored++
				perLane[e.msg.Priority]++
				if e.seq < q.account.Lanes[e.msg.Priority].Head {
					bad("%s: %d lies before the head %d", name, e.seq, q.account.Lanes[e.msg.Priority].Head)
				}
			} else {
				loose += e.msg.Size()
			}
			if j > 0 && lane.at(j-1).seq >= e.seq {
				bad("%s: lane %d is out of order", name, i)
			}
			if !q.covers(placeOf(e)) {
				bad("%s: %v lies behind the edge %v", name, placeOf(e), q.edge)
			}
		}
	}
	if count != q.count || stored != q.stored || bytes != q.bytes || loose != q.loose {
		bad("%s: counted %d/%d/%d/%d, kept %d/%d/%d/%d", name, count, stored, bytes, loose, q.count, q.stored, q.bytes, q.loose)
	}
	n := 0
	for d := q.flight.front; d != nil; d = d.next {
		n++
		holders[d.e.msg]++
		if d.settled {
			bad("%s: a settled delivery is in flight", name)
		}
		if d.e.stored() {
			perLane[d.e.msg.Priority]++
			if d.e.seq > q.account.Lanes[d.e.msg.Priority].Seen && d.e.flags&entryShown == 0 {
				bad("%s: %d is in flight and not marked as seen", name, d.e.seq)
			}
		}
	}
	if n != q.flight.n {
		bad("%s: %d in flight, kept %d", name, n, q.flight.n)
	}
	for p := range perLane {
		have := q.account.Lanes[p].Count
		if q.dest.addr.Kind != Topic && (q.whole && perLane[p] != have || perLane[p] > have) {
			bad("%s: priority %d has %d in memory and %d in the account, whole %v", name, p, perLane[p], have, q.whole)
		}
	}
	for _, s := range q.consumers {
		if s.ended {
			bad("%s: an ended consumer", name)
		}
		if e := q.first(); e != nil && s.lens == nil && q.grouped == 0 && !s.conn.full && s.open(c) && (!e.stored() || c.showable(q, e)) && len(c.parked) == 0 {
			bad("%s: %v waits and consumer %s has room", name, placeOf(e), s.op.ID)
		}
	}
}

func (c *core) lensInvariants(q *backlog, holders map[*Message]int32, bad func(string, ...any)) {
	lenses := map[store.Seq]int{}
	for i, l := range q.lenses {
		name := fmt.Sprintf("%s: lens %d (%s)", q.dest.text, i, l.program)
		var bytes int64
		found := map[place]bool{}
		for j := range l.found.len() {
			f := l.found.at(j)
			found[f.at] = true
			bytes += f.size
			if f.size > 0 && q.deep[f.at.seq] != nil {
				lenses[f.at.seq]++
			}
			if l.scanned.less(f.at) || j > 0 && !l.found.at(j-1).at.less(f.at) {
				bad("%s found %v out of order or behind %v", name, f.at, l.scanned)
			}
		}
		if bytes != l.bytes {
			bad("%s has %d octets, kept %d", name, bytes, l.bytes)
		}
		var waiting []*entry
		for p := range q.lanes {
			for j := range q.lanes[p].len() {
				waiting = append(waiting, q.lanes[p].at(j))
			}
		}
		for _, e := range waiting {
			c.look(q, e)
			if matches := l.program.Match(&c.probe); !l.scanned.less(placeOf(e)) && matches != found[placeOf(e)] {
				bad("%s: %v matches %v, found %v", name, placeOf(e), matches, !matches)
			}
		}
		// A connection whose outbox was full is looked at again when half of it is written.
		hasRoom := slices.ContainsFunc(q.consumers, func(s *consumer) bool { return s.lens == l && !s.conn.full && s.open(c) })
		if !hasRoom || len(c.parked) > 0 {
			continue
		}
		if l.search == nil && l.found.len() == 0 && l.scanned != lastPlace() {
			bad("%s has room and looks at nothing behind %v", name, l.scanned)
		}
		if l.found.len() > 0 && q.entryAt(l.found.at(0).at) != nil {
			bad("%s: %v waits and there is room", name, l.found.at(0).at)
		}
	}
	for seq, g := range q.deep {
		holders[g.e.msg]++
		if q.covers(placeOf(&g.e)) || g.lenses != lenses[seq] {
			bad("%s: %v behind the window %v is kept for %d lenses, found by %d", q.dest.text, placeOf(&g.e), q.edge, g.lenses, lenses[seq])
		}
	}
}

func (c *core) connInvariants(conn *Conn, bad func(string, ...any)) {
	var bytes int64
	for i := range conn.unwritten.len() {
		bytes += conn.unwritten.at(i).size
	}
	if bytes != conn.unwrittenBytes {
		bad("connection %d: %d octets unwritten, kept %d", conn.id, bytes, conn.unwrittenBytes)
	}
	for _, s := range conn.numbers {
		waiting := 0
		for i, one := range s.consumers {
			if !s.ended && (one.at != i || one.subscription != s || one.left) {
				bad("subscription %s: consumer %d of %s is not where it says", s.op.ID, i, one.q.dest.text)
			}
			if one.waits && !s.ended {
				waiting++
			}
		}
		if !s.ended && waiting > s.waiting.len() || s.ended && s.waiting.len() > 0 {
			bad("subscription %s: %d consumers wait, kept %d", s.op.ID, waiting, s.waiting.len())
		}
		outstanding, settled := 0, 0
		for i := range s.pending.len() {
			switch d := *s.pending.at(i); {
			case d.settled:
				settled++
			case d.tx == 0:
				outstanding++
			}
		}
		if !s.auto() && (outstanding != s.outstanding || settled != s.settled) {
			bad("subscription %s: %d outstanding and %d settled, kept %d and %d", s.op.ID, outstanding, settled, s.outstanding, s.settled)
		}
	}
}

func (c *core) timelineInvariants(l *timeline, bad func(string, ...any)) {
	stored := 0
	for i, t := range l.heap {
		if t.index != i || l.bySeq[t.due.seq] != t {
			bad("%v is misfiled in its timeline", t.due)
		}
		if t.stored {
			stored++
			if !l.covers(t.due) {
				bad("%v lies behind the edge %v of its timeline", t.due, l.edge)
			}
		}
	}
	if stored != l.count || len(l.bySeq) != len(l.heap) {
		bad("a timeline has %d stored of %d by number, kept %d of %d", stored, len(l.bySeq), l.count, len(l.heap))
	}
}
