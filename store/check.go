package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// MaxProblems bounds the problems that a Report tells in words; the others are only counted.
const MaxProblems = 100

// Report is what a full look at a store found.
type Report struct {
	// Problems says in words what is wrong, at most MaxProblems of them.
	Problems []string
	// More is the number of problems beyond these.
	More int

	Destinations, Backlogs, Messages, Due, Attempts, Chunks, Names, Expiries uint64
	// Shared are messages that several places have, each of which counts as a message; Spent is what is left of such messages and chunks.
	Shared, Spent uint64
	// Left are places below head marks, which are no messages any more and are yet to be cleared away.
	Left uint64
	// Duplicates are the ids that destinations were sent.
	Duplicates uint64
	// Bytes is that of all messages, head and body, due ones too.
	Bytes uint64
}

// OK tells whether nothing is wrong.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// Err is nil if nothing is wrong, else an ErrCorrupt that tells the first problem and how many there are.
func (r Report) Err() error {
	if r.OK() {
		return nil
	}
	return fmt.Errorf("%w: %d problems, the first: %s", ErrCorrupt, len(r.Problems)+r.More, r.Problems[0])
}

// String tells everything, one line each.
func (r Report) String() string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintln(&b, p)
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d more problems\n", r.More)
	}
	fmt.Fprintf(&b, "%d destinations, %d backlogs, %d messages, %d due, %d bytes\n", r.Destinations, r.Backlogs, r.Messages, r.Due, r.Bytes)
	return b.String()
}

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) == MaxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Check opens the store in a directory for reading only and looks at every record: each
// message is in exactly one place, and in a backlog that exists; each body is whole and belongs to one message;
// a shared message has as many places as it says; accounts equal what is there; headers follow from each other; nothing is
// behind the high-water mark. The error is for what cannot be looked at at all. It takes 8 octets of memory for each message of a shard, and some 50 for a shared one.
func Check(dir string) (rep Report, err error) {
	err = viewDirectory(dir, func(r reader, m mark) error {
		rep, err = checkAll(r)
		if err != nil {
			return err
		}
		f, err := readFormat(r)
		if err != nil {
			return err
		}
		c, err := readChain(r, f.epoch)
		if err != nil {
			return err
		}
		if err := m.missing(f, &c); err != nil {
			rep.problem("%v", err)
		}
		return nil
	})
	return rep, err
}

// Check looks at every record, as they are at this moment.
func (s *Store) Check() (rep Report, err error) {
	err = s.read(0, func(r reader) error {
		rep, err = checkAll(r)
		return err
	})
	return rep, err
}

// Check looks at every record, as they are at this moment.
func (m *Memory) Check() (rep Report, err error) {
	err = m.read(0, func(r reader) error {
		rep, err = checkAll(r)
		return err
	})
	return rep, err
}

// checkAll reads all records in the order of keys, which is, within a shard, that of
// their kinds: what is referred to mostly comes before what refers to it.
func checkAll(r reader) (Report, error) {
	c := checker{r: r, sharedReader: sharedReader{r: r}}
	defer func() { _ = c.sharedReader.close() }()
	f, err := readFormat(r)
	if err != nil {
		return c.rep, err
	}
	c.epoch = f.epoch
	c.begin(0)
	err = each(r, []byte{0}, []byte{math.MaxUint8}, func(key, value []byte) error {
		s, k, err := splitKey(key)
		if err != nil {
			c.rep.problem("%v", err)
			return nil
		}
		if s != c.shard {
			c.end()
			c.begin(s)
		}
		if err := c.record(k, key, value); err != nil {
			c.rep.problem("shard %d: %v", s, err)
		}
		return nil
	})
	switch {
	case errors.Is(err, ErrCorrupt), pebble.IsCorruptionError(err):
		c.rep.problem("cannot be read further: %v", err)
	case err != nil:
		return c.rep, err
	default:
		c.end()
	}
	return c.rep, nil
}

// checker holds what it has seen of one shard.
type checker struct {
	r     reader
	rep   Report
	epoch uint32

	shard        Shard
	destinations map[DestinationID]string
	backlogs     map[BacklogID]*checkedBacklog
	schedule     Schedule // as it says
	due          Schedule // as it is
	seqs         []Seq    // of all places
	blobs        map[Seq]Blob
	chunks       Blob // of the owner that is being read
	shared       sharedCheck
	sharedReader sharedReader
}

type checkedBacklog struct {
	Backlog         // as it says
	found   Backlog // as it is
	known   bool
}

func (c *checker) begin(s Shard) {
	c.shard = s
	c.destinations = map[DestinationID]string{}
	c.backlogs = map[BacklogID]*checkedBacklog{}
	c.blobs = map[Seq]Blob{}
	c.schedule, c.due, c.chunks = Schedule{}, Schedule{}, Blob{}
	c.shared = sharedCheck{places: map[Seq]sharedPlaces{}, blobs: map[Seq]Blob{}, counts: map[Seq]uint32{}}
	c.seqs = c.seqs[:0]
}

func (c *checker) record(k kind, key, value []byte) error {
	switch k {
	case kindMeta:
		l, err := decodeLink(value)
		if err == nil && (l.epoch > c.epoch || l.seq == 0) {
			err = fmt.Errorf("header is of epoch %d, batch %d; the store is at epoch %d", l.epoch, l.seq, c.epoch)
		}
		return err
	case kindDestination:
		d, err := decodeDestination(key, value)
		c.destinations[d.ID] = d.Name
		c.rep.Destinations++
		return err
	case kindBacklog:
		return c.backlog(key, value)
	case kindSchedule:
		s, err := decodeSchedule(key, value)
		c.schedule = s
		return err
	case kindRef:
		return c.ref(key, value)
	case kindAttempts:
		return c.attempts(key, value)
	case kindDue:
		return c.dueMessage(key, value)
	case kindChunk:
		return c.chunk(key, value)
	case kindMessage:
		return c.sharedMessage(key, value)
	case kindSharedChunk:
		return c.sharedChunk(key, value)
	case kindName:
		return c.name(key, value)
	case kindExpiry:
		return c.expiry(key, value)
	case kindDuplicate:
		return c.duplicate(key, value)
	case kindFormat:
		return nil // was read
	}
	return fmt.Errorf("unexpected %s record %x", k, key)
}

func (c *checker) backlog(key, value []byte) error {
	b, err := decodeBacklog(key, value)
	if err != nil {
		return err
	}
	c.rep.Backlogs++
	c.backlogs[b.ID] = &checkedBacklog{Backlog: b, known: true}
	if _, ok := c.destinations[b.Destination]; !ok {
		return fmt.Errorf("backlog %d is of destination %d, which is not there", b.ID, b.Destination)
	}
	return nil
}

func (c *checker) ref(key, value []byte) error {
	k, err := decodePlaceKey(key, kindRef)
	if err != nil {
		return err
	}
	b := c.backlogs[k.Backlog]
	if b == nil {
		b = &checkedBacklog{Backlog: Backlog{ID: k.Backlog}}
		c.backlogs[k.Backlog] = b
		c.rep.problem("shard %d: backlog %d is not there, but has message %d", c.shard, k.Backlog, k.Seq)
	}
	if k.Seq < b.Lanes[k.Priority].Head {
		c.rep.Left++
		return nil
	}
	size, err := c.message(k.Seq, value)
	b.found.Bytes += size
	b.found.Lanes[k.Priority].Count++
	c.rep.Messages++
	return err
}

// at calls f with the message in a place, if there is one.
func (c *checker) at(k RefKey, f func(value []byte) error) error {
	if b := c.backlogs[k.Backlog]; b != nil && k.Seq < b.Lanes[k.Priority].Head {
		return nil
	}
	place := appendPlaceKey(nil, kindRef, k)
	return each(c.r, place, append(place[:len(place):len(place)], 0), func(_, value []byte) error { return f(value) })
}

func (c *checker) dueMessage(key, value []byte) error {
	k, err := decodeDueKey(key)
	if err != nil {
		return err
	}
	size, err := c.message(k.Seq, value)
	c.due.Count++
	c.due.Bytes += size
	c.rep.Due++
	return err
}

// message looks at one in either kind of place, and returns its size.
func (c *checker) message(seq Seq, value []byte) (size uint64, err error) {
	if isShared(value) {
		c.seqs = append(c.seqs, seq)
		return c.sharedPlace(value)
	}
	head, body, blob, err := decodeMessage(value)
	if err != nil {
		return 0, err
	}
	if epoch := uint32(seq >> SeqBits); epoch > c.epoch {
		c.rep.problem("shard %d: message %d is of epoch %d, the store is at %d", c.shard, seq, epoch, c.epoch)
	}
	c.seqs = append(c.seqs, seq)
	if blob != (Blob{}) {
		if _, twice := c.blobs[blob.Owner]; twice {
			c.rep.problem("shard %d: body %d belongs to two messages, one of them is %d", c.shard, blob.Owner, seq)
		}
		c.blobs[blob.Owner] = blob
	}
	size = uint64(len(head)+len(body)) + blob.Bytes
	c.rep.Bytes += size
	return size, nil
}

func (c *checker) attempts(key, value []byte) error {
	c.rep.Attempts++
	if _, err := decodeAttempts(value); err != nil {
		return err
	}
	k, err := decodePlaceKey(key, kindAttempts)
	if err != nil {
		return err
	}
	found := false
	err = c.at(k, func([]byte) error {
		found = true
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("attempts of message %d in backlog %d, which is not there", k.Seq, k.Backlog)
	}
	return err
}

// name looks at the name of what is scheduled: it must lead to what waits.
func (c *checker) name(key, value []byte) error {
	n, err := decodeScheduleName(key, value)
	if err != nil {
		return err
	}
	c.rep.Names++
	if _, ok := c.destinations[n.Destination]; !ok {
		c.rep.problem("shard %d: scheduled %q is of destination %d, which is not there", c.shard, n.Name, n.Destination)
	}
	_, _, ok, err := findDue(c.r, n.Due(), false)
	if err == nil && !ok {
		err = fmt.Errorf("scheduled %q leads to %d at %d, where nothing waits", n.Name, n.Seq, n.At)
	}
	return err
}

// duplicate looks at an id that a destination was sent.
func (c *checker) duplicate(key, value []byte) error {
	d, err := decodeDuplicate(key, value)
	if err != nil {
		return err
	}
	c.rep.Duplicates++
	if _, ok := c.destinations[d.Destination]; !ok {
		return fmt.Errorf("id %d was sent to destination %d, which is not there", d.Seq, d.Destination)
	}
	if epoch := uint32(d.Seq >> SeqBits); epoch > c.epoch {
		return fmt.Errorf("id %d is of epoch %d, the store is at %d", d.Seq, epoch, c.epoch)
	}
	return nil
}

// expiry looks at the note that a message expires: the message must be there, of that size.
func (c *checker) expiry(key, value []byte) error {
	e, err := decodeExpiry(key, value)
	if err != nil {
		return err
	}
	c.rep.Expiries++
	found := false
	err = c.at(e.Ref, func(value []byte) error {
		found = true
		m, err := c.sharedReader.decode(c.shard, value)
		if err == nil && (m.blob != e.Blob || m.octets() != e.Bytes || m.owner != e.Owner) {
			err = fmt.Errorf("expiry of message %d in backlog %d says %d octets, it has %d", e.Ref.Seq, e.Ref.Backlog, e.Bytes, m.octets())
		}
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("expiry of message %d in backlog %d, which is not there", e.Ref.Seq, e.Ref.Backlog)
	}
	return err
}

// chunk looks at one chunk of a body; they come in order.
func (c *checker) chunk(key, value []byte) error {
	_, owner, n, err := decodeChunkKey(key)
	if err != nil {
		return err
	}
	data, err := decodeChunk(value)
	if err != nil {
		return err
	}
	c.rep.Chunks++
	if owner != c.chunks.Owner {
		c.endChunks()
		c.chunks = Blob{Owner: owner}
	}
	if n != c.chunks.Chunks {
		c.rep.problem("shard %d: body %d has chunk %d where %d is expected", c.shard, owner, n, c.chunks.Chunks)
	}
	c.chunks.Chunks++
	c.chunks.Bytes += uint64(len(data))
	return nil
}

func (c *checker) endChunks() {
	if c.chunks.Chunks == 0 {
		return
	}
	want, ok := c.blobs[c.chunks.Owner]
	switch {
	case !ok:
		c.rep.problem("shard %d: body %d belongs to no message", c.shard, c.chunks.Owner)
	case want != c.chunks:
		c.rep.problem("shard %d: body %d has %d chunks of %d octets, not %d of %d", c.shard, want.Owner, c.chunks.Chunks, c.chunks.Bytes, want.Chunks, want.Bytes)
	}
	delete(c.blobs, c.chunks.Owner)
}

// end compares what the shard's accounts say with what was seen.
func (c *checker) end() {
	c.endChunks()
	c.endShared()
	for owner := range c.blobs {
		c.rep.problem("shard %d: body %d is not there, but has a message", c.shard, owner)
	}
	for _, b := range c.backlogs {
		if !b.known {
			continue
		}
		if b.found.Bytes != b.Bytes {
			c.rep.problem("shard %d: backlog %d says that it has %d octets, it has %d", c.shard, b.ID, b.Bytes, b.found.Bytes)
		}
		for p := range b.Lanes {
			if says, has := b.Lanes[p].Count, b.found.Lanes[p].Count; says != has {
				c.rep.problem("shard %d: backlog %d says that it has %d messages of priority %d, it has %d", c.shard, b.ID, says, p, has)
			}
		}
	}
	if c.schedule.Count != c.due.Count || c.schedule.Bytes != c.due.Bytes {
		c.rep.problem("shard %d: says that %d messages of %d octets wait for their time, %d of %d do",
			c.shard, c.schedule.Count, c.schedule.Bytes, c.due.Count, c.due.Bytes)
	}
	slices.Sort(c.seqs)
	for i := 1; i < len(c.seqs); i++ {
		if c.seqs[i] == c.seqs[i-1] {
			c.rep.problem("shard %d: two messages have number %d", c.shard, c.seqs[i])
		}
	}
}
