package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"time"
)

// MaxBatchBytes bounds a batch, which Pebble keeps in memory in one piece: 2 GiB. A
// larger one is Rejected.
const MaxBatchBytes = 2 << 30

// keptBytes is the largest buffer that is kept for the next batch.
const keptBytes = 1 << 20

// Batch is a list of changes that happen together or not at all. It belongs to who
// got it from NewBatch until Submit, and to the store afterwards. The methods copy what they are given.
//
// A RefKey or a DueKey that was put is put again only after it was dropped, as by a message that left its place and
// returns to it: Pebble may give back what was put to a key before, if it was put twice and dropped once. A shard or a
// priority that does not exist panics.
type Batch struct {
	repr    []byte
	count   uint32
	touched uint64 // a bit for each shard
	sums    [Shards]uint32
	links   []link // of the shards in touched, in their order; set by Submit

	key   [keySize]byte // scratch
	value [384]byte     // scratch, enough for a backlog

	number uint64
	done   func(Outcome)
	queued time.Time
	bytes  int
	ops    int
	tooBig bool
	lazy   bool
}

func newBatch() *Batch { return &Batch{repr: make([]byte, reprHeader, 4096)} }

// Len returns the number of changes so far, in records.
func (b *Batch) Len() int { return int(b.count) }

// Bytes returns the size so far, in octets as they will be logged.
func (b *Batch) Bytes() int { return len(b.repr) - reprHeader }

// Empty tells whether nothing would change.
func (b *Batch) Empty() bool { return b.count == 0 }

// SetLazy says that nobody waits for the outcome of this batch: it is written at once, but synced, and its
// outcome given, with the next batch that is not lazy, or after LazySync.
func (b *Batch) SetLazy() { b.lazy = true }

func (b *Batch) reset() {
	for s := range shardsOf(b.touched) {
		b.sums[s] = 0
	}
	b.repr = b.repr[:reprHeader]
	clear(b.repr)
	b.links = b.links[:0]
	b.count, b.touched = 0, 0
	b.number, b.done, b.queued = 0, nil, time.Time{}
	b.bytes, b.ops, b.tooBig, b.lazy = 0, 0, false, false
}

// record appends one operation on a key; the value is that of all parts together.
func (b *Batch) record(op operation, key []byte, parts ...[]byte) {
	start := len(b.repr)
	b.repr = append(b.repr, byte(op))
	b.repr = binary.AppendUvarint(b.repr, uint64(len(key)))
	b.repr = append(b.repr, key...)
	if op == opSet || op == opMerge || op == opDeleteRange {
		size := 0
		for _, p := range parts {
			size += len(p)
		}
		b.repr = binary.AppendUvarint(b.repr, uint64(size))
		for _, p := range parts {
			b.repr = append(b.repr, p...)
		}
	}
	b.count++
	s := key[0]
	b.sums[s] = crc32.Update(b.sums[s], castagnoli, b.repr[start:])
	b.touched |= 1 << s
}

// PutRef stores a message in its place in a backlog. A body of more than ChunkBytes
// goes into chunks that belong to k.Seq; the Blob returned then names them, and is needed to drop the
// message. Otherwise it is zero.
func (b *Batch) PutRef(k RefKey, head, body []byte) Blob {
	mustPriority(k)
	return b.putMessage(appendPlaceKey(b.key[:0], kindRef, k), k.Shard, k.Seq, head, body)
}

// PutRefBlob stores a message in its place in a backlog, whose body is already in
// chunks in the same shard: it moves here from another place, which is dropped in this batch with its blob kept.
func (b *Batch) PutRefBlob(k RefKey, head []byte, blob Blob) {
	mustPriority(k)
	b.putBlob(appendPlaceKey(b.key[:0], kindRef, k), head, blob)
}

// DropRef takes a message out of its place, with its body; with the zero Blob the chunks of a body stay, for a batch that
// puts it elsewhere with PutDueBlob or PutRefBlob. The attempts record goes too where hasAttempts says that there may be one.
func (b *Batch) DropRef(k RefKey, blob Blob, hasAttempts bool) {
	b.DropPlace(k)
	b.LeaveRef(k, blob, hasAttempts)
}

// LeaveRef is DropRef but for the place itself, which the same batch drops with DropPlace, or by a Backlog whose head mark
// is above it. The record of a place that was left below a head mark is no message any more, and goes with DropLeft.
func (b *Batch) LeaveRef(k RefKey, blob Blob, hasAttempts bool) {
	mustPriority(k)
	b.dropChunks(k.Shard, blob)
	if hasAttempts {
		b.record(opDelete, appendPlaceKey(b.key[:0], kindAttempts, k))
	}
}

// DropPlace drops a place, of whose message LeaveRef or GiveBack sees to the rest.
func (b *Batch) DropPlace(k RefKey) {
	mustPriority(k)
	b.record(opSingleDelete, appendPlaceKey(b.key[:0], kindRef, k))
}

// DropLeft drops what is left of places in the lane of k, from k.Seq on and below to, which no head mark may be below afterwards
// but for a place that is put again behind it in the same batch.
func (b *Batch) DropLeft(k RefKey, to Seq) {
	mustPriority(k)
	end := k
	end.Seq = to
	b.record(opDeleteRange, appendPlaceKey(b.key[:0], kindRef, k), appendPlaceKey(b.value[:0], kindRef, end))
}

// PutAttempts sets what happened to a message in its place, which must be stored.
func (b *Batch) PutAttempts(k RefKey, a Attempts) {
	mustPriority(k)
	b.record(opSet, appendPlaceKey(b.key[:0], kindAttempts, k), appendAttempts(b.value[:0], a))
}

// PutDue stores a message that waits for its time; the Blob is as with PutRef.
func (b *Batch) PutDue(k DueKey, head, body []byte) Blob {
	return b.putMessage(appendDueKey(b.key[:0], k), k.Shard, k.Seq, head, body)
}

// PutDueBlob is PutDue for a message whose body is already in chunks in the same shard: it moves here from another
// place, which is dropped in this batch with its blob kept.
func (b *Batch) PutDueBlob(k DueKey, head []byte, blob Blob) {
	b.putBlob(appendDueKey(b.key[:0], k), head, blob)
}

// DropDue takes a message out of those that wait, with its body, or without where
// keepBlob says that the same batch puts it elsewhere with PutRefBlob.
func (b *Batch) DropDue(k DueKey, blob Blob, keepBlob bool) {
	b.record(opSingleDelete, appendDueKey(b.key[:0], k))
	if !keepBlob {
		b.dropChunks(k.Shard, blob)
	}
}

// DropBlob drops a body whose message was dropped in this batch with the body kept.
func (b *Batch) DropBlob(s Shard, blob Blob) { b.dropChunks(s, blob) }

// PutDestination makes a destination, or changes it. Its name is at most 64 KiB.
func (b *Batch) PutDestination(d Destination) {
	b.record(opSet, appendIDKey(b.key[:0], d.Shard, kindDestination, uint64(d.ID)), appendDestination(b.value[:0], d))
}

// DropDestination forgets a destination. Its backlogs are dropped by themselves.
func (b *Batch) DropDestination(s Shard, id DestinationID) {
	b.record(opDelete, appendIDKey(b.key[:0], s, kindDestination, uint64(id)))
}

// PutBacklog sets the account of a backlog, and makes it if it is new.
func (b *Batch) PutBacklog(bl Backlog) {
	b.record(opSet, appendIDKey(b.key[:0], bl.Shard, kindBacklog, uint64(bl.ID)), appendBacklog(b.value[:0], &bl))
}

// DropBacklog forgets a backlog with all its messages and attempts. Messages with a blob must
// have been dropped one by one before: a batch is blind and cannot find their chunks.
func (b *Batch) DropBacklog(s Shard, id BacklogID) {
	b.record(opDelete, appendIDKey(b.key[:0], s, kindBacklog, uint64(id)))
	for _, k := range []kind{kindRef, kindAttempts} {
		end := append(appendIDKey(b.value[:0], s, k, uint64(id)), Priorities)
		b.record(opDeleteRange, appendIDKey(b.key[:0], s, k, uint64(id)), end)
	}
}

// PutSchedule sets the account of what waits in a shard.
func (b *Batch) PutSchedule(s Schedule) {
	b.record(opSet, appendPrefix(b.key[:0], s.Shard, kindSchedule), appendSchedule(b.value[:0], s))
}

func (b *Batch) putMessage(key []byte, s Shard, seq Seq, head, body []byte) Blob {
	blob := blobOf(seq, uint64(len(body)))
	if blob == (Blob{}) {
		b.record(opSet, key, appendMessagePrefix(b.value[:0], valueV1, len(head)), head, body)
		return blob
	}
	b.putBlob(key, head, blob)
	for n := range blob.Chunks {
		size := blob.chunkLength(n)
		b.record(opSet, appendChunkKey(b.key[:0], s, seq, n), append(b.value[:0], valueV1), body[:size])
		body = body[size:]
	}
	return blob
}

func (b *Batch) putBlob(key, head []byte, blob Blob) {
	prefix := appendMessagePrefix(b.value[:0], valueBlobV1, len(head))
	b.record(opSet, key, prefix, head, appendBlob(b.value[len(prefix):len(prefix)], blob))
}

// dropChunks drops them one by one: a tombstone that meets its chunk takes both away,
// while thousands of range tombstones would be read by every scan until they are compacted.
func (b *Batch) dropChunks(s Shard, blob Blob) {
	for n := range blob.Chunks {
		b.record(opSingleDelete, appendChunkKey(b.key[:0], s, blob.Owner, n))
	}
}

// seal ends the batch with the links of the shards that it touches, which follow from c, and moves c on.
func (b *Batch) seal(c *chain, epoch uint32) {
	b.bytes, b.ops = b.Bytes(), b.Len()
	for s := range shardsOf(b.touched) {
		l := c[s].follow(epoch, b.sums[s])
		c[s] = l
		b.links = append(b.links, l)
		b.repr = append(b.repr, byte(opSet), 2, byte(s), byte(kindMeta), linkSize)
		b.repr = appendLink(b.repr, l)
		b.count++
	}
	setReprCount(b.repr, b.count)
}

// eachLink calls yield for the links that seal made; a batch that was not sealed has none.
func (b *Batch) eachLink() func(yield func(Shard, link) bool) {
	return func(yield func(Shard, link) bool) {
		touched := b.touched
		for _, l := range b.links {
			if !yield(Shard(bits.TrailingZeros64(touched)), l) {
				return
			}
			touched &= touched - 1
		}
	}
}

func mustPriority(k RefKey) {
	if k.Priority >= Priorities {
		panic(fmt.Sprintf("store: priority %d", k.Priority))
	}
}
