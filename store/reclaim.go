package store

import (
	"context"
	"fmt"
)

// deadBytes is how much more than twice what lives a shard may take before its dead part is given back.
const deadBytes = 8 << 20

// Reclaim gives back the disk that dropped messages take: of each shard that takes more than twice what lives in it. Left to itself
// the database does so when it writes more, which it does not while SENDs wait for the disk. It needs, for a
// while, as much more disk as what lives in a shard. It returns early when ctx ends.
func (s *Store) Reclaim(ctx context.Context) error {
	s.scans.RLock()
	defer s.scans.RUnlock()
	if s.db == nil {
		return ErrClosed
	}
	if err := s.db.Flush(); err != nil {
		return fmt.Errorf("store: flush: %w", err)
	}
	for shard := range Shard(Shards) {
		lower, upper := []byte{byte(shard)}, []byte{byte(shard) + 1}
		taken, err := s.db.EstimateDiskUsage(lower, upper)
		if err != nil {
			return fmt.Errorf("store: disk usage: %w", err)
		}
		live, err := s.liveBytes(shard)
		if err != nil {
			return err
		}
		if taken <= 2*live+deadBytes {
			continue
		}
		if err := s.db.Compact(ctx, lower, upper, false); err != nil {
			return fmt.Errorf("store: compact: %w", err)
		}
		s.o.Log.Info("store: disk given back", "shard", shard, "taken", taken, "live", live)
	}
	return nil
}

// liveBytes adds up the accounts of a shard.
func (s *Store) liveBytes(shard Shard) (live uint64, err error) {
	snap := snapshot{s.db.NewSnapshot()}
	defer func() {
		if e := snap.Close(); err == nil {
			err = e
		}
	}()
	err = eachOf(snap, shard, kindBacklog, func(key, value []byte) error {
		b, err := decodeBacklog(key, value)
		live += b.Bytes
		return err
	})
	if err != nil {
		return 0, err
	}
	err = eachOf(snap, shard, kindSchedule, func(key, value []byte) error {
		sc, err := decodeSchedule(key, value)
		live += sc.Bytes
		return err
	})
	return live, err
}
