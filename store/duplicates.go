package store

import (
	"encoding/binary"
	"errors"
)

// Duplicate says that a destination was sent a message with an id of its sender's, of which the store keeps what its owner made of it.
type Duplicate struct {
	Shard       Shard
	Destination DestinationID
	// Seq is its place: a destination's are in the order in which they came.
	Seq Seq
	// At is when it came, in milliseconds since the epoch.
	At   int64
	Hash [16]byte
}

// DuplicateScan asks for a page of what one destination was sent, from From on (inclusive).
type DuplicateScan struct {
	After       uint64
	Shard       Shard
	Destination DestinationID
	From        Seq
	MaxCount    int
}

// OldDuplicates asks for what came before a time to the destinations of a shard: of each what is in front of the first that came later.
type OldDuplicates struct {
	After    uint64
	Shard    Shard
	Before   int64 // milliseconds since the epoch
	MaxCount int
}

// PutDuplicate notes that a destination was sent an id. It is put once.
func (b *Batch) PutDuplicate(d Duplicate) {
	value := binary.BigEndian.AppendUint64(append(b.value[:0], valueV1), uint64(d.At))
	b.record(opSet, appendDuplicateKey(b.key[:0], d.Shard, d.Destination, d.Seq), append(value, d.Hash[:]...))
}

// DropDuplicate forgets an id; that it is not there is no error.
func (b *Batch) DropDuplicate(s Shard, d DestinationID, seq Seq) {
	b.record(opDelete, appendDuplicateKey(b.key[:0], s, d, seq))
}

// DropDuplicates forgets all ids that a destination was sent.
func (b *Batch) DropDuplicates(s Shard, d DestinationID) {
	end := append(appendIDKey(b.value[:0], s, kindDuplicate, uint64(d)), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	b.record(opDeleteRange, appendIDKey(b.key[:0], s, kindDuplicate, uint64(d)), end)
}

func appendDuplicateKey(dst []byte, s Shard, d DestinationID, seq Seq) []byte {
	return binary.BigEndian.AppendUint64(appendIDKey(dst, s, kindDuplicate, uint64(d)), uint64(seq))
}

// A duplicate is [1][at 8, big-endian][hash 16].
func decodeDuplicate(key, value []byte) (Duplicate, error) {
	s, k, err := splitKey(key)
	if err != nil || k != kindDuplicate {
		return Duplicate{}, malformed("duplicate key", key)
	}
	d := decode("duplicate", value)
	dup := Duplicate{
		Shard: s, Destination: DestinationID(binary.BigEndian.Uint64(key[2:])), Seq: Seq(binary.BigEndian.Uint64(key[10:])),
		At: int64(d.fixed64()),
	}
	copy(dup.Hash[:], d.octets(16))
	return dup, d.end()
}

func scanDuplicates(r reader, q DuplicateScan) (found []Duplicate, more bool, err error) {
	lower := appendDuplicateKey(nil, q.Shard, q.Destination, q.From)
	upper := append(appendDuplicateKey(nil, q.Shard, q.Destination, ^Seq(0)), 0)
	err = each(r, lower, upper, func(key, value []byte) error {
		if len(found) >= max(q.MaxCount, 1) {
			more = true
			return errEnough
		}
		d, err := decodeDuplicate(key, value)
		found = append(found, d)
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, more, err
}

func oldDuplicates(r reader, q OldDuplicates) (found []Duplicate, some bool, err error) {
	it, err := r.iter(appendPrefix(nil, q.Shard, kindDuplicate), appendPrefix(nil, q.Shard, kindDuplicate+1))
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	for ok := it.SeekGE(appendPrefix(nil, q.Shard, kindDuplicate)); ok && len(found) < max(q.MaxCount, 1); {
		value, err := it.ValueAndErr()
		if err != nil {
			return found, true, err
		}
		d, err := decodeDuplicate(it.Key(), value)
		if err != nil {
			return found, true, err
		}
		some = true
		if d.At < q.Before {
			found = append(found, d)
			ok = it.Next()
			continue
		}
		if d.Destination == ^DestinationID(0) {
			break
		}
		ok = it.SeekGE(appendDuplicateKey(nil, q.Shard, d.Destination+1, 0))
	}
	return found, some, it.Error()
}

// ScanDuplicates returns a page of what a destination was sent, in order, and whether there is more.
func (s *Store) ScanDuplicates(q DuplicateScan) (found []Duplicate, more bool, err error) {
	err = s.read(q.After, func(r reader) error {
		found, more, err = scanDuplicates(r, q)
		return err
	})
	return found, more, err
}

// FindOldDuplicates returns ids that came before a time, at most q.MaxCount of them, and whether the shard has any at all, old or not.
func (s *Store) FindOldDuplicates(q OldDuplicates) (found []Duplicate, some bool, err error) {
	err = s.read(q.After, func(r reader) error {
		found, some, err = oldDuplicates(r, q)
		return err
	})
	return found, some, err
}

// ScanDuplicates is that of Store.
func (m *Memory) ScanDuplicates(q DuplicateScan) (found []Duplicate, more bool, err error) {
	err = m.read(q.After, func(r reader) error {
		found, more, err = scanDuplicates(r, q)
		return err
	})
	return found, more, err
}

// FindOldDuplicates is that of Store.
func (m *Memory) FindOldDuplicates(q OldDuplicates) (found []Duplicate, some bool, err error) {
	err = m.read(q.After, func(r reader) error {
		found, some, err = oldDuplicates(r, q)
		return err
	})
	return found, some, err
}
