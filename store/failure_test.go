package store_test

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"

	"footfall/store"
	"footfall/store/storetest"
)

// one is a batch of one change.
func one(s *store.Store) *store.Batch {
	b := s.NewBatch()
	b.PutSchedule(store.Schedule{Shard: 1, Count: 1})
	return b
}

func TestAfterAFailedWriteThereIsNoOutcome(t *testing.T) {
	for name, fail := range map[string]func(d *storetest.Disk){
		"all operations": func(d *storetest.Disk) { d.FailFrom(1) },
		"a full disk":    func(d *storetest.Disk) { d.Fill() },
	} {
		t.Run(name, func(t *testing.T) {
			d := storetest.NewDisk(t)
			s, err := d.Open()
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan store.Outcome, 100)
			s.Submit(one(s), func(o store.Outcome) { done <- o })
			if o := <-done; o != store.Applied {
				t.Fatal(o)
			}
			fail(d)
			for range 10 {
				s.Submit(one(s), func(o store.Outcome) { done <- o })
			}
			failure := <-d.Fatal()
			if !errors.Is(failure, store.ErrFailed) {
				t.Errorf("failed with %v", failure)
			}
			if name == "a full disk" && !errors.Is(failure, syscall.ENOSPC) {
				t.Errorf("failed with %v", failure)
			}
			s.Submit(one(s), func(o store.Outcome) { done <- o })
			if _, _, err := s.ScanDue(store.DueScan{After: 12}); !errors.Is(err, store.ErrFailed) {
				t.Errorf("ScanDue: %v", err)
			}
			if !s.Stats().Failed {
				t.Error("Stats does not say so")
			}
			if err := s.Close(); !errors.Is(err, store.ErrFailed) {
				t.Errorf("Close: %v", err)
			}
			if len(done) != 0 {
				t.Errorf("%d outcomes after the failure", len(done))
			}
			select {
			case err := <-d.Fatal():
				t.Errorf("failed twice: %v", err)
			default:
			}
			d.FailNth(0)
			s, err = d.Crash(0, 1).Open()
			if err != nil {
				t.Fatal(err)
			}
			if r := s.Recovered(); r.Epoch != 2 || r.Clean || len(r.Schedules) != 1 {
				t.Errorf("recovered %+v", r)
			}
		})
	}
}

func TestOnCommitHearsOfEveryBatch(t *testing.T) {
	var batches, ops, bytes, groups atomic.Int64
	d := storetest.NewDisk(t)
	s, err := d.OpenWith(store.Options{OnCommit: func(c store.Commit) {
		batches.Add(int64(c.Batches))
		ops.Add(int64(c.Ops))
		bytes.Add(int64(c.Bytes))
		groups.Add(1)
		if c.Queued < 0 || c.Synced < 0 {
			t.Errorf("%+v", c)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for range 100 {
		b := one(s)
		size += b.Bytes()
		s.Submit(b, func(store.Outcome) {})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	st := s.Stats()
	if batches.Load() != 100 || ops.Load() != 100 || bytes.Load() != int64(size) || groups.Load() > 100 {
		t.Errorf("%d batches, %d changes, %d octets in %d groups; want 100, 100, %d", batches.Load(), ops.Load(), bytes.Load(), groups.Load(), size)
	}
	if st.Batches != 100 || st.Ops != 100 || st.Bytes != uint64(size) || st.Syncs != uint64(groups.Load()) {
		t.Errorf("%+v", st)
	}
}
