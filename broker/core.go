package broker

import (
	"math/bits"
	"time"

	"footfall/schedule"
	"footfall/selector"
	"footfall/store"
)

// core is the state of the broker and what may be done to it. It belongs to the
// loop, has no lock and starts nothing; what is to happen outside comes out of a round
// as values: a batch, outputs of connections, pages to load.
type core struct {
	opt Options

	now time.Time // of this round
	ms  int64     // the same in milliseconds since the epoch
	// from is what redelivery delays and ack timeouts count from: ms, but the next one when that has begun. Rounded down they would be
	// short by a part of one. What is announced as a time, in deliver-at, counts from ms.
	from int64

	epoch     uint32
	seq       [store.Shards]store.Seq // last given
	synced    [store.Shards]store.Seq // last on disk
	dests     map[Address]*destination
	durables  map[string]*destination   // of these, the durable subscriptions by name
	patterns  patternTree[*destination] // of these, those that topics feed which match them
	byID      map[destinationKey]*destination
	followers followers
	virtual   map[string][]*destination // queues that get copies, by the topic
	backlogs  map[backlogKey]*backlog   // of queues
	zones     *schedule.Zones
	policies  map[Choice]*policy // those in use
	agendas   [store.Shards]agenda
	loose     map[string][]*timed // what waits in memory only, by its id
	// looseReturning counts what waits in memory only to return to its place.
	looseReturning int64
	expiries       [store.Shards]timeline
	reading        map[store.RefKey]*timed // what expires behind a window, while it is read for the log
	readingBytes   int64                   // of reading
	expiryWaits    bool                    // until some of reading was taken in
	toRead         []store.RefKey          // of reading, in order, what is not being read yet
	underRead      bool                    // a read of some of them is under way
	expiryLog      destinationLog
	deadLog        destinationLog

	// While the store is searched for what waits, what happens to it is kept here.
	searches int
	dropped  map[store.DueKey]bool
	renamed  map[scheduleName]namedPlace
	fresh    map[scheduleName]found // what the search came upon that is being taken in
	hits     []found                // of hitsID
	hitsID   string

	selectors *selector.Compiler
	probe     selector.Message // of what is matched in the loop
	probed    properties
	seeing    seeing
	matched   []*tap // those that a message goes to
	match     func(*tap)

	walks      int                   // over places of queues that are under way
	leftPlaces map[store.RefKey]bool // places that were left meanwhile
	dups       duplicates

	standing int // destinations whose production is paused

	crowded map[*backlog]load64 // that senders wait for, with what they held then
	swollen []*backlog          // that may have more than they may have

	conns map[uint64]*Conn
	slab  deliveries

	batch   *store.Batch
	scratch []byte
	lefts   int       // places that were left, and are not in this round's batch by themselves
	givers  []giver   // shared messages that lost places in this round's batch
	put     uint64    // shards with a message in this round's batch, by bit
	urgent  bool      // somebody waits for this round's batch, or for one before it
	ready   bool      // the batch goes to the store in this round
	since   time.Time // when the first change came into it
	closing bool      // nothing gathers any more
	drained bool      // nothing goes to consumers any more
	again   bool      // there is something to take that nobody told of
	number  uint64    // of this round's batch, if it will be one
	durable uint64    // the last batch that is on disk
	round   *roundEffects
	flights ring[*roundEffects] // submitted, not yet on disk
	flying  int                 // octets of these

	fed     []*destination // scratch of feeds
	feeding uint64         // calls of it
	fanOut  []*tap         // scratch of publish
	spent   [store.Shards]spent
	dirty   []*backlog
	touched []*backlog
	changed []*Conn // with something in out
	loads   []load
	freed   []inboxEntry // worked off in this round

	leaving []*destination // temporary ones that may have come to their end

	timers  timers
	parked  []*Conn
	recheck bool // something that conns are parked for may have changed

	memory       int64 // Size of all messages in memory
	memoryHigh   bool
	retained     int64                     // Size of what topics keep for new subscribers
	retainers    map[*destination]struct{} // topics that do
	slowPatterns int                       // taps of patterns that hold up producers
	diskLow      bool
	nextEvict    time.Time
	filled       []*backlog // of queues, with something in memory, or emptied since the last look
	thirsty      []*backlog // whose next page waits until memory is no longer pressed
	loans        loans

	stats Stats
}

// roundEffects is what has to happen once the batch of a round is on disk.
type roundEffects struct {
	number uint64
	bytes  int
	conns  []*Conn // with answers that wait for it
	queues []queueMark
	shards []shardMark
	then   []func() // of callers without a connection
}

type queueMark struct {
	q    *backlog
	seen [store.Priorities]store.Seq
}

type shardMark struct {
	shard store.Shard
	seq   store.Seq
}

func newCore(opt Options, batch *store.Batch) *core {
	c := &core{
		opt: opt, batch: batch, number: 1, round: &roundEffects{number: 1},
		dests: map[Address]*destination{}, durables: map[string]*destination{}, byID: map[destinationKey]*destination{}, conns: map[uint64]*Conn{},
		backlogs: map[backlogKey]*backlog{}, zones: &schedule.Zones{}, policies: map[Choice]*policy{}, reading: map[store.RefKey]*timed{},
		selectors: selector.NewCompiler(opt.Selectors), loans: newLoans(opt.LentBytes), loose: map[string][]*timed{},
		dropped: map[store.DueKey]bool{}, renamed: map[scheduleName]namedPlace{},
	}
	for s := range c.agendas {
		c.agendas[s].whole, c.expiries[s].whole = true, true
	}
	c.virtual = map[string][]*destination{}
	c.crowded, c.retainers = map[*backlog]load64{}, map[*destination]struct{}{}
	c.dups.known = map[*destination]*sentIDs{}
	c.seeing.see = func(l *lens) {
		if !l.scanned.less(c.seeing.at) {
			c.seeing.lenses = append(c.seeing.lenses, l)
		}
	}
	c.match = func(t *tap) { c.matched = append(c.matched, t) }
	return c
}

// next gives a number that the shard never gave before.
func (c *core) next(s store.Shard) store.Seq {
	c.seq[s]++
	return c.seq[s]
}

// begin starts a round.
func (c *core) begin(now time.Time) {
	ms := now.UnixMilli()
	back := ms < c.ms-setBackBy
	c.now, c.ms, c.from = now, ms, ms
	if now.Nanosecond()%int(time.Millisecond) != 0 {
		c.from++
	}
	c.stats.Rounds++
	if back {
		c.opt.Log.Warn("the clock was set back", "to", now)
		c.setBack()
	}
}

// setBackBy is from how many milliseconds on it counts that the wall clock went back; less is a correction.
const setBackBy = 1000

// end finishes the round's state, so that what it leaves to the shell is complete.
func (c *core) end() {
	c.endTemporaries()
	c.fire()
	c.expire()
	c.timers.run(c)
	c.tidyLater()
	c.shed()
	c.relieve()
	c.watchMemory()
	c.feed()
	if c.recheck {
		c.recheck = false
		c.retryParked()
	}
	for i := 0; i < len(c.dirty); i++ { // grows while it runs
		q := c.dirty[i]
		q.dirty = false
		c.dispatch(q)
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
	c.easeMemory() // of what went to consumers
	c.again = c.again || len(c.dirty) > 0
	if c.ready = c.isDue(); c.ready {
		c.account()
	}
}

// A batch that nobody waits for, such as of acknowledgements, gathers what other rounds add for so long, or
// until it is so large.
const (
	gatherFor   = 10 * time.Millisecond
	gatherBytes = 64 << 10
)

// isDue tells whether the batch goes to the store in this round.
func (c *core) isDue() bool {
	if c.changes() == 0 && !c.urgent {
		return false
	}
	if c.since.IsZero() {
		c.since = c.now
	}
	// What is read of the store must show what was done before.
	return c.urgent || c.closing || len(c.loads) > 0 || c.batch.Bytes() >= gatherBytes || c.lefts >= gatherPlaces || !c.now.Before(c.since.Add(gatherFor))
}

// account puts the accounts of what changed into the batch.
func (c *core) account() {
	for i, q := range c.touched {
		q.touched = false
		c.touched[i] = nil
		if q.forgotten {
			continue
		}
		c.writeLeaving(q)
		c.batch.PutBacklog(q.account)
		mark := queueMark{q: q}
		for p := range mark.seen {
			mark.seen[p] = q.account.Lanes[p].Seen
		}
		c.round.queues = append(c.round.queues, mark)
	}
	c.touched = c.touched[:0]
	c.writeGivers()
	for s := range c.agendas {
		if a := &c.agendas[s]; a.touched {
			a.touched = false
			c.batch.PutSchedule(a.account)
		}
	}
	for set := c.put; set != 0; set &= set - 1 {
		s := store.Shard(bits.TrailingZeros64(set))
		c.round.shards = append(c.round.shards, shardMark{s, c.seq[s]})
	}
	c.put = 0
}

// submitted moves on to the next batch, as this round's was handed to the store.
func (c *core) submitted(bytes int, next *store.Batch) {
	c.round.bytes = bytes
	c.flying += bytes
	c.flights.pushBack(c.round)
	c.stats.Batches++
	c.number++
	c.urgent, c.since, c.lefts = false, time.Time{}, 0
	c.round = &roundEffects{number: c.number}
	c.batch = next
}

// landed lets go of what waited for the oldest batch under way, which is on disk now.
func (c *core) landed() {
	r := c.flights.popFront()
	c.flying -= r.bytes
	c.durable = r.number
	for _, m := range r.shards {
		c.synced[m.shard] = m.seq
	}
	for i := range r.queues {
		m := &r.queues[i]
		for p := range m.seen {
			m.q.seen[p] = max(m.q.seen[p], m.seen[p])
		}
		c.mark(m.q)
	}
	for _, f := range r.then {
		f()
	}
	for _, conn := range r.conns {
		for conn.held.len() > 0 && conn.held.at(0).batch <= c.durable {
			c.emit(conn, conn.held.popFront().output)
		}
		c.activate(conn)
	}
}

// activate lets subscriptions go on that waited for their receipts.
func (c *core) activate(conn *Conn) {
	if !conn.fenced {
		return
	}
	conn.fenced = false
	for _, s := range conn.inOrder() {
		if s.after != 0 && s.after <= c.durable && !s.ended {
			s.after = 0
			c.wake(s)
		}
		conn.fenced = conn.fenced || s.after != 0
	}
}

// mark has q looked at in this round's dispatch.
func (c *core) mark(q *backlog) {
	if !q.dirty {
		q.dirty = true
		c.dirty = append(c.dirty, q)
	}
}

// touch has q's account stored with this round.
func (c *core) touch(q *backlog) {
	if !q.touched {
		q.touched = true
		c.touched = append(c.touched, q)
	}
}

// emit gives conn an output at the end of the round.
func (c *core) emit(conn *Conn, o Output) {
	if conn.gone {
		return
	}
	if !conn.listed {
		conn.listed = true
		c.changed = append(c.changed, conn)
	}
	conn.out = append(conn.out, o)
}

// answer gives conn an answer once all that it did so far is on disk.
func (c *core) answer(conn *Conn, o Output) {
	if conn.held.len() == 0 && conn.lastBatch <= c.durable {
		c.emit(conn, o)
		return
	}
	conn.held.pushBack(held{batch: conn.lastBatch, output: o})
	c.urgent = true
}

// onDisk calls f once all that was done so far is on disk.
func (c *core) onDisk(f func()) {
	if c.changes() == 0 && c.flights.len() == 0 {
		f()
		return
	}
	c.round.then = append(c.round.then, f)
	c.urgent = true
}

// binds makes conn's answers wait for this round's batch.
func (c *core) binds(conn *Conn) {
	if conn.lastBatch != c.number {
		conn.lastBatch = c.number
		c.round.conns = append(c.round.conns, conn)
	}
}

// fail ends conn with an ERROR after the answers to what came before.
func (c *core) fail(conn *Conn, op *Op, err *Error) {
	if conn.ended {
		return
	}
	conn.ended = true
	if err.Kind == KindQuota {
		c.stats.OverQuota++
	}
	c.answer(conn, Output{Kind: OutputError, Err: err, WantReceipt: op.WantReceipt, Receipt: op.Receipt})
}

// hold and unhold count the memory of a message while somebody in here holds it.
func (c *core) hold(m *Message) {
	if m.holders++; m.holders == 1 {
		c.memory += m.Size()
	}
}

func (c *core) unhold(m *Message) {
	if m.holders--; m.holders == 0 {
		c.memory -= m.Size()
	}
}
