package store

import "fmt"

// reader is what there is to read at one moment.
type reader interface {
	// iter returns an iterator over the keys from lower on and below upper.
	iter(lower, upper []byte) (iterator, error)
}

// iterator gives records in the order of keys. What Key and ValueAndErr return is good until
// the next move. *pebble.Iterator is one.
type iterator interface {
	SeekGE(key []byte) bool
	Next() bool
	Key() []byte
	ValueAndErr() ([]byte, error)
	SetBounds(lower, upper []byte)
	Error() error
	Close() error
}

// each calls f for all records from lower on and below upper.
func each(r reader, lower, upper []byte, f func(key, value []byte) error) (err error) {
	it, err := r.iter(lower, upper)
	if err != nil {
		return err
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	for ok := it.SeekGE(lower); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := f(it.Key(), value); err != nil {
			return err
		}
	}
	return it.Error()
}

// eachOf is each over all records of one kind in a shard.
func eachOf(r reader, s Shard, k kind, f func(key, value []byte) error) error {
	return each(r, appendPrefix(nil, s, k), appendPrefix(nil, s, k+1), f)
}

// readBlob returns a body that is in chunks of a message in one place; readSharedBlob that of a shared one.
func readBlob(r reader, s Shard, blob Blob, dst []byte) (body []byte, err error) {
	return readChunks(r, s, blob, appendChunkKey, decodeChunk, dst)
}

func readSharedBlob(r reader, s Shard, blob Blob, dst []byte) (body []byte, err error) {
	return readChunks(r, s, blob, appendSharedChunkKey, decodeSharedChunk, dst)
}

func readChunks(r reader, s Shard, blob Blob, appendKey func([]byte, Shard, Seq, uint32) []byte, decode func([]byte) ([]byte, error), dst []byte) (body []byte, err error) {
	lower := appendKey(nil, s, blob.Owner, 0)
	upper := appendKey(nil, s, blob.Owner, blob.Chunks)
	n := uint32(0)
	err = each(r, lower, upper, func(key, value []byte) error {
		_, _, at, err := decodeChunkKey(key)
		if err != nil {
			return err
		}
		chunk, err := decode(value)
		if err != nil {
			return err
		}
		if at != n || len(chunk) != blob.chunkLength(n) {
			return malformed("chunk order at", key)
		}
		dst = append(dst, chunk...)
		n++
		return nil
	})
	if err == nil && n != blob.Chunks {
		err = fmt.Errorf("%w: body %x of shard %d has %d of its %d chunks", ErrCorrupt, uint64(blob.Owner), s, n, blob.Chunks)
	}
	return dst, err
}
