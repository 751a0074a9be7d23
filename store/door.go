package store

import (
	"fmt"
	"sync"
	"time"
)

// door is where batches come in: it numbers them, chains them and keeps them in
// order until the goroutine that applies them takes them.
type door struct {
	epoch uint32

	mu      sync.Mutex
	moved   sync.Cond // something below changed
	chain   chain     // of what was submitted
	waiting []*Batch
	spare   []*Batch // an empty slice for the next waiting

	submitted, applied uint64
	accepted           uint64 // the last one that was let in
	closed             bool
	failure            error

	free sync.Pool
}

func (d *door) init() {
	d.moved.L = &d.mu
	d.free.New = func() any { return newBatch() }
}

// begin sets what the first batch follows.
func (d *door) begin(epoch uint32, c chain) { d.epoch, d.chain = epoch, c }

func (d *door) newBatch() *Batch { return d.free.Get().(*Batch) }

// recycle takes a batch back whose buffer nobody else holds.
func (d *door) recycle(b *Batch) {
	if c := cap(b.repr); c == 0 || c > keptBytes {
		b.repr = make([]byte, reprHeader, 4096)
	}
	b.reset()
	d.free.Put(b)
}

// submit queues a batch. What cannot be written does not enter the chain: it keeps its
// turn and is Rejected.
func (d *door) submit(b *Batch, done func(Outcome), now time.Time) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.submitted++
	b.number, b.done, b.queued = d.submitted, done, now
	switch {
	case d.failure != nil:
		return b.number // no outcome any more
	case d.closed:
		go done(Rejected)
		return b.number
	case b.Bytes() > MaxBatchBytes:
		b.tooBig = true
	default:
		b.seal(&d.chain, d.epoch)
	}
	d.accepted = b.number
	d.waiting = append(d.waiting, b)
	if len(d.waiting) == 1 {
		d.moved.Broadcast()
	}
	return b.number
}

// take waits for batches and returns all of them; none when the door is closed and
// everything was taken, or when the store failed. The slice is good until the next take.
func (d *door) take() []*Batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.waiting) == 0 && !d.closed && d.failure == nil {
		d.moved.Wait()
	}
	if d.failure != nil {
		return nil
	}
	clear(d.spare)
	taken := d.waiting
	d.waiting, d.spare = d.spare[:0], taken
	return taken
}

// advance tells that everything up to batch n is applied.
func (d *door) advance(n uint64) {
	d.mu.Lock()
	d.applied = n
	d.mu.Unlock()
	d.moved.Broadcast()
}

// await returns when batch n is applied.
func (d *door) await(n uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n > d.submitted {
		return fmt.Errorf("store: scan after batch %d, of which only %d were submitted", n, d.submitted)
	}
	for d.applied < min(n, d.accepted) && d.failure == nil {
		d.moved.Wait()
	}
	return d.failure
}

// shut refuses what comes from now on; it returns false if that was so before.
func (d *door) shut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.closed
	d.closed = true
	d.moved.Broadcast()
	return !was
}

// fail ends everything; the first failure is kept.
func (d *door) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure == nil {
		d.failure = fmt.Errorf("%w: %w", ErrFailed, err)
	}
	d.waiting = nil
	d.moved.Broadcast()
}

func (d *door) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failure
}
