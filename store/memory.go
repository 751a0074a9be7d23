package store

import (
	"bytes"
	"errors"
	"strings"
	"sync"

	"github.com/RaduBerinde/btreemap"
)

// Memory is a store without a disk: what it holds is as durable as the process. It
// applies the same octets as Store, after checking all of their chain, which makes it
// the model that Store is tested against. Its methods may be called by many goroutines.
type Memory struct {
	door      door
	recovered Recovered
	working   sync.WaitGroup
	once      sync.Once
	counters  counters

	content *content
	gone    bool // closed; guarded by content.mu
}

// content is what a Memory holds, and hands on to the one that is reopened from it.
type content struct {
	mu   sync.RWMutex
	tree *btreemap.BTreeMap[string, []byte]
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	c := &content{tree: btreemap.New[string, []byte](32, strings.Compare)}
	c.tree.ReplaceOrInsert(string(formatKey()), appendFormat(nil, newFormat(now().UnixMilli())))
	return openMemory(c)
}

// Reopen closes m, where that did not happen yet, and returns what a start finds: the
// same content in the next epoch.
func (m *Memory) Reopen() *Memory {
	_ = m.Close() // never fails
	return openMemory(m.content)
}

func openMemory(c *content) *Memory {
	m := &Memory{content: c}
	m.door.init()
	f, err := readFormat(memoryReader{c})
	if err == nil {
		f, err = f.nextEpoch()
	}
	var links chain
	if err == nil {
		c.tree.ReplaceOrInsert(string(formatKey()), appendFormat(nil, f))
		links, err = readChain(memoryReader{c}, f.epoch)
	}
	if err == nil {
		m.recovered, err = readRecovered(memoryReader{c}, f)
	}
	if err != nil {
		panic(err) // nothing but Memory wrote it
	}
	m.recovered.Clean = true
	m.door.begin(f.epoch, links)
	m.working.Add(1)
	go m.applyAll(m.door.chain)
	return m
}

// Recovered returns what was found at the start. The slices are shared: do not change them.
func (m *Memory) Recovered() Recovered { return m.recovered }

// NewBatch returns an empty batch.
func (m *Memory) NewBatch() *Batch { return m.door.newBatch() }

// Submit is as that of Store.
func (m *Memory) Submit(b *Batch, done func(Outcome)) (number uint64) {
	return m.door.submit(b, done, now())
}

// ScanRefs is as that of Store.
func (m *Memory) ScanRefs(q RefScan) (refs []Ref, more bool, err error) {
	mustPriority(q.From)
	err = m.read(q.After, func(r reader) error {
		refs, more, err = scanRefs(r, q)
		return err
	})
	return refs, more, err
}

// FilterRefs is as that of Store.
func (m *Memory) FilterRefs(q RefFilter) (refs []Ref, next RefKey, more bool, err error) {
	mustPriority(q.From)
	err = m.read(q.After, func(r reader) error {
		refs, next, more, err = filterRefs(r, q)
		return err
	})
	return refs, next, more, err
}

// ScanDue is as that of Store.
func (m *Memory) ScanDue(q DueScan) (due []Due, more bool, err error) {
	err = m.read(q.After, func(r reader) error {
		due, more, err = scanDue(r, q)
		return err
	})
	return due, more, err
}

func (m *Memory) read(after uint64, f func(reader) error) error {
	if err := m.door.await(after); err != nil {
		return err
	}
	m.content.mu.RLock()
	defer m.content.mu.RUnlock()
	if m.gone {
		return ErrClosed
	}
	return f(memoryReader{m.content})
}

// Close waits until what was submitted has its outcome.
func (m *Memory) Close() error {
	m.once.Do(func() {
		m.door.shut()
		m.working.Wait()
		m.content.mu.Lock()
		m.gone = true
		m.content.mu.Unlock()
	})
	return nil
}

// Stats has the counts of Store, and no sizes.
func (m *Memory) Stats() Stats { return m.counters.stats() }

// DiskFree has no disk to look at, and so no end.
func (m *Memory) DiskFree() (uint64, error) { return 1<<64 - 1, nil }

func (m *Memory) applyAll(applied chain) {
	defer m.working.Done()
	for {
		batches := m.door.take()
		if len(batches) == 0 {
			return
		}
		for _, b := range batches {
			m.apply(b, &applied)
			m.door.advance(b.number)
			done, outcome := b.done, Applied
			if b.tooBig {
				outcome = Rejected
			}
			m.counters.add(&Commit{Batches: 1, Ops: b.ops, Bytes: b.bytes})
			m.door.recycle(b)
			done(outcome)
		}
	}
}

func (m *Memory) apply(b *Batch, applied *chain) {
	if b.tooBig {
		return
	}
	touched, links, err := applied.verify(b.repr, m.door.epoch)
	if err != nil {
		panic(err) // nothing but Submit built it
	}
	for s := range shardsOf(touched) {
		applied[s] = links[s]
	}
	m.content.mu.Lock()
	defer m.content.mu.Unlock()
	m.content.apply(b.repr)
}

// apply does the operations of a batch that was verified. It copies what it keeps.
func (c *content) apply(repr []byte) {
	for r, err := readRepr(repr); ; {
		op, key, value, _, ok, e := r.next()
		if err != nil || e != nil || !ok {
			return
		}
		switch op {
		case opSet:
			c.tree.ReplaceOrInsert(string(key), bytes.Clone(value))
		case opMerge:
			c.merge(string(key), value)
		case opDelete, opSingleDelete:
			c.tree.Delete(string(key))
		case opDeleteRange:
			var gone []string
			for k := range c.tree.Ascend(btreemap.GE(string(key)), btreemap.LT(string(value))) {
				gone = append(gone, k)
			}
			for _, k := range gone {
				c.tree.Delete(k)
			}
		}
	}
}

// merge does what the merger of a Store does, at once.
func (c *content) merge(key string, operand []byte) {
	m := &refcount{}
	err := m.add(operand)
	if _, base, ok := c.tree.Get(key); ok && err == nil {
		err = m.add(base)
	}
	value, _, finish := m.Finish(true)
	if err = errors.Join(err, finish); err != nil {
		panic(err) // more places were dropped than there were
	}
	c.tree.ReplaceOrInsert(key, value)
}

// memoryReader reads while content.mu is held.
type memoryReader struct{ *content }

func (r memoryReader) iter(lower, upper []byte) (iterator, error) {
	return &memoryIterator{tree: r.tree, lower: string(lower), upper: string(upper)}, nil
}

// memoryIterator looks a few records ahead, as each look costs a way down the tree.
type memoryIterator struct {
	tree         *btreemap.BTreeMap[string, []byte]
	lower, upper string
	ahead        []memoryRecord
	at           int
}

type memoryRecord struct {
	key   string
	value []byte
}

const memoryAhead = 64

func (i *memoryIterator) fill(from btreemap.LowerBound[string]) bool {
	i.ahead, i.at = i.ahead[:0], 0
	for k, v := range i.tree.Ascend(from, btreemap.LT(i.upper)) {
		i.ahead = append(i.ahead, memoryRecord{k, v})
		if len(i.ahead) == memoryAhead {
			break
		}
	}
	return len(i.ahead) > 0
}

func (i *memoryIterator) SeekGE(key []byte) bool {
	return i.fill(btreemap.GE(max(string(key), i.lower)))
}

func (i *memoryIterator) Next() bool {
	if i.at+1 < len(i.ahead) {
		i.at++
		return true
	}
	if len(i.ahead) < memoryAhead {
		return false
	}
	return i.fill(btreemap.GT(i.ahead[i.at].key))
}

func (i *memoryIterator) Key() []byte                  { return []byte(i.ahead[i.at].key) }
func (i *memoryIterator) ValueAndErr() ([]byte, error) { return i.ahead[i.at].value, nil }
func (i *memoryIterator) SetBounds(lower, upper []byte) {
	i.lower, i.upper = string(lower), string(upper)
}
func (i *memoryIterator) Error() error { return nil }
func (i *memoryIterator) Close() error { return nil }
