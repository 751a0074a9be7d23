package storetest

import (
	"bytes"
	"fmt"
	"testing"

	"footfall/store"
)

// place is a place of a shared message, in one of several backlogs.
func place(backlog store.BacklogID, seq store.Seq) store.RefKey {
	return store.RefKey{Shard: 3, Backlog: backlog, Priority: 4, Seq: seq}
}

func placesOf(backlog store.BacklogID) store.RefScan {
	q := all()
	q.From.Backlog = backlog
	return q
}

// shareIn stores a body in backlogs 1 to places.
func (f *fixture) shareIn(owner store.Seq, body []byte, places int) (blob store.Blob) {
	f.commit(func(b *store.Batch) {
		blob = b.PutShared(3, owner, []byte("head"), body, uint32(places))
		for i := range places {
			b.PutSharedRef(place(store.BacklogID(i+1), owner+store.Seq(i)+1), owner, uint64(4+len(body)))
		}
	})
	return blob
}

func (f *fixture) accounts(places, messages int, octets uint64) {
	f.commit(func(b *store.Batch) {
		b.PutDestination(store.Destination{Shard: 3, ID: 1, Name: "n"})
		for i := range places {
			account := store.Backlog{Shard: 3, ID: store.BacklogID(i + 1), Destination: 1, Bytes: octets}
			account.Lanes[4].Count = uint64(messages)
			b.PutBacklog(account)
		}
	})
}

func testShared(t *testing.T, f *fixture) {
	small, large := []byte("body"), bytes.Repeat([]byte("x"), 2*store.ChunkBytes+5)
	blobs := map[store.Seq]store.Blob{}
	for owner, body := range map[store.Seq][]byte{100: small, 200: large} {
		blobs[owner] = f.shareIn(owner, body, 3)
	}
	octets := uint64(8 + len(small) + len(large))
	f.accounts(3, 2, octets)
	f.reopen()
	rep, err := f.Check()
	if err != nil || !rep.OK() || rep.Shared != 2 || rep.Messages != 6 || rep.Chunks != 3 || rep.Bytes != octets {
		t.Fatalf("%+v %v", rep, err)
	}
	for backlog := store.BacklogID(1); backlog <= 3; backlog++ {
		refs, more := f.refs(placesOf(backlog))
		if len(refs) != 2 || more {
			t.Fatalf("backlog %d has %d messages, more %t", backlog, len(refs), more)
		}
		for i, owner := range []store.Seq{100, 200} {
			r := refs[i]
			if r.Owner != owner || r.Blob != blobs[owner] || string(r.Head) != "head" || !bytes.Equal(r.Body, [][]byte{small, large}[i]) {
				t.Errorf("backlog %d: message of %d, blob %v, head %q, %d octets", backlog, r.Owner, r.Blob, r.Head, len(r.Body))
			}
		}
	}
	// Each place is dropped by itself, and the others keep what they have.
	for left := 2; left >= 0; left-- {
		f.commit(func(b *store.Batch) {
			for _, owner := range []store.Seq{100, 200} {
				b.DropSharedRef(place(store.BacklogID(left+1), owner+store.Seq(left)+1), owner, blobs[owner], false, left == 0)
			}
			account := store.Backlog{Shard: 3, ID: store.BacklogID(left + 1), Destination: 1}
			b.PutBacklog(account)
		})
		rep, err := f.Check()
		if err != nil || !rep.OK() || rep.Messages != uint64(2*left) || rep.Spent != 0 {
			t.Fatalf("%d left: %+v %v", left, rep, err)
		}
	}
	if rep, _ = f.Check(); rep.Shared+rep.Chunks+rep.Bytes != 0 {
		t.Fatalf("something is left: %+v", rep)
	}
}

func testSpent(t *testing.T, f *fixture) {
	const n = 10
	large := make([]byte, store.ChunkBytes+1)
	for i := range store.Seq(n) {
		owner := 100 * (i + 1)
		blob := f.shareIn(owner, large, 2)
		f.commit(func(b *store.Batch) {
			for j := range store.Seq(2) {
				b.DropSharedRef(place(store.BacklogID(j+1), owner+j+1), owner, blob, false, false)
			}
		})
	}
	live := store.Seq(100 * (n + 1))
	f.shareIn(live, large, 2)
	f.accounts(2, 1, uint64(4+len(large)))
	if rep, err := f.Check(); err != nil || !rep.OK() || rep.Spent != 3*n || rep.Shared != 1 {
		t.Fatalf("%+v %v", rep, err)
	}
	for _, c := range []struct{ lo, hi, found store.Seq }{{300, 500, 9}, {0, 1 << 60, 3*n - 9}, {0, 1 << 60, 0}} {
		q := store.SpentScan{Shard: 3, Lo: c.lo, Hi: c.hi, MaxLooked: 4}
		total := 0
		for {
			found, next, more, err := f.ScanSpent(q)
			if err != nil {
				t.Fatal(err)
			}
			total += len(found)
			f.commit(func(b *store.Batch) {
				for _, s := range found {
					b.DropSpent(s)
				}
			})
			if !more {
				break
			}
			q.From = next
		}
		equal(t, fmt.Sprintf("found from %d to %d", c.lo, c.hi), total, int(c.found))
	}
	f.reopen()
	if rep, err := f.Check(); err != nil || !rep.OK() || rep.Spent != 0 || rep.Shared != 1 || rep.Chunks != 2 {
		t.Fatalf("%+v %v", rep, err)
	}
}
