package store

import (
	"encoding/binary"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// mergerName is written into every store: the merger cannot be changed under the same name.
const mergerName = "footfall.refcount.v1"

// A refcounted value is for messages that several backlogs share. The base, which is
// set, is [1][references 4, big-endian][payload], an operand, which is merged,
// [2][references given back 4]. With its last reference a message loses its payload;
// the five octets that are left wait for a delete. They are not deleted by the merger:
// where a merge result is deleted in a compaction, Pebble 2.1.7 goes on with the set below it.
const (
	refcountBase    = 1
	refcountOperand = 2
	refcountSize    = 5
)

func merger() *pebble.Merger {
	return &pebble.Merger{Name: mergerName, Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		m := &refcount{}
		return m, m.add(value)
	}}
}

// refcount adds up operands, and the base if it is among them.
type refcount struct {
	dropped uint64
	base    []byte // a copy
}

func (m *refcount) add(value []byte) error {
	switch {
	case len(value) == refcountSize && value[0] == refcountOperand:
		m.dropped += uint64(binary.BigEndian.Uint32(value[1:]))
	case len(value) >= refcountSize && value[0] == refcountBase && m.base == nil:
		m.base = append([]byte(nil), value...)
	default:
		return malformed("reference count", value)
	}
	return nil
}

// MergeNewer adds an operand; the order does not matter.
func (m *refcount) MergeNewer(value []byte) error { return m.add(value) }

// MergeOlder adds an operand, or the base.
func (m *refcount) MergeOlder(value []byte) error { return m.add(value) }

// Finish returns the base with what is left, or one operand if the base is further down.
func (m *refcount) Finish(bool) ([]byte, io.Closer, error) {
	if m.base == nil {
		if m.dropped > 1<<32-1 {
			return nil, nil, malformed("reference count", nil)
		}
		return binary.BigEndian.AppendUint32([]byte{refcountOperand}, uint32(m.dropped)), nil, nil
	}
	left := uint64(binary.BigEndian.Uint32(m.base[1:]))
	if m.dropped > left {
		return nil, nil, malformed("reference count", m.base)
	}
	left -= m.dropped
	binary.BigEndian.PutUint32(m.base[1:], uint32(left))
	if left == 0 {
		m.base = m.base[:refcountSize]
	}
	return m.base, nil, nil
}
