package broker

import (
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"footfall/frames"
	"footfall/schedule"
	"footfall/store"
)

// headers makes a header block of lines as they were on the wire.
func headers(raw string) frames.Header { return frames.Header{Raw: []byte(raw), Dialect: frames.V12} }

// golden are records, as octets: what was once written must be readable for ever.
var golden = []struct {
	name   string
	octets string
	target store.DestinationID
	m      Message
}{
	{
		name:   "least",
		octets: "01" + "0000" + "02" + "04" + "00" + "00" + "00",
		m:      Message{Priority: 4, Header: frames.Header{Dialect: frames.V12}},
	},
	{
		name: "persistent with headers",
		octets: "01" + "0007" + "02" + "09" + "1f" + "81808080808080808001" + "80d09bf3f52d" +
			hex.EncodeToString([]byte("a:1\nb:2\n")),
		m: Message{
			Priority: 9, Persistent: true, HasLength: true, HasTimestamp: true, Timestamp: 1577836800000,
			ID: MessageID{Shard: 31, Seq: 1<<63 + 1}, Header: headers("a:1\nb:2\n"),
		},
	},
	{
		name:   "expiring, under a chosen name",
		octets: "01" + "0b11" + "02" + "04" + "01" + "05" + "06" + "07" + "80d09bf3f52d" + "e807" + "02" + "6964",
		m: Message{
			Priority: 4, Persistent: true, ChosenID: true, ScheduledID: "id", DeliverAt: 7, Expires: 1577836800000, TTL: 1000, Timestamp: 6,
			ID: MessageID{Shard: 1, Seq: 5}, Header: frames.Header{Dialect: frames.V12},
		},
	},
	{
		name:   "of a topic by another form of its name",
		octets: "02" + "0041" + "02" + "04" + "01" + "05" + "06" + "09" + hex.EncodeToString([]byte("topic://a")) + "01" + "61" + hex.EncodeToString([]byte("k:v\n")),
		m: Message{
			Priority: 4, Persistent: true, Timestamp: 6, Destination: "topic://a", topic: "a", ID: MessageID{Shard: 1, Seq: 5}, Header: headers("k:v\n"),
		},
	},
	{
		name: "everything",
		octets: "01" + "00ff" + "01" + "00" + "3f" + "ffffffffffffffffff01" + "01" + "02" + "0000000000000003" +
			"08" + hex.EncodeToString([]byte("/queue/a")) + "04" + hex.EncodeToString([]byte("ID:x")) + "01" + hex.EncodeToString([]byte("s")) +
			hex.EncodeToString([]byte("k:v\\r\n")),
		target: 3,
		m: Message{
			Persistent: true, HasLength: true, HasTimestamp: true, Timestamp: 1, DeliverAt: 2, Destination: "/queue/a", UserID: "ID:x", ScheduledID: "s",
			ID: MessageID{Shard: 63, Seq: math.MaxUint64}, Header: frames.Header{Raw: []byte("k:v\\r\n"), Dialect: frames.V11, HasCR: true},
		},
	},
}

func TestRecordsOfOldAreRead(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			octets, err := hex.DecodeString(g.octets)
			if err != nil {
				t.Fatal(err)
			}
			if got := appendHead(nil, &g.m, g.target); hex.EncodeToString(got) != g.octets {
				t.Errorf("written as\n%x, not\n%x", got, octets)
			}
			m, target, err := decodeRecord(octets, []byte("body"), store.Blob{Owner: 7}, &schedule.Zones{})
			if err != nil || target != g.target {
				t.Fatalf("target %d, error %v", target, err)
			}
			want := g.m
			want.Body, want.blob = []byte("body"), store.Blob{Owner: 7}
			if m.octets() != uint64(len(octets)+len("body")) {
				t.Errorf("it counts %d octets", m.octets())
			}
			same(t, *m, want)
		})
	}
}

func same(t interface{ Fatalf(string, ...any) }, got, want Message) {
	if got.blob != want.blob {
		t.Fatalf("blob %v, not %v", got.blob, want.blob)
	}
	got.blob, want.blob = store.Blob{}, store.Blob{}
	got.head, want.head = 0, 0
	if !reflect.DeepEqual(job(t, got.job), job(t, want.job)) {
		t.Fatalf("job %v, not %v", got.job, want.job)
	}
	got.job, want.job = nil, nil
	if len(got.Header.Raw) == 0 && len(want.Header.Raw) == 0 {
		got.Header.Raw, want.Header.Raw = nil, nil
	}
	if d := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
		t.Fatalf("%s", d)
	}
}

func job(t interface{ Fatalf(string, ...any) }, j *schedule.Job) []byte {
	if j == nil {
		return nil
	}
	octets, err := j.AppendBinary(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return octets
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.OneOf(rapid.Just(""), rapid.String()).Draw(t, name) }
		m := Message{
			Header: frames.Header{
				Raw: rapid.SliceOf(rapid.Byte()).Draw(t, "header"), HasCR: rapid.Bool().Draw(t, "cr"),
				Dialect: rapid.SampledFrom([]frames.Version{frames.V10, frames.V11, frames.V12}).Draw(t, "dialect"),
			},
			Destination: text("destination"), UserID: text("user id"), Priority: uint8(rapid.IntRange(0, 9).Draw(t, "priority")),
			Persistent: rapid.Bool().Draw(t, "persistent"), HasLength: rapid.Bool().Draw(t, "length"), HasTimestamp: rapid.Bool().Draw(t, "has timestamp"),
			ID:        MessageID{Shard: uint8(rapid.IntRange(0, 63).Draw(t, "shard")), Seq: rapid.Uint64().Draw(t, "seq")},
			Timestamp: rapid.Int64Range(0, math.MaxInt64).Draw(t, "timestamp"), DeliverAt: rapid.Int64Range(0, math.MaxInt64).Draw(t, "at"),
		}
		if m.DeliverAt != 0 {
			m.ScheduledID, m.ChosenID = text("scheduled id"), rapid.Bool().Draw(t, "chosen")
		}
		m.topic = text("topic")
		if rapid.Bool().Draw(t, "expires") {
			m.Expires, m.TTL = rapid.Int64Range(0, math.MaxInt64).Draw(t, "expires at"), rapid.Int64Range(0, math.MaxInt64).Draw(t, "ttl")
		}
		target := store.DestinationID(rapid.Uint64().Draw(t, "target"))
		prefix := []byte("before")
		got, gotTarget, err := decodeRecord(appendHead(prefix, &m, target)[len(prefix):], nil, store.Blob{}, &schedule.Zones{})
		if err != nil || gotTarget != target {
			t.Fatalf("target %d, not %d, error %v", gotTarget, target, err)
		}
		same(t, *got, m)
	})
}

func TestRecordThatCannotBeRead(t *testing.T) {
	whole, _ := hex.DecodeString(golden[len(golden)-1].octets)
	headerLength := len(golden[len(golden)-1].m.Header.Raw)
	for n := range len(whole) - headerLength {
		if _, _, err := decodeRecord(whole[:n], nil, store.Blob{}, &schedule.Zones{}); !errors.Is(err, errRecord) {
			t.Errorf("the first %d octets: error %v", n, err)
		}
	}
	for _, c := range []struct {
		name, octets, says string
	}{
		{"of a later version", "03" + "0000" + "02" + "04" + "000000", "record version 3, this program knows 2"},
		{"priority", "01" + "0000" + "02" + "0a" + "000000", "priority 10"},
		{"dialect", "01" + "0000" + "07" + "04" + "000000", "dialect"},
		{"text longer than the record", "01" + "0040" + "02" + "04" + "000000" + "ffffffffffffffff7f" + "61", "cut short"},
		{"number of eleven octets", "01" + "0000" + "02" + "04" + "00" + "ffffffffffffffffffff01" + "00", "cut short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			octets, err := hex.DecodeString(c.octets)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := decodeRecord(octets, nil, store.Blob{}, &schedule.Zones{}); !errors.Is(err, errRecord) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
}

// FuzzDecodeRecord: any octets are read or refused, and what was read is written again so that it is read alike.
func FuzzDecodeRecord(f *testing.F) {
	for _, g := range golden {
		octets, _ := hex.DecodeString(g.octets)
		f.Add(octets)
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		m, target, err := decodeRecord(octets, nil, store.Blob{}, &schedule.Zones{})
		if err != nil {
			if !errors.Is(err, errRecord) {
				t.Fatalf("error %v is no errRecord", err)
			}
			return
		}
		if n := len(m.Header.Raw) + len(m.Destination) + len(m.UserID) + len(m.ScheduledID); n > len(octets) {
			t.Fatalf("%d octets became %d", len(octets), n)
		}
		again, targetAgain, err := decodeRecord(appendHead(nil, m, target), nil, store.Blob{}, &schedule.Zones{})
		if err != nil || targetAgain != target {
			t.Fatalf("written again: target %d, not %d, error %v", targetAgain, target, err)
		}
		if m.DeliverAt == 0 {
			again.ScheduledID = m.ScheduledID // of a time that is none nothing is kept
		}
		if m.TTL < 0 {
			again.TTL = m.TTL
		}
		same(t, *again, *m)
	})
}
