package broker

import "footfall/store"

// expireLater has e, which has its place in q, expire in time.
func (c *core) expireLater(q *backlog, e *entry) {
	m := e.msg
	if m.Expires == 0 {
		return
	}
	t := &timed{due: dueTime{m.Expires, e.seq}, stored: e.stored(), q: q, priority: m.Priority}
	if t.stored {
		t.blob, t.octets, t.owner = m.blob, m.octets(), m.owner
	}
	c.expiries[q.account.Shard].add(t)
}

// expiresNoMore forgets that e was to expire, as it leaves its place.
func (c *core) expiresNoMore(q *backlog, e *entry) {
	m := e.msg
	if m.Expires == 0 || q.dest.addr.Kind == Topic {
		return
	}
	key := q.key(e)
	if e.stored() {
		c.dropExpiry(m.Expires, key)
		return
	}
	l := &c.expiries[key.Shard]
	if t := l.bySeq[key.Seq]; t != nil {
		l.remove(t)
	}
}

// dropExpiry forgets that what is stored at key was to expire.
func (c *core) dropExpiry(at int64, key store.RefKey) {
	c.batch.DropExpiry(at, key)
	c.readNoMore(key)
	l := &c.expiries[key.Shard]
	l.gone(key.Seq)
	if t := l.bySeq[key.Seq]; t != nil {
		l.remove(t)
	}
}

// expire takes out of backlogs what nobody wants any more.
func (c *core) expire() {
	c.expireDue()
	c.readThem()
}

func (c *core) expireDue() {
	budget := fireBatch
	c.expiryWaits = false
	for s := range c.expiries {
		l := &c.expiries[s]
		for budget > 0 {
			t := l.first()
			if t == nil || t.due.at > c.ms || t.stored && t.due.seq > c.synced[s] {
				break
			}
			if c.redirects(t.q.dest) && !c.mayRead(t) {
				c.expiryWaits = true
				return // it goes on when what is being read was taken in
			}
			budget--
			l.remove(t)
			c.expirePlace(t)
		}
		if l.low() {
			c.loadExpiries(l, store.Shard(s))
		}
	}
}

// loadExpiries asks for the next page of what expires.
func (c *core) loadExpiries(l *timeline, shard store.Shard) {
	scan := store.ExpiryScan{MaxCount: timelineItems / 2}
	scan.From.At, scan.From.Ref = l.edge.at, store.RefKey{Shard: shard, Seq: l.edge.seq + 1}
	scan.From.Ref.Priority = store.Priorities - 1
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		scan.After = after
		read, more, err := s.ScanExpiries(scan)
		return func() { l.loaded(c.expiryItems(l.page, shard, read), more) }, err
	})
}

// expiryItems finds the backlogs of what was read for a page.
func (c *core) expiryItems(page *timePage, shard store.Shard, read []store.Expiry) []*timed {
	items := make([]*timed, 0, len(read))
	for _, e := range read {
		q := c.backlogs[backlogKey{shard, e.Ref.Backlog}]
		if q == nil && !page.lost(e.Ref.Seq) {
			c.opt.Log.Error("the expiry of a message of no backlog is left alone", "shard", shard, "backlog", e.Ref.Backlog)
			continue
		}
		items = append(items, &timed{
			due: dueTime{e.At, e.Ref.Seq}, stored: true, q: q, priority: e.Ref.Priority, blob: e.Blob, octets: e.Bytes, owner: e.Owner,
		})
	}
	return items
}

// expirePlace drops the message of t, unless a consumer has it: then it is
// looked at again when it comes back.
func (c *core) expirePlace(t *timed) {
	q := t.q
	if q.ended {
		return // all that is in it goes
	}
	at := place{lane: 9 - t.priority, seq: t.due.seq}
	if q.flight.has(t.due.seq) {
		return // also behind the window, whose edge may have been cut since it was delivered
	}
	if !q.covers(at) {
		// Behind the window, and with nobody: so it is there.
		key := store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: t.priority, Seq: t.due.seq}
		if c.redirects(q.dest) || c.reserveExpiry(q.dest) {
			c.readExpired(t, key)
		} else {
			c.dropBehind(t, key)
		}
		return
	}
	i := q.find(at)
	if i < 0 {
		return // it is gone
	}
	e := q.takeFrom(int(at.lane), i)
	c.drop(q, &e)
	c.mark(q)
}

// dropBehind drops the message of t, which is behind the window of its backlog.
func (c *core) dropBehind(t *timed, key store.RefKey) {
	q := t.q
	at := place{lane: 9 - t.priority, seq: t.due.seq}
	if t.owner == 0 {
		c.dropPlace(q, leaving{at, placeOctets + int64(t.octets)}, t.blob, true)
	} else {
		c.dropPlace(q, leaving{at, placeOctets}, store.Blob{}, true)
		c.batch.GiveBack(key.Shard, t.owner, t.blob, 1)
		c.spend(key.Shard, t.owner)
	}
	c.dropExpiry(t.due.at, key)
	q.account.Lanes[t.priority].Count--
	q.account.Bytes -= t.octets
	if p := q.page; p != nil {
		p.remove(t.due.seq)
	}
	c.goneBehind(q, at)
	c.stats.Expired++
}

// drop takes a message that expired out of the world; it is in no window any more.
func (c *core) drop(q *backlog, e *entry) {
	c.expiresNoMore(q, e)
	if e.stored() {
		c.dropRef(q, e)
	}
	if q.isStored() {
		c.expired(q.dest, e.msg)
	} else {
		c.discarded(q.dest, e.msg) // each subscriber of the topic has it
	}
	c.unhold(e.msg)
}

// expired decides what becomes of a message of d that expired, and that is in no place.
func (c *core) expired(d *destination, m *Message) {
	if c.redirects(d) {
		c.stats.Expired++
		c.redirect(d, m)
		return
	}
	c.discarded(d, m)
}

// discarded counts a message that expired and is gone, and tells of it where that is asked for.
func (c *core) discarded(d *destination, m *Message) {
	c.stats.Expired++
	if c.reserveExpiry(d) {
		c.logExpired(d, m)
	}
}
