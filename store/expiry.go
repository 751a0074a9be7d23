package store

import (
	"bytes"
	"encoding/binary"
)

// Expiry says that a message in a backlog is no longer wanted from a time on, in milliseconds since the epoch. It has
// what is needed to drop the message without reading it.
type Expiry struct {
	At    int64
	Ref   RefKey
	Blob  Blob
	Bytes uint64 // of the message in the account of its backlog
	Owner Seq    // of a shared message, else 0
}

// ExpiryScan asks for a page of what expires in one shard, in the order of time and place, from From on (inclusive).
type ExpiryScan struct {
	After    uint64
	From     Expiry // its time and place
	MaxCount int
}

// PutExpiry notes when a message expires. It is put once, and dropped with the message.
func (b *Batch) PutExpiry(e Expiry) {
	b.record(opSet, appendExpiryKey(b.key[:0], e), appendExpiry(b.value[:0], e))
}

// DropExpiry forgets when a message expires.
func (b *Batch) DropExpiry(at int64, k RefKey) {
	b.record(opSingleDelete, appendExpiryKey(b.key[:0], Expiry{At: at, Ref: k}))
}

// An expiry is [1][bytes][blob], of a shared message [2][bytes][blob][owner].
func appendExpiry(dst []byte, e Expiry) []byte {
	if e.Owner == 0 {
		return appendBlob(binary.AppendUvarint(append(dst, valueV1), e.Bytes), e.Blob)
	}
	dst = appendBlob(binary.AppendUvarint(append(dst, valueSharedExpiryV1), e.Bytes), e.Blob)
	return binary.AppendUvarint(dst, uint64(e.Owner))
}

// valueSharedExpiryV1 is the version of the expiry of a shared message.
const valueSharedExpiryV1 = 2

func appendExpiryKey(dst []byte, e Expiry) []byte {
	dst = appendIDKey(dst, e.Ref.Shard, kindExpiry, uint64(e.At)^1<<63)
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Ref.Seq))
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Ref.Backlog))
	return append(dst, Priorities-1-e.Ref.Priority)
}

func decodeExpiry(key, value []byte) (Expiry, error) {
	s, k, err := splitKey(key)
	if err != nil || k != kindExpiry || key[26] >= Priorities {
		return Expiry{}, malformed("expiry key", key)
	}
	d := decoder{rest: value, what: "expiry", all: value}
	version := d.octet()
	e := Expiry{
		At: int64(binary.BigEndian.Uint64(key[2:]) ^ 1<<63),
		Ref: RefKey{
			Shard: s, Seq: Seq(binary.BigEndian.Uint64(key[10:])), Backlog: BacklogID(binary.BigEndian.Uint64(key[18:])),
			Priority: Priorities - 1 - key[26],
		},
		Bytes: d.uvarint(),
		Blob:  Blob{Owner: Seq(d.uvarint()), Chunks: d.uvarint32(), Bytes: d.uvarint()},
	}
	switch version {
	case valueV1:
	case valueSharedExpiryV1:
		if e.Owner = Seq(d.uvarint()); e.Owner == 0 {
			d.fail()
		}
	default:
		d.fail()
	}
	return e, d.end()
}

func scanExpiries(r reader, q ExpiryScan) (found []Expiry, more bool, err error) {
	lower := appendExpiryKey(nil, q.From)
	it, err := r.iter(lower, appendPrefix(nil, q.From.Ref.Shard, kindExpiry+1))
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	for ok := it.SeekGE(lower); ok; ok = it.Next() {
		if len(found) == q.MaxCount {
			return found, true, nil
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return found, false, err
		}
		e, err := decodeExpiry(bytes.Clone(it.Key()), value)
		if err != nil {
			return found, false, err
		}
		found = append(found, e)
	}
	return found, false, it.Error()
}

// ScanExpiries returns a page of what expires, and whether there is more.
func (s *Store) ScanExpiries(q ExpiryScan) (found []Expiry, more bool, err error) {
	err = s.read(q.After, func(r reader) error {
		found, more, err = scanExpiries(r, q)
		return err
	})
	return found, more, err
}

// ScanExpiries is that of Store.
func (m *Memory) ScanExpiries(q ExpiryScan) (found []Expiry, more bool, err error) {
	err = m.read(q.After, func(r reader) error {
		found, more, err = scanExpiries(r, q)
		return err
	})
	return found, more, err
}
