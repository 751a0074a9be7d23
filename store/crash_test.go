package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"footfall/store"
	"footfall/store/storetest"
)

// unsynced is what part of the data that was not synced a crash may leave, in percent.
var unsynced = []int{0, 30, 70, 100}

// small makes tables, compactions and batches that are memtables of their own out of little data. What was read is kept: to read a
// large block again at each look costs minutes with the race detector.
var small = store.Options{MemTableBytes: 64 << 10, CacheBytes: 16 << 20}

// history is a model with all of its earlier states: states[n] is after n steps.
type history struct {
	rng     *rand.Rand
	mu      sync.Mutex
	states  []*storetest.Model
	applied atomic.Int64 // outcomes so far
}

func newHistory(seed uint64) *history {
	m := storetest.NewModel()
	m.BlobPercent = 3
	return &history{rng: rand.New(rand.NewPCG(seed, 0)), states: []*storetest.Model{m}}
}

func (h *history) submitted() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.states) - 1
}

// step submits one batch; done is called after its outcome was counted.
func (h *history) step(s *store.Store, done func()) {
	h.mu.Lock()
	m := h.states[len(h.states)-1].Clone()
	m.Start(s.Recovered().Epoch)
	m.Count(h.states[len(h.states)-1])
	b := s.NewBatch()
	m.Step(h.rng, b)
	h.states = append(h.states, m)
	h.mu.Unlock()
	s.Submit(b, func(o store.Outcome) {
		if o == store.Applied {
			h.applied.Add(1)
		}
		done()
	})
}

// long tells whether there is time for the whole of the suite: FOOTFALL_CRASH_ROUNDS is set.
func long() bool { return os.Getenv("FOOTFALL_CRASH_ROUNDS") != "" }

// run does so many steps, a few of them at a time, until the store fails.
func (h *history) run(s *store.Store, steps int, failed <-chan error) error {
	slots := make(chan struct{}, 3)
	patience := time.After(10 * time.Minute)
	for i := range steps + cap(slots) {
		select {
		case slots <- struct{}{}:
		case err := <-failed:
			return err
		case <-patience:
			return errors.New("neither outcome nor failure")
		}
		if i < steps {
			h.step(s, func() { <-slots })
		}
	}
	return nil
}

// survives checks that a disk after a crash has all steps up to at least the
// first and at most the last of these, none in part, and that the store goes on from there.
func (h *history) survives(d *storetest.Disk, first, last int) error {
	defer d.Discard()
	s, err := d.OpenWith(small)
	if err != nil {
		return err
	}
	_, n, err := storetest.Read(s)
	if err != nil {
		return err
	}
	if n < first || n > last {
		return fmt.Errorf("%d steps are there, of %d that had their outcome and %d that were submitted", n, first, last)
	}
	h.mu.Lock()
	m := h.states[n]
	h.mu.Unlock()
	if err := storetest.Compare(s, m); err != nil {
		return err
	}
	b := s.NewBatch()
	b.PutDestination(store.Destination{Shard: 9, ID: 9})
	done := make(chan store.Outcome, 1)
	s.Submit(b, func(o store.Outcome) { done <- o })
	<-done
	return s.Close()
}

// rewind makes the history go on from what a disk has after a crash.
func (h *history) rewind(s *store.Store) error {
	_, n, err := storetest.Read(s)
	if err != nil {
		return err
	}
	h.states = h.states[:n+1]
	h.applied.Store(int64(n))
	return nil
}

func TestEveryAppliedBatchSurvivesACrashAtAnySync(t *testing.T) {
	histories, steps := 1, 5
	if long() {
		histories, steps = 3, 40
	}
	for seed := range uint64(histories) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			h := newHistory(seed)
			d := storetest.NewDisk(t)
			var crashes atomic.Uint64
			watch := func(d *storetest.Disk) {
				d.OnSync(func() {
					n := crashes.Add(1)
					percent := unsynced[n%uint64(len(unsynced))]
					first := int(h.applied.Load())
					crashed := d.Crash(percent, n)
					if err := h.survives(crashed, first, h.submitted()); err != nil {
						t.Errorf("crash %d, %d %% of unsynced data kept: %v", n, percent, err)
					}
				})
			}
			for life := range 4 {
				watch(d)
				s, err := d.OpenWith(small)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.rewind(s); err != nil {
					t.Fatal(err)
				}
				if err := h.run(s, steps, d.Fatal()); err != nil {
					t.Fatal(err)
				}
				if life%2 == 0 {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				d.OnSync(nil)
				next := d.Crash(unsynced[life], seed)
				d = next
			}
			t.Logf("%d crashes", crashes.Load())
		})
	}
}

func TestALargeTransactionIsAtomicInACrash(t *testing.T) {
	const bodies, size = 6, 1 << 20
	d := storetest.NewDisk(t)
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	look := func(d *storetest.Disk) int {
		s, err := d.Open()
		if err != nil {
			t.Error(err)
			return -1
		}
		defer func() { _ = s.Close() }()
		rep, err := s.Check()
		if err != nil || !rep.OK() {
			t.Error(rep, err)
		}
		return int(rep.Messages)
	}
	var applied atomic.Bool
	var crashes atomic.Uint64
	d.OnSync(func() {
		was, n := applied.Load(), crashes.Add(1)
		if got := look(d.Crash(unsynced[n%4], n)); got != bodies && (was || got != 0) {
			t.Errorf("%d of %d messages after a crash", got, bodies)
		}
	})
	b := s.NewBatch()
	account := store.Backlog{Shard: 1, ID: 1, Destination: 1, Bytes: bodies * size}
	account.Lanes[4].Count = bodies
	b.PutDestination(store.Destination{Shard: 1, ID: 1})
	b.PutBacklog(account)
	for i := range store.Seq(bodies) {
		b.PutRef(store.RefKey{Shard: 1, Backlog: 1, Priority: 4, Seq: i}, nil, make([]byte, size))
	}
	done := make(chan store.Outcome)
	s.Submit(b, func(o store.Outcome) { applied.Store(true); done <- o })
	if o := <-done; o != store.Applied {
		t.Fatal(o)
	}
	d.OnSync(nil)
	if got := look(d.Crash(0, 1)); got != bodies {
		t.Errorf("%d of %d messages after the outcome", got, bodies)
	}
	if crashes.Load() == 0 {
		t.Error("no crash was tried")
	}
}

// failing runs a history on a disk that fails, from the making of the store on, and checks
// what is left. It tells whether anything failed.
func failing(t *testing.T, name string, fail func(d *storetest.Disk)) bool {
	h := newHistory(7)
	d := storetest.NewDisk(t)
	defer d.Discard()
	fail(d)
	var failure error
	for range 2 {
		s, err := d.OpenWith(small)
		if err != nil {
			failure = err
			break
		}
		if failure = h.rewind(s); failure != nil {
			break
		}
		if failure = h.run(s, 25, d.Fatal()); failure != nil {
			before := h.applied.Load()
			_ = s.Close()
			if after := h.applied.Load(); after != before {
				t.Errorf("%s: %d outcomes after the failure", name, after-before)
			}
			break
		}
		if failure = s.Close(); failure != nil {
			break
		}
	}
	if !d.Failed() {
		if failure != nil {
			t.Errorf("%s: nothing failed, but: %v", name, failure)
		}
		return false
	}
	for _, percent := range unsynced {
		if err := h.survives(d.Crash(percent, 1), int(h.applied.Load()), h.submitted()); err != nil {
			t.Errorf("%s (%v), then a crash with %d %% of unsynced data kept: %v", name, failure, percent, err)
		}
	}
	return true
}

func TestNothingAppliedIsLostWhenAnyOneOperationFails(t *testing.T) {
	stride := 1
	if !long() {
		stride = 61
	}
	for n := 1; failing(t, fmt.Sprintf("operation %d", n), func(d *storetest.Disk) { d.FailNth(n) }); n += stride {
		if n > 5000 {
			t.Fatal("no end of operations")
		}
	}
}

func TestNothingAppliedIsLostWhenTheDiskDies(t *testing.T) {
	stride := 3
	if !long() {
		stride = 127
	}
	for n := 1; failing(t, fmt.Sprintf("operation %d and all after it", n), func(d *storetest.Disk) { d.FailFrom(n) }); n += stride {
		if n > 5000 {
			t.Fatal("no end of operations")
		}
	}
}
