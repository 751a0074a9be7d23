package store

import (
	"cmp"
	"container/heap"
	"errors"
)

// DueList asks for what waits for its time in all shards, or in one, in the order of time, then of shard, then of Seq.
type DueList struct {
	// After is the number of the last batch that the list must show, see Submit.
	After uint64
	// From is the first place of the list, Until its last time.
	From  DueKey
	Until int64
	// OneShard leaves out all shards but From's.
	OneShard bool
	// MaxCount and MaxBytes bound what is looked at; it is one message at least.
	MaxCount, MaxBytes int
}

// DueEntry is what ListDue comes upon.
type DueEntry struct {
	Key DueKey
	// Head is good until the next entry.
	Head []byte
	Blob Blob
	// Bytes is the size of the message in the account of the schedule.
	Bytes uint64

	inline []byte
	r      reader
	err    error // of Body
}

// Body returns a copy of at most the first max octets of the body, and no more than ChunkBytes.
func (e *DueEntry) Body(max int) []byte {
	if e.Blob == (Blob{}) {
		return append([]byte(nil), e.inline[:min(max, len(e.inline))]...)
	}
	first := Blob{Owner: e.Blob.Owner, Chunks: 1, Bytes: min(e.Blob.Bytes, ChunkBytes)}
	body, err := readBlob(e.r, e.Key.Shard, first, nil)
	e.err = errors.Join(e.err, err)
	return body[:min(max, len(body))]
}

// Compare orders places as lists have them: shards have no order of their own among what is due at one time.
func (k DueKey) Compare(o DueKey) int {
	return cmp.Or(cmp.Compare(k.At, o.At), cmp.Compare(k.Shard, o.Shard), cmp.Compare(k.Seq, o.Seq))
}

// listDue merges the shards. It goes on as long as take returns true; where it stopped, or came to its bounds, it returns
// the place to go on from.
func listDue(r reader, q DueList, take func(*DueEntry) bool) (next DueKey, more bool, err error) {
	var open dueHeap
	defer func() {
		for _, c := range open {
			err = errors.Join(err, c.it.Close())
		}
	}()
	for s := range Shard(Shards) {
		if q.OneShard && s != q.From.Shard {
			continue
		}
		c, err := openDue(r, s, q)
		if err != nil {
			return DueKey{}, false, err
		}
		if c != nil {
			open = append(open, c)
		}
	}
	heap.Init(&open)
	p := newPage(q.MaxCount, q.MaxBytes)
	for len(open) > 0 {
		c := open[0]
		more, err := c.show(r, &p, take)
		if err != nil || more {
			return c.key, more, err
		}
		if err := open.move(); err != nil {
			return DueKey{}, false, err
		}
	}
	return DueKey{}, false, nil
}

// dueCursor is at the next message of a shard.
type dueCursor struct {
	it  iterator
	key DueKey
}

// openDue returns nil where a shard has nothing.
func openDue(r reader, s Shard, q DueList) (*dueCursor, error) {
	from := DueKey{Shard: s, At: q.From.At}
	switch {
	case s == q.From.Shard:
		from.Seq = q.From.Seq
	case s < q.From.Shard: // in the order of lists it is before From at that time
		from.At++
	}
	if from.At > q.Until {
		return nil, nil
	}
	lower := appendDueKey(nil, from)
	upper := append(appendDueKey(nil, DueKey{Shard: s, At: q.Until, Seq: 1<<64 - 1}), 0) // inclusive
	it, err := r.iter(lower, upper)
	if err != nil {
		return nil, err
	}
	c := &dueCursor{it: it}
	if here, err := c.read(it.SeekGE(lower)); err != nil || !here {
		return nil, errors.Join(err, it.Close())
	}
	return c, nil
}

// read takes the key in at which the iterator is, unless that is at its end.
func (c *dueCursor) read(here bool) (bool, error) {
	if !here {
		return false, c.it.Error()
	}
	var err error
	c.key, err = decodeDueKey(c.it.Key())
	return err == nil, err
}

// show gives take the message at c. It stops before one that is beyond the bounds, or that take does not want.
func (c *dueCursor) show(r reader, p *page, take func(*DueEntry) bool) (stop bool, err error) {
	value, err := c.it.ValueAndErr()
	if err != nil {
		return false, err
	}
	head, body, blob, err := decodeMessage(value)
	if err != nil {
		return false, err
	}
	if !p.take(len(value)) {
		return true, nil
	}
	e := DueEntry{Key: c.key, Head: head, Blob: blob, Bytes: uint64(len(head)+len(body)) + blob.Bytes, inline: body, r: r}
	return !take(&e), e.err
}

// dueHeap has the cursor of the earliest message first.
type dueHeap []*dueCursor

// move takes the first cursor one further.
func (h *dueHeap) move() error {
	c := (*h)[0]
	here, err := c.read(c.it.Next())
	switch {
	case err != nil:
		return err
	case here:
		heap.Fix(h, 0)
		return nil
	}
	heap.Pop(h)
	return c.it.Close()
}

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].key.Compare(h[j].key) < 0 }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

func (h *dueHeap) Push(x any) { *h = append(*h, x.(*dueCursor)) }

func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return c
}

// ListDue gives take what waits for its time, one after the other, all of it as it is at one moment. It ends when take returns
// false, at the bounds of q, or when there is nothing more. In the first two cases more is true, and next is the place of the
// message that was not shown, or not wanted: From of a list that goes on. take must not call the store.
func (s *Store) ListDue(q DueList, take func(*DueEntry) bool) (next DueKey, more bool, err error) {
	err = s.read(q.After, func(r reader) error {
		next, more, err = listDue(r, q, take)
		return err
	})
	return next, more, err
}

// ListDue is that of Store.
func (m *Memory) ListDue(q DueList, take func(*DueEntry) bool) (next DueKey, more bool, err error) {
	err = m.read(q.After, func(r reader) error {
		next, more, err = listDue(r, q, take)
		return err
	})
	return next, more, err
}
