package store

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"
)

// DirStats is what a directory holds.
type DirStats struct {
	FormatVersion, Epoch uint32
	HostID               string
	Created              int64 // milliseconds since the epoch
	Clean                bool  // closed in good order
	// Kinds has the records by kind, in the order of keys.
	Kinds []KindStats
	// Destinations is how many there are, Top those with the most octets, in that order.
	Destinations uint64
	Top          []DestinationStats
	// Scheduled messages wait for their time, the first and the last at these, in milliseconds since the epoch.
	Scheduled         uint64
	FirstDue, LastDue int64
}

// KindStats counts the records of one kind, in octets before compression.
type KindStats struct {
	Kind                 string
	Records              uint64
	KeyBytes, ValueBytes uint64
}

// DestinationStats is what all backlogs of a destination hold together, as their accounts say.
type DestinationStats struct {
	Destination
	Backlogs, Messages, Bytes uint64
}

// ReadStats opens the store in a directory for reading only and counts everything. At
// most top destinations are listed.
func ReadStats(dir string, top int) (st DirStats, err error) {
	err = viewDirectory(dir, func(r reader, m mark) error {
		st, err = readStats(r, top)
		st.Clean = m.clean
		return err
	})
	return st, err
}

func readStats(r reader, top int) (DirStats, error) {
	f, err := readFormat(r)
	if err != nil {
		return DirStats{}, err
	}
	st := DirStats{FormatVersion: f.version, Epoch: f.epoch, HostID: hex.EncodeToString(f.host[:]), Created: f.created}
	var kinds [kindEnd]KindStats
	type place struct {
		shard Shard
		id    DestinationID
	}
	destinations := map[place]*DestinationStats{}
	err = each(r, []byte{0}, []byte{math.MaxUint8}, func(key, value []byte) error {
		_, k, err := splitKey(key)
		if err != nil {
			return err
		}
		kinds[k].Records++
		kinds[k].KeyBytes += uint64(len(key))
		kinds[k].ValueBytes += uint64(len(value))
		switch k {
		case kindDestination:
			d, err := decodeDestination(key, value)
			destinations[place{d.Shard, d.ID}] = &DestinationStats{Destination: d}
			return err
		case kindBacklog:
			b, err := decodeBacklog(key, value)
			if d := destinations[place{b.Shard, b.Destination}]; d != nil {
				d.Backlogs++
				d.Bytes += b.Bytes
				for _, l := range b.Lanes {
					d.Messages += l.Count
				}
			}
			return err
		case kindDue:
			d, err := decodeDueKey(key)
			if st.Scheduled == 0 || d.At < st.FirstDue {
				st.FirstDue = d.At
			}
			if st.Scheduled == 0 || d.At > st.LastDue {
				st.LastDue = d.At
			}
			st.Scheduled++
			return err
		}
		return nil
	})
	for k := range kinds {
		if kinds[k].Records > 0 {
			kinds[k].Kind = kind(k).String()
			st.Kinds = append(st.Kinds, kinds[k])
		}
	}
	st.Destinations = uint64(len(destinations))
	for _, d := range destinations {
		st.Top = append(st.Top, *d)
	}
	slices.SortFunc(st.Top, func(a, b DestinationStats) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	st.Top = st.Top[:min(len(st.Top), max(top, 0))]
	return st, err
}
