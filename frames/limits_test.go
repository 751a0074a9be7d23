package frames_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"footfall/frames"
)

func TestEachLimitPassesAndOneMoreFails(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		setting string
		limits  frames.Limits
		first   bool
		limit   int
		octets  func(n int) string // a frame of just n
	}{
		{"limits.command", frames.Limits{Command: 11}, false, 11, func(n int) string { return "UNSUBSCRIBE" + x(n-11) + "\n\n\x00" }},
		{"limits.header-line", frames.Limits{HeaderLine: 20}, false, 20, func(n int) string { return "SEND\nk:" + x(n-2) + "\n\n\x00" }},
		{"limits.header-line", frames.Limits{}, false, 65536, func(n int) string { return "SEND\nk:" + x(n-2) + "\n\n\x00" }},
		{"limits.headers", frames.Limits{Headers: 3}, false, 3, func(n int) string { return "SEND\n" + strings.Repeat("k:v\n", n) + "\n\x00" }},
		{"limits.headers", frames.Limits{}, false, 1000, func(n int) string { return "SEND\n" + strings.Repeat("k:v\r\n", n) + "\r\n\x00" }},
		{"limits.header-bytes", frames.Limits{HeaderBytes: 30}, false, 30, func(n int) string { return "SEND\nkey:value\nk:" + x(n-13) + "\n\r\n\x00" }},
		{"limits.header-bytes", frames.Limits{}, false, 262144, func(n int) string {
			return "SEND\n" + strings.Repeat("k:"+x(65532)+"\r\n", 3) + "k:" + x(n-3*65536-3) + "\n\n\x00"
		}},
		{"limits.body", frames.Limits{Body: 9}, false, 9, func(n int) string { return "SEND\n\n" + x(n) + "\x00" }},
		{"limits.body", frames.Limits{Body: 9}, false, 9, func(n int) string { return fmt.Sprintf("SEND\ncontent-length:%d\n\n%s\x00", n, x(n)) }},
		{"limits.body", frames.Limits{Body: 100_000}, false, 100_000, func(n int) string { return "SEND\n\n" + x(n) + "\x00" }},
		{"limits.body", frames.Limits{Body: 100_000}, false, 100_000, func(n int) string { return fmt.Sprintf("SEND\ncontent-length:%d\n\n%s\x00", n, x(n)) }},
		{"limits.login", frames.Limits{Login: 40}, true, 40, func(n int) string { return "\nCONNECT\r\nk:" + x(n-15) + "\n\n\x00" }},
		{"limits.login", frames.Limits{}, true, 65536, func(n int) string {
			return strings.Repeat("\n", 1000) + "CONNECT\nk:" + x(30000) + "\nj:" + x(n-31000-16) + "\n\n\x00"
		}},
		{"limits.login", frames.Limits{}, true, 65536, func(n int) string { return strings.Repeat("\n", n-10) + "CONNECT\n\n\x00" }},
	} {
		for how, source := range cuts {
			name := fmt.Sprintf("%s of %d, %s", c.setting, c.limit, how)
			o := read(t, start(t, c.first, false, frames.V12, source(c.octets(c.limit)), c.limits))
			if o.Err != nil || len(o.Frames) != 1 {
				t.Errorf("%s: want it to pass, got %v", name, o.Err)
			}
			o = read(t, start(t, c.first, false, frames.V12, source(c.octets(c.limit+1)), c.limits))
			if o.Err == nil || o.Err.Setting != c.setting || o.Err.Limit != c.limit || len(o.Frames) > 0 {
				t.Errorf("%s: want one more to fail, got %+v", name, o.Err)
			} else if want := fmt.Sprintf("%d", c.limit); !strings.Contains(o.Err.Message, want) || !strings.Contains(o.Err.Message, "("+c.setting+")") {
				t.Errorf("%s: want the limit and its setting, got %s", name, o.Err)
			}
		}
	}
}

func TestDefaultLimits(t *testing.T) {
	for _, c := range []struct {
		octets string
		limit  int
	}{
		{"SEND\ncontent-length:67108865\n\n", 64 << 20},
		{strings.Repeat("X", 33), 32},
	} {
		if o := read(t, open(t, false, frames.V12, whole(c.octets), frames.Limits{})); o.Err == nil || o.Err.Limit != c.limit {
			t.Errorf("want a limit of %d, got %+v", c.limit, o.Err)
		}
	}
}

func TestLoginLimitEndsWithSetVersion(t *testing.T) {
	octets := strings.Repeat("\n", 1000) + strings.Repeat("SEND\n\n"+strings.Repeat("x", 100)+"\x00", 10)
	o := read(t, open(t, false, frames.V12, whole(octets), frames.Limits{Login: 20}))
	if o.Err != nil || len(o.Frames) != 10 {
		t.Errorf("want 10 frames, got %d, %v", len(o.Frames), o.Err)
	}
}

func TestFramesBehindConnectAreNotPartOfTheLogin(t *testing.T) {
	r := frames.NewReader(whole("CONNECT\n\n\x00SEND\n\n"+strings.Repeat("x", 1000)+"\x00"), frames.Limits{Login: 10})
	var f frames.Frame
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Next(&f); !ok {
		t.Fatalf("want CONNECT, got %v", err)
	}
	r.SetVersion(frames.V12)
	if o := read(t, r); o.Err != nil || len(o.Frames) != 1 {
		t.Errorf("want SEND, got %+v", o)
	}
}

// memory feeds octets to r and returns the most that its buffer and a large body held.
func memory(tb testing.TB, r *frames.Reader) (buffer, own int) {
	tb.Helper()
	var f frames.Frame
	for {
		if ok, err := r.Next(&f); err != nil {
			tb.Fatal(err)
		} else if ok {
			continue
		}
		err := r.Fill()
		b, o := r.Memory()
		buffer, own = max(buffer, b), max(own, o)
		if err == io.EOF {
			return buffer, own
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func TestMemoryFollowsWhatArrivesAndNotWhatIsAnnounced(t *testing.T) {
	limits := frames.Limits{Body: math.MaxInt}
	for _, arrived := range []int{1, 10_000, 100_000, 1_000_000} {
		for _, head := range []string{"", "content-length:2147483648\n", "content-length:9223372036854775807\n"} {
			octets := "SEND\n" + head + "\n" + strings.Repeat("x", arrived)
			buffer, own := memory(t, open(t, false, frames.V12, random(octets, 1, 100_000), limits))
			if most := max(2*len(octets), 4<<10); own > most || buffer > min(most+4<<10, 64<<10) {
				t.Errorf("%q and %d octets: want at most %d in memory, got a buffer of %d and a body of %d", head, arrived, most, buffer, own)
			}
		}
	}
}

func TestIdleConnectionsHoldLittle(t *testing.T) {
	r := frames.NewReader(whole(""), frames.Limits{})
	if buffer, _ := r.Memory(); buffer != 0 {
		t.Errorf("want no buffer before the first octet, got %d", buffer)
	}
	octets := strings.Repeat("SEND\nk:v\n\nx\x00\n", 10)
	if got, _ := memory(t, open(t, false, frames.V12, random(octets, 1, 50), frames.Limits{})); got > 4<<10 {
		t.Errorf("want 4 KiB at most, got %d", got)
	}
}

func TestBufferGrowsWithTrafficAndShrinksAfterIt(t *testing.T) {
	busy := strings.Repeat("SEND\nk:v\n\n"+strings.Repeat("x", 100)+"\x00", 20_000)
	large := "SEND\n" + strings.Repeat("k:"+strings.Repeat("v", 50_000)+"\n", 5) + "\nx\x00" +
		"SEND\ncontent-length:200000\n\n" + strings.Repeat("x", 200_000) + "\x00"
	for what, octets := range map[string]string{"many frames": busy, "large frames": large} {
		r := open(t, false, frames.V12, io.MultiReader(whole(octets), single("\n")), frames.Limits{})
		if most, _ := memory(t, r); most < 60<<10 {
			t.Errorf("%s: want the buffer to grow, got %d", what, most)
		}
		if buffer, own := r.Memory(); buffer > 64<<10 || own > 0 {
			t.Errorf("%s: want 64 KiB at once, got %d and a body of %d", what, buffer, own)
		}
		r = open(t, false, frames.V12, io.MultiReader(whole(octets), single(strings.Repeat("\n", 100))), frames.Limits{})
		memory(t, r)
		if buffer, _ := r.Memory(); buffer > 4<<10 {
			t.Errorf("%s: want 4 KiB after heart-beats, got %d", what, buffer)
		}
	}
}
