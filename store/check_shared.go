package store

import "fmt"

// sharedCheck is what was seen of the shared messages of a shard.
type sharedCheck struct {
	places map[Seq]sharedPlaces // of messages that did not come yet, by owner
	blobs  map[Seq]Blob         // whose chunks did not come yet
	chunks Blob                 // of the owner that is being read
	counts map[Seq]uint32       // the places of these messages
}

type sharedPlaces struct {
	count  uint32
	octets uint64
}

// sharedPlace notes a place of a shared message, and returns its size.
func (c *checker) sharedPlace(value []byte) (size uint64, err error) {
	owner, octets, err := decodeSharedRef(value)
	if err != nil {
		return 0, err
	}
	p := c.shared.places[owner]
	if p.count > 0 && p.octets != octets {
		c.rep.problem("shard %d: places of shared message %d say %d and %d octets", c.shard, owner, p.octets, octets)
	}
	c.shared.places[owner] = sharedPlaces{p.count + 1, octets}
	return octets, nil
}

// sharedMessage compares a shared message with its places, which came before.
func (c *checker) sharedMessage(key, value []byte) error {
	_, id, err := decodeIDKey(key, kindMessage)
	if err != nil {
		return err
	}
	owner := Seq(id)
	count, payload, err := decodeRefcount(value)
	if err != nil {
		return err
	}
	places := c.shared.places[owner]
	delete(c.shared.places, owner)
	if count != places.count {
		c.rep.problem("shard %d: shared message %d says that it has %d places, it has %d", c.shard, owner, count, places.count)
	}
	if len(payload) == 0 {
		c.rep.Spent++
		return nil
	}
	head, body, blob, err := decodeMessage(payload)
	if err != nil {
		return err
	}
	c.rep.Shared++
	if size := uint64(len(head)+len(body)) + blob.Bytes; places.count > 0 && size != places.octets {
		return fmt.Errorf("shared message %d has %d octets, its places say %d", owner, size, places.octets)
	}
	c.rep.Bytes += uint64(len(head)+len(body)) + blob.Bytes
	if blob != (Blob{}) {
		c.shared.blobs[owner] = blob
		c.shared.counts[owner] = count
	}
	return nil
}

// sharedChunk looks at one chunk of a shared body; they come in order.
func (c *checker) sharedChunk(key, value []byte) error {
	_, owner, n, err := decodeChunkKey(key)
	if err != nil {
		return err
	}
	count, chunk, err := decodeRefcount(value)
	if err != nil {
		return err
	}
	want, ok := c.shared.blobs[owner]
	if len(chunk) == 0 {
		c.rep.Spent++
		if ok {
			return fmt.Errorf("chunk %d of shared body %d is gone", n, owner)
		}
		return nil
	}
	c.rep.Chunks++
	s := &c.shared
	if owner != s.chunks.Owner {
		c.endSharedChunks()
		s.chunks = Blob{Owner: owner}
	}
	if n != s.chunks.Chunks {
		c.rep.problem("shard %d: shared body %d has chunk %d where %d is expected", c.shard, owner, n, s.chunks.Chunks)
	}
	s.chunks.Chunks++
	s.chunks.Bytes += uint64(len(chunk))
	if ok && count != s.counts[owner] {
		return fmt.Errorf("chunk %d of shared body %d says %d places, its message %d", n, owner, count, s.counts[owner])
	}
	if ok && len(chunk) != want.chunkLength(min(n, want.Chunks-1)) {
		return fmt.Errorf("chunk %d of shared body %d has %d octets", n, owner, len(chunk))
	}
	return nil
}

func (c *checker) endSharedChunks() {
	s := &c.shared
	if s.chunks.Chunks == 0 {
		return
	}
	want, ok := s.blobs[s.chunks.Owner]
	switch {
	case !ok:
		c.rep.problem("shard %d: shared body %d belongs to no message", c.shard, s.chunks.Owner)
	case want != s.chunks:
		c.rep.problem("shard %d: shared body %d has %d chunks of %d octets, not %d of %d", c.shard, want.Owner, s.chunks.Chunks, s.chunks.Bytes, want.Chunks, want.Bytes)
	}
	delete(s.blobs, s.chunks.Owner)
	s.chunks = Blob{}
}

// endShared tells what is missing in the shard.
func (c *checker) endShared() {
	c.endSharedChunks()
	for owner, p := range c.shared.places {
		c.rep.problem("shard %d: shared message %d is not there, but has %d places", c.shard, owner, p.count)
	}
	for owner := range c.shared.blobs {
		c.rep.problem("shard %d: shared body %d is not there, but has a message", c.shard, owner)
	}
}
