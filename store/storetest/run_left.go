package storetest

import (
	"testing"

	"footfall/store"
)

// testLeft leaves places below head marks, of messages of all kinds: they are no messages from then on, whether they are
// cleared away or not.
func testLeft(t *testing.T, f *fixture) {
	account := store.Backlog{Shard: 3, ID: 7, Destination: 1}
	has := func(b *store.Batch, head store.Seq, messages, octets int) {
		account.Lanes[4] = store.Lane{Count: uint64(messages), Head: head}
		account.Bytes = uint64(octets)
		b.PutBacklog(account)
	}
	var blob, shared store.Blob
	f.commit(func(b *store.Batch) {
		b.PutDestination(store.Destination{Shard: 3, ID: 1, Name: "n"})
		b.PutRef(ref(4, 10), []byte("h"), nil)
		blob = b.PutRef(ref(4, 11), []byte("h"), make([]byte, store.ChunkBytes+1))
		b.PutAttempts(ref(4, 11), store.Attempts{Deliveries: 1})
		shared = b.PutShared(3, 20, []byte("h"), make([]byte, store.ChunkBytes+1), 3)
		for seq := store.Seq(12); seq <= 14; seq++ {
			b.PutSharedRef(ref(4, seq), 20, store.ChunkBytes+2)
		}
		has(b, 10, 5, 1+4*(store.ChunkBytes+2))
	})
	look := func(name string, left uint64, want ...store.Seq) {
		t.Helper()
		refs, _ := f.refs(all())
		equal(t, name, seqs(refs), want)
		filtered, _, _, err := f.FilterRefs(store.RefFilter{RefScan: all(), MaxLooked: 100, Want: func(store.RefKey, []byte, []byte, store.Attempts) (bool, error) { return true, nil }})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name+", filtered", seqs(filtered), want)
		if rep, err := f.Check(); err != nil || !rep.OK() || rep.Left != left || rep.Messages != uint64(len(want)) {
			t.Fatalf("%s: %d left, %v\n%v", name, rep.Left, err, rep)
		}
	}
	f.commit(func(b *store.Batch) {
		b.LeaveRef(ref(4, 10), store.Blob{}, false)
		b.LeaveRef(ref(4, 11), blob, true)
		b.LeaveRef(ref(4, 12), store.Blob{}, false)
		b.DropPlace(ref(4, 13)) // by itself, though it is left behind the head mark as well
		b.LeaveRef(ref(4, 13), store.Blob{}, false)
		b.GiveBack(3, 20, shared, 2)
		has(b, 14, 1, store.ChunkBytes+2)
	})
	look("left", 3, 14)
	f.reopen()
	look("left, after a start", 3, 14)
	f.commit(func(b *store.Batch) {
		b.DropLeft(ref(4, 0), 14)
		b.PutRef(ref(4, 11), []byte("h"), nil) // it comes back to its place
		has(b, 11, 2, 1+store.ChunkBytes+2)
	})
	look("cleared away, and one put again", 0, 11, 14)
	f.commit(func(b *store.Batch) {
		b.LeaveRef(ref(4, 11), store.Blob{}, false)
		b.LeaveRef(ref(4, 14), store.Blob{}, false)
		b.DropShared(3, 20, shared)
		has(b, 15, 0, 0)
	})
	look("all left", 2)
	f.commit(func(b *store.Batch) { b.DropBacklog(3, 7) })
	f.reopen()
	if rep, err := f.Check(); err != nil || !rep.OK() || rep.Left+rep.Messages+rep.Chunks+rep.Shared != 0 {
		t.Fatalf("with the backlog not all has gone: %v\n%v", err, rep)
	}
}
