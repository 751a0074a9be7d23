package broker

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"footfall/store/storetest"
)

// TestCrashes is TestRandomHistories on a disk that loses its power at random moments, also while
// batches are under way, and keeps some share of what was not synced.
func TestCrashes(t *testing.T) {
	setRapid(t, 40, 25)
	for range rounds() {
		synctest.Test(t, func(t *testing.T) {
			rapid.Check(bubbled{t}, func(t *rapid.T) {
				tidy := &tidied{}
				defer tidy.up()
				h := newCrashHistory(t, tidy)
				defer func() { h.w.stop() }()
				h.populate(t)
				acts := h.actions(h.everything())
				acts["crash"] = h.crash
				acts["crash again"] = h.crash
				t.Repeat(acts)
				h.drain()
			})
		})
	}
}

func newCrashHistory(t *rapid.T, tb testing.TB) *history {
	opt := drawOptions(t)
	opt.Policies = deathless()
	return &history{endless: true, t: t, w: newDiskWorld(t, opt, storetest.NewDisk(tb)), m: newModel()}
}

// tidied is a test whose cleanups are done earlier than at its end.
type tidied struct {
	testing.TB
	todo []func()
}

func (t *tidied) Cleanup(f func()) { t.todo = append(t.todo, f) }

func (t *tidied) up() {
	for _, f := range slices.Backward(t.todo) {
		f()
	}
}

// crash has some clients at work and cuts the power at a sync of theirs. What they knew at that moment must be true afterwards.
func (h *history) crash(t *rapid.T) {
	h.m.step++
	h.strict = false
	h.began = time.Now().UnixMilli()
	c := h.cut(t)
	var todo []*deed
	for range rapid.IntRange(0, 6).Draw(t, "requests") {
		if d := h.deed(t, todo); d != nil {
			todo = append(todo, d)
		}
		if rapid.IntRange(0, 3).Draw(t, "pause") == 3 {
			time.Sleep(rapid.SampledFrom([]time.Duration{100 * time.Millisecond, 3 * time.Second}).Draw(t, "time"))
		}
	}
	synctest.Wait()
	c.now()
	h.note("crash, of what was not synced %d%% is left", c.percent)
	h.w.stop()
	took := h.taken()
	h.aftermath(c, todo, took)
	h.w.use(c.disk)
	h.w.start()
	h.finish()
	for _, d := range todo {
		h.whole(d, took)
	}
}

// cut is the moment at which the power goes.
type cut struct {
	h       *history
	percent int
	seed    uint64

	mu    sync.Mutex
	after int                     // syncs from now on
	disk  *storetest.Disk         // nil: it did not happen yet
	known map[*modelConn][]Output // what the clients had got before
}

func (h *history) cut(t *rapid.T) *cut {
	c := &cut{
		h: h, percent: rapid.SampledFrom([]int{0, 30, 70, 100}).Draw(t, "percent left"),
		seed: rapid.Uint64().Draw(t, "seed"), after: rapid.IntRange(1, 12).Draw(t, "syncs"),
	}
	h.w.disk.OnSync(func() {
		c.mu.Lock()
		c.after--
		due := c.after == 0
		c.mu.Unlock()
		if due {
			c.now()
		}
	})
	return c
}

// now cuts the power, unless that was done. What the clients have is looked at first: what they
// get in the meantime may be missing, but nothing that they have.
func (c *cut) now() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.disk != nil {
		return
	}
	c.known = map[*modelConn][]Output{}
	for _, conn := range c.h.m.conns {
		conn.client.mu.Lock()
		c.known[conn] = slices.Clone(conn.client.outputs)
		conn.client.mu.Unlock()
	}
	c.disk = c.h.w.disk.Crash(c.percent, c.seed)
}

// deed is a request that may have been done or not when the power went.
type deed struct {
	conn    *modelConn
	receipt string
	done    bool // its receipt came
	sends   []*modelSend
	acks    []*modelDelivery
	nacks   []*modelDelivery
}

// deed submits a request: a SEND, an ACK or NACK, or a transaction of several.
func (h *history) deed(t *rapid.T, before []*deed) *deed {
	c, ok := h.conn(t)
	if !ok {
		return nil
	}
	d := &deed{conn: c}
	var ops []Op
	op := h.receipt(c)
	d.receipt = op.Receipt
	switch kind := rapid.SampledFrom([]OpKind{OpSend, OpSend, OpAck, OpNack, OpCommit}).Draw(t, "deed"); kind {
	case OpSend:
		d.sends = append(d.sends, h.sendOp(t, c, &op))
	case OpAck, OpNack:
		if !h.settleIn(t, d, before, kind, &op) {
			return nil
		}
	case OpCommit:
		c.lastTx++
		for range rapid.IntRange(0, 2).Draw(t, "acks") {
			ack := Op{Tx: c.lastTx}
			if h.settleIn(t, d, before, OpAck, &ack) {
				ops = append(ops, ack)
			}
		}
		op.Kind, op.Tx = OpCommit, c.lastTx
		for range rapid.IntRange(0, 3).Draw(t, "messages") {
			op.Sends = append(op.Sends, h.sendInCommit(t, c, op.Receipt))
			d.sends = append(d.sends, c.sends[len(c.sends)-1])
		}
	}
	h.do(c, append(ops, op)...)
	return d
}

// settleIn draws deliveries of d's connection that no earlier deed settles.
func (h *history) settleIn(t *rapid.T, d *deed, before []*deed, kind OpKind, op *Op) bool {
	free := slices.DeleteFunc(d.conn.deliveries(), func(x *modelDelivery) bool {
		return slices.Contains(d.acks, x) || slices.ContainsFunc(before, func(b *deed) bool {
			return slices.Contains(b.acks, x) || slices.Contains(b.nacks, x)
		})
	})
	x, ok := some(t, free, "delivery")
	if !ok {
		return false
	}
	op.Kind, op.Ack = kind, AckOp{SubNumber: x.sub.number, Number: x.number}
	for _, y := range x.upTo() {
		switch {
		case !slices.Contains(free, y):
		case kind == OpNack:
			d.nacks = append(d.nacks, y)
		default:
			d.acks = append(d.acks, y)
		}
	}
	return true
}

// aftermath has the model be as the crash left things: what was answered is true, the rest may be.
func (h *history) aftermath(c *cut, todo []*deed, took map[string]bool) {
	answered := map[string]bool{}
	for _, outs := range c.known {
		for _, o := range outs {
			if o.Kind == OutputReceipt {
				answered[o.Receipt] = true
			}
		}
	}
	for _, conn := range slices.Concat(h.m.sortedConns(), h.m.former) {
		for _, s := range conn.sends { // of this step, or held up earlier
			h.m.survivor(s, !answered[s.receipt])
		}
		for receipt, tx := range conn.commits {
			h.m.halfway(conn, tx, answered[receipt])
		}
	}
	for _, d := range todo {
		d.done = answered[d.receipt]
		for _, x := range d.nacks {
			x.item.most += 2
			if d.done {
				x.item.least++
			}
		}
		for _, x := range d.acks {
			if d.done {
				h.m.acknowledged(x)
			} else {
				x.item.uncertain = true
			}
		}
	}
	h.m.overdue(time.Now().UnixMilli())
	h.m.seen(c.known, took)
	h.m.restarted()
}

// taken lists what auto subscriptions got in the step.
func (h *history) taken() map[string]bool {
	took := map[string]bool{}
	for _, c := range h.m.sortedConns() {
		for _, o := range c.client.take() {
			if o.Kind == OutputMessage && c.numbers[o.SubNumber-1].mode == AckAuto {
				took[bodyName(o.Message.Body)] = true
			}
		}
	}
	return took
}

// halfway is a COMMIT that was held up before the power went.
func (m *model) halfway(c *modelConn, tx uint64, done bool) {
	if done {
		m.committed(c, tx)
		return
	}
	for _, d := range c.txs[tx] {
		d.item.uncertain = d.item.uncertain || !d.nack
		d.item.most++
	}
}

// survivor gives a SEND its place, or has it wait for its time, as a start will find it, if
// somebody took it.
func (m *model) survivor(s *modelSend, uncertain bool) {
	switch {
	case s.msg.Timestamp == 0:
	case s.delay > 0 || s.job != nil || s.to.Kind == Queue:
		m.taken(s, uncertain)
	}
}

// seen marks what the clients had got in the step that the crash ended. It must come as redelivered,
// but for what an auto subscription took, perhaps.
func (m *model) seen(known map[*modelConn][]Output, took map[string]bool) {
	for c, outs := range known {
		for _, o := range outs {
			if o.Kind != OutputMessage {
				continue
			}
			for _, it := range slices.Concat(m.waiting(c.numbers[o.SubNumber-1]), m.waits) {
				if it.sent.body != bodyName(o.Message.Body) {
					continue
				}
				if it.sent.job == nil { // else it may have been another one of its messages
					it.least = max(it.least, 1)
				}
				it.most = max(it.most, o.Deliveries) + 2
			}
		}
	}
	// What came after that moment counts for nobody, but may have left its mark.
	all := slices.Clone(m.waits)
	for _, q := range m.queues {
		all = append(all, q.items...)
	}
	for _, it := range all {
		it.most += 3
		it.uncertain = it.uncertain || took[it.sent.body]
	}
}

// whole checks that a transaction was done or not, but not in part.
func (h *history) whole(d *deed, took map[string]bool) {
	var done, undone int
	count := func(is bool) {
		if is {
			done++
		} else {
			undone++
		}
	}
	for _, s := range d.sends {
		if s.msg.Persistent && s.to.Kind == Queue && s.ttl == 0 && !took[s.body] {
			count(h.m.has(s))
		}
	}
	for _, x := range d.acks {
		if x.item.persistent() && x.item.sent.ttl == 0 && x.item.sent.job == nil && x.item.sent.to.Kind == Queue {
			count(!h.m.has(x.item.sent))
		}
	}
	if done > 0 && undone > 0 {
		h.t.Fatalf("of the request with receipt %s %d parts were done and %d not\n%s", d.receipt, done, undone, strings.Join(h.log, "\n"))
	}
}

// has tells whether a message to a queue lives.
func (m *model) has(s *modelSend) bool {
	is := func(it *modelItem) bool { return it.sent == s }
	return slices.ContainsFunc(m.queue(s.to.Name).items, is) || slices.ContainsFunc(m.waits, is)
}
