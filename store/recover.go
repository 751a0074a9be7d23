package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// FormatVersion is the version of the stored format that this program writes. It reads those from oldestFormat on: a store of an
// older one is of this one from its next start on.
//
// Version 2: what lies below a head mark is no message. A program that knows version 1 only would take it for one.
const (
	FormatVersion = 2
	oldestFormat  = 1
)

// format is the record of the store as a whole:
// [1][version 4][created 8][host 8][epoch 4], big-endian.
type format struct {
	version uint32
	created int64
	host    [8]byte
	epoch   uint32
}

// maxEpoch is the last epoch that a Seq has room for.
const maxEpoch = 1<<(64-SeqBits) - 1

func newFormat(created int64) format {
	f := format{version: FormatVersion, created: created}
	_, _ = rand.Read(f.host[:]) // never fails
	return f
}

func formatKey() []byte { return appendPrefix(nil, metaShard, kindFormat) }

func appendFormat(dst []byte, f format) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, valueV1), f.version)
	dst = binary.BigEndian.AppendUint64(dst, uint64(f.created))
	dst = append(dst, f.host[:]...)
	return binary.BigEndian.AppendUint32(dst, f.epoch)
}

// decodeFormat looks at the version first: nothing behind it is known to mean the same in another one.
func decodeFormat(value []byte) (format, error) {
	d := decode("format", value)
	f := format{version: d.fixed32()}
	if d.err == nil && (f.version < oldestFormat || f.version > FormatVersion) {
		return f, &VersionError{Found: f.version, Supported: FormatVersion}
	}
	f.created = int64(d.fixed64())
	copy(f.host[:], d.octets(8))
	f.epoch = d.fixed32()
	return f, d.end()
}

// nextEpoch is the format record of the next start.
func (f format) nextEpoch() (format, error) {
	if f.epoch >= maxEpoch {
		return f, fmt.Errorf("store: started %d times, which is as often as it can be", f.epoch)
	}
	f.epoch++
	f.version = FormatVersion
	return f, nil
}

// readFormat returns the format record; there must be one.
func readFormat(r reader) (f format, err error) {
	found := false
	err = eachOf(r, metaShard, kindFormat, func(_, value []byte) error {
		found = true
		f, err = decodeFormat(value)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: it has no format record", ErrForeign)
	}
	return f, err
}

// readChain returns the last link of each shard. None may be of a later epoch than the store.
func readChain(r reader, epoch uint32) (c chain, err error) {
	for s := range Shard(Shards) {
		err := eachOf(r, s, kindMeta, func(_, value []byte) error {
			l, err := decodeLink(value)
			if err == nil && l.epoch > epoch {
				err = fmt.Errorf("%w: shard %d is at epoch %d, the store at %d", ErrCorrupt, s, l.epoch, epoch)
			}
			c[s] = l
			return err
		})
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// readRecovered returns what a start needs to know.
func readRecovered(r reader, f format) (Recovered, error) {
	rec := Recovered{Epoch: f.epoch, HostID: hex.EncodeToString(f.host[:]), Created: f.created}
	for s := range Shard(Shards) {
		err := each(r, appendPrefix(nil, s, kindDestination), appendPrefix(nil, s, kindSchedule+1), func(key, value []byte) error {
			switch kind(key[1]) {
			case kindDestination:
				d, err := decodeDestination(key, value)
				rec.Destinations = append(rec.Destinations, d)
				return err
			case kindBacklog:
				b, err := decodeBacklog(key, value)
				rec.Backlogs = append(rec.Backlogs, b)
				return err
			default:
				sc, err := decodeSchedule(key, value)
				rec.Schedules = append(rec.Schedules, sc)
				return err
			}
		})
		if err != nil {
			return Recovered{}, err
		}
	}
	return rec, nil
}
