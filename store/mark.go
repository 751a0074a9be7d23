package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// mark is the high-water mark: what was surely on disk at some time. It is kept in a
// file beside the database, so that a database that lost its end, or its middle,
// and does not notice, is found out at the next start.
type mark struct {
	epoch uint32
	clean bool // the store was closed in good order after this
	seqs  [Shards]uint64
	// manifest is how far the database's list of its tables was on disk.
	manifest manifest
}

// The file is [magic 8][2][clean 1][epoch 4][seq 8 for each shard][manifest 8][its octets 8][crc32c of all before 4],
// big-endian. Version 1 had no manifest.
const (
	markMagic  = "footfall"
	markV2     = 2
	markSizeV1 = 8 + 1 + 1 + 4 + 8*Shards + 4
	markSize   = markSizeV1 + 16
)

func appendMark(dst []byte, m *mark) []byte {
	start := len(dst)
	dst = append(append(dst, markMagic...), markV2, 0)
	if m.clean {
		dst[len(dst)-1] = 1
	}
	dst = binary.BigEndian.AppendUint32(dst, m.epoch)
	for _, seq := range m.seqs {
		dst = binary.BigEndian.AppendUint64(dst, seq)
	}
	dst = binary.BigEndian.AppendUint64(dst, m.manifest.number)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.manifest.octets))
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func decodeMark(octets []byte) (m mark, err error) {
	if len(octets) < markSizeV1 || string(octets[:8]) != markMagic || octets[9] > 1 {
		return m, malformed("high-water mark", octets)
	}
	size := map[byte]int{valueV1: markSizeV1, markV2: markSize}[octets[8]]
	if len(octets) != size {
		return m, malformed("high-water mark", octets)
	}
	sum := size - 4
	if binary.BigEndian.Uint32(octets[sum:]) != crc32.Checksum(octets[:sum], castagnoli) {
		return m, fmt.Errorf("%w: checksum of the high-water mark", ErrCorrupt)
	}
	m.clean = octets[9] == 1
	m.epoch = binary.BigEndian.Uint32(octets[10:])
	for s := range m.seqs {
		m.seqs[s] = binary.BigEndian.Uint64(octets[14+8*s:])
	}
	if octets[8] == markV2 {
		m.manifest.number = binary.BigEndian.Uint64(octets[14+8*Shards:])
		m.manifest.octets = int64(binary.BigEndian.Uint64(octets[22+8*Shards:]))
	}
	return m, nil
}

// missing is nil if a store with this format record and chain has all that the mark
// says was once on disk.
func (m *mark) missing(f format, c *chain) error {
	loss := &LossError{Epoch: f.epoch, MarkEpoch: m.epoch, Missing: map[Shard]uint64{}}
	for s := range c {
		if c[s].seq < m.seqs[s] {
			loss.Missing[Shard(s)] = m.seqs[s] - c[s].seq
		}
	}
	if len(loss.Missing) == 0 && f.epoch >= m.epoch {
		return nil
	}
	return loss
}

const (
	markName     = "MARK"
	markTempName = "MARK.new"
)

func readMark(fs vfs.FS, dir string) (m mark, err error) {
	f, err := fs.Open(fs.PathJoin(dir, markName))
	if err != nil {
		return m, err
	}
	octets, err := io.ReadAll(io.LimitReader(f, markSize+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return m, err
	}
	return decodeMark(octets)
}

// writeMark replaces the mark, and returns when that is on disk: a reader finds the
// old one or the new one. After an error it can be tried again, as that starts with a file of its own.
func writeMark(fs vfs.FS, dir string, m *mark) error {
	temp := fs.PathJoin(dir, markTempName)
	f, err := fs.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(appendMark(nil, m))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(temp, fs.PathJoin(dir, markName)); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
