package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
)

// link is the header of a batch for one shard that it touches, kept in that shard's
// meta record: the seq-th batch of the shard, written in this epoch, following one whose checksum
// was prev. The checksum sum covers prev, epoch, seq and the batch's operations on the shard.
type link struct {
	epoch     uint32
	seq       uint64
	prev, sum uint32
}

// A meta record is [1][epoch 4][seq 8][prev 4][sum 4], big-endian.
const linkSize = 21

func appendLink(dst []byte, l link) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, valueV1), l.epoch)
	dst = binary.BigEndian.AppendUint64(dst, l.seq)
	dst = binary.BigEndian.AppendUint32(dst, l.prev)
	return binary.BigEndian.AppendUint32(dst, l.sum)
}

func decodeLink(value []byte) (link, error) {
	d := decode("meta", value)
	l := link{epoch: d.fixed32(), seq: d.fixed64(), prev: d.fixed32(), sum: d.fixed32()}
	return l, d.end()
}

// follow returns the link after l, for operations whose checksum is content.
func (l link) follow(epoch, content uint32) link {
	n := link{epoch: epoch, seq: l.seq + 1, prev: l.sum}
	var b [20]byte
	binary.BigEndian.PutUint32(b[0:], n.prev)
	binary.BigEndian.PutUint32(b[4:], n.epoch)
	binary.BigEndian.PutUint64(b[8:], n.seq)
	binary.BigEndian.PutUint32(b[16:], content)
	n.sum = crc32.Checksum(b[:], castagnoli)
	return n
}

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chain is the last link of every shard.
type chain [Shards]link

// check is the fence in front of every apply: l must be written in this epoch, and be the one after the shard's last.
func (c *chain) check(s Shard, l link, epoch uint32) error {
	last := c[s]
	switch {
	case l.epoch != epoch:
		return fmt.Errorf("%w: batch of epoch %d in shard %d of a store at epoch %d", ErrCorrupt, l.epoch, s, epoch)
	case l.seq != last.seq+1:
		return fmt.Errorf("%w: batch %d of shard %d after batch %d", ErrCorrupt, l.seq, s, last.seq)
	case l.prev != last.sum:
		return fmt.Errorf("%w: batch %d of shard %d does not follow from the one before (%08x, not %08x)", ErrCorrupt, l.seq, s, l.prev, last.sum)
	}
	return nil
}

// verify reads a whole batch, checks that each of its links follows from c and
// covers what the batch does to that shard, and returns the links by shard.
func (c *chain) verify(repr []byte, epoch uint32) (touched uint64, links chain, err error) {
	r, err := readRepr(repr)
	if err != nil {
		return 0, links, err
	}
	var sums [Shards]uint32
	var changed uint64
	for {
		_, key, value, raw, ok, err := r.next()
		if err != nil {
			return 0, links, err
		}
		if !ok {
			break
		}
		if len(key) < 2 || key[0] >= Shards {
			return 0, links, malformed("key in batch", key)
		}
		s := Shard(key[0])
		if kind(key[1]) != kindMeta {
			sums[s] = crc32.Update(sums[s], castagnoli, raw)
			changed |= 1 << s
			continue
		}
		l, err := decodeLink(value)
		if err != nil {
			return 0, links, err
		}
		if err := c.check(s, l, epoch); err != nil {
			return 0, links, err
		}
		if l != c[s].follow(epoch, sums[s]) {
			return 0, links, fmt.Errorf("%w: batch %d of shard %d is not what its checksum says", ErrCorrupt, l.seq, s)
		}
		links[s] = l
		touched |= 1 << s
	}
	if touched != changed {
		return 0, links, fmt.Errorf("%w: batch changes shards %x and has headers for %x", ErrCorrupt, changed, touched)
	}
	return touched, links, nil
}

// shardsOf calls yield for each shard of a set, in order.
func shardsOf(set uint64) func(yield func(Shard) bool) {
	return func(yield func(Shard) bool) {
		for ; set != 0; set &= set - 1 {
			if !yield(Shard(bits.TrailingZeros64(set))) {
				return
			}
		}
	}
}
