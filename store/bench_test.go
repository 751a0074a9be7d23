package store

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// benchSizes are messages for each batch and octets for each message.
var benchSizes = []struct{ messages, octets int }{
	{1, 200}, {10, 200}, {100, 200}, {1000, 200}, {1, 1024}, {10, 1024}, {100, 1024}, {1000, 1024},
}

func benchStore(b *testing.B) *Store {
	s, err := Open(Options{Dir: b.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// pipeline submits batches with at most depth of them on their way, as a loop does
// that goes on with the next round while one is synced.
func pipeline(b *testing.B, depth int, submit func(i int, done func())) {
	slots := make(chan struct{}, depth)
	var wait sync.WaitGroup
	for i := 0; b.Loop(); i++ {
		slots <- struct{}{}
		wait.Add(1)
		submit(i, func() { <-slots; wait.Done() })
	}
	wait.Wait()
}

func BenchmarkCommit(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("messages=%d/octets=%d", size.messages, size.octets), func(b *testing.B) {
			s := benchStore(b)
			head, body := make([]byte, 50), make([]byte, size.octets-50)
			seq := FirstSeq(1)
			pipeline(b, 4, func(_ int, done func()) {
				batch := s.NewBatch()
				for range size.messages {
					batch.PutRef(RefKey{Shard: 1, Backlog: 1, Priority: 4, Seq: seq}, head, body)
					seq++
				}
				batch.PutBacklog(Backlog{Shard: 1, ID: 1})
				s.Submit(batch, func(Outcome) { done() })
			})
			b.ReportMetric(float64(b.N*size.messages)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}

// BenchmarkRawPebble writes what BenchmarkCommit does with nothing but Pebble, with the same
// options and the same number of batches on their way.
func BenchmarkRawPebble(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("messages=%d/octets=%d", size.messages, size.octets), func(b *testing.B) {
			e := newEvents(slog.New(slog.NewTextHandler(io.Discard, nil)), func(err error) { panic(err) })
			o := Options{}.withDefaults()
			p := o.pebbleOptions(e)
			p.ErrorIfNotExists = false
			db, err := pebble.Open(b.TempDir(), p)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			value := make([]byte, size.octets)
			seq := FirstSeq(1)
			syncs := make(chan func(), 4)
			go func() {
				for f := range syncs {
					f()
				}
			}()
			pipeline(b, 4, func(_ int, done func()) {
				batch := db.NewBatch()
				for range size.messages {
					key := appendPlaceKey(nil, kindRef, RefKey{Shard: 1, Backlog: 1, Priority: 4, Seq: seq})
					if err := batch.Set(key, value, nil); err != nil {
						b.Fatal(err)
					}
					seq++
				}
				if err := db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
					b.Fatal(err)
				}
				syncs <- func() {
					if err := batch.SyncWait(); err != nil {
						panic(err)
					}
					_ = batch.Close()
					done()
				}
			})
			close(syncs)
			b.ReportMetric(float64(b.N*size.messages)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}

// fillBacklog puts n messages of 200 octets into one lane.
func fillBacklog(b *testing.B, s *Store, n int) {
	head, body := make([]byte, 50), make([]byte, 150)
	for i := range body {
		body[i] = byte(i * 7)
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := 0; i < n; {
		batch := s.NewBatch()
		for range 1000 {
			batch.PutRef(RefKey{Shard: 1, Backlog: 1, Priority: 4, Seq: FirstSeq(1) + Seq(i)}, head, body)
			i++
		}
		wait.Add(1)
		slots <- struct{}{}
		s.Submit(batch, func(Outcome) { <-slots; wait.Done() })
	}
	wait.Wait()
}

const benchBacklog = 1_000_000

func BenchmarkScanRefs(b *testing.B) {
	s := benchStore(b)
	fillBacklog(b, s, benchBacklog)
	first := RefScan{From: RefKey{Shard: 1, Backlog: 1, Priority: 9}, MaxCount: 1000, MaxBytes: 1 << 20}
	q, messages := first, 0
	for b.Loop() {
		refs, more, err := s.ScanRefs(q)
		if err != nil {
			b.Fatal(err)
		}
		messages += len(refs)
		q.From = refs[len(refs)-1].Key
		q.From.Seq++
		if !more {
			q = first
		}
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "msg/s")
}

// BenchmarkDrain fills a backlog and empties it as the broker does: a page, a drop
// for each of its messages, the head mark moves on.
func BenchmarkDrain(b *testing.B) {
	s := benchStore(b)
	for b.Loop() {
		b.StopTimer()
		fillBacklog(b, s, benchBacklog)
		b.StartTimer()
		account := Backlog{Shard: 1, ID: 1}
		q := RefScan{From: RefKey{Shard: 1, Backlog: 1, Priority: 9}, MaxCount: 1000, MaxBytes: 1 << 20}
		for {
			refs, more, err := s.ScanRefs(q)
			if err != nil {
				b.Fatal(err)
			}
			batch := s.NewBatch()
			for i := range refs {
				batch.DropRef(refs[i].Key, refs[i].Blob, false)
			}
			account.Lanes[4].Head = refs[len(refs)-1].Key.Seq + 1
			q.Heads[4] = account.Lanes[4].Head
			batch.PutBacklog(account)
			done := make(chan struct{})
			s.Submit(batch, func(Outcome) { close(done) })
			if !more {
				<-done
				break
			}
		}
	}
	b.ReportMetric(float64(b.N*benchBacklog)/b.Elapsed().Seconds(), "msg/s")
}
