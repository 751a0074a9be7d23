package store_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	"footfall/store"
	"footfall/store/storetest"
	"pgregory.net/rapid"
)

// listed is a store that lists what waits.
type listed interface {
	storetest.Store
	ListDue(store.DueList, func(*store.DueEntry) bool) (store.DueKey, bool, error)
	CountDue(store.DueCount) (int, error)
}

// bothKinds opens an empty store of each kind.
func bothKinds(t *testing.T) map[string]listed {
	t.Helper()
	onDisk, err := storetest.NewDisk(t).Open()
	if err != nil {
		t.Fatal(err)
	}
	inMemory := store.NewMemory()
	t.Cleanup(func() { _ = inMemory.Close() })
	return map[string]listed{"Store": onDisk, "Memory": inMemory}
}

// put schedules messages with a head that tells their place, and a body of so many octets.
func put(t testing.TB, s listed, octets int, keys ...store.DueKey) {
	t.Helper()
	b := s.NewBatch()
	for _, k := range keys {
		b.PutDue(k, []byte(fmt.Sprint(k)), bytes.Repeat([]byte{'a' + byte(k.Seq)}, octets))
	}
	done := make(chan store.Outcome, 1)
	s.Submit(b, func(o store.Outcome) { done <- o })
	if o := <-done; o != store.Applied {
		t.Fatalf("outcome %d", o)
	}
}

// inListOrder is the order of lists, told once more.
func inListOrder(a, b store.DueKey) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Seq, b.Seq))
}

// TestListsAndCountsAreThoseOfASortedSlice reads what a few shards hold in pages of all sizes, and counts it.
func TestListsAndCountsAreThoseOfASortedSlice(t *testing.T) {
	var keys []store.DueKey
	for i := range 150 {
		keys = append(keys, store.DueKey{Shard: store.Shard(i * 7 % 5 * 15), At: int64(i * i % 11), Seq: store.Seq(1 + i)})
	}
	for kind, s := range bothKinds(t) {
		put(t, s, 3, keys...)
		slices.SortFunc(keys, inListOrder)
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				q := store.DueList{
					From: store.DueKey{
						Shard: store.Shard(rapid.SampledFrom([]int{0, 15, 16, 30, 63}).Draw(t, "shard")),
						At:    rapid.Int64Range(0, 12).Draw(t, "from"), Seq: store.Seq(rapid.IntRange(0, 160).Draw(t, "seq")),
					},
					Until: rapid.Int64Range(0, 12).Draw(t, "until"), OneShard: rapid.Bool().Draw(t, "one shard"),
					MaxCount: rapid.IntRange(0, 50).Draw(t, "count"), MaxBytes: rapid.IntRange(1, 500).Draw(t, "octets"),
				}
				want := slices.DeleteFunc(slices.Clone(keys), func(k store.DueKey) bool {
					return k.At > q.Until || inListOrder(k, q.From) < 0 || q.OneShard && k.Shard != q.From.Shard
				})
				if got := readAll(t, s, q, rapid.IntRange(1, 60).Draw(t, "wanted")); !slices.Equal(got, want) {
					t.Fatalf("expected %v; saw %v", want, got)
				}
				count := store.DueCount{From: q.From.At, Until: q.Until, Max: rapid.IntRange(1, 200).Draw(t, "most")}
				spanned := slices.DeleteFunc(slices.Clone(keys), func(k store.DueKey) bool { return k.At < count.From || k.At > count.Until })
				if n, err := s.CountDue(count); err != nil || n != min(len(spanned), count.Max) {
					t.Fatalf("expected %d counted; saw %d, %v", min(len(spanned), count.Max), n, err)
				}
			})
		})
	}
}

// readAll goes on with a list until there is no more, wanting so many of a page.
func readAll(t *rapid.T, s listed, q store.DueList, wanted int) (keys []store.DueKey) {
	for {
		shown := 0
		next, more, err := s.ListDue(q, func(e *store.DueEntry) bool {
			if shown == wanted {
				return false
			}
			shown++
			body := e.Body(2)
			if string(e.Head) != fmt.Sprint(e.Key) || !bytes.Equal(body, bytes.Repeat([]byte{'a' + byte(e.Key.Seq)}, 2)) || e.Bytes != uint64(len(e.Head)+3) {
				t.Fatalf("entry %v: head %q, body %q, %d octets", e.Key, e.Head, body, e.Bytes)
			}
			keys = append(keys, e.Key)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if shown == 0 && more || shown > max(q.MaxCount, 1) {
			t.Fatalf("a page of %d, bounds %d", shown, q.MaxCount)
		}
		if !more {
			return keys
		}
		q.From = next
	}
}

func TestAListShowsTheBeginningOfALargeBody(t *testing.T) {
	for kind, s := range bothKinds(t) {
		k := store.DueKey{Shard: 5, At: 10, Seq: 2}
		put(t, s, 3*store.ChunkBytes, k)
		for _, most := range []int{0, 10, store.ChunkBytes, 2 * store.ChunkBytes} {
			shown := false
			_, _, err := s.ListDue(store.DueList{Until: 10, MaxCount: 1, MaxBytes: 1}, func(e *store.DueEntry) bool {
				shown = true
				if got := e.Body(most); len(got) != min(most, store.ChunkBytes) || e.Bytes != uint64(len(e.Head)+3*store.ChunkBytes) {
					t.Errorf("%s: at most %d: saw %d of %d", kind, most, len(got), e.Bytes)
				}
				return true
			})
			if err != nil || !shown {
				t.Errorf("%s: %v, %v", kind, shown, err)
			}
		}
	}
}

func TestListsOfAClosedStoreFail(t *testing.T) {
	for kind, s := range bothKinds(t) {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.ListDue(store.DueList{Until: 10, MaxCount: 1, MaxBytes: 1}, func(*store.DueEntry) bool { return true })
		_, countErr := s.CountDue(store.DueCount{Until: 10, Max: 1})
		if err == nil || countErr == nil {
			t.Errorf("%s: %v, %v", kind, err, countErr)
		}
	}
}

// BenchmarkCountDue counts as many as a count may have, and BenchmarkListDue reads a page in the midst of them.
func BenchmarkCountDue(b *testing.B) {
	s := withDue(b, 100_000)
	for b.Loop() {
		if n, err := s.CountDue(store.DueCount{Until: 1 << 40, Max: 100_000}); err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkListDue(b *testing.B) {
	s := withDue(b, 100_000)
	for b.Loop() {
		n := 0
		q := store.DueList{From: store.DueKey{At: 50_000}, Until: 1 << 40, MaxCount: 1000, MaxBytes: 1 << 30}
		if _, _, err := s.ListDue(q, func(*store.DueEntry) bool { n++; return true }); err != nil || n != 1000 {
			b.Fatal(n, err)
		}
	}
}

// withDue returns a store with n messages of 200 octets that wait, over all shards.
func withDue(b *testing.B, n int) *store.Store {
	b.Helper()
	s, err := store.Open(store.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for i := 0; i < n; i += 1000 {
		keys := make([]store.DueKey, 1000)
		for j := range keys {
			keys[j] = store.DueKey{Shard: store.Shard((i + j) % store.Shards), At: int64(i + j), Seq: store.Seq(1 + i + j)}
		}
		put(b, s, 200, keys...)
	}
	return s
}
