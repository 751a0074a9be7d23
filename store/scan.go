package store

import (
	"bytes"
	"errors"
)

// page is what a scan has taken so far, and its bounds.
type page struct {
	maxCount, maxBytes int
	count, bytes       int
}

func newPage(maxCount, maxBytes int) page {
	return page{maxCount: max(maxCount, 1), maxBytes: max(maxBytes, 1)}
}

// take tells whether a message of so many octets is still part of the page. The first one always is.
func (p *page) take(bytes int) bool {
	if p.count > 0 && (p.count >= p.maxCount || bytes > p.maxBytes-p.bytes) {
		return false
	}
	p.count++
	p.bytes += bytes
	return true
}

// walkRefs calls visit with the places of a backlog in key order, from one on. It goes lane by lane, so that it never
// steps over what was dropped below a lane's head, and never takes what was left there for a message. The head marks that count are
// those of the moment that r shows; beyond them nothing is looked at below heads.
func walkRefs(r reader, from RefKey, heads *[Priorities]Seq, visit func(it iterator, at RefKey) (goOn bool, err error)) error {
	marks, err := headsOf(r, from.Shard, from.Backlog)
	if err != nil {
		return err
	}
	it, err := r.iter(appendPlaceKey(nil, kindRef, from), appendLaneEnd(nil, kindRef, RefKey{Shard: from.Shard, Backlog: from.Backlog}))
	if err != nil {
		return err
	}
	goOn := true
	for k := from; ; k.Priority-- {
		if k.Priority != from.Priority {
			k.Seq = 0
		}
		k.Seq = max(k.Seq, heads[k.Priority], marks[k.Priority])
		lower, upper := appendPlaceKey(nil, kindRef, k), appendLaneEnd(nil, kindRef, k)
		it.SetBounds(lower, upper)
		for ok := it.SeekGE(lower); ok && goOn && err == nil; ok = it.Next() {
			var at RefKey
			if at, err = decodePlaceKey(it.Key(), kindRef); err == nil {
				goOn, err = visit(it, at)
			}
		}
		if err == nil {
			err = it.Error()
		}
		if err != nil || !goOn || k.Priority == 0 {
			return errors.Join(err, it.Close())
		}
	}
}

// headsOf returns the head marks of a backlog; one that has no account has none.
func headsOf(r reader, s Shard, id BacklogID) (heads [Priorities]Seq, err error) {
	key := appendIDKey(nil, s, kindBacklog, uint64(id))
	err = each(r, key, append(key[:len(key):len(key)], 0), func(key, value []byte) error {
		b, err := decodeBacklog(key, value)
		for p := range b.Lanes {
			heads[p] = b.Lanes[p].Head
		}
		return err
	})
	return heads, err
}

func scanRefs(r reader, q RefScan) (refs []Ref, more bool, err error) {
	a, shared := attemptsReader{r: r}, sharedReader{r: r}
	p := newPage(q.MaxCount, q.MaxBytes)
	err = walkRefs(r, q.From, &q.Heads, func(it iterator, at RefKey) (bool, error) {
		ref, fits, err := readRef(&shared, it, at, &p)
		if err != nil || !fits {
			more = err == nil
			return false, err
		}
		if ref.Attempts, err = a.of(at); err == nil {
			refs = append(refs, ref)
		}
		return true, err
	})
	return refs, more, errors.Join(err, a.close(), shared.close())
}

// filterRefs looks at places as they lie in the store, and copies only what is wanted.
func filterRefs(r reader, q RefFilter) (refs []Ref, next RefKey, more bool, err error) {
	a, shared := attemptsReader{r: r}, sharedReader{r: r}
	p := newPage(q.MaxCount, q.MaxBytes)
	looked := 0
	err = walkRefs(r, q.From, &q.Heads, func(it iterator, at RefKey) (bool, error) {
		if next = at; looked >= max(q.MaxLooked, 1) {
			more = true
			return false, nil
		}
		looked++
		value, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		m, err := shared.decode(at.Shard, value)
		if err != nil {
			return false, err
		}
		attempts, err := a.of(at)
		if err != nil {
			return false, err
		}
		wanted, err := q.Want(at, m.head, m.body, attempts)
		if err != nil || !wanted {
			return err == nil, err
		}
		ref, fits, err := readRef(&shared, it, at, &p)
		if err != nil || !fits {
			more = err == nil
			return false, err
		}
		ref.Attempts = attempts
		refs = append(refs, ref)
		return true, nil
	})
	return refs, next, more, errors.Join(err, a.close(), shared.close())
}

func readRef(shared *sharedReader, it iterator, at RefKey, p *page) (ref Ref, fits bool, err error) {
	m, fits, err := readMessage(shared, at.Shard, it, p)
	return Ref{Key: at, Head: m.head, Body: m.body, Blob: m.blob, Owner: m.owner}, fits, err
}

// readMessage copies the message at the iterator, if it is still part of the page.
func readMessage(shared *sharedReader, s Shard, it iterator, p *page) (m stored, fits bool, err error) {
	value, err := it.ValueAndErr()
	if err != nil {
		return m, false, err
	}
	if m, err = shared.decode(s, value); err != nil || !p.take(int(m.octets())) {
		return m, false, err
	}
	buf := append(make([]byte, 0, m.octets()), m.head...)
	if buf, err = m.readBody(shared.r, s, buf); err != nil {
		return m, false, err
	}
	n := len(m.head)
	m.head, m.body = buf[:n:n], buf[n:]
	return m, true, nil
}

// attemptsReader finds the attempts of refs that are asked for in key order. Few
// messages have any, so it looks for the next that has and compares keys until then.
type attemptsReader struct {
	r     reader
	it    iterator
	lane  RefKey // the backlog and priority that it is in
	valid bool
	buf   [keySize]byte
}

func (a *attemptsReader) of(k RefKey) (Attempts, error) {
	key := appendPlaceKey(a.buf[:0], kindAttempts, k)
	if lane := (RefKey{Shard: k.Shard, Backlog: k.Backlog, Priority: k.Priority}); a.it == nil || a.lane != lane {
		if err := a.seek(key, k); err != nil {
			return Attempts{}, err
		}
		a.lane = lane
	}
	for a.valid && bytes.Compare(a.it.Key(), key) < 0 {
		a.valid = a.it.Next()
	}
	if !a.valid {
		return Attempts{}, a.it.Error()
	}
	if !bytes.Equal(a.it.Key(), key) {
		return Attempts{}, nil
	}
	value, err := a.it.ValueAndErr()
	if err != nil {
		return Attempts{}, err
	}
	return decodeAttempts(value)
}

func (a *attemptsReader) seek(key []byte, k RefKey) (err error) {
	end := appendLaneEnd(nil, kindAttempts, k)
	if a.it == nil {
		if a.it, err = a.r.iter(key, end); err != nil {
			return err
		}
	} else {
		a.it.SetBounds(bytes.Clone(key), end)
	}
	a.valid = a.it.SeekGE(key)
	return a.it.Error()
}

func (a *attemptsReader) close() error {
	if a.it == nil {
		return nil
	}
	return a.it.Close()
}

func scanDue(r reader, q DueScan) (due []Due, more bool, err error) {
	lower := appendDueKey(nil, q.From)
	upper := appendDueKey(nil, DueKey{Shard: q.From.Shard, At: q.Until, Seq: 1<<64 - 1})
	if bytes.Compare(lower, upper) > 0 {
		return nil, false, nil
	}
	it, err := r.iter(lower, append(upper, 0)) // inclusive
	if err != nil {
		return nil, false, err
	}
	shared := sharedReader{r: r} // not used: what waits is shared with nothing
	defer func() {
		if e := errors.Join(it.Close(), shared.close()); err == nil {
			err = e
		}
	}()
	p := newPage(q.MaxCount, q.MaxBytes)
	for ok := it.SeekGE(lower); ok; ok = it.Next() {
		var d Due
		if d.Key, err = decodeDueKey(it.Key()); err != nil {
			return due, false, err
		}
		var fits bool
		var m stored
		if m, fits, err = readMessage(&shared, d.Key.Shard, it, &p); err != nil || !fits {
			return due, err == nil, err
		}
		d.Head, d.Body, d.Blob = m.head, m.body, m.blob
		due = append(due, d)
	}
	return due, false, it.Error()
}
