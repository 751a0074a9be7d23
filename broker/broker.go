package broker

import (
	"context"
	"errors"
	"time"

	"footfall/store"
)

// Store is what the broker needs of a store; see the package store for what each
// method promises.
type Store interface {
	Recovered() store.Recovered
	NewBatch() *store.Batch
	Submit(b *store.Batch, done func(store.Outcome)) (number uint64)
	ScanRefs(store.RefScan) (refs []store.Ref, more bool, err error)
	FilterRefs(store.RefFilter) (refs []store.Ref, next store.RefKey, more bool, err error)
	ScanDue(store.DueScan) (dues []store.Due, more bool, err error)
	ScanExpiries(store.ExpiryScan) (found []store.Expiry, more bool, err error)
	FindNames(after uint64, shard store.Shard, name string) ([]store.ScheduleName, error)
	FindDue(after uint64, k store.DueKey, body bool) (due store.Due, bytes uint64, ok bool, err error)
	ListDue(q store.DueList, take func(*store.DueEntry) bool) (next store.DueKey, more bool, err error)
	CountDue(store.DueCount) (int, error)
	ScanDuplicates(store.DuplicateScan) (found []store.Duplicate, more bool, err error)
	FindOldDuplicates(store.OldDuplicates) (found []store.Duplicate, some bool, err error)
	ScanSpent(store.SpentScan) (found []store.Spent, next store.Spent, more bool, err error)
}

// Broker is the queue engine: the loop and what hands it work.
type Broker struct {
	store  Store
	opt    Options
	inbox  *inbox
	loader *loader
	core   *core

	last    uint64 // number of the last batch submitted; the loop's
	stop    chan struct{}
	done    chan struct{}
	watched chan struct{}
}

// Batches under way are bounded, so that a slow disk makes sessions wait and not
// memory grow.
const (
	maxFlights = 256
	maxLazy    = maxFlights / 4 // from so many on, none is left to be synced later
	maxFlying  = 64 << 20
)

// New starts a broker on what s has. It reads no message; the caller closes s after the broker.
func New(s Store, opt Options) *Broker {
	opt = opt.withDefaults()
	b := &Broker{
		store: s, opt: opt,
		inbox:   newInbox(opt.InboxOps, opt.InboxBytes),
		loader:  newLoader(2),
		core:    newCore(opt, s.NewBatch()),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
		watched: make(chan struct{}),
	}
	b.core.recoverState(s.Recovered())
	go b.loop()
	go b.watchDisk()
	return b
}

// Attach makes a session known. Everything it is given goes to out.
func (b *Broker) Attach(out Outbox, client Client) (*Conn, error) {
	c := &Conn{
		inbox: b.inbox, outbox: out, client: client,
		subs: map[string]*subscription{}, numbers: map[uint64]*subscription{},
	}
	c.id = b.inbox.nextConn()
	if err := b.inbox.mark(c, entryAttach); err != nil {
		return nil, err
	}
	return c, nil
}

// Drain ends deliveries, for good: what sessions that end give back goes to nobody else, who would have it for a moment only.
// All else goes on, acknowledgements and SENDs too. When ctx ends before the loop knows it is false.
func (b *Broker) Drain(ctx context.Context) bool {
	return b.call(ctx, func(c *core) { c.drained = true })
}

// Close takes no further requests, waits until all that was taken is on disk, and ends
// the loop. When ctx ends first it returns its error, and the loop is still waiting.
func (b *Broker) Close(ctx context.Context) error {
	b.inbox.close()
	select {
	case <-b.stop:
	default:
		close(b.stop)
	}
	b.inbox.signal()
	select {
	case <-b.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-b.watched
	b.loader.close()
	return nil
}

// loop owns the core.
func (b *Broker) loop() {
	defer close(b.done)
	var t taken
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		free := b.core.flights.len() < maxFlights && b.core.flying < maxFlying
		b.inbox.take(&t, free)
		b.core.begin(time.Now())
		b.core.closing = b.isStopped()
		b.turn(&t)
		b.core.end()
		b.perform()
		if b.finished() {
			return
		}
		timer.Reset(b.pause(free))
		select {
		case <-b.inbox.wake:
		case <-timer.C:
		}
	}
}

// turn applies what was taken.
func (b *Broker) turn(t *taken) {
	c := b.core
	for i, f := range t.events {
		f()
		t.events[i] = nil
	}
	for i, conn := range t.written {
		c.wrote(conn)
		t.written[i] = nil
	}
	for i, e := range t.entries {
		switch e.kind {
		case entryAttach:
			c.conns[e.conn.id] = e.conn
		case entryDetach:
			c.detach(e.conn)
		default:
			c.request(e)
		}
		t.entries[i] = inboxEntry{}
	}
}

// perform does what a round decided: submits its batch, asks for pages, hands outputs over.
func (b *Broker) perform() {
	c := b.core
	if c.ready {
		if !c.urgent && c.flights.len() < maxLazy {
			c.batch.SetLazy()
		}
		bytes := c.batch.Bytes()
		b.last = b.store.Submit(c.batch, b.outcome)
		c.submitted(bytes, b.store.NewBatch())
	}
	for i, l := range c.loads {
		b.load(l)
		c.loads[i] = nil
	}
	c.loads = c.loads[:0]
	for i, conn := range c.changed {
		conn.listed = false
		conn.outbox.Put(conn.out)
		clear(conn.out)
		conn.out = conn.out[:0]
		c.changed[i] = nil
	}
	c.changed = c.changed[:0]
	b.inbox.release(c.freed)
	clear(c.freed)
	c.freed = c.freed[:0]
}

// outcome is called by the store, in the order of the batches. Without Applied all answers that wait stay
// unsaid for ever: neither RECEIPT nor ERROR could be true.
func (b *Broker) outcome(o store.Outcome) {
	switch o {
	case store.Applied:
		b.inbox.run(b.core.landed)
	case store.Rejected:
		// The state in memory is ahead of the store now, and cannot go back.
		b.opt.Fatal(errors.New("broker: the store refused a batch"))
	}
}

// load reads off the loop and has the loop take in what was read.
func (b *Broker) load(read load) {
	after := b.last
	b.loader.add(func() {
		then, err := read(b.store, after)
		if err != nil {
			b.opt.Fatal(err)
			return
		}
		b.inbox.run(then)
	})
}

// pause is how long the loop may sleep.
func (b *Broker) pause(free bool) time.Duration {
	if free && b.inbox.waiting() {
		return 0
	}
	c := b.core
	if c.recheck || c.again {
		c.again = false
		return 0 // found by what came last in the round
	}
	wait := time.Hour
	now := time.Now()
	if !c.since.IsZero() {
		wait = c.since.Add(gatherFor).Sub(now)
	}
	if c.pressed() {
		wait = min(wait, c.nextEvict.Sub(now))
	}
	if at, ok := c.timers.next(); ok {
		wait = min(wait, at.Sub(now))
	}
	if ms, ok := c.nextDue(); ok {
		// Not longer than a second at a time: the wall clock may be set.
		wait = min(wait, time.UnixMilli(ms).Sub(now), time.Second)
	}
	return max(wait, 0)
}

// finished tells whether the loop may end: it was told to, and nothing is under way.
func (b *Broker) finished() bool {
	c := b.core
	return c.closing && c.since.IsZero() && c.flights.len() == 0 && b.inbox.idle()
}

func (b *Broker) isStopped() bool {
	select {
	case <-b.stop:
		return true
	default:
		return false
	}
}

// call runs f in the loop and waits for it. After Close it does nothing and returns false.
func (b *Broker) call(ctx context.Context, f func(c *core)) bool {
	ran := make(chan struct{})
	b.inbox.run(func() {
		f(b.core)
		close(ran)
	})
	select {
	case <-ran:
		return true
	case <-b.done:
	case <-ctx.Done():
	}
	return false
}
