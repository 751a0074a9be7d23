package frames_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	gostomp "github.com/go-stomp/stomp/v3/frame"
	"github.com/google/go-cmp/cmp"

	"footfall/frames"
	"footfall/frames/framestest"
)

// tight limits are in reach of a fuzzer.
var tight = frames.Limits{Command: 12, HeaderLine: 24, Headers: 4, HeaderBytes: 60, Body: 40, Login: 90}

// asReceived is what a session of version to reads of the headers of p, which
// AppendFrame wrote for it.
func asReceived(p parsed, to frames.Version) []framestest.Pair {
	list := p.decoded()
	literal := p.Command == frames.Connect || p.Command == frames.Stomp || p.Command == frames.Connected
	for i := range list {
		name, value := list[i].Name, list[i].Value
		switch {
		case literal || p.Dialect == frames.V10 && to == frames.V10:
		case to == frames.V10:
			name = strings.NewReplacer("\n", "_", "\r", "_", ":", "_").Replace(name)
			value = strings.NewReplacer("\n", " ", "\r", "").Replace(value)
		case to == frames.V11 && p.Dialect == frames.V12:
			name, value = strings.ReplaceAll(name, "\r", "_"), strings.ReplaceAll(value, "\r", "")
		}
		if to == frames.V10 || literal && to == frames.V12 {
			value = strings.TrimSuffix(value, "\r") // the line end's, to who reads it
		}
		if to == frames.V10 && !literal {
			value = strings.Trim(value, " \t")
		}
		list[i] = framestest.Pair{Name: name, Value: value}
	}
	return list
}

func FuzzReader(f *testing.F) {
	for _, s := range framestest.Samples() {
		f.Add([]byte(s.Octets), uint8(s.Version), s.First, s.Client, uint64(len(s.Octets)))
	}
	for _, b := range framestest.Hostile() {
		if len(b.Octets) < 1000 {
			f.Add([]byte(b.Octets), uint8(b.Version), b.First, b.Client, uint64(0))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, version uint8, first, client bool, seed uint64) {
		v, octets := frames.Version(version%3), string(data)
		for _, limits := range []frames.Limits{{}, tight} {
			r := start(t, first, client, v, whole(octets), limits)
			want := read(t, r)
			if buffer, own := r.Memory(); buffer > 2*(len(octets)+4<<10) || own > len(octets)+4<<10 {
				t.Errorf("%d octets made it hold %d and %d", len(octets), buffer, own)
			}
			for _, src := range []io.Reader{single(octets), random(octets, seed, 1+int(seed%40))} {
				if diff := cmp.Diff(want, read(t, start(t, first, client, v, src, limits))); diff != "" {
					t.Fatalf("cut otherwise (-whole +cut):\n%s", diff)
				}
			}
			for _, p := range want.Frames {
				for to := frames.V10; to <= frames.V12; to++ {
					checkRewritten(t, p, client, to)
				}
			}
		}
	})
}

// checkRewritten demands that a frame, written for a version, is read as the same.
func checkRewritten(t *testing.T, p parsed, client bool, to frames.Version) {
	t.Helper()
	wire := frames.AppendFrame(nil, to, &frames.Frame{Command: p.Command, Header: p.header(), Body: []byte(p.Body)})
	again := read(t, open(t, client, to, whole(string(wire)), frames.Limits{Headers: 1 << 20, HeaderLine: 1 << 20, HeaderBytes: 1 << 20}))
	if again.Err != nil || len(again.Frames) != 1 || again.InFrame {
		t.Fatalf("%+v in %v is %q, which is read as %+v", p, to, wire, again)
	}
	got := again.Frames[0]
	if got.Command != p.Command || got.Body != p.Body || got.HasLength != p.HasLength {
		t.Errorf("%+v in %v is %q, which is read as %+v", p, to, wire, got)
	}
	if diff := cmp.Diff(asReceived(p, to), got.decoded()); diff != "" {
		t.Errorf("%+v in %v is %q; headers (-want +got):\n%s", p, to, wire, diff)
	}
}

func FuzzEscape(f *testing.F) {
	for _, text := range []string{"", "plain", "a:b\\c\nd\re", `\n`, `\`, "\r", "ž\xff", " x "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(text, "\x00", "")
		for v := frames.V10; v <= frames.V12; v++ {
			line := frames.AppendHeader(nil, v, "n"+text, text)
			if bytes.Count(line, []byte{'\n'}) != 1 {
				t.Fatalf("%q in %v is not one line: %q", text, v, line)
			}
			h := frames.Header{Raw: line, Dialect: v}
			name, value, _ := h.Next(0)
			if v == frames.V10 {
				if bytes.ContainsRune(line, '\r') {
					t.Errorf("%q in 1.0 holds a carriage return: %q", text, line)
				}
				continue
			}
			if got := h.Decode(name); got != "n"+text {
				t.Errorf("name in %v: want %q, got %q", v, "n"+text, got)
			}
			if got := h.Decode(value); got != text {
				t.Errorf("value in %v: want %q, got %q", v, text, got)
			}
			if got, ok := h.Get("n" + text); !ok || got != text {
				t.Errorf("Get in %v: want %q, got %q", v, text, got)
			}
			o := read(t, open(t, false, v, whole("SEND\n"+string(line)+"\n\x00"), frames.Limits{HeaderLine: 1 << 20, HeaderBytes: 1 << 20}))
			if o.Err != nil || o.Frames[0].Raw != string(line) {
				t.Errorf("%q in %v is read as %+v", line, v, o)
			}
		}
	})
}

// FuzzAgainstGoStomp asks another implementation of 1.2 for its opinion. It differs from us on
// purpose in: frames without body that have a content-length, escapes of CONNECT, NUL between
// frames, and RECOVER, which is ours.
func FuzzAgainstGoStomp(f *testing.F) {
	for _, s := range framestest.Samples() {
		f.Add([]byte(s.Octets))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || bytes.IndexByte([]byte("\n\r\x00"), data[0]) >= 0 {
			return
		}
		for _, client := range []bool{false, true} {
			o := read(t, open(t, client, frames.V12, whole(string(data)), frames.Limits{}))
			if len(o.Frames) == 0 {
				continue
			}
			p := o.Frames[0]
			hasBody := p.Command == frames.Send || p.Command == frames.Message || p.Command == frames.Failure
			if p.HasLength && !hasBody || p.Dialect == frames.V10 || p.Command == frames.Recover {
				continue
			}
			theirs, err := gostomp.NewReader(bytes.NewReader(data)).Read()
			if err != nil || theirs == nil {
				t.Fatalf("we read %+v, go-stomp %v", p, err)
			}
			var header []framestest.Pair
			for i := range theirs.Header.Len() {
				name, value := theirs.Header.GetAt(i)
				header = append(header, framestest.Pair{Name: name, Value: value})
			}
			if theirs.Command != p.Command.String() || string(theirs.Body) != p.Body {
				t.Errorf("we read %+v, go-stomp %s %q", p, theirs.Command, theirs.Body)
			}
			if diff := cmp.Diff(p.decoded(), header); diff != "" {
				t.Errorf("headers (-ours +go-stomp's):\n%s", diff)
			}
		}
	})
}
