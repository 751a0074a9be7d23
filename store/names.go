package store

import (
	"crypto/sha256"
	"encoding/binary"
)

// A name that a sender chose for what is scheduled, by destination. Names are the sender's and may be long, so
// that keys hold 16 octets of a hash, and values the name.

// ScheduleName says where what is scheduled under a name waits.
type ScheduleName struct {
	Shard       Shard
	Destination DestinationID
	Name        string
	At          int64
	Seq         Seq
}

// Due is the place that the name leads to.
func (n ScheduleName) Due() DueKey { return DueKey{Shard: n.Shard, At: n.At, Seq: n.Seq} }

// PutScheduleName gives what waits at n.Due a name, or moves the name there.
func (b *Batch) PutScheduleName(n ScheduleName) {
	b.record(opSet, appendNameKey(b.key[:0], n.Shard, n.Name, n.Destination), appendScheduleName(b.value[:0], n))
}

// DropScheduleName forgets a name.
func (b *Batch) DropScheduleName(s Shard, d DestinationID, name string) {
	b.record(opDelete, appendNameKey(b.key[:0], s, name, d))
}

func appendNamePrefix(dst []byte, s Shard, name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return append(appendPrefix(dst, s, kindName), sum[:16]...)
}

func appendNameKey(dst []byte, s Shard, name string, d DestinationID) []byte {
	return binary.BigEndian.AppendUint64(appendNamePrefix(dst, s, name), uint64(d))
}

// A schedule name is [1][at 8, big-endian][seq 8, big-endian][len(name)][name].
func appendScheduleName(dst []byte, n ScheduleName) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, valueV1), uint64(n.At))
	dst = binary.BigEndian.AppendUint64(dst, uint64(n.Seq))
	dst = binary.AppendUvarint(dst, uint64(len(n.Name)))
	return append(dst, n.Name...)
}

func decodeScheduleName(key, value []byte) (ScheduleName, error) {
	s, k, err := splitKey(key)
	if err != nil || k != kindName {
		return ScheduleName{}, malformed("name key", key)
	}
	d := decode("name", value)
	n := ScheduleName{
		Shard: s, Destination: DestinationID(binary.BigEndian.Uint64(key[18:])),
		At: int64(d.fixed64()), Seq: Seq(d.fixed64()),
	}
	n.Name = string(d.octets(d.uvarint()))
	return n, d.end()
}

// findNames returns what is scheduled under a name in a shard, of any destination.
func findNames(r reader, s Shard, name string) (found []ScheduleName, err error) {
	lower := appendNamePrefix(nil, s, name)
	upper := append(lower[:len(lower):len(lower)], 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	err = each(r, lower, upper, func(key, value []byte) error {
		n, err := decodeScheduleName(key, value)
		if err == nil && n.Name == name {
			found = append(found, n)
		}
		return err
	})
	return found, err
}

// findDue returns what waits in one place, false if nothing does. Bytes is its size, also without its body.
func findDue(r reader, k DueKey, body bool) (due Due, bytes uint64, ok bool, err error) {
	lower := appendDueKey(nil, k)
	err = each(r, lower, append(lower[:len(lower):len(lower)], 0), func(_, value []byte) error {
		head, b, blob, err := decodeMessage(value)
		if err != nil {
			return err
		}
		ok = true
		bytes = uint64(len(head)+len(b)) + blob.Bytes
		due = Due{Key: k, Head: append([]byte(nil), head...), Blob: blob}
		if !body {
			return nil
		}
		due.Body = append([]byte(nil), b...)
		if blob != (Blob{}) {
			due.Body, err = readBlob(r, k.Shard, blob, make([]byte, 0, blob.Bytes))
		}
		return err
	})
	return due, bytes, ok, err
}

// FindNames returns what is scheduled under a name in one shard, of any destination, at most one place of each. It
// shows batch after and what came before.
func (s *Store) FindNames(after uint64, shard Shard, name string) (found []ScheduleName, err error) {
	err = s.read(after, func(r reader) error {
		found, err = findNames(r, shard, name)
		return err
	})
	return found, err
}

// FindDue returns what waits in one place, with its body or without; false if nothing does. Bytes is its size in
// the account of the schedule.
func (s *Store) FindDue(after uint64, k DueKey, body bool) (due Due, bytes uint64, ok bool, err error) {
	err = s.read(after, func(r reader) error {
		due, bytes, ok, err = findDue(r, k, body)
		return err
	})
	return due, bytes, ok, err
}

// FindNames is that of Store.
func (m *Memory) FindNames(after uint64, shard Shard, name string) (found []ScheduleName, err error) {
	err = m.read(after, func(r reader) error {
		found, err = findNames(r, shard, name)
		return err
	})
	return found, err
}

// FindDue is that of Store.
func (m *Memory) FindDue(after uint64, k DueKey, body bool) (due Due, bytes uint64, ok bool, err error) {
	err = m.read(after, func(r reader) error {
		due, bytes, ok, err = findDue(r, k, body)
		return err
	})
	return due, bytes, ok, err
}
