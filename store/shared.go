package store

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A message that several backlogs have is stored once, with the number of its places, which each of them gives
// back one of when it is dropped; see merger.go. What is left of a message without places, a few octets, is found by ScanSpent and
// dropped by DropSpent, unless who drops the last place knows that it is the last.

// PutShared stores a message that so many places have, which are put in the same batch with PutSharedRef. A body of more than
// ChunkBytes goes into chunks that the Blob returned names, and that belong to the message.
func (b *Batch) PutShared(s Shard, owner Seq, head, body []byte, places uint32) Blob {
	blob := blobOf(owner, uint64(len(body)))
	count := appendRefcount(b.value[:0], refcountBase, places)
	if blob == (Blob{}) {
		b.record(opSet, appendIDKey(b.key[:0], s, kindMessage, uint64(owner)), appendMessagePrefix(count, valueV1, len(head)), head, body)
		return blob
	}
	prefix := appendMessagePrefix(count, valueBlobV1, len(head))
	b.record(opSet, appendIDKey(b.key[:0], s, kindMessage, uint64(owner)), prefix, head, appendBlob(b.value[len(prefix):len(prefix)], blob))
	for n := range blob.Chunks {
		size := blob.chunkLength(n)
		b.record(opSet, appendSharedChunkKey(b.key[:0], s, owner, n), appendRefcount(b.value[:0], refcountBase, places), body[:size])
		body = body[size:]
	}
	return blob
}

// PutSharedRef gives a shared message a place in a backlog. Octets is its size, head and body.
func (b *Batch) PutSharedRef(k RefKey, owner Seq, octets uint64) {
	mustPriority(k)
	b.record(opSet, appendPlaceKey(b.key[:0], kindRef, k), appendSharedRef(b.value[:0], owner, octets))
}

// DropSharedRef takes a shared message out of one of its places. The attempts record goes too where hasAttempts says that there may
// be one. Last says that there is no other place: then the message goes as well, with its blob.
func (b *Batch) DropSharedRef(k RefKey, owner Seq, blob Blob, hasAttempts, last bool) {
	b.DropRef(k, Blob{}, hasAttempts)
	if last {
		b.DropShared(k.Shard, owner, blob)
		return
	}
	b.GiveBack(k.Shard, owner, blob, 1)
}

// GiveBack takes so many places off the count of a shared message, which are dropped in the same batch with LeaveRef and what belongs
// to it.
func (b *Batch) GiveBack(s Shard, owner Seq, blob Blob, places uint32) {
	b.record(opMerge, appendIDKey(b.key[:0], s, kindMessage, uint64(owner)), appendRefcount(b.value[:0], refcountOperand, places))
	for n := range blob.Chunks {
		b.record(opMerge, appendSharedChunkKey(b.key[:0], s, owner, n), appendRefcount(b.value[:0], refcountOperand, places))
	}
}

// DropShared drops a shared message, the last places of which are dropped in the same batch.
func (b *Batch) DropShared(s Shard, owner Seq, blob Blob) {
	b.record(opDelete, appendIDKey(b.key[:0], s, kindMessage, uint64(owner)))
	for n := range blob.Chunks {
		b.record(opDelete, appendSharedChunkKey(b.key[:0], s, owner, n))
	}
}

// Spent is what is left of a shared message without places, or of a part of one.
type Spent struct{ key string }

// SpentScan asks for what is left of shared messages of one shard whose owner is Lo to Hi, both inclusive.
type SpentScan struct {
	// After is the number of the last batch that the scan must show, see Submit.
	After  uint64
	Shard  Shard
	Lo, Hi Seq
	// From is where an earlier scan ended.
	From Spent
	// MaxLooked is how many records are looked at.
	MaxLooked int
}

// DropSpent forgets what ScanSpent found.
func (b *Batch) DropSpent(s Spent) { b.record(opDelete, []byte(s.key)) }

// scanSpent looks at messages, then at chunks.
func scanSpent(r reader, q SpentScan) (found []Spent, next Spent, more bool, err error) {
	looked := 0
	for _, k := range []kind{kindMessage, kindSharedChunk} {
		lower := appendIDKey(nil, q.Shard, k, uint64(q.Lo))
		upper := append(appendIDKey(nil, q.Shard, k, uint64(q.Hi)), 0xff, 0xff, 0xff, 0xff, 0xff)
		if q.From.key > string(upper) {
			continue
		}
		lower = []byte(max(string(lower), q.From.key))
		err := each(r, lower, upper, func(key, value []byte) error {
			if looked >= max(q.MaxLooked, 1) {
				next, more = Spent{string(key)}, true
				return errEnough
			}
			looked++
			if len(value) == refcountSize {
				found = append(found, Spent{string(key)})
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return nil, Spent{}, false, err
		}
	}
	return found, next, more, nil
}

// errEnough ends each.
var errEnough = errors.New("store: enough")

// ScanSpent returns what is left of shared messages that have no place any more. There is more, from next on, if it looked at
// as much as it may.
func (s *Store) ScanSpent(q SpentScan) (found []Spent, next Spent, more bool, err error) {
	err = s.read(q.After, func(r reader) error {
		found, next, more, err = scanSpent(r, q)
		return err
	})
	return found, next, more, err
}

// ScanSpent is that of Store.
func (m *Memory) ScanSpent(q SpentScan) (found []Spent, next Spent, more bool, err error) {
	err = m.read(q.After, func(r reader) error {
		found, next, more, err = scanSpent(r, q)
		return err
	})
	return found, next, more, err
}

func appendRefcount(dst []byte, tag byte, n uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, tag), n)
}

// decodeRefcount reads a base and returns what is counted.
func decodeRefcount(value []byte) (count uint32, payload []byte, err error) {
	if len(value) < refcountSize || value[0] != refcountBase {
		return 0, nil, malformed("shared record", value)
	}
	return binary.BigEndian.Uint32(value[1:]), value[refcountSize:], nil
}

// The place of a shared message is [3][owner][octets].
func appendSharedRef(dst []byte, owner Seq, octets uint64) []byte {
	dst = binary.AppendUvarint(append(dst, valueSharedV1), uint64(owner))
	return binary.AppendUvarint(dst, octets)
}

func isShared(value []byte) bool { return len(value) > 0 && value[0] == valueSharedV1 }

func decodeSharedRef(value []byte) (owner Seq, octets uint64, err error) {
	d := decoder{rest: value, what: "place of a shared message", all: value}
	if d.octet() != valueSharedV1 {
		d.fail()
	}
	owner, octets = Seq(d.uvarint()), d.uvarint()
	return owner, octets, d.end()
}

func appendSharedChunkKey(dst []byte, s Shard, owner Seq, n uint32) []byte {
	return binary.BigEndian.AppendUint32(appendIDKey(dst, s, kindSharedChunk, uint64(owner)), n)
}

// stored is a message in its place, or the one that a place stands for. Head and body are slices of records.
type stored struct {
	head, body []byte
	blob       Blob
	owner      Seq // of a shared one
}

func (m *stored) octets() uint64 { return uint64(len(m.head)+len(m.body)) + m.blob.Bytes }

// sharedReader finds the messages that the places of a scan share. Places that follow each other mostly have messages that do.
type sharedReader struct {
	r  reader
	s  Shard
	it iterator
}

// decode reads the value of a place. What it returns is good until the next call, and as long as value.
func (x *sharedReader) decode(s Shard, value []byte) (m stored, err error) {
	if !isShared(value) {
		m.head, m.body, m.blob, err = decodeMessage(value)
		return m, err
	}
	owner, octets, err := decodeSharedRef(value)
	if err != nil {
		return m, err
	}
	payload, err := x.payload(s, owner)
	if err != nil {
		return m, err
	}
	m.owner = owner
	if m.head, m.body, m.blob, err = decodeMessage(payload); err == nil && m.octets() != octets {
		err = fmt.Errorf("%w: shared message %d of shard %d has %d octets, its place says %d", ErrCorrupt, owner, s, m.octets(), octets)
	}
	return m, err
}

func (x *sharedReader) payload(s Shard, owner Seq) ([]byte, error) {
	if x.it != nil && x.s != s {
		if err := x.close(); err != nil {
			return nil, err
		}
	}
	if x.it == nil {
		it, err := x.r.iter(appendPrefix(nil, s, kindMessage), appendPrefix(nil, s, kindMessage+1))
		if err != nil {
			return nil, err
		}
		x.it, x.s = it, s
	}
	var buf [keySize]byte
	key := appendIDKey(buf[:0], s, kindMessage, uint64(owner))
	if !x.it.SeekGE(key) || string(x.it.Key()) != string(key) {
		if err := x.it.Error(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: shared message %d of shard %d is not there", ErrCorrupt, owner, s)
	}
	value, err := x.it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	_, payload, err := decodeRefcount(value)
	return payload, err
}

func (x *sharedReader) close() error {
	if x.it == nil {
		return nil
	}
	it := x.it
	x.it = nil
	return it.Close()
}

// A shared chunk is counted as its message is.
func decodeSharedChunk(value []byte) ([]byte, error) {
	_, chunk, err := decodeRefcount(value)
	return chunk, err
}

// readBody appends the body of m to dst.
func (m *stored) readBody(r reader, s Shard, dst []byte) ([]byte, error) {
	switch {
	case m.blob == (Blob{}):
		return append(dst, m.body...), nil
	case m.owner != 0:
		return readSharedBlob(r, s, m.blob, dst)
	}
	return readBlob(r, s, m.blob, dst)
}
