package broker

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// lending is a broker with small bounds, and a session that sends to queues of others.
type lending struct {
	*world
	t      *testing.T
	sender *client
	sent   int
}

func newLending(t *testing.T, opt Options) *lending {
	w := newWorld(t, opt)
	return &lending{world: w, t: t, sender: w.connect("sender")}
}

// send sends messages of a size to a queue, each with a receipt, and demands that they are taken soon.
func (l *lending) send(queue string, messages, size int) {
	l.t.Helper()
	for range messages {
		l.sent++
		m := newMessage("")
		m.Body = bytes.Repeat([]byte("x"), size)
		l.sender.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: queue}, Message: m, WantReceipt: true, Receipt: fmt.Sprint(l.sent)})
	}
	outs := l.sender.take()
	if len(outs) < messages {
		time.Sleep(time.Second) // backlogs have to leave memory first
		outs = append(outs, l.sender.take()...)
	}
	for _, o := range outs {
		if o.Kind != OutputReceipt {
			l.t.Fatalf("a sender got %s", show(o))
		}
	}
	if len(outs) != messages {
		l.t.Fatalf("of %d SENDs to %s %d were taken", messages, queue, len(outs))
	}
}

func (l *lending) subscribe(c *client, queue string, window int, octets int64) {
	c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: queue, From: Address{Kind: Queue, Name: queue}, Mode: AckIndividual, Window: window, WindowBytes: octets}})
}

func (l *lending) stats() Stats {
	s, ok := l.b.Stats(context.Background())
	if !ok {
		l.t.Fatal("the loop does not turn")
	}
	return s
}

// received counts the messages that c got since the last time.
func (l *lending) received(c *client) (n int) {
	for _, o := range c.take() {
		if o.Kind == OutputMessage {
			n++
		}
	}
	return n
}

// ackAll acknowledges all that c has and gets, and returns how many these were.
func (l *lending) ackAll(c *client) (n int) {
	for {
		var acks []Op
		for _, o := range c.take() {
			if o.Kind == OutputMessage {
				acks = append(acks, Op{Kind: OpAck, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}})
			}
		}
		if len(acks) == 0 {
			return n
		}
		n += len(acks)
		c.do(acks...)
	}
}

func testLending(t *testing.T, opt Options, f func(l *lending)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newLending(t, opt)
		defer l.stop()
		f(l)
	})
}

// TestFullWindowsOfConsumersHoldUpNoSender: what consumers have and do not acknowledge is no matter of those who send.
func TestFullWindowsOfConsumersHoldUpNoSender(t *testing.T) {
	testLending(t, Options{MemoryBytes: 1 << 20, WindowBytes: 128 << 10}, func(l *lending) {
		for i := range 16 {
			queue := fmt.Sprint("q", i)
			l.subscribe(l.connect(queue), queue, 0, 0)
			l.send(queue, 40, 10_000)
		}
		other := l.connect("other")
		l.subscribe(other, "other", 0, 0)
		l.send("other", 100, 1000)
		if n := l.ackAll(other); n != 100 {
			t.Errorf("another consumer got %d of 100", n)
		}
	})
}

// TestConsumersThatDoNotReadHoldUpNoSender: neither is what waits at a socket.
func TestConsumersThatDoNotReadHoldUpNoSender(t *testing.T) {
	testLending(t, Options{MemoryBytes: 1 << 20}, func(l *lending) {
		for i := range 4 {
			queue := fmt.Sprint("q", i)
			c := l.connect(queue)
			c.stall = true
			l.subscribe(c, queue, 0, 0)
			l.send(queue, 1, 600_000)
		}
		l.send("other", 10, 50_000)
		time.Sleep(time.Minute)
		l.send("other", 10, 50_000)
	})
}

// TestGreedyConsumersStayWithinTheBound: whatever windows they ask for, memory stays bounded, others get their part, and
// nothing is left behind when they acknowledge.
func TestGreedyConsumersStayWithinTheBound(t *testing.T) {
	opt := Options{MemoryBytes: 1 << 20, LentBytes: 1 << 20, BacklogBytes: 256 << 10}
	testLending(t, opt, func(l *lending) {
		const queues, each = 8, 100
		for i := range queues {
			l.send(fmt.Sprint("q", i), each, 10_000)
		}
		var greedy []*client
		for i := range queues {
			c := l.connect(fmt.Sprint("greedy", i))
			greedy = append(greedy, c)
			l.subscribe(c, fmt.Sprint("q", i), 1_000_000, math.MaxInt64)
			time.Sleep(time.Second)
		}
		s := l.stats()
		if most := opt.MemoryBytes + opt.LentBytes + queues*(leastShare+11_000); s.MemoryBytes > most {
			t.Errorf("%d octets are in memory, more than %d", s.MemoryBytes, most)
		}
		if s.Starved != queues || s.LentBytes < opt.LentBytes/2 {
			t.Errorf("%d consumers get nothing more, which have %d octets", s.Starved, s.LentBytes)
		}
		if err := l.check(); err != nil {
			t.Error(err)
		}
		modest := l.connect("modest")
		l.subscribe(modest, "modest", 0, 0)
		l.send("modest", 20, 1000)
		if n := l.received(modest); n < 10 {
			t.Errorf("a modest consumer got %d of 20", n)
		}
		total := 0
		for range 3 {
			for _, c := range greedy {
				total += l.ackAll(c)
			}
			time.Sleep(time.Second)
		}
		if total != queues*each {
			t.Errorf("greedy consumers got %d of %d in the end", total, queues*each)
		}
	})
}

// TestCreditBeyondMemory: a grant is no promise of memory.
func TestCreditBeyondMemory(t *testing.T) {
	testLending(t, Options{MemoryBytes: 1 << 20, LentBytes: 1 << 20}, func(l *lending) {
		l.send("q", 300, 10_000)
		c := l.connect("c")
		l.subscribe(c, "q", 1, math.MaxInt64)
		c.do(Op{Kind: OpAck, Ack: AckOp{Sub: "q", Credit: 1 << 20}})
		c.take()
		time.Sleep(time.Second)
		if s := l.stats(); s.LentBytes > 1<<20 || s.MemoryBytes > 3<<20 {
			t.Errorf("%d octets are in memory, %d of them lent", s.MemoryBytes, s.LentBytes)
		}
	})
}

// TestDeepQueuesWithStuckConsumersStayOnDisk: pages are not read while memory is short and nobody would take from them, and
// are read when it is not.
func TestDeepQueuesWithStuckConsumersStayOnDisk(t *testing.T) {
	testLending(t, Options{MemoryBytes: 1 << 20, Window: 1}, func(l *lending) {
		const queues, each = 20, 30
		for i := range queues {
			l.send(fmt.Sprint("q", i), each, 10_000)
		}
		var stuck []*client
		for i := range queues {
			c := l.connect(fmt.Sprint("c", i))
			stuck = append(stuck, c)
			l.subscribe(c, fmt.Sprint("q", i), 0, 0)
		}
		time.Sleep(time.Second)
		before := l.stats()
		time.Sleep(time.Minute)
		after := l.stats()
		if after.MemoryBytes > 2<<20 {
			t.Errorf("%d octets are in memory", after.MemoryBytes)
		}
		if turns := after.Rounds - before.Rounds; turns > 100 {
			t.Errorf("the loop turned %d times in a minute without work", turns)
		}
		total := 0
		for range 3 {
			for _, c := range stuck {
				total += l.ackAll(c)
			}
			time.Sleep(time.Second)
		}
		if total != queues*each {
			t.Errorf("%d of %d messages came", total, queues*each)
		}
	})
}

// TestSharesAreFair holds loans against its rules, for any consumers.
func TestSharesAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLoans(int64(rapid.IntRange(64<<10, 10<<20).Draw(t, "limit")))
		type loan struct {
			s *subscription
			m *Message
		}
		var subs [5]*subscription
		for i := range subs {
			subs[i] = &subscription{}
		}
		var out []loan
		largest := int64(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if len(out) > 0 && rapid.IntRange(0, 3).Draw(t, "end") == 0 {
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				l.end(out[i].s, out[i].m)
				out = append(out[:i], out[i+1:]...)
				continue
			}
			s := subs[rapid.IntRange(0, len(subs)-1).Draw(t, "consumer")]
			m := &Message{Body: make([]byte, rapid.IntRange(0, 100_000).Draw(t, "octets"))}
			if !l.affords(s) {
				if s.lent < l.floor || s.lent == 0 {
					t.Fatalf("a consumer with %d octets is refused", s.lent)
				}
				continue
			}
			l.lend(s, m)
			out = append(out, loan{s, m})
			largest = max(largest, m.Size())
			if most := l.limit + int64(len(subs))*(leastShare+largest); l.total > most {
				t.Fatalf("%d octets are lent, more than %d", l.total, most)
			}
		}
		for _, x := range out {
			l.end(x.s, x.m)
		}
		if l.total != 0 || l.borrowers != 0 || l.sharing {
			t.Fatalf("%d octets and %d borrowers are left, sharing %v", l.total, l.borrowers, l.sharing)
		}
	})
}
