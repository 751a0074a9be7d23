package broker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing/synctest"

	"footfall/frames"
	"footfall/store"
	"footfall/store/storetest"
)

// world is a broker over a store that outlives it, with clients, inside a synctest bubble.
type world struct {
	tb      fataler
	opt     Options
	disk    *storetest.Disk // nil: the store is a store.Memory
	store   testStore
	slow    *slowStore // around store
	b       *Broker
	clients map[string]*client
}

// fataler is the part of testing.TB that rapid.T has as well.
type fataler interface {
	Fatalf(format string, args ...any)
}

// testStore is what both stores can do.
type testStore interface {
	Store
	Check() (store.Report, error)
	Stats() store.Stats
	Close() error
}

// slowStore is a store whose answers can be kept back: those of scans, before or after they look,
// and the outcomes of batches.
type slowStore struct {
	testStore
	mu                      sync.Mutex
	before, after, outcomes chan struct{}
}

// hold keeps back what is named from now on, until release.
func (s *slowStore) hold(before, after, outcomes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for gate, on := range map[*chan struct{}]bool{&s.before: before, &s.after: after, &s.outcomes: outcomes} {
		if on {
			*gate = make(chan struct{})
		}
	}
}

func (s *slowStore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, gate := range []*chan struct{}{&s.before, &s.after, &s.outcomes} {
		if *gate != nil {
			close(*gate)
			*gate = nil
		}
	}
}

// pass waits at a gate that is closed.
func (s *slowStore) pass(gate *chan struct{}) {
	s.mu.Lock()
	closed := *gate
	s.mu.Unlock()
	if closed != nil {
		<-closed
	}
}

func (s *slowStore) ScanRefs(q store.RefScan) ([]store.Ref, bool, error) {
	s.pass(&s.before)
	defer s.pass(&s.after)
	return s.testStore.ScanRefs(q)
}

func (s *slowStore) FilterRefs(q store.RefFilter) ([]store.Ref, store.RefKey, bool, error) {
	s.pass(&s.before)
	defer s.pass(&s.after)
	return s.testStore.FilterRefs(q)
}

func (s *slowStore) ScanDue(q store.DueScan) ([]store.Due, bool, error) {
	s.pass(&s.before)
	defer s.pass(&s.after)
	return s.testStore.ScanDue(q)
}

func (s *slowStore) ScanDuplicates(q store.DuplicateScan) ([]store.Duplicate, bool, error) {
	s.pass(&s.before)
	defer s.pass(&s.after)
	return s.testStore.ScanDuplicates(q)
}

func (s *slowStore) Submit(b *store.Batch, done func(store.Outcome)) uint64 {
	return s.testStore.Submit(b, func(o store.Outcome) {
		s.pass(&s.outcomes)
		done(o)
	})
}

func newWorld(tb fataler, opt Options) *world {
	w := &world{tb: tb, opt: opt, store: store.NewMemory()}
	w.start()
	return w
}

// newDiskWorld is newWorld with a store on a disk that can crash.
func newDiskWorld(tb fataler, opt Options, disk *storetest.Disk) *world {
	w := &world{tb: tb, opt: opt}
	w.use(disk)
	w.start()
	return w
}

// use opens the store on disk.
func (w *world) use(disk *storetest.Disk) {
	s, err := disk.Open()
	if err != nil {
		w.tb.Fatalf("Open: %v", err)
	}
	w.disk, w.store = disk, s
}

func (w *world) start() {
	if w.opt.Log == nil {
		w.opt.Log = slog.New(slog.DiscardHandler)
	}
	w.slow = &slowStore{testStore: w.store}
	w.b = New(w.slow, w.opt)
	w.clients = map[string]*client{}
}

// restart ends the broker in good order and begins anew.
func (w *world) restart() {
	w.stop()
	w.again()
}

// again begins anew with what stop left.
func (w *world) again() {
	if w.disk != nil {
		w.use(w.disk)
	} else {
		w.store = w.store.(*store.Memory).Reopen()
	}
	w.start()
}

func (w *world) stop() {
	synctest.Wait()
	if err := w.b.Close(context.Background()); err != nil {
		w.tb.Fatalf("Close: %v", err)
	}
	if err := w.store.Close(); err != nil {
		w.tb.Fatalf("Close of the store: %v", err)
	}
}

// client is a session: it collects what it is given, and reports it written at once
// unless it is told to stall.
type client struct {
	w     *world
	name  string
	conn  *Conn
	stall bool

	mu      sync.Mutex
	outputs []Output
	owed    int // messages not reported as written
}

func (w *world) connect(name string) *client { return w.connectAs(name, Client{Remote: name}) }

func (w *world) connectAs(name string, as Client) *client {
	c := &client{w: w, name: name}
	conn, err := w.b.Attach(c, as)
	if err != nil {
		w.tb.Fatalf("Attach: %v", err)
	}
	c.conn = conn
	w.clients[name] = c
	return c
}

// Put implements Outbox.
func (c *client) Put(outputs []Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range outputs {
		c.outputs = append(c.outputs, o)
		if o.Kind == OutputMessage {
			c.owed++
		}
	}
	if !c.stall {
		c.write(c.owed)
	}
}

// write reports n messages as written. The caller holds mu.
func (c *client) write(n int) {
	c.owed -= n
	c.conn.Written(n)
}

// take waits until nothing moves and returns what came since the last time.
func (c *client) take() []Output {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	outs := c.outputs
	c.outputs = nil
	return outs
}

func (c *client) do(ops ...Op) {
	bytes := 0
	for i := range ops {
		if m := ops[i].Message; m != nil {
			bytes += int(m.Size())
		}
	}
	if err := c.conn.Submit(&Request{Ops: ops, Bytes: bytes}); err != nil {
		c.w.tb.Fatalf("Submit: %v", err)
	}
}

// newMessage makes a persistent message of priority 4.
func newMessage(body string) *Message {
	return &Message{Body: []byte(body), Priority: 4, Persistent: true, Header: frames.Header{Dialect: frames.V12}}
}

// show writes an output as scripts expect it.
func show(o Output) string {
	switch o.Kind {
	case OutputMessage:
		var b strings.Builder
		body := string(o.Message.Body)
		if len(body) > 40 {
			body = fmt.Sprintf("%s (%d octets)", strings.TrimRight(body, "."), len(body))
		}
		fmt.Fprintf(&b, "MESSAGE %d.%d %s", o.SubNumber, o.Number, body)
		if o.Destination != "" {
			b.WriteString(" of " + o.Destination)
		}
		if o.Redelivered {
			fmt.Fprintf(&b, " redelivered:%d", o.Deliveries)
		}
		if o.GroupFirst {
			b.WriteString(" group-first")
		}
		if o.HideUserID {
			b.WriteString(" own-id")
		}
		b.WriteString(showDeath(o.Message.Header))
		return b.String()
	case OutputReceipt:
		if o.Duplicate {
			return "RECEIPT " + o.Receipt + " duplicate"
		}
		if o.DeliverAt != 0 {
			return "RECEIPT " + o.Receipt + " scheduled"
		}
		return "RECEIPT " + o.Receipt
	case OutputError:
		if o.WantReceipt {
			return fmt.Sprintf("ERROR (%s) %s: %s", o.Receipt, o.Err.Kind, o.Err.Message)
		}
		return fmt.Sprintf("ERROR %s: %s", o.Err.Kind, o.Err.Message)
	case OutputClose:
		return "CLOSE"
	case OutputBrowserEnd:
		return fmt.Sprintf("BROWSER END %d", o.SubNumber)
	}
	return "?"
}
