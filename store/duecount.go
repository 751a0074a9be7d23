package store

// DueCount asks how much is due in a span of time, in all shards.
type DueCount struct {
	// After is the number of the last batch that counts, see Submit.
	After uint64
	// From and Until are times in milliseconds since the epoch, both inclusive.
	From, Until int64
	// Max is where the count ends.
	Max int
}

func countDue(r reader, q DueCount) (n int, err error) {
	if q.From > q.Until {
		return 0, nil
	}
	for s := range Shard(Shards) {
		if n >= q.Max {
			break
		}
		more, err := countShardDue(r, s, q, q.Max-n)
		if n += more; err != nil {
			return n, err
		}
	}
	return n, nil
}

// countShardDue looks at keys only.
func countShardDue(r reader, s Shard, q DueCount, most int) (n int, err error) {
	lower := appendDueKey(nil, DueKey{Shard: s, At: q.From})
	upper := append(appendDueKey(nil, DueKey{Shard: s, At: q.Until, Seq: 1<<64 - 1}), 0) // inclusive
	it, err := r.iter(lower, upper)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	for ok := it.SeekGE(lower); ok && n < most; ok = it.Next() {
		n++
	}
	return n, it.Error()
}

// CountDue counts what is due in a span of time, as it is at one moment. It reads no message. Where it returns q.Max there may be more.
func (s *Store) CountDue(q DueCount) (n int, err error) {
	err = s.read(q.After, func(r reader) error {
		n, err = countDue(r, q)
		return err
	})
	return n, err
}

// CountDue is that of Store.
func (m *Memory) CountDue(q DueCount) (n int, err error) {
	err = m.read(q.After, func(r reader) error {
		n, err = countDue(r, q)
		return err
	})
	return n, err
}
