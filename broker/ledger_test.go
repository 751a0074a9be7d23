package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"footfall/store/storetest"
)

// TestRefusedMessagesAreNeverLostNorTwice has consumers refuse what they get, in every way, with delays, limits and error destinations
// that have error destinations of their own, over restarts and power cuts. A ledger knows what was sent and what was acknowledged: in the
// end every other message is somewhere, once.
func TestRefusedMessagesAreNeverLostNorTwice(t *testing.T) {
	setRapid(t, 60, 40)
	for range rounds() {
		synctest.Test(t, func(t *testing.T) {
			rapid.Check(bubbled{t}, func(t *rapid.T) {
				tidy := &tidied{}
				defer tidy.up()
				l := newLedger(t, tidy)
				defer func() { l.w.stop() }()
				t.Repeat(map[string]func(*rapid.T){
					"send": l.send, "send more": l.send, "subscribe": l.subscribe, "refuse": l.refuse, "refuse more": l.refuse, "refuse again": l.refuse,
					"acknowledge": l.acknowledge, "commit": l.commit, "recover": l.recover, "vanish": l.vanish, "advance": l.advance,
					"restart": l.restart, "crash": l.crash, "": l.verify,
				})
				l.account()
			})
		})
	}
}

// ledger is what the senders and consumers of a world know.
type ledger struct {
	t        *rapid.T
	w        *world
	clients  int
	receipts int
	bodies   int
	sent     map[string]string // body by receipt, while the receipt did not come
	acked    map[string]string // body by receipt
	lives    map[string]bool   // by body: it must be somewhere
	maybe    map[string]bool   // by body: it may be somewhere
	held     []heldMessage
	tx       uint64
}

// heldMessage is a message that a client has.
type heldMessage struct {
	c           *client
	sub, number uint64
	body        string
}

func newLedger(t *rapid.T, tb testing.TB) *ledger {
	opt := Options{
		BacklogMessages: rapid.SampledFrom([]int{1, 3, 2048}).Draw(t, "backlog"),
		Policies: scriptPolicies(`/queue/a redelivery-delay=300ms redelivery-backoff=exponential redelivery-limit=2 redelivery-jitter=0.5
/queue/b redelivery-limit=1 error-destination=/queue/DLQ.a
/queue/c redelivery-delay=2s redelivery-limit=0 expired=redirect ack-timeout=5s
/queue/DLQ.a redelivery-limit=0 error-destination=/queue/last.{name}
`),
	}
	l := &ledger{
		t: t, w: newDiskWorld(t, opt, storetest.NewDisk(tb)),
		sent: map[string]string{}, acked: map[string]string{}, lives: map[string]bool{}, maybe: map[string]bool{},
	}
	l.client()
	return l
}

// places are all queues that a message can come to.
func places() []string { return []string{"a", "b", "c", "DLQ.a", "DLQ.c", "last.DLQ.a"} }

func (l *ledger) client() *client {
	l.clients++
	return l.w.connect(fmt.Sprintf("c%d", l.clients))
}

func (l *ledger) any(t *rapid.T) *client {
	names := make([]string, 0, len(l.w.clients))
	for name := range l.w.clients {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 || len(names) < 3 && rapid.Bool().Draw(t, "new client") {
		return l.client()
	}
	return l.w.clients[rapid.SampledFrom(names).Draw(t, "client")]
}

func (l *ledger) receipt() string {
	l.receipts++
	return fmt.Sprintf("r%d", l.receipts)
}

func (l *ledger) message(t *rapid.T, receipt string) Op {
	l.bodies++
	m := newMessage(fmt.Sprintf("m%d.", l.bodies))
	m.Body = append(m.Body, strings.Repeat("x", rapid.SampledFrom([]int{0, 0, 300_000}).Draw(t, "octets"))...)
	to := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "queue")
	if to == "c" { // what expires there is moved
		m.TTL = rapid.SampledFrom([]int64{0, 1000, 60_000}).Draw(t, "ttl")
	}
	l.sent[receipt+bodyName(m.Body)] = bodyName(m.Body)
	return Op{Kind: OpSend, To: Address{Kind: Queue, Name: to}, Message: m}
}

func (l *ledger) send(t *rapid.T) {
	c := l.any(t)
	for range rapid.IntRange(1, 3).Draw(t, "messages") {
		r := l.receipt()
		op := l.message(t, r)
		op.WantReceipt, op.Receipt = true, r
		c.do(op)
	}
}

func (l *ledger) subscribe(t *rapid.T) {
	c := l.any(t)
	id := fmt.Sprintf("s%d", rapid.IntRange(1, 3).Draw(t, "subscription"))
	for _, o := range c.take() {
		l.took(c, o)
	}
	taken := false
	l.w.b.call(t.Context(), func(*core) { taken = c.conn.subs[id] != nil })
	if taken {
		return
	}
	c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{
		ID: id, From: Address{Kind: Queue, Name: rapid.SampledFrom(places()).Draw(t, "queue")}, Window: rapid.IntRange(1, 3).Draw(t, "window"),
		Mode: rapid.SampledFrom([]AckMode{AckClient, AckIndividual}).Draw(t, "mode"),
	}})
}

// took takes in what a client got.
func (l *ledger) took(c *client, o Output) {
	switch o.Kind {
	case OutputMessage:
		l.held = append(l.held, heldMessage{c, o.SubNumber, o.Number, bodyName(o.Message.Body)})
	case OutputReceipt:
		l.answered(o.Receipt)
	case OutputError:
		l.t.Fatalf("%s got %s", c.name, show(o))
	}
}

func (l *ledger) answered(receipt string) {
	for key, body := range l.sent {
		if strings.HasPrefix(key, receipt+"m") {
			l.lives[body] = true
			delete(l.sent, key)
		}
	}
	for key, body := range l.acked {
		if strings.HasPrefix(key, receipt+"m") {
			delete(l.lives, body)
			delete(l.maybe, body)
			delete(l.acked, key)
		}
	}
}

// some draws a message that a client has.
func (l *ledger) some(t *rapid.T) (heldMessage, bool) {
	return some(t, l.held, "message")
}

func (l *ledger) forget(h heldMessage) {
	l.held = slices.DeleteFunc(l.held, func(o heldMessage) bool { return o == h })
}

func (l *ledger) refuse(t *rapid.T) {
	h, ok := l.some(t)
	if !ok {
		return
	}
	l.forget(h)
	nack := rapid.SampledFrom([]*NackOp{nil, nil, {Dead: true, Reason: "why"}, {HasDelay: true, Delay: 100}, {HasDelay: true}}).Draw(t, "nack")
	h.c.do(Op{Kind: OpNack, Ack: AckOp{SubNumber: h.sub, Number: h.number}, Nack: nack})
}

func (l *ledger) acknowledge(t *rapid.T) {
	h, ok := l.some(t)
	if !ok || l.mode(t, h) != AckIndividual { // which others an ACK covers is not the matter here
		return
	}
	l.forget(h)
	r := l.receipt()
	alive, perhaps := l.lives[h.body], l.maybe[h.body]
	l.acked[r+h.body], l.maybe[h.body] = h.body, true
	delete(l.lives, h.body)
	before := l.stale(t)
	h.c.do(Op{Kind: OpAck, Ack: AckOp{SubNumber: h.sub, Number: h.number}, WantReceipt: true, Receipt: r})
	if l.stale(t) == before {
		return
	}
	// It came too late, as the message was taken back before.
	delete(l.acked, r+h.body)
	if l.maybe[h.body] = perhaps; alive {
		l.lives[h.body] = true
	}
}

// stale counts what was acknowledged or refused too late.
func (l *ledger) stale(t *rapid.T) (n uint64) {
	synctest.Wait()
	l.w.b.call(t.Context(), func(c *core) { n = c.stats.StaleAcks })
	return n
}

func (l *ledger) mode(t *rapid.T, h heldMessage) (mode AckMode) {
	l.w.b.call(t.Context(), func(*core) {
		if s := h.c.conn.numbers[h.sub]; s != nil {
			mode = s.op.Mode
		}
	})
	return mode
}

// commit refuses some and sends some, in a transaction.
func (l *ledger) commit(t *rapid.T) {
	h, ok := l.some(t)
	if !ok {
		return
	}
	l.forget(h)
	l.tx++
	nack := rapid.SampledFrom([]*NackOp{nil, {Dead: true}, {HasDelay: true, Delay: 500}}).Draw(t, "nack")
	h.c.do(Op{Kind: OpNack, Tx: l.tx, Ack: AckOp{SubNumber: h.sub, Number: h.number}, Nack: nack})
	if rapid.IntRange(0, 3).Draw(t, "abort") == 3 {
		h.c.do(Op{Kind: OpAbort, Tx: l.tx})
		return
	}
	r := l.receipt()
	h.c.do(Op{Kind: OpCommit, Tx: l.tx, Sends: []Op{l.message(t, r)}, WantReceipt: true, Receipt: r})
}

func (l *ledger) recover(t *rapid.T) {
	l.any(t).do(Op{Kind: OpRecover, Nack: rapid.SampledFrom([]*NackOp{nil, {HasDelay: true, Delay: 700}}).Draw(t, "nack")})
}

func (l *ledger) vanish(t *rapid.T) {
	c := l.any(t)
	for _, o := range c.take() {
		l.took(c, o)
	}
	l.gone(c)
	c.conn.Detach()
}

func (l *ledger) gone(c *client) {
	l.held = slices.DeleteFunc(l.held, func(h heldMessage) bool { return h.c == c })
	delete(l.w.clients, c.name)
}

func (l *ledger) advance(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{time.Millisecond, 300 * time.Millisecond, 3 * time.Second, time.Minute}).Draw(t, "time"))
}

// verify takes in what came, and checks that all is well.
func (l *ledger) verify(t *rapid.T) {
	l.t = t
	synctest.Wait()
	for _, c := range l.w.clients {
		for _, o := range c.take() {
			l.took(c, o)
		}
	}
	if err := l.w.check(); err != nil {
		t.Fatal(err)
	}
	if rep, err := l.w.store.Check(); err != nil || !rep.OK() {
		t.Fatalf("the store: %v %v", err, rep)
	}
}

func (l *ledger) restart(t *rapid.T) {
	l.verify(t)
	l.w.restart()
	l.held = nil
}

// crash cuts the power while something is under way.
func (l *ledger) crash(t *rapid.T) {
	l.refuse(t)
	l.send(t)
	l.refuse(t)
	if rapid.Bool().Draw(t, "rest") {
		synctest.Wait()
	}
	// What was answered by now is true, and what is answered later may be.
	for _, c := range l.w.clients {
		c.mu.Lock()
		for _, o := range c.outputs {
			if o.Kind == OutputReceipt {
				l.answered(o.Receipt)
			}
		}
		c.mu.Unlock()
	}
	disk := l.w.disk.Crash(rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "percent left"), rapid.Uint64().Draw(t, "seed"))
	for _, body := range l.sent {
		l.maybe[body] = true
	}
	clear(l.sent)
	clear(l.acked)
	l.w.stop()
	l.w.use(disk)
	l.w.start()
	l.held = nil
}

// account looks for everything.
func (l *ledger) account() {
	for _, c := range l.w.clients {
		for _, o := range c.take() {
			l.took(c, o)
		}
		c.conn.Detach()
	}
	clear(l.w.clients)
	time.Sleep(time.Hour)
	c := l.client()
	for i, name := range append(places(), "DLQ.last.DLQ.a") { // where nobody refuses what died for the third time
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: fmt.Sprint(i), From: Address{Kind: Queue, Name: name}}})
	}
	found := map[string]int{}
	for range 100 {
		outs := c.take()
		if len(outs) == 0 {
			break
		}
		for _, o := range outs {
			if o.Kind == OutputMessage {
				found[bodyName(o.Message.Body)]++
			}
		}
	}
	for body := range l.lives {
		if found[body] == 0 {
			l.t.Errorf("%s is lost", body)
		}
	}
	for body, n := range found {
		if n > 1 || !l.lives[body] && !l.maybe[body] {
			l.t.Errorf("%s is there %d times, wanted %v, perhaps %v", body, n, l.lives[body], l.maybe[body])
		}
	}
	l.verify(l.t)
}
