package storetest

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"

	"footfall/store"
)

// Model is what a store should hold, kept in maps, and the writer of a random history:
// each step is put into a batch and done to the model.
type Model struct {
	// Batches is the number of steps so far. Every step stores it, so that what a
	// store holds tells how far it got.
	Batches int
	// BlobPercent is how many of the bodies are large enough for chunks.
	BlobPercent int

	epoch        uint32
	count        uint64
	destinations map[destinationKey]store.Destination
	backlogs     map[backlogKey]store.Backlog
	schedules    map[store.Shard]store.Schedule
	refs         map[store.RefKey]message
	due          map[store.DueKey]message
}

type (
	destinationKey struct {
		shard store.Shard
		id    store.DestinationID
	}
	backlogKey struct {
		shard store.Shard
		id    store.BacklogID
	}
	message struct {
		head, body string
		blob       store.Blob
		attempts   store.Attempts
		owner      store.Seq // of one with several places
	}
)

func (m message) bytes() uint64 { return uint64(len(m.head) + len(m.body)) }

// marker is the destination whose time of creation is the number of steps.
var marker = store.Destination{Shard: 0, ID: 1, Kind: 9, Name: "marker"}

// NewModel returns the model of an empty store.
func NewModel() *Model {
	return &Model{
		BlobPercent:  1,
		destinations: map[destinationKey]store.Destination{},
		backlogs:     map[backlogKey]store.Backlog{},
		schedules:    map[store.Shard]store.Schedule{},
		refs:         map[store.RefKey]message{},
		due:          map[store.DueKey]message{},
	}
}

// Clone returns a copy that later steps do not change.
func (m *Model) Clone() *Model {
	c := *m
	c.destinations = maps.Clone(m.destinations)
	c.backlogs = maps.Clone(m.backlogs)
	c.schedules = maps.Clone(m.schedules)
	c.refs = maps.Clone(m.refs)
	c.due = maps.Clone(m.due)
	return &c
}

// Start tells the model that a store was opened: what it numbers from now on is of that epoch.
func (m *Model) Start(epoch uint32) { m.epoch, m.count = epoch, 0 }

// Count makes the model go on with the numbers of another one of the same epoch.
func (m *Model) Count(from *Model) {
	if from.epoch == m.epoch {
		m.count = from.count
	}
}

// Step does a few random things, to the model and in the batch.
func (m *Model) Step(rng *rand.Rand, b *store.Batch) {
	m.Batches++
	marker := marker
	marker.Created = int64(m.Batches)
	b.PutDestination(marker)
	changes := map[backlogKey]bool{}
	schedules := map[store.Shard]bool{}
	for range 1 + rng.IntN(6) {
		switch rng.IntN(14) {
		case 0:
			if len(m.backlogs) < 8 {
				m.makeBacklog(rng, b)
			}
		case 1:
			if len(m.backlogs) > 4 && rng.IntN(4) == 0 {
				m.dropBacklog(rng, b, changes)
			}
		case 2, 3, 4, 5:
			m.putRef(rng, b, changes)
		case 6, 7, 8:
			m.dropRef(rng, b, changes)
		case 9:
			m.putAttempts(rng, b)
		case 10:
			m.putDue(rng, b, schedules)
		case 11:
			m.takeDue(rng, b, changes, schedules)
		case 12, 13:
			m.putShared(rng, b, changes)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(changes), compareBacklogs) {
		m.raiseHeads(k)
		b.PutBacklog(m.backlogs[k])
		if p := uint8(rng.IntN(store.Priorities)); rng.IntN(4) == 0 {
			b.DropLeft(store.RefKey{Shard: k.shard, Backlog: k.id, Priority: p}, m.backlogs[k].Lanes[p].Head)
		}
	}
	for s := range schedules {
		b.PutSchedule(m.schedules[s])
	}
}

func (m *Model) next() store.Seq {
	m.count++
	return store.FirstSeq(m.epoch) + store.Seq(m.count)
}

func (m *Model) makeBacklog(rng *rand.Rand, b *store.Batch) {
	shard := []store.Shard{0, 5, 63}[rng.IntN(3)]
	d := store.Destination{Shard: shard, ID: store.DestinationID(m.next()), Kind: 1, Name: fmt.Sprintf("q%d\x00ü", m.count), Created: rng.Int64()}
	if rng.IntN(3) == 0 {
		d.Properties = random(rng, 1+rng.IntN(40))
	}
	bl := store.Backlog{Shard: shard, ID: store.BacklogID(m.next()), Destination: d.ID}
	b.PutDestination(d)
	b.PutBacklog(bl)
	m.destinations[destinationKey{shard, d.ID}] = d
	m.backlogs[backlogKey{shard, bl.ID}] = bl
}

func (m *Model) dropBacklog(rng *rand.Rand, b *store.Batch, changes map[backlogKey]bool) {
	k, ok := pick(rng, m.backlogs, compareBacklogs)
	if !ok {
		return
	}
	for _, ref := range m.refsOf(k) {
		if msg := m.refs[ref]; msg.blob != (store.Blob{}) || msg.owner != 0 {
			m.drop(rng, b, ref)
		}
		delete(m.refs, ref)
	}
	b.DropBacklog(k.shard, k.id)
	b.DropDestination(k.shard, m.backlogs[k].Destination)
	delete(m.destinations, destinationKey{k.shard, m.backlogs[k].Destination})
	delete(m.backlogs, k)
	delete(changes, k)
}

func (m *Model) putRef(rng *rand.Rand, b *store.Batch, changes map[backlogKey]bool) {
	k, ok := pick(rng, m.backlogs, compareBacklogs)
	if !ok {
		return
	}
	ref := store.RefKey{Shard: k.shard, Backlog: k.id, Priority: uint8(rng.IntN(store.Priorities)), Seq: m.next()}
	msg := m.message(rng)
	msg.blob = b.PutRef(ref, []byte(msg.head), []byte(msg.body))
	m.addRef(ref, msg, changes)
}

func (m *Model) addRef(ref store.RefKey, msg message, changes map[backlogKey]bool) {
	k := backlogKey{ref.Shard, ref.Backlog}
	m.refs[ref] = msg
	bl := m.backlogs[k]
	bl.Bytes += msg.bytes()
	bl.Lanes[ref.Priority].Count++
	m.backlogs[k] = bl
	changes[k] = true
}

func (m *Model) dropRef(rng *rand.Rand, b *store.Batch, changes map[backlogKey]bool) {
	ref, ok := pick(rng, m.refs, compareRefs)
	if !ok {
		return
	}
	msg := m.refs[ref]
	m.drop(rng, b, ref)
	delete(m.refs, ref)
	k := backlogKey{ref.Shard, ref.Backlog}
	bl := m.backlogs[k]
	bl.Bytes -= msg.bytes()
	bl.Lanes[ref.Priority].Count--
	m.backlogs[k] = bl
	changes[k] = true
}

func (m *Model) putAttempts(rng *rand.Rand, b *store.Batch) {
	ref, ok := pick(rng, m.refs, compareRefs)
	if !ok {
		return
	}
	msg := m.refs[ref]
	msg.attempts.Deliveries++
	msg.attempts.Failures += uint32(rng.IntN(2))
	b.PutAttempts(ref, msg.attempts)
	m.refs[ref] = msg
}

func (m *Model) putDue(rng *rand.Rand, b *store.Batch, schedules map[store.Shard]bool) {
	k := store.DueKey{Shard: 5, At: rng.Int64N(50) - 10, Seq: m.next()}
	msg := m.message(rng)
	msg.blob = b.PutDue(k, []byte(msg.head), []byte(msg.body))
	m.due[k] = msg
	m.countDue(k.Shard, 1, msg, schedules)
}

func (m *Model) countDue(s store.Shard, n int, msg message, schedules map[store.Shard]bool) {
	sc := m.schedules[s]
	sc.Shard = s
	sc.Count += uint64(n)
	sc.Bytes += uint64(n) * msg.bytes()
	m.schedules[s] = sc
	schedules[s] = true
}

// takeDue drops what waits, or moves it to a backlog of its shard.
func (m *Model) takeDue(rng *rand.Rand, b *store.Batch, changes map[backlogKey]bool, schedules map[store.Shard]bool) {
	k, ok := pick(rng, m.due, func(a, b store.DueKey) int { return int(int64(a.Seq) - int64(b.Seq)) })
	if !ok {
		return
	}
	msg := m.due[k]
	delete(m.due, k)
	m.countDue(k.Shard, -1, msg, schedules)
	to, ok := pick(rng, m.backlogs, compareBacklogs)
	if !ok || to.shard != k.Shard {
		b.DropDue(k, msg.blob, false)
		return
	}
	ref := store.RefKey{Shard: to.shard, Backlog: to.id, Priority: uint8(rng.IntN(store.Priorities)), Seq: m.next()}
	if msg.blob == (store.Blob{}) {
		b.DropDue(k, msg.blob, false)
		b.PutRef(ref, []byte(msg.head), []byte(msg.body))
	} else {
		b.DropDue(k, msg.blob, true)
		b.PutRefBlob(ref, []byte(msg.head), msg.blob)
	}
	m.addRef(ref, msg, changes)
}

// raiseHeads moves the head marks to the first message of each priority.
func (m *Model) raiseHeads(k backlogKey) {
	bl := m.backlogs[k]
	for p := range bl.Lanes {
		bl.Lanes[p].Head = store.FirstSeq(m.epoch) + store.Seq(m.count) + 1
	}
	for _, ref := range m.refsOf(k) {
		l := &bl.Lanes[ref.Priority]
		l.Head = min(l.Head, ref.Seq)
	}
	m.backlogs[k] = bl
}

func (m *Model) refsOf(k backlogKey) []store.RefKey {
	var refs []store.RefKey
	for ref := range m.refs {
		if ref.Shard == k.shard && ref.Backlog == k.id {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, compareRefs)
	return refs
}

func (m *Model) message(rng *rand.Rand) message {
	size := rng.IntN(300)
	if rng.IntN(100) < m.BlobPercent {
		size = store.ChunkBytes - 1 + rng.IntN(2*store.ChunkBytes)
	}
	return message{head: random(rng, rng.IntN(40)), body: random(rng, size)}
}

func random(rng *rand.Rand, size int) string {
	octets := make([]byte, size)
	for i := range octets {
		octets[i] = byte(rng.Uint32())
	}
	return string(octets)
}

func compareBacklogs(a, b backlogKey) int { return cmp.Compare(a.id, b.id) }

func compareRefs(a, b store.RefKey) int {
	for _, d := range []int64{int64(a.Shard) - int64(b.Shard), int64(a.Backlog) - int64(b.Backlog), int64(b.Priority) - int64(a.Priority), int64(a.Seq) - int64(b.Seq)} {
		if d != 0 {
			return int(max(-1, min(1, d)))
		}
	}
	return 0
}

// pick returns one of the keys, the same for the same random numbers.
func pick[K comparable, V any](rng *rand.Rand, from map[K]V, compare func(a, b K) int) (k K, ok bool) {
	if len(from) == 0 {
		return k, false
	}
	keys := slices.SortedFunc(maps.Keys(from), compare)
	return keys[rng.IntN(len(keys))], true
}

// State is all that a model or a store holds, a line for each thing.
type State map[string]string

// State of the model.
func (m *Model) State() State {
	st := State{}
	if m.Batches > 0 {
		marker := marker
		marker.Created = int64(m.Batches)
		st.destination(marker)
	}
	for _, d := range m.destinations {
		st.destination(d)
	}
	for _, b := range m.backlogs {
		st.backlog(b)
	}
	for _, s := range m.schedules {
		st.schedule(s)
	}
	for k, msg := range m.refs {
		st.message(fmt.Sprintf("ref %v", k), msg)
	}
	for k, msg := range m.due {
		st.message(fmt.Sprintf("due %v", k), msg)
	}
	return st
}

func (st State) destination(d store.Destination) {
	st[fmt.Sprintf("destination %d/%d", d.Shard, d.ID)] = fmt.Sprintf("{Shard:%d ID:%d Kind:%d Name:%s Created:%d}%s", d.Shard, d.ID, d.Kind, d.Name, d.Created, d.Properties)
}

func (st State) backlog(b store.Backlog) {
	st[fmt.Sprintf("backlog %d/%d", b.Shard, b.ID)] = fmt.Sprintf("%+v", b)
}

func (st State) schedule(s store.Schedule) {
	st[fmt.Sprintf("schedule %d", s.Shard)] = fmt.Sprintf("%+v", s)
}

func (st State) message(key string, m message) {
	st[key] = fmt.Sprintf("%x %d %08x %v %v", m.head, len(m.body), crc32.ChecksumIEEE([]byte(m.body)), m.blob, m.attempts)
	if m.owner != 0 {
		st[key] += fmt.Sprintf(" of %d", m.owner)
	}
}

// Read returns what a store holds that was just opened, and the number of steps that
// made it, by going through it in pages.
func Read(s Store) (st State, batches int, err error) {
	st = State{}
	r := s.Recovered()
	for _, d := range r.Destinations {
		st.destination(d)
		if d.Shard == marker.Shard && d.ID == marker.ID {
			batches = int(d.Created)
		}
	}
	for _, sc := range r.Schedules {
		st.schedule(sc)
	}
	for _, b := range r.Backlogs {
		st.backlog(b)
		if err := st.readRefs(s, b); err != nil {
			return st, batches, err
		}
	}
	for shard := range store.Shard(store.Shards) {
		if err := st.readDue(s, shard); err != nil {
			return st, batches, err
		}
	}
	return st, batches, nil
}

func (st State) readRefs(s Store, b store.Backlog) error {
	q := store.RefScan{From: store.RefKey{Shard: b.Shard, Backlog: b.ID, Priority: store.Priorities - 1}, MaxCount: 3, MaxBytes: 1000}
	for p := range b.Lanes {
		q.Heads[p] = b.Lanes[p].Head
	}
	for {
		refs, more, err := s.ScanRefs(q)
		if err != nil {
			return err
		}
		for _, r := range refs {
			st.message(fmt.Sprintf("ref %v", r.Key), message{string(r.Head), string(r.Body), r.Blob, r.Attempts, r.Owner})
			q.From = r.Key
			q.From.Seq++
		}
		if !more {
			return nil
		}
	}
}

func (st State) readDue(s Store, shard store.Shard) error {
	q := store.DueScan{From: store.DueKey{Shard: shard, At: -1 << 63}, Until: 1<<63 - 1, MaxCount: 3, MaxBytes: 1000}
	for {
		due, more, err := s.ScanDue(q)
		if err != nil {
			return err
		}
		for _, d := range due {
			st.message(fmt.Sprintf("due %v", d.Key), message{string(d.Head), string(d.Body), d.Blob, store.Attempts{}, 0})
			q.From = d.Key
			q.From.Seq++
		}
		if !more {
			return nil
		}
	}
}
