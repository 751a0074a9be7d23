package store

import (
	"testing"
)

// TestAPlaceIsTakenAgain puts and drops one place again and again, over flushes and compactions: what was dropped never comes back, and
// what was put last is there.
func TestAPlaceIsTakenAgain(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k := RefKey{Shard: 3, Backlog: 7, Priority: 4, Seq: 9}
	body := make([]byte, 3*ChunkBytes)
	commit := func(f func(b *Batch)) {
		b := s.NewBatch()
		f(b)
		done := make(chan Outcome)
		s.Submit(b, func(o Outcome) { done <- o })
		if o := <-done; o != Applied {
			t.Fatalf("outcome %v", o)
		}
	}
	there := func() int {
		refs, _, err := s.ScanRefs(RefScan{From: RefKey{Shard: 3, Backlog: 7, Priority: Priorities - 1}, MaxCount: 10, MaxBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		return len(refs)
	}
	settle := func(step int) {
		if step%3 > 0 {
			if err := s.db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if step%5 == 4 {
			if err := s.db.Compact(t.Context(), []byte{0}, []byte{255}, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	var blob Blob
	commit(func(b *Batch) { blob = b.PutRef(k, []byte("head"), body) })
	for i := range 30 {
		settle(i)
		due := DueKey{Shard: 3, At: 1000, Seq: Seq(20 + i%2)}
		commit(func(b *Batch) {
			b.DropRef(k, Blob{}, true)
			b.PutDueBlob(due, []byte("head"), blob)
		})
		if n := there(); n != 0 {
			t.Fatalf("round %d: what was dropped is there", i)
		}
		settle(i + 1)
		if n := there(); n != 0 {
			t.Fatalf("round %d: what was dropped came back", i)
		}
		commit(func(b *Batch) {
			b.DropDue(due, blob, true)
			b.PutRefBlob(k, []byte("head"), blob)
			b.PutAttempts(k, Attempts{Deliveries: uint32(i)})
		})
		if n := there(); n != 1 {
			t.Fatalf("round %d: %d messages in a place", i, n)
		}
	}
	settle(4)
	if n := there(); n != 1 {
		t.Fatalf("%d messages in the place at the end", n)
	}
	commit(func(b *Batch) { b.DropRef(k, blob, true) })
	settle(4)
	if n := there(); n != 0 {
		t.Fatal("what was dropped came back at the end")
	}
	if st := s.Stats(); st.Misuses != 0 {
		t.Fatalf("%d misuses of single deletes", st.Misuses)
	}
}

// TestAPlaceIsTakenAgainAfterAHeadMark is the same for a place that is left below a head mark, and cleared away before it is taken again.
func TestAPlaceIsTakenAgainAfterAHeadMark(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k := RefKey{Shard: 3, Backlog: 7, Priority: 4, Seq: 9}
	account := Backlog{Shard: 3, ID: 7}
	for i := range 30 {
		for step, f := range []func(b *Batch){
			func(b *Batch) { b.PutRef(k, nil, nil); account.Lanes[4] = Lane{Count: 1, Head: 9} },
			func(b *Batch) { b.LeaveRef(k, Blob{}, false); account.Lanes[4] = Lane{Head: 10} },
			func(b *Batch) { b.DropLeft(k, 10); b.PutRef(k, nil, nil); account.Lanes[4] = Lane{Count: 1, Head: 9} },
			func(b *Batch) { b.DropRef(k, Blob{}, false); account.Lanes[4] = Lane{Head: 9} },
		} {
			b := s.NewBatch()
			f(b)
			b.PutBacklog(account)
			done := make(chan Outcome)
			s.Submit(b, func(o Outcome) { done <- o })
			<-done
			if (i+step)%3 > 0 {
				if err := s.db.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			if (i+step)%5 == 4 {
				if err := s.db.Compact(t.Context(), []byte{0}, []byte{255}, false); err != nil {
					t.Fatal(err)
				}
			}
			refs, _, err := s.ScanRefs(RefScan{From: RefKey{Shard: 3, Backlog: 7, Priority: Priorities - 1}, MaxCount: 10, MaxBytes: 1})
			if err != nil || len(refs) != 1-step%2 {
				t.Fatalf("round %d, step %d: %d messages, %v", i, step, len(refs), err)
			}
		}
	}
	if st := s.Stats(); st.Misuses != 0 {
		t.Fatalf("%d misuses of single deletes", st.Misuses)
	}
}
