package broker

import (
	"context"
	"flag"
	"fmt"
	"os"
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
		fewLeave:        rapid.SampledFrom([]int{-1, 1, 16}).Draw(t, "few leave"),
		MaxWindow:       rapid.SampledFrom([]int{2, 100}).Draw(t, "max window"),
		LentBytes:       int64(rapid.SampledFrom([]int{1, 2000, 6000, 128 << 20}).Draw(t, "lent")),
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
	endless  bool   // jobs do not end, and nothing scheduled has a name of its sender's
}

var (
	queueNames = []string{"a", "b", "c"}
	topicNames = []string{"t", "u", "t.u"}
)

func newHistory(t *rapid.T, opt Options) *history {
	if opt.Policies == nil {
		opt.Policies = deathless()
	}
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
		"slow": h.slow, "slow again": h.slow, "advance": h.advance, "advance again": h.advance, "restart": h.restart, "disk": h.disk,
		"cancel": h.cancel, "reschedule": h.reschedule, "run now": h.runNow, "browse": h.browse, "delete": h.deleteQueue, "pause": h.pauseQueue, "pause again": h.pauseQueue,
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
	h.m.began = h.began
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
	h.m.expire(now)
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
	h.m.atRest(parked, h.starved())
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

// pass lets time pass in the bubble.
func (h *history) pass(d time.Duration) { time.Sleep(d) }

func (h *history) ctx() context.Context { return context.Background() }

// expected checks that there was a reason for the ERROR or CLOSE that ended a connection.
func (h *history) expected(c *modelConn, err *Error) {
	switch err.Kind {
	case "", KindSlow:
	case KindResource, KindPaused:
		c.sends = nil
	case KindDeleted:
		if !c.doomed {
			h.m.bad("%s has nothing of a queue that was deleted, and got %s", c.name, err.Message)
		}
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
		k, _ := m.Header.Get("k")
		text := fmt.Sprintf("send %s %s persistent=%v priority=%d delay=%d ttl=%d id=%s size=%d k=%s", op.To, bodyName(m.Body), m.Persistent, m.Priority, m.Delay, m.TTL, m.ScheduledID, m.Size(), k)
		if m.Plan != nil {
			text += fmt.Sprintf(" repeat=%+v", m.Plan.Repeat)
		}
		return text
	case OpSubscribe:
		s := op.Subscribe
		return fmt.Sprintf("subscribe %s %s%v mode=%d window=%d selector=%q", s.ID, s.From, s.Parts, s.Mode, s.Window, s.Selector)
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

// starved returns the consumers that get nothing more for their share of memory.
func (h *history) starved() map[*Conn]map[uint64]bool {
	set := map[*Conn]map[uint64]bool{}
	h.w.b.call(h.ctx(), func(c *core) {
		for _, conn := range c.conns {
			set[conn] = map[uint64]bool{}
			for n, s := range conn.numbers {
				set[conn][n] = !c.loans.affords(s)
			}
		}
	})
	return set
}

// drain takes everything out, and finds nothing left.
func (h *history) drain() {
	h.begin()
	h.strict = false
	h.detachAll()
	for _, name := range queueNames {
		h.setPaused(Address{Kind: Queue, Name: name}, 0)
	}
	h.w.b.inbox.run(func() { h.w.b.core.diskFree(1 << 40) })
	h.endJobs()
	for _, name := range append(queueNames, browsed) {
		h.begin()
		h.connect(nil)
		c := h.m.conns["c"+strconv.Itoa(h.names)]
		from := Address{Kind: Queue, Name: name}
		s := &modelSub{conn: c, key: "s", number: 1, froms: []Address{from}, mode: AckAuto, coming: &modelBacklog{}}
		h.m.queue(name)
		c.subs["s"], c.numbers = s, []*modelSub{s}
		h.do(c, Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: from}})
		h.finish()
	}
	for name, q := range h.m.queues {
		for _, it := range q.items {
			if !it.uncertain {
				h.t.Fatalf("%v is left in %s\n%s", it, name, strings.Join(h.log, "\n"))
			}
		}
	}
	for _, it := range h.m.waits {
		h.t.Fatalf("%v still waits for its time\n%s", it, strings.Join(h.log, "\n"))
	}
	var memory int64
	h.w.b.call(h.ctx(), func(c *core) { memory = c.memory })
	if memory != 0 {
		h.t.Fatalf("%d octets are held by an empty broker", memory)
	}
}
