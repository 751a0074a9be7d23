package storetest

import (
	"testing"

	"footfall/store"
)

// testCheck does to a good store one wrong thing after the other, and takes each back.
func testCheck(t *testing.T, f *fixture) {
	var blob store.Blob
	account := store.Backlog{Shard: 3, ID: 7, Destination: 1, Bytes: 3 + store.ChunkBytes + 1}
	account.Lanes[4] = store.Lane{Count: 2, Head: 10}
	f.commit(func(b *store.Batch) {
		b.PutDestination(store.Destination{Shard: 3, ID: 1, Name: "n"})
		b.PutBacklog(account)
		b.PutRef(ref(4, 10), []byte("h"), []byte("bo"))
		b.PutAttempts(ref(4, 10), store.Attempts{Deliveries: 1})
		blob = b.PutRef(ref(4, 11), nil, make([]byte, store.ChunkBytes+1))
		b.PutDue(store.DueKey{Shard: 3, At: 5, Seq: 12}, []byte("h"), nil)
		b.PutSchedule(store.Schedule{Shard: 3, Count: 1, Bytes: 1})
	})
	if rep, err := f.Check(); err != nil || !rep.OK() || rep.Messages != 2 || rep.Due != 1 || rep.Chunks != 2 || rep.Attempts != 1 {
		t.Fatal(rep, err)
	}
	wrong := account
	for _, c := range []struct {
		name     string
		do, undo func(b *store.Batch)
		problems int // 0: one
	}{
		{
			"a count that is too low",
			func(b *store.Batch) { wrong = account; wrong.Lanes[4].Count--; b.PutBacklog(wrong) },
			func(b *store.Batch) { b.PutBacklog(account) }, 0,
		},
		{
			"octets that are too many",
			func(b *store.Batch) { wrong = account; wrong.Bytes++; b.PutBacklog(wrong) },
			func(b *store.Batch) { b.PutBacklog(account) }, 0,
		},
		{
			"a head mark above a message, which is none by that: its octets, its count, and its attempts are wrong",
			func(b *store.Batch) { wrong = account; wrong.Lanes[4].Head = 11; b.PutBacklog(wrong) },
			func(b *store.Batch) { b.PutBacklog(account) }, 3,
		},
		{
			"a backlog of no destination",
			func(b *store.Batch) { wrong = account; wrong.Destination = 2; b.PutBacklog(wrong) },
			func(b *store.Batch) { b.PutBacklog(account) }, 0,
		},
		{
			"a message of no backlog",
			func(b *store.Batch) { b.PutRef(store.RefKey{Shard: 3, Backlog: 8, Seq: 20}, nil, nil) },
			func(b *store.Batch) { b.DropRef(store.RefKey{Shard: 3, Backlog: 8, Seq: 20}, store.Blob{}, false) }, 0,
		},
		{
			"attempts of no message",
			func(b *store.Batch) { b.PutAttempts(ref(4, 21), store.Attempts{}) },
			func(b *store.Batch) { b.PutRef(ref(4, 21), nil, nil); b.DropRef(ref(4, 21), store.Blob{}, true) }, 0,
		},
		{
			"a schedule that says too little",
			func(b *store.Batch) { b.PutSchedule(store.Schedule{Shard: 3}) },
			func(b *store.Batch) { b.PutSchedule(store.Schedule{Shard: 3, Count: 1, Bytes: 1}) }, 0,
		},
		{
			"a number that is in two places",
			func(b *store.Batch) {
				b.PutDue(store.DueKey{Shard: 3, At: 6, Seq: 10}, nil, nil)
				b.PutSchedule(store.Schedule{Shard: 3, Count: 2, Bytes: 1})
			},
			func(b *store.Batch) {
				b.DropDue(store.DueKey{Shard: 3, At: 6, Seq: 10}, store.Blob{}, false)
				b.PutSchedule(store.Schedule{Shard: 3, Count: 1, Bytes: 1})
			}, 0,
		},
		{
			"a body of two messages",
			func(b *store.Batch) {
				b.PutRefBlob(ref(4, 22), nil, blob)
				wrong = account
				wrong.Lanes[4].Count++
				wrong.Bytes += blob.Bytes
				b.PutBacklog(wrong)
			},
			func(b *store.Batch) { b.DropRef(ref(4, 22), store.Blob{}, false); b.PutBacklog(account) }, 0,
		},
		{
			"a message of a later epoch",
			func(b *store.Batch) {
				b.PutDue(store.DueKey{Shard: 9, At: 6, Seq: store.FirstSeq(9)}, nil, nil)
				b.PutSchedule(store.Schedule{Shard: 9, Count: 1})
			},
			func(b *store.Batch) {
				b.DropDue(store.DueKey{Shard: 9, At: 6, Seq: store.FirstSeq(9)}, store.Blob{}, false)
				b.PutSchedule(store.Schedule{Shard: 9})
			}, 0,
		},
		{
			"a body without a message",
			func(b *store.Batch) {
				b.DropRef(ref(4, 11), store.Blob{}, false)
				wrong = account
				wrong.Lanes[4].Count--
				wrong.Bytes -= blob.Bytes
				b.PutBacklog(wrong)
			},
			func(b *store.Batch) { b.PutRefBlob(ref(4, 23), nil, blob); b.PutBacklog(account) }, 0,
		},
		{
			"a message without its body",
			func(b *store.Batch) {
				b.PutRef(ref(4, 24), nil, nil)
				b.DropRef(ref(4, 24), blob, false)
			},
			func(b *store.Batch) {
				b.DropRef(ref(4, 23), store.Blob{}, false)
				b.PutRef(ref(4, 25), nil, make([]byte, blob.Bytes))
			}, 0,
		},
		{
			"a shared message with a place less than it says",
			func(b *store.Batch) { b.PutShared(3, 30, nil, []byte("x"), 1) },
			func(b *store.Batch) { b.DropSharedRef(ref(4, 31), 30, store.Blob{}, false, true) }, 0,
		},
		{
			"a place of a shared message that is not there",
			func(b *store.Batch) {
				b.PutSharedRef(ref(4, 33), 32, 0)
				wrong = account
				wrong.Lanes[4].Count++
				b.PutBacklog(wrong)
			},
			func(b *store.Batch) {
				b.DropSharedRef(ref(4, 33), 32, store.Blob{}, false, true)
				b.PutBacklog(account)
			}, 0,
		},
		{
			"a shared message of another size than its place says",
			func(b *store.Batch) {
				b.PutShared(3, 34, nil, []byte("x"), 1)
				b.PutSharedRef(ref(4, 35), 34, 0)
				wrong = account
				wrong.Lanes[4].Count++
				b.PutBacklog(wrong)
			},
			func(b *store.Batch) {
				b.DropSharedRef(ref(4, 35), 34, store.Blob{}, false, true)
				b.PutBacklog(account)
			}, 0,
		},
	} {
		f.commit(c.do)
		if rep, err := f.Check(); err != nil || len(rep.Problems) != max(c.problems, 1) || rep.Err() == nil {
			t.Errorf("%s: found %d problems, %v\n%s", c.name, len(rep.Problems), err, rep)
		}
		f.commit(c.undo)
		if rep, err := f.Check(); err != nil || !rep.OK() || rep.Err() != nil {
			t.Fatalf("%s, taken back: %v\n%s", c.name, err, rep)
		}
	}
}
