package store

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// maxUnsynced bounds the groups that are applied and wait for a sync; Pebble syncs
	// all of them at once.
	maxUnsynced = 64
	// maxGroupBytes bounds the small batches that are written in one piece. One that is larger goes
	// by itself.
	maxGroupBytes = 64 << 10
)

// LazySync is how long a batch that is lazy may wait to be synced.
const LazySync = 10 * time.Millisecond

// group is batches that are written in one piece: one record of the log, one sync.
type group struct {
	batches []*Batch
	repr    []byte        // of the only batch, or merged
	merged  []byte        // a buffer, for several batches
	pebble  *pebble.Batch // nil if there is nothing to write
	lazy    bool          // nobody waits for it to be synced
	commit  Commit
	taken   time.Time
}

// applyAll, which starts after the links of applied, writes what comes in, and hands it over to be synced while it writes the next.
func (s *Store) applyAll(applied chain) {
	defer s.working.Done()
	defer close(s.groups)
	for {
		batches := s.door.take()
		if len(batches) == 0 {
			return
		}
		for len(batches) > 0 {
			g := s.spare.Get().(*group)
			g.taken = now()
			batches = g.fill(batches)
			if err := g.check(&applied, s.door.epoch); err != nil {
				s.events.fail(err)
				return
			}
			if err := s.apply(g); err != nil {
				s.events.fail(err)
				return
			}
			s.door.advance(g.batches[len(g.batches)-1].number)
			select {
			case s.groups <- g:
			case <-s.events.failed:
				return
			}
		}
	}
}

// fill takes as many batches as go together, and returns the others.
func (g *group) fill(batches []*Batch) (rest []*Batch) {
	n, size := 0, 0
	for n < len(batches) && (n == 0 || size+len(batches[n].repr) <= maxGroupBytes) {
		size += len(batches[n].repr)
		n++
	}
	g.batches = append(g.batches, batches[:n]...)
	g.commit.Queued = g.taken.Sub(batches[0].queued)
	g.commit.Batches = n
	var first *Batch
	var count uint32
	g.merged = g.merged[:0]
	g.lazy = true
	for _, b := range g.batches {
		g.lazy = g.lazy && b.lazy
		g.commit.Ops += b.ops
		g.commit.Bytes += b.bytes
		switch {
		case b.ops == 0 || b.tooBig:
			continue
		case first == nil:
			first = b
		case len(g.merged) == 0:
			g.merged = append(g.merged, first.repr...)
			fallthrough
		default:
			g.merged = append(g.merged, b.repr[reprHeader:]...)
		}
		count += b.count
	}
	switch {
	case len(g.merged) > 0:
		setReprCount(g.merged, count)
		g.repr = g.merged
	case first != nil:
		g.repr = first.repr
	}
	return batches[n:]
}

// reset makes the group ready for the next batches. What Pebble kept, as a
// memtable of its own, it keeps for good.
func (g *group) reset(kept bool) {
	if kept || cap(g.merged) > 2*maxGroupBytes {
		g.merged = nil
	}
	clear(g.batches)
	*g = group{batches: g.batches[:0], merged: g.merged}
}

// check is the fence: nothing is applied that does not follow from what was applied before.
func (g *group) check(applied *chain, epoch uint32) error {
	for _, b := range g.batches {
		for s, l := range b.eachLink() {
			if err := applied.check(s, l, epoch); err != nil {
				return err
			}
			applied[s] = l
		}
	}
	return nil
}

// apply is the only place that writes to the database after Open.
func (s *Store) apply(g *group) error {
	if g.repr == nil {
		return nil
	}
	// Not from a pool of Pebble's: that would keep our buffer.
	g.pebble = new(pebble.Batch)
	if err := g.pebble.SetRepr(g.repr); err != nil {
		return err
	}
	if g.lazy {
		return s.db.Apply(g.pebble, pebble.NoSync)
	}
	return s.db.ApplyNoSyncWait(g.pebble, pebble.Sync)
}

// syncAll waits for each group to be on disk, and gives the outcomes. Lazy groups wait for one that is not.
func (s *Store) syncAll() {
	defer s.working.Done()
	var lazy []*group
	for {
		g, err := s.nextGroup(lazy)
		switch {
		case err != nil, g == nil && len(lazy) == 0:
			return
		case g != nil && g.lazy:
			lazy = append(lazy, g)
			continue
		}
		if err := s.sync(g, len(lazy) > 0); err != nil {
			s.events.fail(err)
			return
		}
		for i, l := range lazy {
			if !s.synchronized(l) {
				return
			}
			lazy[i] = nil
		}
		lazy = lazy[:0]
		if g != nil && !s.synchronized(g) {
			return
		}
	}
}

// sync waits until g is on disk, and with it all that was applied before. Without a group, or with one that is empty, it
// sees to that itself where there is something before.
func (s *Store) sync(g *group, before bool) error {
	switch {
	case g != nil && g.pebble != nil:
		return g.pebble.SyncWait()
	case before:
		return s.db.LogData(nil, pebble.Sync)
	}
	return nil
}

// synchronized gives the outcomes of a group that is on disk. It is false after a failure.
func (s *Store) synchronized(g *group) bool {
	kept := false
	if g.pebble != nil {
		kept = g.pebble.Empty()
		_ = g.pebble.Close()
		s.raiseMark(g.batches)
	}
	g.commit.Synced = now().Sub(g.taken)
	s.counters.add(&g.commit)
	select {
	case <-s.events.failed:
		return false
	default:
	}
	if !g.lazy {
		s.o.OnCommit(g.commit)
	}
	for _, b := range g.batches {
		s.answer(b, kept && len(g.merged) == 0)
	}
	g.reset(kept)
	s.spare.Put(g)
	return true
}

// nextGroup waits for one, but not longer than the lazy ones may wait. There is none then, and after the last. The error
// is the store's failure.
func (s *Store) nextGroup(lazy []*group) (*group, error) {
	var due <-chan time.Time
	if len(lazy) > 0 {
		timer := time.NewTimer(LazySync - now().Sub(lazy[0].taken))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case g := <-s.groups:
		return g, nil
	case <-due:
		return nil, nil
	case <-s.events.failed:
		return nil, ErrFailed
	}
}

// answer gives the outcome of one batch.
func (s *Store) answer(b *Batch, kept bool) {
	done, outcome := b.done, Applied
	if b.tooBig {
		outcome = Rejected
	}
	if kept {
		b.repr = nil
	}
	s.door.recycle(b)
	done(outcome)
}

// raiseMark notes what is on disk now.
func (s *Store) raiseMark(batches []*Batch) {
	s.markMu.Lock()
	for _, b := range batches {
		for shard, l := range b.eachLink() {
			s.synced.seqs[shard] = l.seq
		}
	}
	s.markMu.Unlock()
	s.markRose()
}

// markRose wakes keepMark, now or when it is done with what it does.
func (s *Store) markRose() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// keepMark writes the high-water mark when it has risen, at most once in markEvery. A
// mark that cannot be written is only old, which is no failure.
func (s *Store) keepMark() {
	defer s.working.Done()
	for {
		select {
		case <-s.dirty:
		case <-s.closing:
			return
		case <-s.events.failed:
			return
		}
		s.markMu.Lock()
		m := s.synced
		s.markMu.Unlock()
		m.manifest = s.dir.manifest(m.manifest)
		s.markMu.Lock()
		s.synced.manifest = m.manifest
		s.markMu.Unlock()
		if err := writeMark(s.dir.fs, s.dir.path, &m); err != nil {
			s.counters.markErrors.Add(1)
			s.o.Log.Error("store: high-water mark not written, it is tried again", "err", err.Error())
			s.markRose()
		}
		pause := time.NewTimer(s.o.markEvery)
		select {
		case <-pause.C:
		case <-s.closing:
		case <-s.events.failed:
		}
		pause.Stop()
	}
}
