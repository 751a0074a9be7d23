package store

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// grantEvery is how often compactions that wait are looked at, beside whenever one has ended.
const grantEvery = 100 * time.Millisecond

// scheduler lets no compaction begin before the database is open: opening waits for those that have begun,
// and with a large backlog they take a second.
type scheduler struct {
	*pebble.ConcurrencyLimitScheduler

	mu         sync.Mutex
	opened     bool
	goroutines int
	db         pebble.DBForCompaction
	closing    chan struct{}
	working    sync.WaitGroup
}

func newScheduler() *scheduler {
	return &scheduler{
		// Its own way of looking at what waits begins too early.
		ConcurrencyLimitScheduler: pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest(),
		closing:                   make(chan struct{}),
	}
}

// Register notes who is to be registered.
func (s *scheduler) Register(goroutines int, db pebble.DBForCompaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.goroutines, s.db = goroutines, db
}

// open lets compactions begin, the first ones at the next look.
func (s *scheduler) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ConcurrencyLimitScheduler.Register(s.goroutines, s.db)
	s.opened = true
	s.working.Go(s.look)
}

func (s *scheduler) look() {
	tick := time.NewTicker(grantEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.ConcurrencyLimitScheduler.UpdateGetAllowedWithoutPermission()
		case <-s.closing:
			return
		}
	}
}

func (s *scheduler) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Unregister ends what open began.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	opened := s.opened
	s.opened = false
	s.mu.Unlock()
	if opened {
		close(s.closing)
		s.working.Wait()
		s.ConcurrencyLimitScheduler.Unregister()
	}
}

// TrySchedule grants nothing before open.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if !s.isOpen() {
		return false, nil
	}
	return s.ConcurrencyLimitScheduler.TrySchedule()
}

// UpdateGetAllowedWithoutPermission passes the news on.
func (s *scheduler) UpdateGetAllowedWithoutPermission() {
	if s.isOpen() {
		s.ConcurrencyLimitScheduler.UpdateGetAllowedWithoutPermission()
	}
}
