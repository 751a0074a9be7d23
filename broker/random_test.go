package broker

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// rounds is the value of FOOTFALL_ROUNDS, which multiplies the random work.
func rounds() int {
	n, err := strconv.Atoi(os.Getenv("FOOTFALL_ROUNDS"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// setRapid has rapid do so many checks of so many steps.
func setRapid(t *testing.T, checks, steps int) {
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(checks), "rapid.steps": strconv.Itoa(steps),
		"rapid.shrinktime": "100h", // of the bubble
		"rapid.nofailfile": "true",
	} {
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, old) })
	}
}

// TestRandomHistories holds the broker against the model, with bounds so small that backlogs are paged,
// trimmed, spilled and evicted all the time.
func TestRandomHistories(t *testing.T) {
	checkHistories(t, func(t *rapid.T) {
		h := newHistory(t, drawOptions(t))
		defer func() { h.w.stop() }()
		h.populate(t)
		t.Repeat(h.actions(h.everything()))
		h.drain()
	})
}

// TestPagesUnderWay is the same with one queue, whose pages are mostly slow to come.
func TestPagesUnderWay(t *testing.T) {
	checkHistories(t, func(t *rapid.T) {
		h := newHistory(t, Options{BacklogMessages: rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "backlog")})
		defer func() { h.w.stop() }()
		h.oneQueue = true
		h.populate(t)
		t.Repeat(h.actions(map[string]func(*rapid.T){
			"send": h.send, "subscribe": h.subscribe, "connect": h.connect, "vanish": h.vanish, "ack": h.ack, "nack": h.nack,
			"slow": h.slow, "slow 2": h.slow, "slow 3": h.slow, "slow 4": h.slow,
		}))
		h.drain()
	})
}

func checkHistories(t *testing.T, f func(t *rapid.T)) {
	setRapid(t, 150, 40)
	for range rounds() {
		synctest.Test(t, func(t *testing.T) { rapid.Check(bubbled{t}, f) })
	}
}

// bubbled is a test without a deadline, which there cannot be inside a bubble.
type bubbled struct{ testing.TB }

func drawOptions(t *rapid.T) Options {
	return Options{
		BacklogMessages: rapid.SampledFrom([]int{1, 2, 4, 2048}).Draw(t, "backlog"),
		BacklogBytes:    int64(rapid.SampledFrom([]int{1, 600, 2 << 20}).Draw(t, "backlog octets")),
		OutboxBytes:     int64(rapid.SampledFrom([]int{1, 700, 1 << 20}).Draw(t, "outbox")),
		TopicBytes:      int64(rapid.SampledFrom([]int{700, 16 << 20}).Draw(t, "topic octets")),
		MemoryBytes:     int64(rapid.SampledFrom([]int{1500, 4000, 256 << 20}).Draw(t, "memory")),
	}
}

// history drives a broker at random, and has the model explain what happens.
type history struct {
	t      *rapid.T
	w      *world
	m      *model
	names  int // of connections so far
	bodies int
	ids    int   // receipts so far
	began  int64 // when the step began, in ms
	strict bool  // one request did it all, in one go
	log    []string

	blocked  uint64 // SENDs that had to wait before the step
	oneQueue bool   // there is no other destination
}

var (
	queueNames = []string{"a", "b", "c"}
	topicNames = []string{"t", "u"}
)

func newHistory(t *rapid.T, opt Options) *history {
	return &history{t: t, w: newWorld(t, opt), m: newModel()}
}

// populate has some clients there from the beginning.
func (h *history) populate(t *rapid.T) {
	for _, act := range []func(*rapid.T){h.connect, h.connect, h.subscribe, h.subscribe} {
		h.begin()
		act(t)
		h.finish()
	}
}

func (h *history) everything() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"send": h.send, "send more": h.send, "burst": h.burst, "connect": h.connect, "subscribe": h.subscribe, "subscribe too": h.subscribe,
		"unsubscribe": h.unsubscribe, "ack": h.ack, "ack more": h.ack, "nack": h.nack, "recover": h.recover, "commit": h.commit,
		"abort": h.abort, "vanish": h.vanish, "disconnect": h.disconnect, "stall": h.stall, "write": h.write, "credit": h.credit,
		"slow": h.slow, "slow again": h.slow, "advance": h.advance, "restart": h.restart, "disk": h.disk,
	}
}

// actions makes each of acts a step.
func (h *history) actions(acts map[string]func(*rapid.T)) map[string]func(*rapid.T) {
	steps := map[string]func(*rapid.T){}
	for name, act := range acts {
		steps[name] = func(t *rapid.T) {
			h.t = t
			h.begin()
			act(t)
			h.finish()
		}
	}
	return steps
}

func (h *history) begin() {
	h.m.step++
	h.began = time.Now().UnixMilli()
	h.blocked = h.blockedSoFar()
	h.strict = len(h.parked()) == 0
}

// blockedSoFar counts the SENDs that had to wait.
func (h *history) blockedSoFar() (n uint64) {
	h.w.b.call(h.ctx(), func(c *core) { n = c.stats.Blocked })
	return n
}

// finish lets everything come to rest, and checks it.
func (h *history) finish() {
	failed := h.explain()
	h.verify(h.parked())
	for _, c := range failed {
		h.failed(c)
	}
}

// explain has the model explain what came since the last time. It returns the connections that got an ERROR or their CLOSE.
func (h *history) explain() (failed []*modelConn) {
	synctest.Wait()
	h.strict = h.strict && h.blocked == h.blockedSoFar()
	now := time.Now().UnixMilli()
	h.m.take(h.began, now)
	h.m.tick(now)
	outs := map[*modelConn][]Output{}
	for _, c := range h.m.sortedConns() {
		outs[c] = c.client.take()
		for _, o := range outs[c] {
			h.note("%s < %s", c.name, show(o))
			if tx, ok := c.commits[o.Receipt]; ok && o.Kind == OutputReceipt {
				h.m.committed(c, tx) // now or earlier, as it may have been held up
				delete(c.commits, o.Receipt)
			}
		}
	}
	var all []*modelItem
	for _, c := range h.m.sortedConns() {
		got, end := h.m.outputs(c, outs[c])
		if h.strict {
			h.m.sequence(c, got)
		}
		all = append(all, got...)
		if end != nil {
			h.expected(c, end)
			failed = append(failed, c)
		}
	}
	h.m.inOrder(all, h.strict)
	for _, c := range h.m.sortedConns() {
		if !c.client.stall {
			h.m.wrote(c, len(c.unwritten))
		}
		for _, s := range c.numbers {
			if s.ended && s.closed {
				h.m.end(s)
			}
		}
	}
	return failed
}

// verify checks the state at rest.
func (h *history) verify(parked map[*Conn]bool) {
	h.m.atRest(parked)
	if err := h.w.check(); err != nil {
		h.m.bad("%v", err)
	}
	h.w.b.call(h.ctx(), func(c *core) {
		found := h.m.scan(c, h.w.store)
		if h.m.restarts {
			h.m.resolve(found)
			h.m.restarts = false
		}
		h.m.compare(found)
	})
	if rep, err := h.w.store.Check(); err != nil || !rep.OK() {
		h.m.bad("the store: %v %v", err, rep)
	}
	if err := h.m.err(); err != nil {
		h.t.Fatalf("%v\n%s", err, strings.Join(h.log, "\n"))
	}
}

func (h *history) ctx() context.Context { return context.Background() }

// expected checks that there was a reason for the ERROR or CLOSE that ended a connection.
func (h *history) expected(c *modelConn, err *Error) {
	switch err.Kind {
	case "", KindSlow:
	case KindResource:
		c.sends = nil
	default:
		h.m.bad("%s got ERROR %s", c.name, err.Message)
	}
}

// failed ends the session of a connection that is over.
func (h *history) failed(c *modelConn) {
	h.begin()
	h.strict = false
	h.detach(c)
	h.finish()
}

// slow has a slow store: while pages are read and batches are written, much goes on.
func (h *history) slow(t *rapid.T) {
	gates := rapid.IntRange(1, 7).Draw(t, "gates")
	h.note("slow %d", gates)
	h.w.slow.hold(gates&1 != 0, gates&2 != 0, gates&4 != 0)
	defer h.w.slow.release()
	for range rapid.IntRange(1, 6).Draw(t, "phases") {
		phases := []func(*rapid.T){h.burst, h.ack, h.nack, h.send, h.recover, h.subscribe, h.unsubscribe, h.vanish, h.write}
		phases[rapid.IntRange(0, len(phases)-1).Draw(t, "phase")](t)
		failed := h.explain()
		h.begin()
		h.strict = false
		for _, c := range failed {
			h.detach(c)
		}
	}
}

// do submits a request, and notes it.
func (h *history) do(c *modelConn, ops ...Op) {
	for i := range ops {
		h.note("%s > %s", c.name, describe(&ops[i]))
	}
	c.client.do(ops...)
}

// note keeps a line for the report of a failure.
func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf("%d: ", h.m.step)+fmt.Sprintf(format, args...))
}

func describe(op *Op) string {
	switch op.Kind {
	case OpSend:
		m := op.Message
		return fmt.Sprintf("send %s %s persistent=%v priority=%d delay=%d size=%d", op.To, bodyName(m.Body), m.Persistent, m.Priority, m.Delay, m.Size())
	case OpSubscribe:
		s := op.Subscribe
		return fmt.Sprintf("subscribe %s %s mode=%d window=%d", s.ID, s.From, s.Mode, s.Window)
	case OpUnsubscribe:
		return "unsubscribe " + op.Sub
	case OpAck, OpNack:
		return fmt.Sprintf("%s %+v tx=%d", map[OpKind]string{OpAck: "ack", OpNack: "nack"}[op.Kind], op.Ack, op.Tx)
	case OpCommit:
		text := fmt.Sprintf("commit %d", op.Tx)
		for i := range op.Sends {
			text += " [" + describe(&op.Sends[i]) + "]"
		}
		return text
	}
	return fmt.Sprintf("op %d sub=%s tx=%d", op.Kind, op.Sub, op.Tx)
}

// detachAll ends all sessions, one after the other: what one had may go to the next.
func (h *history) detachAll() {
	for _, c := range h.m.sortedConns() {
		h.detach(c)
		h.explain()
		h.begin()
		h.strict = false
	}
}

func (h *history) detach(c *modelConn) {
	h.note("%s vanishes", c.name)
	c.client.conn.Detach()
	delete(h.w.clients, c.name)
	h.m.leave(c)
}

// parked returns the connections whose requests wait.
func (h *history) parked() map[*Conn]bool {
	set := map[*Conn]bool{}
	h.w.b.call(h.ctx(), func(c *core) {
		for _, conn := range c.parked {
			if conn.parked != nil {
				set[conn] = true
			}
		}
	})
	return set
}

// some draws one of those that are there; ok is false when there is none.
func some[T any](t *rapid.T, all []T, label string) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, label)], true
}

// conn draws a connection that nothing holds up.
func (h *history) conn(t *rapid.T) (*modelConn, bool) {
	parked := h.parked()
	var free []*modelConn
	for _, c := range h.m.sortedConns() {
		if !parked[c.client.conn] {
			free = append(free, c)
		}
	}
	return some(t, free, "connection")
}

func (h *history) receipt(c *modelConn) Op {
	h.ids++
	id := "r" + strconv.Itoa(h.ids)
	c.receipts = append(c.receipts, id)
	return Op{WantReceipt: true, Receipt: id}
}

func (h *history) connect(*rapid.T) {
	if len(h.m.conns) >= 4 {
		return
	}
	h.names++
	name := "c" + strconv.Itoa(h.names)
	h.m.conns[name] = &modelConn{
		name: name, client: h.w.connect(name), subs: map[string]*modelSub{}, txs: map[uint64][]*modelDelivery{}, commits: map[string]uint64{},
	}
}

func (h *history) send(t *rapid.T) {
	if c, ok := h.conn(t); ok {
		h.do(c, h.sends(t, c, rapid.IntRange(1, 6).Draw(t, "messages"))...)
	}
}

func (h *history) sends(t *rapid.T, c *modelConn, n int) []Op {
	var ops []Op
	for range n {
		op := h.receipt(c)
		h.sendOp(t, c, &op)
		ops = append(ops, op)
	}
	return ops
}

func (h *history) sendOp(t *rapid.T, c *modelConn, op *Op) *modelSend {
	h.bodies++
	s := &modelSend{body: "m" + strconv.Itoa(h.bodies), receipt: op.Receipt}
	s.to = h.address(t)
	s.msg = newMessage(s.body + ".")
	s.msg.Body = append(s.msg.Body, bytes.Repeat([]byte("x"), rapid.SampledFrom([]int{0, 100, 700}).Draw(t, "octets"))...)
	s.msg.Persistent = rapid.IntRange(0, 2).Draw(t, "persistent") < 2
	s.msg.Priority = rapid.SampledFrom([]uint8{4, 4, 4, 0, 9}).Draw(t, "priority")
	s.msg.Delay = rapid.SampledFrom([]int64{0, 0, 0, 100, 500, 3000}).Draw(t, "delay")
	s.msg.UserID = rapid.SampledFrom([]string{"", "", "ID:1", "ID:2"}).Draw(t, "user id")
	s.delay = s.msg.Delay
	op.Kind, op.To, op.Message = OpSend, s.to, s.msg
	c.sends = append(c.sends, s)
	return s
}

func (h *history) subscribe(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok || len(c.subs) >= 3 {
		return
	}
	s := &modelSub{conn: c, key: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "key"), number: uint64(len(c.numbers) + 1)}
	if c.subs[s.key] != nil {
		return
	}
	s.from = h.address(t)
	if s.from.Kind == Topic {
		s.backlog = &modelBacklog{name: fmt.Sprintf("%s of %s.%d", s.from, c.name, s.number)}
	} else {
		s.backlog = h.m.queue(s.from.Name)
	}
	s.mode = rapid.SampledFrom([]AckMode{AckClient, AckIndividual, AckAuto}).Draw(t, "mode")
	op := h.receipt(c)
	op.Kind = OpSubscribe
	op.Subscribe = &SubscribeOp{ID: s.key, From: s.from, Mode: s.mode}
	if s.mode != AckAuto {
		s.window = rapid.SampledFrom([]int{1, 2, 3, 10}).Draw(t, "window")
		op.Subscribe.Window = s.window
	}
	c.subs[s.key] = s
	c.numbers = append(c.numbers, s)
	h.do(c, op)
}

func (h *history) unsubscribe(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	key, ok := some(t, slices.Sorted(maps.Keys(c.subs)), "subscription")
	if !ok {
		return
	}
	s := c.subs[key]
	op := h.receipt(c)
	op.Kind, op.Sub = OpUnsubscribe, key
	s.ended, s.answer, s.grace = true, op.Receipt, time.Now().Add(time.Second).UnixMilli()
	delete(c.subs, key)
	h.do(c, op)
}

// deliveries lists what of c can be settled.
func (c *modelConn) deliveries() []*modelDelivery {
	var ds []*modelDelivery
	for _, s := range c.numbers {
		for _, d := range s.pending {
			if d.tx == 0 && s.mode != AckAuto {
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// settleOp draws a delivery of c, settles it in the model, and returns what does it.
func (h *history) settleOp(t *rapid.T, c *modelConn, kind OpKind, tx uint64) (op Op, ok bool) {
	d, ok := some(t, c.deliveries(), "delivery")
	if !ok {
		return op, false
	}
	op = h.receipt(c)
	op.Kind, op.Tx = kind, tx
	switch rapid.IntRange(0, 2).Draw(t, "named by") {
	case 0:
		op.Ack = AckOp{SubNumber: d.sub.number, Number: d.number}
	case 1:
		// By id alone the first of its pending deliveries is meant, as a topic's on two subscriptions.
		op.Ack = AckOp{MessageID: d.item.sent.msg.ID, Sub: d.sub.key}
		if h.twice(c, d) {
			op.Ack = AckOp{SubNumber: d.sub.number, Number: d.number}
		}
	case 2:
		op.Ack = AckOp{SubNumber: d.sub.number, Number: d.number}
		if id := d.item.sent.msg.UserID; id != "" && !d.hidden {
			op.Ack = AckOp{UserID: id}
		}
	}
	h.m.ack(d, tx, kind == OpNack)
	return op, true
}

// twice tells whether the message of d is pending in several subscriptions of c with the same key.
func (h *history) twice(c *modelConn, d *modelDelivery) bool {
	n := 0
	for _, s := range c.numbers {
		for _, p := range s.pending {
			if p.item.sent == d.item.sent && s.key == d.sub.key {
				n++
			}
		}
	}
	return n > 1
}

func (h *history) tx(t *rapid.T, c *modelConn) uint64 {
	if rapid.IntRange(0, 2).Draw(t, "in a transaction") < 2 {
		return 0
	}
	open := slices.Sorted(maps.Keys(c.txs))
	if len(open) < 2 {
		c.lastTx++
		open = append(open, c.lastTx)
	}
	return open[rapid.IntRange(0, len(open)-1).Draw(t, "transaction")]
}

func (h *history) settle(t *rapid.T, kind OpKind) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	if op, ok := h.settleOp(t, c, kind, h.tx(t, c)); ok {
		h.do(c, op)
	}
}

func (h *history) ack(t *rapid.T)  { h.settle(t, OpAck) }
func (h *history) nack(t *rapid.T) { h.settle(t, OpNack) }

// burst has several connections at it at once: SENDs, ACKs and NACKs, in requests of several and in several requests.
func (h *history) burst(t *rapid.T) {
	h.strict = false
	parked := h.parked()
	for range rapid.IntRange(2, 6).Draw(t, "requests") {
		c, ok := some(t, h.m.sortedConns(), "connection")
		if !ok || parked[c.client.conn] && len(c.sends) > 20 {
			continue
		}
		var ops []Op
		for range rapid.IntRange(1, 3).Draw(t, "operations") {
			kind := rapid.SampledFrom([]OpKind{OpSend, OpSend, OpAck, OpNack}).Draw(t, "kind")
			if kind == OpSend {
				ops = append(ops, h.sends(t, c, 1)...)
			} else if op, ok := h.settleOp(t, c, kind, 0); ok {
				ops = append(ops, op)
			}
		}
		if len(ops) > 0 {
			h.do(c, ops...)
		}
	}
}

func (h *history) recover(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	op := h.receipt(c)
	op.Kind = OpRecover
	if keys := slices.Sorted(maps.Keys(c.subs)); len(keys) > 0 && rapid.Bool().Draw(t, "one subscription") {
		op.Sub, _ = some(t, keys, "subscription")
		h.m.recovered(c.subs[op.Sub])
	} else {
		for _, s := range c.numbers {
			h.m.recovered(s)
		}
	}
	h.do(c, op)
}

func (h *history) commit(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	tx, ok := some(t, slices.Sorted(maps.Keys(c.txs)), "transaction")
	op := h.receipt(c)
	op.Kind = OpCommit
	if ok {
		op.Tx = tx
		c.commits[op.Receipt] = tx
	}
	for range rapid.IntRange(0, 3).Draw(t, "messages") {
		op.Sends = append(op.Sends, h.sendInCommit(t, c, op.Receipt))
	}
	h.do(c, op)
}

func (h *history) address(t *rapid.T) Address {
	if h.oneQueue {
		return Address{Queue, queueNames[0]}
	}
	if rapid.IntRange(0, 3).Draw(t, "a topic") == 3 {
		return Address{Topic, rapid.SampledFrom(topicNames).Draw(t, "topic")}
	}
	return Address{Queue, rapid.SampledFrom(queueNames).Draw(t, "queue")}
}

func (h *history) sendInCommit(t *rapid.T, c *modelConn, receipt string) (op Op) {
	s := h.sendOp(t, c, &op)
	s.receipt, s.inCommit = receipt, true
	return op
}

func (h *history) abort(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	tx, ok := some(t, slices.Sorted(maps.Keys(c.txs)), "transaction")
	if !ok {
		return
	}
	op := h.receipt(c)
	op.Kind, op.Tx = OpAbort, tx
	h.m.aborted(c, tx, time.Now().UnixMilli())
	h.do(c, op)
}

func (h *history) vanish(t *rapid.T) {
	if c, ok := some(t, h.m.sortedConns(), "connection"); ok {
		h.detach(c)
	}
}

func (h *history) disconnect(t *rapid.T) {
	if c, ok := h.conn(t); ok && !c.client.stall {
		op := h.receipt(c)
		op.Kind = OpDisconnect
		h.do(c, op)
	}
}

func (h *history) stall(t *rapid.T) {
	if c, ok := some(t, h.m.sortedConns(), "connection"); ok {
		c.client.mu.Lock()
		c.client.stall = true
		h.note("%s stalls", c.name)
		c.client.mu.Unlock()
	}
}

func (h *history) write(t *rapid.T) {
	c, ok := some(t, h.m.sortedConns(), "connection")
	if !ok || !c.client.stall {
		return
	}
	n := rapid.IntRange(0, len(c.unwritten)).Draw(t, "messages")
	h.note("%s writes %d", c.name, n)
	h.m.wrote(c, n)
	c.client.mu.Lock()
	c.client.write(n)
	if len(c.unwritten) == 0 {
		c.client.stall = false
	}
	c.client.mu.Unlock()
}

func (h *history) credit(t *rapid.T) {
	c, ok := h.conn(t)
	if !ok {
		return
	}
	key, ok := some(t, slices.Sorted(maps.Keys(c.subs)), "subscription")
	if !ok {
		return
	}
	op := h.receipt(c)
	op.Kind, op.Ack = OpAck, AckOp{Sub: key, Credit: rapid.IntRange(1, 3).Draw(t, "credit")}
	c.subs[key].window += op.Ack.Credit
	h.do(c, op)
}

func (h *history) advance(t *rapid.T) {
	h.strict = false
	d := rapid.SampledFrom([]time.Duration{
		time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 12 * time.Second, 40 * time.Second,
	}).Draw(t, "time")
	h.note("advance %v", d)
	time.Sleep(d)
}

func (h *history) disk(t *rapid.T) {
	h.strict = false
	free := uint64(1 << 20)
	if rapid.Bool().Draw(t, "free") {
		free = 1 << 40
	}
	h.note("disk has %d free", free)
	h.w.b.inbox.run(func() { h.w.b.core.diskFree(free) })
}

func (h *history) restart(t *rapid.T) {
	h.strict = false
	if rapid.Bool().Draw(t, "in good order") {
		h.detachAll()
	}
	h.note("restart")
	h.settleStep()
	h.m.restarted()
	h.w.restart()
}

// settleStep takes in what happened so far in the step.
func (h *history) settleStep() {
	synctest.Wait()
	now := time.Now().UnixMilli()
	h.m.take(h.began, now)
}

// drain takes everything out, and finds nothing left.
func (h *history) drain() {
	h.begin()
	h.strict = false
	h.detachAll()
	h.w.b.inbox.run(func() { h.w.b.core.diskFree(1 << 40) })
	time.Sleep(time.Minute)
	h.finish()
	for _, name := range queueNames {
		h.begin()
		h.connect(nil)
		c := h.m.conns["c"+strconv.Itoa(h.names)]
		s := &modelSub{conn: c, key: "s", number: 1, from: Address{Queue, name}, mode: AckAuto, backlog: h.m.queue(name)}
		c.subs["s"], c.numbers = s, []*modelSub{s}
		h.do(c, Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: s.from}})
		h.finish()
	}
	for name, q := range h.m.queues {
		for _, it := range q.items {
			if !it.uncertain {
				h.t.Fatalf("%v is left in %s", it, name)
			}
		}
	}
	for _, it := range h.m.waits {
		h.t.Fatalf("%v still waits for its time", it)
	}
	var memory int64
	h.w.b.call(h.ctx(), func(c *core) { memory = c.memory })
	if memory != 0 {
		h.t.Fatalf("%d octets are held by an empty broker", memory)
	}
}
