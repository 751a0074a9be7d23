package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/store"
)

// Store is what Run tests: *store.Store and *store.Memory.
type Store interface {
	Recovered() store.Recovered
	NewBatch() *store.Batch
	Submit(b *store.Batch, done func(store.Outcome)) (number uint64)
	ScanRefs(q store.RefScan) (refs []store.Ref, more bool, err error)
	FilterRefs(q store.RefFilter) (refs []store.Ref, next store.RefKey, more bool, err error)
	ScanDue(q store.DueScan) (due []store.Due, more bool, err error)
	ScanSpent(q store.SpentScan) (found []store.Spent, next store.Spent, more bool, err error)
	ScanDuplicates(q store.DuplicateScan) (found []store.Duplicate, more bool, err error)
	FindOldDuplicates(q store.OldDuplicates) (found []store.Duplicate, some bool, err error)
	Check() (store.Report, error)
	Stats() store.Stats
	DiskFree() (uint64, error)
	Close() error
}

// Opener opens a store: an empty one first, and then the one that it opened
// before and that was closed.
type Opener func() (Store, error)

// Run tests that a kind of store keeps the contract of package store. It calls make for each of its tests.
func Run(t *testing.T, make func(t *testing.T) Opener) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, f *fixture)
	}{
		{"a new store is empty, clean and at epoch 1", testNew},
		{"each start raises the epoch and keeps host and creation", testEpoch},
		{"outcomes come once each, in the order of Submit", testOrder},
		{"an empty batch has its turn", testEmptyBatch},
		{"a page is in the order of delivery", testOrderOfDelivery},
		{"a page ends at its bounds, and tells whether there is more", testPageBounds},
		{"a page shows nothing below the heads", testHeads},
		{"a page shows the batch that it waits for", testAfter},
		{"a filter returns what is wanted and tells where it ended", testFilter},
		{"a page has each message's attempts", testAttempts},
		{"what a scan returns is the caller's", testScanCopies},
		{"what waits comes by time, then by number, none after Until", testDue},
		{"a body above ChunkBytes is kept in chunks and moves without being copied", testBlob},
		{"a shared message is stored once and read in each of its places", testShared},
		{"what is left below a head mark is no message", testLeft},
		{"what is left of shared messages is found and dropped", testSpent},
		{"ids that destinations were sent come back in order, and go when they are old", testDuplicates},
		{"a dropped backlog is gone with all that it had", testDropBacklog},
		{"what was given to a batch may be changed afterwards", testBatchCopies},
		{"after Close there is ErrClosed and Rejected", testClosed},
		{"Close waits for what was submitted", testCloseWaits},
		{"many goroutines may scan", testConcurrentScans},
		{"a check finds what is wrong", testCheck},
		{"a random history is kept, over starts", testHistory},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fixture{t: t, open: make(t)}
			f.reopen()
			test.run(t, f)
			if f.Store != nil {
				f.close()
			}
		})
	}
}

// fixture is an open store with what most tests do to one.
type fixture struct {
	Store
	t    *testing.T
	open Opener
}

func (f *fixture) reopen() {
	f.t.Helper()
	if f.Store != nil {
		f.close()
	}
	s, err := f.open()
	if err != nil {
		f.t.Fatal(err)
	}
	f.Store = s
}

func (f *fixture) close() {
	f.t.Helper()
	if n := f.Stats().Misuses; n != 0 {
		f.t.Errorf("%d misuses of drops", n)
	}
	if err := f.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.Store = nil
}

// commit submits a batch and waits for its outcome.
func (f *fixture) commit(fill func(b *store.Batch)) {
	f.t.Helper()
	b := f.NewBatch()
	fill(b)
	done := make(chan store.Outcome, 1)
	f.Submit(b, func(o store.Outcome) { done <- o })
	if o := <-done; o != store.Applied {
		f.t.Fatalf("outcome %d, want Applied", o)
	}
}

func (f *fixture) refs(q store.RefScan) (refs []store.Ref, more bool) {
	f.t.Helper()
	refs, more, err := f.ScanRefs(q)
	if err != nil {
		f.t.Fatal(err)
	}
	return refs, more
}

func (f *fixture) due(q store.DueScan) (due []store.Due, more bool) {
	f.t.Helper()
	due, more, err := f.ScanDue(q)
	if err != nil {
		f.t.Fatal(err)
	}
	return due, more
}

func ref(priority uint8, seq store.Seq) store.RefKey {
	return store.RefKey{Shard: 3, Backlog: 7, Priority: priority, Seq: seq}
}

// all asks for everything in the backlog of ref.
func all() store.RefScan {
	return store.RefScan{From: ref(store.Priorities-1, 0), MaxCount: 1 << 30, MaxBytes: 1 << 30}
}

func allDue() store.DueScan {
	return store.DueScan{From: store.DueKey{Shard: 3, At: -1 << 63}, Until: 1<<63 - 1, MaxCount: 1 << 30, MaxBytes: 1 << 30}
}

func seqs(refs []store.Ref) []store.Seq {
	var s []store.Seq
	for _, r := range refs {
		s = append(s, r.Key.Seq)
	}
	return s
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func testNew(t *testing.T, f *fixture) {
	r := f.Recovered()
	if len(r.HostID) != 16 || r.Created == 0 {
		t.Errorf("host %q, created %d", r.HostID, r.Created)
	}
	equal(t, "recovered", r, store.Recovered{Epoch: 1, HostID: r.HostID, Created: r.Created, Clean: true})
	if refs, more := f.refs(all()); len(refs) != 0 || more {
		t.Errorf("%d messages, more %t", len(refs), more)
	}
	if free, err := f.DiskFree(); err != nil || free == 0 {
		t.Errorf("DiskFree: %d, %v", free, err)
	}
}

func testEpoch(t *testing.T, f *fixture) {
	first := f.Recovered()
	for epoch := uint32(2); epoch < 5; epoch++ {
		f.reopen()
		want := first
		want.Epoch = epoch
		equal(t, "recovered", f.Recovered(), want)
	}
}

func testOrder(t *testing.T, f *fixture) {
	const n = 200
	got := make(chan uint64, 2*n)
	for i := range uint64(n) {
		b := f.NewBatch()
		b.PutRef(ref(4, store.Seq(i+1)), []byte("h"), bytes.Repeat([]byte("b"), int(i)))
		number := i + 1
		if number := f.Submit(b, func(store.Outcome) { got <- number }); number != i+1 {
			t.Fatalf("batch %d is given number %d", i+1, number)
		}
	}
	f.close()
	if len(got) != n {
		t.Fatalf("%d outcomes for %d batches", len(got), n)
	}
	for i := range uint64(n) {
		if number := <-got; number != i+1 {
			t.Fatalf("outcome %d is of batch %d", i+1, number)
		}
	}
}

func testEmptyBatch(t *testing.T, f *fixture) {
	var order []string
	var wait sync.WaitGroup
	for _, name := range []string{"empty", "full", "empty", "full", "empty"} {
		b := f.NewBatch()
		if !b.Empty() || b.Len() != 0 || b.Bytes() != 0 {
			t.Fatalf("a new batch has %d changes, %d octets", b.Len(), b.Bytes())
		}
		if name == "full" {
			b.PutSchedule(store.Schedule{Shard: 1})
			if b.Empty() || b.Len() != 1 || b.Bytes() == 0 {
				t.Fatalf("a batch with one change has %d, %d octets", b.Len(), b.Bytes())
			}
		}
		wait.Add(1)
		f.Submit(b, func(o store.Outcome) {
			order = append(order, fmt.Sprint(name, o))
			wait.Done()
		})
	}
	wait.Wait()
	equal(t, "outcomes", order, []string{"empty1", "full1", "empty1", "full1", "empty1"})
}

func testDropBacklog(t *testing.T, f *fixture) {
	f.commit(func(b *store.Batch) {
		b.PutDestination(store.Destination{Shard: 3, ID: 1, Name: "n"})
		for id := store.BacklogID(6); id <= 8; id++ {
			k := store.RefKey{Shard: 3, Backlog: id}
			bl := store.Backlog{Shard: 3, ID: id, Destination: 1}
			for p := range uint8(store.Priorities) {
				k.Priority, k.Seq = p, store.Seq(id)*100+store.Seq(p)
				b.PutRef(k, nil, nil)
				b.PutAttempts(k, store.Attempts{Deliveries: 1})
				bl.Lanes[p].Count = 1
			}
			b.PutBacklog(bl)
		}
	})
	f.commit(func(b *store.Batch) { b.DropBacklog(3, 7) })
	f.reopen()
	rep, err := f.Check()
	if err != nil || !rep.OK() {
		t.Fatal(rep, err)
	}
	equal(t, "messages left", rep.Messages, 20)
	equal(t, "attempts left", rep.Attempts, 20)
	equal(t, "backlogs left", rep.Backlogs, 2)
	if refs, _ := f.refs(all()); len(refs) != 0 {
		t.Fatalf("%d messages in the dropped backlog", len(refs))
	}
}

func testBatchCopies(t *testing.T, f *fixture) {
	head, body := []byte("head"), []byte("body")
	f.commit(func(b *store.Batch) {
		b.PutRef(ref(4, 1), head, body)
		clear(head)
		clear(body)
	})
	refs, _ := f.refs(all())
	if string(refs[0].Head) != "head" || string(refs[0].Body) != "body" {
		t.Fatalf("%q %q", refs[0].Head, refs[0].Body)
	}
}

func testClosed(t *testing.T, f *fixture) {
	s, b := f.Store, f.NewBatch()
	f.close()
	if _, _, err := s.ScanRefs(all()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("ScanRefs: %v", err)
	}
	if _, _, err := s.ScanDue(allDue()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("ScanDue: %v", err)
	}
	b.PutRef(ref(4, 1), nil, nil)
	done := make(chan store.Outcome, 1)
	q := all()
	q.After = s.Submit(b, func(o store.Outcome) { done <- o })
	if o := <-done; o != store.Rejected {
		t.Errorf("outcome %d, want Rejected", o)
	}
	if _, _, err := s.ScanRefs(q); !errors.Is(err, store.ErrClosed) {
		t.Errorf("ScanRefs after a rejected batch: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	f.reopen()
	if refs, _ := f.refs(all()); len(refs) != 0 {
		t.Error("a rejected batch is there")
	}
}

func testCloseWaits(t *testing.T, f *fixture) {
	var applied int
	for seq := range store.Seq(500) {
		b := f.NewBatch()
		b.PutRef(ref(4, seq), nil, make([]byte, 1000))
		f.Submit(b, func(o store.Outcome) {
			if o == store.Applied {
				applied++
			}
		})
	}
	f.close()
	equal(t, "applied", applied, 500)
	f.reopen()
	refs, _ := f.refs(all())
	equal(t, "stored", len(refs), 500)
}

func testConcurrentScans(t *testing.T, f *fixture) {
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 50 {
				refs, _, err := f.ScanRefs(all())
				if err != nil {
					t.Error(err)
					return
				}
				for i := 1; i < len(refs); i++ {
					if refs[i].Key.Seq != refs[i-1].Key.Seq+1 || refs[i].Blob == (store.Blob{}) {
						t.Errorf("message %d after %d", refs[i].Key.Seq, refs[i-1].Key.Seq)
					}
				}
			}
		})
	}
	// A window of two large messages moves on: a page that is not of one moment would miss a chunk.
	blobs := map[store.Seq]store.Blob{}
	for seq := store.Seq(1); seq <= 40; seq++ {
		f.commit(func(b *store.Batch) {
			blobs[seq] = b.PutRef(ref(4, seq), nil, make([]byte, store.ChunkBytes+1))
			if seq > 2 {
				b.DropRef(ref(4, seq-2), blobs[seq-2], false)
			}
		})
	}
	wait.Wait()
}

func testHistory(t *testing.T, f *fixture) {
	rng := rand.New(rand.NewPCG(42, 42))
	m := NewModel()
	for start := range 4 {
		m.Start(f.Recovered().Epoch)
		for range 40 {
			f.Submit(stepped(f.Store, m, rng), func(store.Outcome) {})
		}
		f.reopen()
		if err := Compare(f.Store, m); err != nil {
			t.Fatalf("start %d: %v", start, err)
		}
	}
}

func stepped(s Store, m *Model, rng *rand.Rand) *store.Batch {
	b := s.NewBatch()
	m.Step(rng, b)
	return b
}

// Compare tells how a store that was just opened differs from the model.
func Compare(s Store, m *Model) error {
	rep, err := s.Check()
	if err == nil {
		err = rep.Err()
	}
	if err != nil {
		return fmt.Errorf("after %d steps: %w", m.Batches, err)
	}
	got, batches, err := Read(s)
	if err != nil {
		return err
	}
	if batches != m.Batches {
		return fmt.Errorf("%d steps are there, want %d", batches, m.Batches)
	}
	if want := m.State(); !maps.Equal(got, want) {
		return fmt.Errorf("after %d steps (-want +got):\n%s", batches, cmp.Diff(want, got))
	}
	return nil
}
