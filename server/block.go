package server

import "sync"

// maxBlock is the size from which on a block is not kept for reuse.
const maxBlock = 256 << 10

// block is what was rendered and not written.
type block struct {
	octets []byte
	ends   []frameEnd
	within bool // begins within a frame
	// of the frames in it
	answers, answerBytes int
}

// frameEnd is where a frame ends in a block.
type frameEnd struct {
	at      int
	message bool
}

// blocks keeps blocks for reuse: only a connection that is being written to has one.
type blocks struct{ pool sync.Pool }

func (b *blocks) get() *block {
	if v, ok := b.pool.Get().(*block); ok {
		return v
	}
	return &block{octets: make([]byte, 0, 4<<10)}
}

func (b *blocks) put(v *block) {
	if cap(v.octets) <= maxBlock {
		*v = block{octets: v.octets[:0], ends: v.ends[:0]}
		b.pool.Put(v)
	}
}
