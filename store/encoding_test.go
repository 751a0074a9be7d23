package store

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestShardOfNeverChanges(t *testing.T) {
	for _, c := range []struct {
		kind uint8
		name string
		want Shard
	}{
		{0, "", 46}, {1, "a", 12}, {2, "a", 39}, {1, "orders", 47}, {1, "Ünïcode/名前", 44}, {2, strings.Repeat("x", 1024), 11},
	} {
		if got := ShardOf(c.kind, c.name); got != c.want {
			t.Errorf("ShardOf(%d, %.20q) = %d, want %d", c.kind, c.name, got, c.want)
		}
	}
}

func TestShardOfSpreadsNamesEvenly(t *testing.T) {
	const n = 64_000
	var counts [Shards]int
	for i := range n {
		counts[ShardOf(1, fmt.Sprintf("queue.%d", i))]++
	}
	for s, c := range counts {
		if c < n/Shards*8/10 || c > n/Shards*12/10 {
			t.Errorf("shard %d has %d of %d names", s, c, n)
		}
	}
}

func TestTheStoredFormatNeverChanges(t *testing.T) {
	ref := RefKey{Shard: 3, Backlog: 0x0102030405060708, Priority: 4, Seq: 0x1112131415161718}
	due := DueKey{Shard: 63, At: 1_700_000_000_000, Seq: 9}
	backlog := Backlog{Shard: 3, ID: 7, Destination: 5, Bytes: 1000}
	backlog.Lanes[0] = Lane{Count: 1, Head: 2, Seen: 3}
	backlog.Lanes[9] = Lane{Count: 300, Head: 1 << 44, Seen: 0}
	m := mark{epoch: 7, clean: true, manifest: manifest{number: 3, octets: 512}}
	m.seqs[63] = 5
	for _, c := range []struct {
		name, want string
		got        []byte
	}{
		{"ref key", "0305010203040506070805" + "1112131415161718", appendPlaceKey(nil, kindRef, ref)},
		{"attempts key", "0306010203040506070805" + "1112131415161718", appendPlaceKey(nil, kindAttempts, ref)},
		{"due key", "3f07" + "8000018bcfe56800" + "0000000000000009", appendDueKey(nil, due)},
		{"due key before 1970", "3f07" + "7fffffffffffffff" + "0000000000000009", appendDueKey(nil, DueKey{63, -1, 9})},
		{"chunk key", "0108" + "0000000000000002" + "00000003", appendChunkKey(nil, 1, 2, 3)},
		{"destination key", "0102" + "0000000000000002", appendIDKey(nil, 1, kindDestination, 2)},
		{"backlog key", "0103" + "0000000000000002", appendIDKey(nil, 1, kindBacklog, 2)},
		{"schedule key", "0104", appendPrefix(nil, 1, kindSchedule)},
		{"meta key", "0101", appendPrefix(nil, 1, kindMeta)},
		{"format key", "400a", formatKey()},
		{"message", "0102" + "6865", append(appendMessagePrefix(nil, valueV1, 2), "he"...)},
		{"blob", "09" + "02" + "818010", appendBlob(nil, blobOf(9, ChunkBytes+1))},
		{"attempts", "01" + "ac02" + "01", appendAttempts(nil, Attempts{Deliveries: 300, Failures: 1})},
		{"attempts of one about to be shown", "01" + "00" + "00" + "ac02", appendAttempts(nil, Attempts{Shown: 300})},
		{"destination", "01" + "02" + "0000018bcfe56800" + "03" + "612f62", appendDestination(nil, Destination{Kind: 2, Name: "a/b", Created: 1_700_000_000_000})},
		{"destination with properties", "02" + "02" + "0000018bcfe56800" + "03" + "612f62" + "7078", appendDestination(nil, Destination{Kind: 2, Name: "a/b", Created: 1_700_000_000_000, Properties: "px"})},
		{"place of a shared message", "03" + "09" + "ac02", appendSharedRef(nil, 9, 300)},
		{"shared chunk key", "010d" + "0000000000000002" + "00000003", appendSharedChunkKey(nil, 1, 2, 3)},
		{"duplicate key", "010e" + "0000000000000002" + "0000000000000003", appendDuplicateKey(nil, 1, 2, 3)},
		{"message key", "0109" + "0000000000000002", appendIDKey(nil, 1, kindMessage, 2)},
		{"shared record", "01" + "00000014", appendRefcount(nil, refcountBase, 20)},
		{"expiry", "01" + "ac02" + "000000", appendExpiry(nil, Expiry{Bytes: 300})},
		{"expiry of a shared message", "02" + "ac02" + "000000" + "09", appendExpiry(nil, Expiry{Bytes: 300, Owner: 9})},
		{"backlog", "01" + "0000000000000005" + "e807" + "0201" + "010203" + "ac02" + "80808080808004" + "00", appendBacklog(nil, &backlog)},
		{"schedule", "01" + "ac02" + "05", appendSchedule(nil, Schedule{Count: 300, Bytes: 5})},
		{"schedule with some that return", "01" + "ac02" + "05" + "07", appendSchedule(nil, Schedule{Count: 300, Bytes: 5, Returning: 7})},
		{"meta", "01" + "00000001" + "0000000000000002" + "00000003" + "00000004", appendLink(nil, link{1, 2, 3, 4})},
		{"format", "01" + "00000001" + "0000018bcfe56800" + "6162636465666768" + "00000009", appendFormat(nil, format{1, 1_700_000_000_000, [8]byte([]byte("abcdefgh")), 9})},
		{"mark", hex.EncodeToString([]byte("footfall")) + "02" + "01" + "00000007" + strings.Repeat("0000000000000000", 63) + "0000000000000005" + "0000000000000003" + "0000000000000200" + "9252cdbe", appendMark(nil, &m)},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s is\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

func TestTheChecksumChainNeverChanges(t *testing.T) {
	var c chain
	b := newBatch()
	b.PutSchedule(Schedule{Shard: 2, Count: 1, Bytes: 1})
	b.seal(&c, 1)
	b2 := newBatch()
	b2.DropDestination(2, 1)
	b2.seal(&c, 2)
	want := "000000000000000002000000" + "01020204" + "03010101" + "0102020115" + "01000000010000000000000001" + "00000000" + "19e7d7b7"
	if got := hex.EncodeToString(b.repr); got != want {
		t.Errorf("first batch is\n%s, want\n%s", got, want)
	}
	want = "000000000000000002000000" + "000a02020000000000000001" + "0102020115" + "01000000020000000000000002" + "19e7d7b7" + "fcb76297"
	if got := hex.EncodeToString(b2.repr); got != want {
		t.Errorf("second batch is\n%s, want\n%s", got, want)
	}
}

func TestKeysAreInTheOrderOfTheirFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Custom(func(t *rapid.T) RefKey {
			return RefKey{
				Shard(rapid.Uint8Range(0, Shards-1).Draw(t, "shard")), BacklogID(rapid.Uint64().Draw(t, "backlog")),
				rapid.Uint8Range(0, 9).Draw(t, "priority"), Seq(rapid.Uint64().Draw(t, "seq")),
			}
		})
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		want := 0
		switch {
		case a.Shard != b.Shard:
			want = int(a.Shard) - int(b.Shard)
		case a.Backlog != b.Backlog:
			want = cmpBool(a.Backlog < b.Backlog)
		case a.Priority != b.Priority:
			want = int(b.Priority) - int(a.Priority)
		case a.Seq != b.Seq:
			want = cmpBool(a.Seq < b.Seq)
		}
		got := bytes.Compare(appendPlaceKey(nil, kindRef, a), appendPlaceKey(nil, kindRef, b))
		if got != sign(want) {
			t.Fatalf("%v and %v compare as %d", a, b, got)
		}
		if back, err := decodePlaceKey(appendPlaceKey(nil, kindRef, a), kindRef); err != nil || back != a {
			t.Fatalf("%v comes back as %v, %v", a, back, err)
		}
		at := rapid.Int64().Draw(t, "at")
		d, e := DueKey{a.Shard, at, a.Seq}, DueKey{a.Shard, rapid.Int64().Draw(t, "at2"), b.Seq}
		if d.At < e.At && bytes.Compare(appendDueKey(nil, d), appendDueKey(nil, e)) >= 0 {
			t.Fatalf("%v is not before %v", d, e)
		}
		if back, err := decodeDueKey(appendDueKey(nil, d)); err != nil || back != d {
			t.Fatalf("%v comes back as %v, %v", d, back, err)
		}
	})
}

func cmpBool(less bool) int {
	if less {
		return -1
	}
	return 1
}

func sign(n int) int { return max(-1, min(1, n)) }

func TestABacklogComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Backlog{Shard: 5, ID: BacklogID(rapid.Uint64().Draw(t, "id")), Destination: DestinationID(rapid.Uint64().Draw(t, "d")), Bytes: rapid.Uint64().Draw(t, "bytes")}
		for p := range b.Lanes {
			if rapid.Bool().Draw(t, "lane") {
				b.Lanes[p] = Lane{rapid.Uint64().Draw(t, "count"), Seq(rapid.Uint64().Draw(t, "head")), Seq(rapid.Uint64().Draw(t, "seen"))}
			}
		}
		got, err := decodeBacklog(appendIDKey(nil, b.Shard, kindBacklog, uint64(b.ID)), appendBacklog(nil, &b))
		if err != nil || got != b {
			t.Fatalf("%v %v", got, err)
		}
	})
}

// sample is a batch with every kind of change.
func sample() *Batch {
	b := newBatch()
	b.PutDestination(Destination{Shard: 1, ID: 1, Kind: 1, Name: "orders"})
	b.PutBacklog(Backlog{Shard: 1, ID: 2, Destination: 1})
	b.PutRef(RefKey{1, 2, 4, 3}, []byte("head"), []byte("body"))
	blob := b.PutRef(RefKey{1, 2, 4, 4}, []byte("head"), make([]byte, ChunkBytes+1))
	b.PutAttempts(RefKey{1, 2, 4, 3}, Attempts{1, 0, 0})
	b.DropRef(RefKey{1, 2, 4, 3}, Blob{}, true)
	b.DropRef(RefKey{1, 2, 4, 4}, blob, false)
	b.PutDue(DueKey{63, 5, 5}, nil, nil)
	b.DropDue(DueKey{63, 5, 5}, Blob{}, false)
	b.PutSchedule(Schedule{Shard: 63, Returning: 1})
	shared := b.PutShared(1, 6, []byte("head"), make([]byte, ChunkBytes+1), 2)
	b.PutSharedRef(RefKey{1, 2, 4, 7}, 6, 4+ChunkBytes+1)
	b.PutSharedRef(RefKey{1, 2, 4, 8}, 6, 4+ChunkBytes+1)
	b.DropSharedRef(RefKey{1, 2, 4, 7}, 6, shared, false, false)
	b.DropSharedRef(RefKey{1, 2, 4, 8}, 6, shared, true, true)
	b.DropBacklog(1, 2)
	b.DropDestination(1, 1)
	return b
}

func TestPebbleReadsABatchAsWeDo(t *testing.T) {
	b := sample()
	var c chain
	b.seal(&c, 1)
	ours, err := readRepr(b.repr)
	if err != nil {
		t.Fatal(err)
	}
	theirs := batchrepr.Read(b.repr)
	for i := 0; ; i++ {
		op, key, value, _, ok, err := ours.next()
		kind, theirKey, theirValue, theirOK, theirErr := theirs.Next()
		if err != nil || theirErr != nil || ok != theirOK || ok && (uint8(op) != uint8(kind) || !bytes.Equal(key, theirKey) || !bytes.Equal(value, theirValue)) {
			t.Fatalf("operation %d: %d %x %x %t %v, Pebble has %d %x %x %t %v", i, op, key, value, ok, err, kind, theirKey, theirValue, theirOK, theirErr)
		}
		if !ok {
			break
		}
	}
	var p pebble.Batch
	if err := p.SetRepr(b.repr); err != nil || p.Count() != b.count {
		t.Fatalf("Pebble counts %d of %d operations, %v", p.Count(), b.count, err)
	}
	for r := p.Reader(); ; { // and writes the same
		kind, key, value, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		var again pebble.Batch
		switch operation(kind) {
		case opSet:
			_ = again.Set(key, value, nil)
		case opMerge:
			_ = again.Merge(key, value, nil)
		case opDelete:
			_ = again.Delete(key, nil)
		case opSingleDelete:
			_ = again.SingleDelete(key, nil)
		case opDeleteRange:
			_ = again.DeleteRange(key, value, nil)
		}
		if !bytes.Contains(b.repr, again.Repr()[reprHeader:]) {
			t.Fatalf("Pebble writes %v %x otherwise", kind, key)
		}
	}
}

func TestAChangedBatchIsNotVerified(t *testing.T) {
	var c chain
	b := sample()
	after := c
	b.seal(&after, 1)
	touched, links, err := c.verify(b.repr, 1)
	if err != nil || touched != 1<<1|1<<63 || links[1] != after[1] || links[63] != after[63] {
		t.Fatalf("%x %v", touched, err)
	}
	if _, _, err := after.verify(b.repr, 1); err == nil {
		t.Error("the same batch once more is verified")
	}
	if _, _, err := c.verify(b.repr, 2); err == nil {
		t.Error("a batch of another epoch is verified")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		at := 8 + rng.IntN(len(b.repr)-8) // before that is Pebble's
		changed := bytes.Clone(b.repr)
		changed[at] ^= 1 << rng.IntN(8)
		if _, _, err := c.verify(changed, 1); err == nil {
			t.Fatalf("a batch with another octet %d is verified", at)
		}
	}
	for cut := range min(300, len(b.repr)) {
		if _, _, err := c.verify(b.repr[:cut], 1); err == nil {
			t.Fatalf("the first %d octets are verified", cut)
		}
	}
}

func FuzzBatch(f *testing.F) {
	b := sample()
	var c chain
	b.seal(&c, 1)
	f.Add(b.repr[:200])
	small := newBatch()
	small.PutSchedule(Schedule{Shard: 1})
	var c2 chain
	small.seal(&c2, 1)
	f.Add(small.repr)
	f.Fuzz(func(t *testing.T, repr []byte) {
		r, err := readRepr(repr)
		theirs := batchrepr.Read(repr)
		for err == nil {
			op, key, value, _, ok, e := r.next()
			if e != nil || !ok {
				break
			}
			kind, theirKey, theirValue, theirOK, theirErr := theirs.Next()
			if !theirOK || theirErr != nil || uint8(kind) != uint8(op) || !bytes.Equal(key, theirKey) || !bytes.Equal(value, theirValue) {
				t.Fatalf("%d %x %x, Pebble reads %d %x %x %v", op, key, value, kind, theirKey, theirValue, theirErr)
			}
		}
		var c chain
		_, _, _ = c.verify(repr, 1)
	})
}

// FuzzDecode reads any octets as any record: what is taken must come back as it was.
func FuzzDecode(f *testing.F) {
	backlog := Backlog{Shard: 3, ID: 7, Destination: 5}
	backlog.Lanes[9] = Lane{Count: 300, Head: 1 << 44}
	f.Add(appendPlaceKey(nil, kindRef, RefKey{1, 2, 3, 4}), appendMessagePrefix(nil, valueV1, 0))
	f.Add(appendPlaceKey(nil, kindRef, RefKey{1, 2, 3, 4}), appendBlob(appendMessagePrefix(nil, valueBlobV1, 0), blobOf(9, 1<<20)))
	f.Add(appendPlaceKey(nil, kindAttempts, RefKey{1, 2, 3, 4}), appendAttempts(nil, Attempts{1, 2, 0}))
	f.Add(appendDueKey(nil, DueKey{1, 2, 3}), appendMessagePrefix(nil, valueV1, 1))
	f.Add(appendIDKey(nil, 3, kindBacklog, 7), appendBacklog(nil, &backlog))
	f.Add(appendIDKey(nil, 3, kindDestination, 7), appendDestination(nil, Destination{Name: "n"}))
	f.Add(appendIDKey(nil, 3, kindDestination, 7), appendDestination(nil, Destination{Name: "n", Properties: "p"}))
	f.Add(appendPlaceKey(nil, kindRef, RefKey{1, 2, 3, 4}), appendSharedRef(nil, 5, 6))
	f.Add(appendExpiryKey(nil, Expiry{At: 1}), appendExpiry(nil, Expiry{Bytes: 2, Owner: 3}))
	f.Add(appendPrefix(nil, 3, kindSchedule), appendSchedule(nil, Schedule{Count: 1}))
	f.Add(appendPrefix(nil, 3, kindMeta), appendLink(nil, link{1, 2, 3, 4}))
	f.Add(appendChunkKey(nil, 1, 2, 3), []byte{1, 2})
	f.Add(formatKey(), appendFormat(nil, newFormat(1)))
	f.Add([]byte("mark"), appendMark(nil, &mark{epoch: 1}))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		same := func(err error, got, again any) {
			if err == nil {
				if d := cmp.Diff(got, again, cmp.AllowUnexported(link{}, format{}, mark{}, manifest{})); d != "" {
					t.Fatal(d)
				}
			}
		}
		_, _, _ = splitKey(key)
		_, _, _, _ = decodeChunkKey(key)
		_, _ = decodeChunk(value)
		if k, err := decodePlaceKey(key, kindRef); err == nil && !bytes.Equal(appendPlaceKey(nil, kindRef, k), key) {
			t.Fatalf("key %x comes back otherwise", key)
		}
		if k, err := decodeDueKey(key); err == nil && !bytes.Equal(appendDueKey(nil, k), key) {
			t.Fatalf("key %x comes back otherwise", key)
		}
		if head, body, blob, err := decodeMessage(value); err == nil {
			again := append(appendMessagePrefix(nil, valueV1, len(head)), head...)
			again = append(again, body...)
			if blob != (Blob{}) {
				again = appendBlob(append(appendMessagePrefix(nil, valueBlobV1, len(head)), head...), blob)
			}
			head2, body2, blob2, err := decodeMessage(again)
			if err != nil || !bytes.Equal(head, head2) || !bytes.Equal(body, body2) || blob != blob2 {
				t.Fatalf("message %x comes back otherwise", value)
			}
		}
		if owner, octets, err := decodeSharedRef(value); err == nil {
			owner2, octets2, _ := decodeSharedRef(appendSharedRef(nil, owner, octets))
			same(nil, [2]uint64{uint64(owner), octets}, [2]uint64{uint64(owner2), octets2})
		}
		x, err := decodeExpiry(key, value)
		x2, _ := decodeExpiry(appendExpiryKey(nil, x), appendExpiry(nil, x))
		same(err, x, x2)
		a, err := decodeAttempts(value)
		a2, _ := decodeAttempts(appendAttempts(nil, a))
		same(err, a, a2)
		l, err := decodeLink(value)
		l2, _ := decodeLink(appendLink(nil, l))
		same(err, l, l2)
		fm, err := decodeFormat(value)
		fm2, _ := decodeFormat(appendFormat(nil, fm))
		same(err, fm, fm2)
		m, err := decodeMark(value)
		m2, _ := decodeMark(appendMark(nil, &m))
		same(err, m, m2)
		d, err := decodeDestination(key, value)
		d2, _ := decodeDestination(key, appendDestination(nil, d))
		same(err, d, d2)
		b, err := decodeBacklog(key, value)
		b2, _ := decodeBacklog(key, appendBacklog(nil, &b))
		same(err, b, b2)
		s, err := decodeSchedule(key, value)
		s2, _ := decodeSchedule(key, appendSchedule(nil, s))
		same(err, s, s2)
	})
}
