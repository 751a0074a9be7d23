package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func refcountValue(tag byte, n uint32, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{tag}, n), payload...)
}

// In any order of drops, flushes and compactions.
func TestASharedMessageKeepsItsPayloadUntilTheLastReference(t *testing.T) {
	o := Options{FS: vfs.NewMem()}.withDefaults()
	p := o.pebbleOptions(newEvents(o.Log, func(err error) { t.Error(err) }))
	p.ErrorIfNotExists = false
	db, err := pebble.Open("db", p)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rng := rand.New(rand.NewPCG(3, 3))
	shake := func() {
		switch rng.IntN(4) {
		case 0:
			err = db.Flush()
		case 1:
			err = db.Compact(t.Context(), []byte{0}, []byte{0xff}, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		key := appendIDKey(nil, 1, kindMessage, uint64(i))
		left := uint32(1 + rng.IntN(5))
		payload := []string{"", "message"}[i%2]
		if err := db.Set(key, refcountValue(refcountBase, left, payload), nil); err != nil {
			t.Fatal(err)
		}
		for {
			shake()
			value, closer, err := db.Get(key)
			want := refcountValue(refcountBase, left, payload)
			if left == 0 {
				want = want[:refcountSize]
			}
			if err != nil || !bytes.Equal(value, want) {
				t.Fatalf("message %d with %d references: %x, %v", i, left, value, err)
			}
			_ = closer.Close()
			if left == 0 {
				break
			}
			n := 1 + uint32(rng.IntN(int(left)))
			left -= n
			if err := db.Merge(key, refcountValue(refcountOperand, n, ""), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheMergerRefusesWhatIsNotACount(t *testing.T) {
	for _, value := range [][]byte{nil, {1}, {refcountBase, 0, 0, 0}, {refcountOperand, 0, 0, 0, 1, 9}, {9, 0, 0, 0, 1}} {
		if _, err := merger().Merge(nil, value); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %v", value, err)
		}
	}
	m, err := merger().Merge(nil, refcountValue(refcountOperand, 3, ""))
	if err == nil {
		err = m.MergeOlder(refcountValue(refcountBase, 2, "x"))
	}
	if err == nil {
		_, _, err = m.Finish(true)
	}
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("more given back than there were: %v", err)
	}
}
