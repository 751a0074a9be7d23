package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"footfall/store"
)

// slowOutbox keeps the loop in Put until it is told to go on.
type slowOutbox struct {
	entered, goOn chan struct{}
}

func (o *slowOutbox) Put([]Output) {
	o.entered <- struct{}{}
	<-o.goOn
}

// TestCloseKnowsWhatWasWritten: reports that arrive while the loop is in its last round count.
func TestCloseKnowsWhatWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer func() { w.stop() }()
		a := w.connect("a")
		a.stall = true
		a.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}}}, Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: newMessage("m")})
		if outs := a.take(); len(outs) != 1 {
			t.Fatalf("got %d outputs, not the message", len(outs))
		}
		slow := &slowOutbox{entered: make(chan struct{}), goOn: make(chan struct{})}
		conn, err := w.b.Attach(slow, Client{})
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Submit(&Request{Ops: []Op{{Kind: OpReceipt, WantReceipt: true, Receipt: "1"}}}); err != nil {
			t.Fatal(err)
		}
		<-slow.entered
		a.conn.Written(1)
		closed := make(chan error)
		go func() { closed <- w.b.Close(context.Background()) }()
		synctest.Wait()
		close(slow.goOn)
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		w.restart()
		b := w.connect("b")
		b.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}}})
		if outs := b.take(); len(outs) > 0 {
			t.Errorf("what was taken comes again: %s", show(outs[0]))
		}
	})
}

func TestAfterCloseNothingIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		c := w.connect("c")
		w.stop()
		if err := c.conn.Submit(&Request{Ops: []Op{{Kind: OpReceipt}}}); !errors.Is(err, ErrClosed) {
			t.Errorf("Submit gives %v", err)
		}
		if _, err := w.b.Attach(c, Client{}); !errors.Is(err, ErrClosed) {
			t.Errorf("Attach gives %v", err)
		}
		if _, ok := w.b.Stats(context.Background()); ok {
			t.Error("Stats of a loop that has ended")
		}
		c.conn.Detach()
		if err := w.b.Close(context.Background()); err != nil {
			t.Errorf("a second Close gives %v", err)
		}
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		c := w.connect("c")
		w.slow.hold(false, false, true)
		c.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: newMessage("m")})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := w.b.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close gives %v while a batch is not on disk", err)
		}
		w.slow.release()
		w.stop()
	})
}

// refusingStore gives batches an outcome other than Applied from now on.
type refusingStore struct {
	testStore
	outcome store.Outcome
}

func (s *refusingStore) Submit(b *store.Batch, done func(store.Outcome)) uint64 {
	return s.testStore.Submit(b, func(store.Outcome) { done(s.outcome) })
}

// TestNothingIsClaimedWithoutTheDisk: where a batch may not be on disk there is neither RECEIPT nor ERROR nor MESSAGE.
func TestNothingIsClaimedWithoutTheDisk(t *testing.T) {
	for _, outcome := range []store.Outcome{store.Rejected, store.Unknown} {
		synctest.Test(t, func(t *testing.T) {
			memory := store.NewMemory()
			fatal := make(chan error, 10)
			w := &world{tb: t, store: &refusingStore{memory, outcome}, opt: Options{Fatal: func(err error) { fatal <- err }}}
			w.start()
			c := w.connect("c")
			c.do(Op{Kind: OpSubscribe, WantReceipt: true, Receipt: "1", Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}}},
				Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: newMessage("m"), WantReceipt: true, Receipt: "2"},
				Op{Kind: OpUnsubscribe, Sub: "unknown", WantReceipt: true, Receipt: "3"})
			time.Sleep(time.Minute)
			if outs := c.take(); len(outs) > 0 {
				t.Errorf("outcome %d: got %s", outcome, show(outs[0]))
			}
			if told := len(fatal) > 0; told != (outcome == store.Rejected) {
				t.Errorf("outcome %d: Fatal heard of it: %v", outcome, told)
			}
			// Such a broker cannot end in good order: its process does. Here it is let off.
			w.b.inbox.run(func() { w.b.core.flights = ring[*roundEffects]{} })
			w.stop()
		})
	}
}

// TestManySessions has sessions submit, write, and vanish from goroutines of their own: each message
// that was answered is acknowledged by somebody in the end, and none comes after its ACK was answered.
func TestManySessions(t *testing.T) {
	defer goleak.VerifyNone(t)
	const producers, each = 4, 300
	s := store.NewMemory()
	b := New(s, Options{BacklogMessages: 16, OutboxBytes: 4096, InboxOps: 64})
	crowd := &crowd{t: t, b: b, done: make(chan struct{}), seen: map[string]bool{}, acked: map[string]bool{}}
	var making, taking sync.WaitGroup
	for p := range producers {
		making.Go(func() { crowd.produce(p, each) })
	}
	for c := range 4 {
		taking.Go(func() { crowd.consume(rand.New(rand.NewPCG(uint64(c), 0))) })
	}
	making.Wait()
	for left := int64(1); left > 0; {
		st, ok := b.Stats(context.Background())
		if !ok {
			t.Fatal("the loop does not turn")
		}
		left = st.Ready + st.Unacked
	}
	close(crowd.done)
	taking.Wait()
	st, _ := b.Stats(context.Background())
	for st.Connections > 0 {
		st, _ = b.Stats(context.Background()) // the last Detach may be on its way
	}
	if st.Acked != producers*each || st.Subscriptions != 0 || st.MemoryBytes != 0 {
		t.Errorf("in the end: %+v", st)
	}
	if len(crowd.seen) != producers*each {
		t.Errorf("%d messages came, not %d", len(crowd.seen), producers*each)
	}
	if err := b.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

type crowd struct {
	t *testing.T
	b *Broker

	done chan struct{} // closed when nothing is left

	mu          sync.Mutex
	seen, acked map[string]bool // acked: and answered
}

// session is a connection whose writer is a goroutine of its own.
type session struct {
	conn  *Conn
	mu    sync.Mutex
	ready sync.Cond
	queue []Output
	ended bool
	wg    sync.WaitGroup
}

func (c *crowd) session(read func(o Output)) *session {
	s := &session{}
	s.ready.L = &s.mu
	conn, err := c.b.Attach(s, Client{})
	if err != nil {
		c.t.Error(err)
	}
	s.conn = conn
	s.wg.Go(func() {
		for {
			s.mu.Lock()
			for len(s.queue) == 0 && !s.ended {
				s.ready.Wait()
			}
			if s.ended {
				s.mu.Unlock()
				return
			}
			outs := s.queue
			s.queue = nil
			s.mu.Unlock()
			messages := 0
			for _, o := range outs {
				if o.Kind == OutputMessage {
					messages++
				}
				read(o)
			}
			s.conn.Written(messages)
		}
	})
	return s
}

// Put implements Outbox.
func (s *session) Put(outs []Output) {
	s.mu.Lock()
	s.queue = append(s.queue, outs...)
	s.mu.Unlock()
	s.ready.Signal()
}

func (s *session) vanish() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.ready.Signal()
	s.wg.Wait()
	s.conn.Detach()
}

func (s *session) do(op Op) error { return s.conn.Submit(&Request{Ops: []Op{op}, Bytes: 100}) }

func (c *crowd) produce(p, n int) {
	answered := make(chan string, n)
	s := c.session(func(o Output) { answered <- o.Receipt })
	defer s.vanish()
	for i := range n {
		body := fmt.Sprintf("%d.%d", p, i)
		m := newMessage(body)
		m.Persistent = i%3 > 0
		if err := s.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: m, WantReceipt: true, Receipt: body}); err != nil {
			c.t.Error(err)
		}
	}
	for i := range n {
		if got, want := <-answered, fmt.Sprintf("%d.%d", p, i); got != want {
			c.t.Errorf("RECEIPT %s came for %s", got, want)
		}
	}
}

// consume takes some messages, vanishes, and comes again until nothing is left.
func (c *crowd) consume(rng *rand.Rand) {
	for {
		got := make(chan Output, 1<<16)
		s := c.session(func(o Output) { got <- o })
		if err := s.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}, Mode: AckIndividual, Window: 20}}); err != nil {
			c.t.Error(err)
		}
		for range 1 + rng.IntN(200) {
			select {
			case o := <-got:
				c.got(s, o, rng)
			case <-c.done:
				s.vanish()
				return
			}
		}
		s.vanish()
	}
}

func (c *crowd) got(s *session, o Output, rng *rand.Rand) {
	if o.Kind == OutputReceipt {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.acked[o.Receipt] {
			c.t.Errorf("%s was acknowledged twice", o.Receipt)
		}
		c.acked[o.Receipt] = true
		return
	}
	body := string(o.Message.Body)
	c.mu.Lock()
	if c.acked[body] {
		c.t.Errorf("%s came after its ACK was answered", body)
	}
	c.seen[body] = true
	c.mu.Unlock()
	op := Op{Kind: OpAck, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}, WantReceipt: true, Receipt: body}
	if rng.IntN(10) == 0 {
		op.Kind, op.WantReceipt = OpNack, false
	}
	if err := s.do(op); err != nil {
		c.t.Error(err)
	}
}

// TestDrainEndsDeliveries: what one session gives back does not go to another on the way to an orderly end, and
// what is acknowledged then counts.
func TestDrainEndsDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer func() { w.stop() }()
		to := Address{Kind: Queue, Name: "q"}
		a, b := w.connect("a"), w.connect("b")
		sub := func(mode AckMode) Op {
			return Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: to, Mode: mode}}
		}
		a.do(sub(AckIndividual))
		for i := range 3 {
			a.do(Op{Kind: OpSend, To: to, Message: newMessage(fmt.Sprint("m", i))})
		}
		a.take()
		b.do(sub(AckIndividual))
		if !w.b.Drain(t.Context()) {
			t.Fatal("the loop did not turn")
		}
		a.do(
			Op{Kind: OpAck, Ack: AckOp{SubNumber: 1, Number: 1}, WantReceipt: true, Receipt: "1"},
			Op{Kind: OpSend, To: to, Message: newMessage("late"), WantReceipt: true, Receipt: "2"},
		)
		if outs := a.take(); len(outs) != 2 || outs[0].Receipt != "1" || outs[1].Receipt != "2" {
			t.Errorf("after the beginning of the end a sender got %v", outs)
		}
		a.conn.Detach()
		time.Sleep(time.Second)
		if outs := b.take(); len(outs) > 0 {
			t.Errorf("another consumer got %s", show(outs[0]))
		}
		w.restart()
		c := w.connect("c")
		c.do(sub(AckAuto))
		var got []string
		for _, o := range c.take() {
			got = append(got, show(o))
		}
		want := []string{"MESSAGE 1.1 m1 redelivered:1", "MESSAGE 1.2 m2 redelivered:1", "MESSAGE 1.3 late"}
		if !slices.Equal(got, want) {
			t.Errorf("after a restart came %q, not %q", got, want)
		}
	})
}
