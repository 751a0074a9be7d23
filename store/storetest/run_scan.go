package storetest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"footfall/store"
)

func testOrderOfDelivery(t *testing.T, f *fixture) {
	keys := []store.RefKey{ref(9, 5), ref(9, 1<<60), ref(4, 1), ref(4, 255), ref(4, 256), ref(4, 65536), ref(0, 2)}
	f.commit(func(b *store.Batch) {
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(keys)) {
			b.PutRef(keys[i], []byte{byte(i)}, nil)
		}
		// Neighbours, none of which may be seen.
		b.PutRef(store.RefKey{Shard: 3, Backlog: 6, Priority: 0, Seq: 1<<64 - 1}, nil, nil)
		b.PutRef(store.RefKey{Shard: 3, Backlog: 8, Priority: 9, Seq: 0}, nil, nil)
		b.PutRef(store.RefKey{Shard: 2, Backlog: 7, Priority: 4, Seq: 4}, nil, nil)
		b.PutDue(store.DueKey{Shard: 3, At: 7, Seq: 9}, nil, nil)
	})
	refs, _ := f.refs(all())
	var got []store.RefKey
	for _, r := range refs {
		got = append(got, r.Key)
	}
	equal(t, "keys", got, keys)
}

func testPageBounds(t *testing.T, f *fixture) {
	f.commit(func(b *store.Batch) {
		for i := range store.Seq(10) {
			b.PutRef(ref(uint8(5-i/5), 100+i), make([]byte, 4), make([]byte, 6)) // 10 octets each
		}
		b.PutRef(ref(1, 200), nil, make([]byte, 1000))
	})
	for _, c := range []struct {
		from            store.RefKey
		count, bytes, n int
		more            bool
	}{
		{ref(9, 0), 100, 1 << 20, 11, false},
		{ref(9, 0), 11, 1100, 11, false},
		{ref(9, 0), 10, 1 << 20, 10, true},
		{ref(9, 0), 1, 1 << 20, 1, true},
		{ref(9, 0), 0, 0, 1, true},
		{ref(9, 0), 100, 100, 10, true},
		{ref(9, 0), 100, 99, 9, true},
		{ref(9, 0), 100, 1, 1, true},
		{ref(5, 103), 100, 1 << 20, 8, false},
		{ref(4, 107), 3, 1 << 20, 3, true},
		{ref(4, 107), 3, 29, 2, true},
		{ref(4, 110), 100, 10, 1, false}, // larger than the page, alone
		{ref(1, 200), 1, 1, 1, false},
		{ref(1, 201), 1, 1, 0, false},
		{ref(0, 0), 1, 1, 0, false},
	} {
		refs, more := f.refs(store.RefScan{From: c.from, MaxCount: c.count, MaxBytes: c.bytes})
		if len(refs) != c.n || more != c.more {
			t.Errorf("from %v, at most %d of %d octets: %d, more %t; want %d, %t", c.from, c.count, c.bytes, len(refs), more, c.n, c.more)
		}
	}
}

func testHeads(t *testing.T, f *fixture) {
	f.commit(func(b *store.Batch) {
		for seq := store.Seq(1); seq <= 3; seq++ {
			b.PutRef(ref(6, seq), nil, nil)
			b.PutRef(ref(2, 10+seq), nil, nil)
		}
	})
	q := all()
	q.Heads[6], q.Heads[2], q.Heads[0] = 2, 13, 99
	refs, _ := f.refs(q)
	equal(t, "above the heads", seqs(refs), []store.Seq{2, 3, 13})
	q.From = ref(6, 3)
	refs, _ = f.refs(q)
	equal(t, "from above a head", seqs(refs), []store.Seq{3, 13})
}

func testAfter(t *testing.T, f *fixture) {
	for seq := store.Seq(1); seq <= 50; seq++ {
		b := f.NewBatch()
		b.PutRef(ref(4, seq), nil, []byte("x"))
		q := all()
		q.After = f.Submit(b, func(store.Outcome) {})
		if refs, _ := f.refs(q); len(refs) != int(seq) {
			t.Fatalf("after batch %d: %d messages", seq, len(refs))
		}
	}
	q := all()
	q.After = 51
	if _, _, err := f.ScanRefs(q); err == nil {
		t.Error("a scan after a batch that was not submitted gave no error")
	}
}

func testFilter(t *testing.T, f *fixture) {
	f.commit(func(b *store.Batch) {
		for i := range store.Seq(20) {
			b.PutRef(ref(uint8(5-i/10), 100+i), []byte{byte(i)}, []byte{byte(i % 3), 7})
		}
		b.PutAttempts(ref(4, 113), store.Attempts{Deliveries: 5})
		b.PutRef(ref(0, 200), []byte{99}, make([]byte, store.ChunkBytes+1))
	})
	for _, c := range []struct {
		name                  string
		from                  store.RefKey
		heads                 store.Seq
		looked, count, octets int
		want                  func(head, body []byte, a store.Attempts) (bool, error)
		got                   []store.Seq
		next                  store.RefKey
		more                  bool
	}{
		{name: "all that there is", looked: 100, want: func(_, body []byte, _ store.Attempts) (bool, error) { return len(body) == 2 && body[0] == 1, nil }, got: []store.Seq{101, 104, 107, 110, 113, 116, 119}},
		{name: "looked at enough", looked: 5, want: func(_, body []byte, _ store.Attempts) (bool, error) { return body[0] == 1, nil }, got: []store.Seq{101, 104}, next: ref(5, 105), more: true},
		{name: "found enough", looked: 100, count: 2, want: func(_, body []byte, _ store.Attempts) (bool, error) { return body[0] == 1, nil }, got: []store.Seq{101, 104}, next: ref(5, 107), more: true},
		{name: "as much as fits", looked: 100, octets: 5, want: func(_, body []byte, _ store.Attempts) (bool, error) { return body[0] == 1, nil }, got: []store.Seq{101}, next: ref(5, 104), more: true},
		{name: "from a place on", looked: 1, from: ref(4, 113), want: func([]byte, []byte, store.Attempts) (bool, error) { return true, nil }, got: []store.Seq{113}, next: ref(4, 114), more: true},
		{name: "above the heads", looked: 100, heads: 118, want: func(head, _ []byte, _ store.Attempts) (bool, error) { return head[0] < 99, nil }, got: []store.Seq{118, 119}},
		{name: "by its attempts", looked: 100, want: func(_, _ []byte, a store.Attempts) (bool, error) { return a.Deliveries == 5, nil }, got: []store.Seq{113}},
		{name: "of a blob only the head", looked: 100, want: func(head, body []byte, _ store.Attempts) (bool, error) { return head[0] == 99 && body == nil, nil }, got: []store.Seq{200}},
		{name: "at least one is looked at", looked: 0, want: func([]byte, []byte, store.Attempts) (bool, error) { return false, nil }, next: ref(5, 101), more: true},
	} {
		q := store.RefFilter{RefScan: all(), MaxLooked: c.looked}
		if c.from != (store.RefKey{}) {
			q.From = c.from
		}
		for i := range q.Heads {
			q.Heads[i] = c.heads
		}
		if c.count != 0 {
			q.MaxCount = c.count
		}
		if c.octets != 0 {
			q.MaxBytes = c.octets
		}
		q.Want = func(_ store.RefKey, head, body []byte, a store.Attempts) (bool, error) { return c.want(head, body, a) }
		refs, next, more, err := f.FilterRefs(q)
		if err != nil || more != c.more || more && next != c.next {
			t.Errorf("%s: next %v, more %t, %v; want %v, %t", c.name, next, more, err, c.next, c.more)
		}
		equal(t, c.name, seqs(refs), c.got)
		for _, r := range refs {
			if r.Key.Seq == 200 && len(r.Body) != store.ChunkBytes+1 {
				t.Errorf("%s: a body of %d octets", c.name, len(r.Body))
			}
		}
	}
}

func testAttempts(t *testing.T, f *fixture) {
	f.commit(func(b *store.Batch) {
		for seq := store.Seq(1); seq <= 6; seq++ {
			b.PutRef(ref(uint8(seq%2), seq), nil, nil)
		}
		b.PutAttempts(ref(1, 3), store.Attempts{Deliveries: 1})
		b.PutAttempts(ref(1, 3), store.Attempts{Deliveries: 2, Failures: 1})
		b.PutAttempts(ref(0, 2), store.Attempts{Deliveries: 1<<32 - 1, Failures: 1<<32 - 1})
		b.PutAttempts(ref(0, 6), store.Attempts{Deliveries: 9})
		b.PutAttempts(ref(1, 1), store.Attempts{Deliveries: 8})
		b.DropRef(ref(1, 1), store.Blob{}, true)
	})
	refs, _ := f.refs(all())
	got := map[store.Seq]store.Attempts{}
	for _, r := range refs {
		got[r.Key.Seq] = r.Attempts
	}
	equal(t, "attempts", got, map[store.Seq]store.Attempts{
		3: {Deliveries: 2, Failures: 1}, 5: {}, 2: {Deliveries: 1<<32 - 1, Failures: 1<<32 - 1}, 4: {}, 6: {Deliveries: 9},
	})
}

func testScanCopies(t *testing.T, f *fixture) {
	f.commit(func(b *store.Batch) { b.PutRef(ref(4, 1), []byte("head"), []byte("body")) })
	for range 2 {
		refs, _ := f.refs(all())
		if string(refs[0].Head) != "head" || string(refs[0].Body) != "body" {
			t.Fatalf("%q %q", refs[0].Head, refs[0].Body)
		}
		if _ = append(refs[0].Head, '!'); string(refs[0].Body) != "body" {
			t.Fatal("appending to the head changes the body")
		}
		clear(refs[0].Head)
		clear(refs[0].Body)
	}
}

func testDue(t *testing.T, f *fixture) {
	key := func(at int64, seq store.Seq) store.DueKey { return store.DueKey{Shard: 3, At: at, Seq: seq} }
	keys := []store.DueKey{key(-1<<63, 1), key(-5, 2), key(0, 3), key(0, 4), key(300, 1<<64-1), key(1<<63-1, 1<<64-1)}
	f.commit(func(b *store.Batch) {
		for _, k := range slices.Backward(keys) {
			b.PutDue(k, []byte("h"), []byte("b"))
		}
		b.PutDue(store.DueKey{Shard: 2, At: 0, Seq: 1}, nil, nil)
		b.PutDue(store.DueKey{Shard: 4, At: 0, Seq: 1}, nil, nil)
	})
	got := func(q store.DueScan) (keys []store.DueKey, more bool) {
		due, more := f.due(q)
		for _, d := range due {
			if string(d.Head) != "h" || string(d.Body) != "b" {
				t.Fatalf("%v: %q %q", d.Key, d.Head, d.Body)
			}
			keys = append(keys, d.Key)
		}
		return keys, more
	}
	whole, more := got(allDue())
	equal(t, "all", whole, keys)
	equal(t, "more", more, false)
	q := allDue()
	q.Until = 300
	whole, more = got(q)
	equal(t, "until 300", whole, keys[:5])
	equal(t, "more", more, false)
	q.Until, q.From = 0, key(-5, 3)
	whole, _ = got(q)
	equal(t, "from -5/3 until 0", whole, keys[2:4])
	q.MaxCount = 1
	whole, more = got(q)
	equal(t, "the first", whole, keys[2:3])
	equal(t, "more", more, true)
	q.Until = -6
	whole, _ = got(q)
	equal(t, "until before from", len(whole), 0)
	f.commit(func(b *store.Batch) { b.DropDue(keys[2], store.Blob{}, false) })
	whole, _ = got(allDue())
	equal(t, "after a drop", whole, slices.Delete(slices.Clone(keys), 2, 3))
}

func testBlob(t *testing.T, f *fixture) {
	for i, size := range []int{store.ChunkBytes, store.ChunkBytes + 1, 2 * store.ChunkBytes, 5<<20 + 17} {
		body := []byte(random(rand.New(rand.NewPCG(uint64(i), 0)), size))
		seq := store.Seq(10 * (i + 1))
		at := store.DueKey{Shard: 3, At: 5, Seq: seq}
		var blob store.Blob
		f.commit(func(b *store.Batch) { blob = b.PutDue(at, []byte("head"), body) })
		if (blob != store.Blob{}) != (size > store.ChunkBytes) {
			t.Fatalf("blob %v for %d octets", blob, size)
		}
		due, _ := f.due(allDue())
		if len(due) != 1 || due[0].Blob != blob || string(due[0].Head) != "head" || !bytes.Equal(due[0].Body, body) {
			t.Fatalf("%d octets are not due as they were put", size)
		}
		f.commit(func(b *store.Batch) {
			if blob == (store.Blob{}) {
				b.DropDue(at, blob, false)
				b.PutRef(ref(4, seq+1), []byte("head2"), body)
				return
			}
			b.DropDue(at, blob, true)
			b.PutRefBlob(ref(4, seq+1), []byte("head2"), blob)
			if b.Bytes() > 1000 {
				t.Errorf("a move is %d octets", b.Bytes())
			}
		})
		f.reopen()
		refs, _ := f.refs(all())
		if len(refs) != 1 || refs[0].Blob != blob || string(refs[0].Head) != "head2" || !bytes.Equal(refs[0].Body, body) {
			t.Fatalf("%d octets did not move as they were put", size)
		}
		f.commit(func(b *store.Batch) { b.DropRef(ref(4, seq+1), blob, false) })
		rep, err := f.Check()
		if err != nil || !rep.OK() || rep.Chunks != 0 {
			t.Fatalf("after the drop: %v %v", rep, err)
		}
	}
}
