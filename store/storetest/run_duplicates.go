package storetest

import (
	"testing"

	"footfall/store"
)

// testDuplicates: ids come back by destination, in order and in pages, over a start; the old ones in front are found and dropped;
// those of a destination go together.
func testDuplicates(t *testing.T, f *fixture) {
	id := func(d store.DestinationID, seq store.Seq, at int64) store.Duplicate {
		return store.Duplicate{Shard: 3, Destination: d, Seq: seq, At: at, Hash: [16]byte{byte(d), byte(seq)}}
	}
	all := []store.Duplicate{id(1, 1, 100), id(1, 3, 200), id(1, 5, 300), id(1, 7, 50)}
	others := []store.Duplicate{id(2, 2, 100), id(2, 4, 150)}
	f.commit(func(b *store.Batch) {
		for d := store.DestinationID(1); d <= 2; d++ {
			b.PutDestination(store.Destination{Shard: 3, ID: d, Name: "n"})
		}
		for _, d := range append(append([]store.Duplicate{}, others...), all...) {
			b.PutDuplicate(d)
		}
	})
	f.reopen()
	scan := func(q store.DuplicateScan) ([]store.Duplicate, bool) {
		t.Helper()
		q.Shard = 3
		found, more, err := f.ScanDuplicates(q)
		if err != nil {
			t.Fatal(err)
		}
		return found, more
	}
	found, more := scan(store.DuplicateScan{Destination: 1, MaxCount: 3})
	equal(t, "first page", found, all[:3])
	rest, again := scan(store.DuplicateScan{Destination: 1, From: 6, MaxCount: 3})
	equal(t, "second page", rest, all[3:])
	equal(t, "more", []bool{more, again}, []bool{true, false})

	old := func(shard store.Shard, before int64, limit int) ([]store.Duplicate, bool) {
		t.Helper()
		found, some, err := f.FindOldDuplicates(store.OldDuplicates{Shard: shard, Before: before, MaxCount: limit})
		if err != nil {
			t.Fatal(err)
		}
		return found, some
	}
	found, some := old(3, 200, 10)
	equal(t, "old ones", found, []store.Duplicate{all[0], others[0], others[1]}) // that with time 50 came later
	equal(t, "some", some, true)
	found, _ = old(3, 1000, 2)
	equal(t, "two old ones", found, all[:2])
	found, some = old(3, 1, 10)
	equal(t, "none is old", len(found), 0)
	equal(t, "but there are some", some, true)
	if _, some = old(4, 1000, 10); some {
		t.Error("another shard has some")
	}

	f.commit(func(b *store.Batch) {
		b.DropDuplicate(3, 1, 1)
		b.DropDuplicate(3, 1, 1) // twice does no harm
		b.DropDuplicates(3, 2)
		b.DropDestination(3, 2)
	})
	rep, err := f.Check()
	if err != nil || !rep.OK() || rep.Duplicates != 3 {
		t.Fatalf("%+v %v", rep, err)
	}
	found, _ = scan(store.DuplicateScan{Destination: 1, MaxCount: 10})
	equal(t, "those left", found, all[1:])

	f.commit(func(b *store.Batch) { b.DropDestination(3, 1) })
	if rep, err := f.Check(); err != nil || rep.OK() {
		t.Errorf("ids of no destination are not found: %+v %v", rep, err)
	}
}
