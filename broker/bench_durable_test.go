package broker

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"testing"

	"footfall/store"
)

// BenchmarkDurables is a message to a topic from SEND to the ACK of each of its durable subscriptions, in a store on disk. To 20 of
// them there must be at least five times the deliveries a second of one.
func BenchmarkDurables(b *testing.B) {
	for _, n := range []int{1, 20} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := newSubscribers(b, n)
			body := make([]byte, 100)
			sent := 0
			for b.Loop() {
				s.slots <- struct{}{}
				s.send(b, body)
				sent += perRequest
			}
			s.await(sent)
			b.ReportMetric(float64(sent*n)/b.Elapsed().Seconds(), "deliveries/s")
			b.ReportMetric(float64(s.store.Stats().Ops)/float64(sent*n), "records/delivery")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// subscribers are sessions each of which has a durable subscription to one topic and acknowledges what it gets, and one that sends to it.
type subscribers struct {
	store  *store.Store
	sender *Conn
	slots  chan struct{} // requests of the sender that have no receipt yet
	all    []*subscriber
}

var durableTopic = Address{Kind: Topic, Name: "t"}

func newSubscribers(b *testing.B, n int) *subscribers {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	st, err := store.Open(store.Options{Dir: b.TempDir(), Log: log})
	if err != nil {
		b.Fatal(err)
	}
	broker := New(st, Options{Log: log})
	b.Cleanup(func() {
		_ = broker.Close(context.Background())
		_ = st.Close()
	})
	s := &subscribers{store: st, slots: make(chan struct{}, 16)}
	if s.sender, err = broker.Attach(receipts(s.slots), Client{}); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		s.all = append(s.all, newSubscriber(b, broker, strconv.Itoa(i)))
	}
	return s
}

// receipts takes one of what is under way for each RECEIPT.
type receipts chan struct{}

func (r receipts) Put(outs []Output) {
	for i := range outs {
		if outs[i].Kind == OutputReceipt {
			<-r
		}
	}
}

func (s *subscribers) send(b *testing.B, body []byte) {
	header := headers("content-type:text/plain\n")
	messages, ops := make([]Message, perRequest), make([]Op, perRequest)
	for i := range ops {
		messages[i] = Message{Header: header, Body: body, Priority: 4, Persistent: true}
		ops[i] = Op{Kind: OpSend, To: durableTopic, Message: &messages[i], WantReceipt: i == perRequest-1}
	}
	if err := s.sender.Submit(&Request{Ops: ops, Bytes: len(ops) * 300}); err != nil {
		b.Error(err)
	}
}

// await waits until every subscriber has acknowledged so many.
func (s *subscribers) await(n int) {
	for _, one := range s.all {
		one.mu.Lock()
		for one.acked < n {
			one.moved.Wait()
		}
		one.mu.Unlock()
	}
}

// subscriber is a session with one durable subscription. A goroutine of its own acknowledges, as the reader of a socket would.
type subscriber struct {
	conn *Conn

	mu    sync.Mutex
	moved sync.Cond
	came  []Op
	acked int
	ended bool
}

func newSubscriber(b *testing.B, broker *Broker, name string) *subscriber {
	s := &subscriber{}
	s.moved.L = &s.mu
	var err error
	if s.conn, err = broker.Attach(s, Client{ClientID: name}); err != nil {
		b.Fatal(err)
	}
	op := &SubscribeOp{ID: "s", From: durableTopic, Durable: SubscriptionName{Owner: name, Name: "d"}, Mode: AckIndividual}
	if err := s.conn.Submit(&Request{Ops: []Op{{Kind: OpSubscribe, Subscribe: op}}}); err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); s.work(b) }()
	b.Cleanup(func() {
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
		s.moved.Broadcast()
		<-done
	})
	return s
}

// Put implements Outbox.
func (s *subscriber) Put(outs []Output) {
	s.mu.Lock()
	before := len(s.came)
	for i := range outs {
		if o := &outs[i]; o.Kind == OutputMessage {
			s.came = append(s.came, Op{Kind: OpAck, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}})
		}
	}
	n := len(s.came) - before
	s.mu.Unlock()
	s.conn.Written(n)
	s.moved.Broadcast()
}

func (s *subscriber) work(b *testing.B) {
	var acks []Op
	for {
		s.mu.Lock()
		s.acked += len(acks)
		s.moved.Broadcast()
		for len(s.came) == 0 && !s.ended {
			s.moved.Wait()
		}
		acks, s.came = s.came, nil
		s.mu.Unlock()
		if len(acks) == 0 {
			return
		}
		if err := s.conn.Submit(&Request{Ops: acks, Bytes: 60 * len(acks)}); err != nil {
			b.Error(err)
			return
		}
	}
}
