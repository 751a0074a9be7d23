package store

import (
	"sync/atomic"
	"time"
)

// Stats are counts since Open, and sizes now. Sizes are in octets.
type Stats struct {
	// What was committed: Syncs is the number of groups, each with a sync of its own or shared.
	Batches, Syncs, Ops, Bytes uint64
	SyncTime                   time.Duration // of all groups together

	DiskBytes                       uint64 // all files of the database
	WALBytes                        uint64 // the part of the logs that a start would replay
	TableBytes, Tables              uint64
	MemTableBytes, CacheBytes       uint64
	CacheHits, CacheMisses          uint64
	WALBytesWritten                 uint64 // since Open
	FlushedBytes, CompactedBytes    uint64 // since Open
	CompactionDebt                  uint64
	Compactions, CompactionsRunning uint64
	ReadAmplification, L0Sublevels  uint64
	Stalls, DiskSlow                uint64 // writes that waited for background work; slow disk operations
	BackgroundErrors, MarkErrors    uint64
	Misuses                         uint64 // drops that Pebble found to have no message, or several
	Stalled                         bool   // now
	Failed                          bool
}

type counters struct {
	batches, syncs, ops, bytes, syncNanos, markErrors atomic.Uint64
}

func (c *counters) add(m *Commit) {
	c.batches.Add(uint64(m.Batches))
	c.syncs.Add(1)
	c.ops.Add(uint64(m.Ops))
	c.bytes.Add(uint64(m.Bytes))
	c.syncNanos.Add(uint64(m.Synced))
}

func (c *counters) stats() Stats {
	return Stats{
		Batches: c.batches.Load(), Syncs: c.syncs.Load(), Ops: c.ops.Load(), Bytes: c.bytes.Load(),
		SyncTime: time.Duration(c.syncNanos.Load()), MarkErrors: c.markErrors.Load(),
	}
}

// Stats returns the numbers of this moment; after Close or a failure only those that the store counts itself.
func (s *Store) Stats() Stats {
	st := s.counters.stats()
	st.Stalls, st.DiskSlow = s.events.stalls.Load(), s.events.slow.Load()
	st.BackgroundErrors, st.Misuses = s.events.background.Load(), s.events.misuse.Load()
	st.Stalled = s.events.stalled.Load()
	s.scans.RLock()
	defer s.scans.RUnlock()
	st.Failed = s.door.err() != nil
	if s.db == nil || st.Failed {
		return st
	}
	m := s.db.Metrics()
	total := m.Total()
	st.DiskBytes, st.WALBytes, st.WALBytesWritten = m.DiskSpaceUsage(), m.WAL.Size, m.WAL.BytesWritten
	st.TableBytes, st.Tables = uint64(total.TablesSize), uint64(total.TablesCount)
	st.MemTableBytes, st.CacheBytes = m.MemTable.Size, uint64(m.BlockCache.Size)
	st.CacheHits, st.CacheMisses = uint64(m.BlockCache.Hits), uint64(m.BlockCache.Misses)
	st.FlushedBytes, st.CompactedBytes = total.TableBytesFlushed, total.TableBytesCompacted
	st.CompactionDebt = m.Compact.EstimatedDebt
	st.Compactions, st.CompactionsRunning = uint64(m.Compact.Count), uint64(m.Compact.NumInProgress)
	st.ReadAmplification, st.L0Sublevels = uint64(m.ReadAmp()), uint64(m.Levels[0].Sublevels)
	return st
}

// DiskFree returns the octets that are free for this process where the store is.
func (s *Store) DiskFree() (uint64, error) {
	u, err := s.dir.fs.GetDiskUsage(s.dir.path)
	return u.AvailBytes, err
}
