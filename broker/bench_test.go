package broker

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"

	"footfall/frames"
	"footfall/store"
)

// perRequest is how many operations a session hands over in one piece, as one that reads a busy socket does.
const perRequest = 64

// BenchmarkAutoNonPersistent is a message from SEND to written, without a disk: the loop alone.
func BenchmarkAutoNonPersistent(b *testing.B) {
	s := newStream(b, AckAuto)
	s.run(b, false)
}

// BenchmarkIndividualPersistent is a message from SEND to ACK, each with its batch in a store in memory.
func BenchmarkIndividualPersistent(b *testing.B) {
	s := newStream(b, AckIndividual)
	s.run(b, true)
}

// stream is a session that sends to a queue that it consumes.
type stream struct {
	broker *Broker
	conn   *Conn
	mode   AckMode
	to     Address
	header func(i int) frames.Header // of the i-th message

	mu    sync.Mutex
	moved sync.Cond
	came  int
	acks  []Op
}

func newStream(b *testing.B, mode AckMode) *stream {
	st := store.NewMemory()
	plain := headers("content-type:text/plain\n")
	s := &stream{mode: mode, to: Address{Kind: Queue, Name: "q"}, header: func(int) frames.Header { return plain }, broker: New(st, Options{Log: slog.New(slog.DiscardHandler)})}
	s.moved.L = &s.mu
	conn, err := s.broker.Attach(s, Client{})
	if err != nil {
		b.Fatal(err)
	}
	s.conn = conn
	b.Cleanup(func() {
		_ = s.broker.Close(context.Background())
		_ = st.Close()
	})
	s.submit(b, []Op{{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}, Mode: mode}}})
	return s
}

// Put implements Outbox.
func (s *stream) Put(outs []Output) {
	messages := 0
	s.mu.Lock()
	for i := range outs {
		if o := &outs[i]; o.Kind == OutputMessage {
			messages++
			if s.mode != AckAuto {
				s.acks = append(s.acks, Op{Kind: OpAck, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}})
			}
		}
	}
	s.came += messages
	s.mu.Unlock()
	s.conn.Written(messages)
	s.moved.Signal()
}

func (s *stream) submit(b *testing.B, ops []Op) {
	if err := s.conn.Submit(&Request{Ops: ops, Bytes: len(ops) * 300}); err != nil {
		b.Fatal(err)
	}
}

func (s *stream) run(b *testing.B, persistent bool) {
	body := make([]byte, 100)
	b.ReportAllocs()
	sent, acked := 0, 0
	for b.Loop() {
		s.send(b, sent, body, persistent)
		sent += perRequest
		acked += s.await(b, sent-8*perRequest)
	}
	for acked < sent && s.mode != AckAuto {
		acked += s.await(b, sent)
	}
	s.await(b, sent)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sent), "ns/message")
	b.ReportMetric(0, "ns/op")
}

func (s *stream) send(b *testing.B, sent int, body []byte, persistent bool) {
	messages := make([]Message, perRequest)
	ops := make([]Op, perRequest)
	for i := range ops {
		messages[i] = Message{Header: s.header(sent + i), Body: body, Priority: 4, Persistent: persistent}
		ops[i] = Op{Kind: OpSend, To: s.to, Message: &messages[i]}
	}
	s.submit(b, ops)
}

// await waits until so many messages came, and acknowledges what did. It returns how many it acknowledged.
func (s *stream) await(b *testing.B, n int) int {
	s.mu.Lock()
	for s.came < n {
		s.moved.Wait()
		if s.mode != AckAuto && len(s.acks) > 0 {
			break
		}
	}
	acks := s.acks
	s.acks = nil
	s.mu.Unlock()
	if len(acks) > 0 {
		s.submit(b, acks)
	}
	return len(acks)
}

// BenchmarkTopicSelectors is a message to a topic from SEND to written, of which one of many subscribers wants it by a selector of its own.
func BenchmarkTopicSelectors(b *testing.B) {
	for _, subscribers := range []int{0, 1, 200, 10_000, 100_000} {
		b.Run(strconv.Itoa(subscribers), func(b *testing.B) {
			s := newStream(b, AckAuto)
			t := Address{Kind: Topic, Name: "t"}
			var ops []Op
			for i := range max(subscribers, 1) {
				op := &SubscribeOp{ID: strconv.Itoa(i), From: t}
				if subscribers > 0 {
					op.Selector = fmt.Sprintf("user = 'u%d'", i)
				}
				if ops = append(ops, Op{Kind: OpSubscribe, Subscribe: op}); len(ops) == 1000 {
					s.submit(b, ops)
					ops = nil
				}
			}
			s.submit(b, ops)
			s.to = t
			s.header = func(i int) frames.Header { return headers(fmt.Sprintf("user:u%d\n", i%max(subscribers, 1))) }
			s.run(b, false)
		})
	}
}
