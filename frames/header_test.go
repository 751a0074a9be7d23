package frames_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/frames"
	"footfall/frames/framestest"
)

func block(v frames.Version, raw string) frames.Header {
	return frames.Header{Raw: []byte(raw), Dialect: v, HasCR: bytes.ContainsRune([]byte(raw), '\r') || v == frames.V12 && bytes.Contains([]byte(raw), []byte(`\r`))}
}

func TestGetFindsTheFirstOfRepeats(t *testing.T) {
	h := block(frames.V12, "ab:0\nk:one\\c\nk:two\na:x:y\ne:\nn\\cm\\\\:v\nz:last\n")
	for name, want := range map[string]string{"k": "one:", "a": "x:y", "e": "", "ab": "0", `n:m\`: "v", "z": "last"} {
		if got, ok := h.Get(name); !ok || got != want {
			t.Errorf("%q: want %q, got %q, %v", name, want, got, ok)
		}
	}
	for _, name := range []string{"K", "", "b", "x", "last", "n", "one", `n\cm\\`, "z:last", "a:x", "no-such-name-that-is-longer-than-everything-in-the-block"} {
		if got, ok := h.Get(name); ok {
			t.Errorf("%q: want none, got %q", name, got)
		}
	}
	if raw, ok := h.GetRaw("k"); !ok || string(raw) != `one\c` || cap(raw) != len(raw) {
		t.Errorf("want the octets of the wire, got %q", raw)
	}
	if h.Len() != 7 || (frames.Header{}).Len() != 0 {
		t.Errorf("want 7 and 0 lines, got %d and %d", h.Len(), frames.Header{}.Len())
	}
	if _, ok := (frames.Header{}).Get("k"); ok {
		t.Error("want nothing in an empty block")
	}
}

func TestNextWalksTheLines(t *testing.T) {
	h := block(frames.V12, "k:v\n j : a:b \ne:\n")
	var got []framestest.Pair
	for name, value, pos := h.Next(0); pos >= 0; name, value, pos = h.Next(pos) {
		got = append(got, framestest.Pair{Name: string(name), Value: string(value)})
	}
	want := []framestest.Pair{{Name: "k", Value: "v"}, {Name: " j ", Value: " a:b "}, {Name: "e", Value: ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestBlocksThatNobodyCheckedDoNoHarm(t *testing.T) {
	for _, raw := range []string{"k", "k:v", "\n", ":\n", "k\n\nj:v", `k:\`, `k:\x` + "\n", "a:\nk", ":"} {
		for v := frames.V10; v <= frames.V12; v++ {
			h := block(v, raw)
			steps := 0
			for _, _, pos := h.Next(0); pos >= 0; _, _, pos = h.Next(pos) {
				steps++
			}
			if steps > len(raw) {
				t.Errorf("%q: %d steps", raw, steps)
			}
			h.Get("k")
			h.Get("k:")
			for to := frames.V10; to <= frames.V12; to++ {
				h.AppendTo(nil, to)
			}
		}
	}
}

func TestDecodeKnowsTheEscapesOfItsDialect(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want [3]string
	}{
		{`plain`, [3]string{`plain`, `plain`, `plain`}},
		{`a\c\n\\z`, [3]string{`a\c\n\\z`, "a:\n\\z", "a:\n\\z"}},
		{`\r`, [3]string{`\r`, `\r`, "\r"}},
		{`\\n`, [3]string{`\\n`, `\n`, `\n`}},
		{`\t\`, [3]string{`\t\`, `\t\`, `\t\`}},
		{"a:b\r", [3]string{"a:b\r", "a:b\r", "a:b\r"}},
	} {
		for v := frames.V10; v <= frames.V12; v++ {
			if got := (frames.Header{Dialect: v}).Decode([]byte(c.raw)); got != c.want[v] {
				t.Errorf("%q in %v: want %q, got %q", c.raw, v, c.want[v], got)
			}
		}
	}
}

func TestBlocksPassBetweenVersions(t *testing.T) {
	for _, c := range []struct {
		what string
		from frames.Version
		raw  string
		want [3]string // to 1.0, 1.1, 1.2
	}{
		{"plain", frames.V10, "k:v\nk:w\ne:\n", [3]string{"k:v\nk:w\ne:\n", "k:v\nk:w\ne:\n", "k:v\nk:w\ne:\n"}},
		{"plain", frames.V11, "k:v\nk:w\ne:\n", [3]string{"k:v\nk:w\ne:\n", "k:v\nk:w\ne:\n", "k:v\nk:w\ne:\n"}},
		{"plain", frames.V12, "k:v\nk:w\ne:\n", [3]string{"k:v\nk:w\ne:\n", "k:v\nk:w\ne:\n", "k:v\nk:w\ne:\n"}},
		{"empty", frames.V12, "", [3]string{}},
		{"raw colon", frames.V10, "k:a:b\n", [3]string{"k:a:b\n", `k:a\cb` + "\n", `k:a\cb` + "\n"}},
		{"raw colon", frames.V11, "k:a:b\n", [3]string{"k:a:b\n", "k:a:b\n", "k:a:b\n"}},
		{"raw colon", frames.V12, "k:a:b\n", [3]string{"k:a:b\n", "k:a:b\n", "k:a:b\n"}},
		{"raw colon beside CR", frames.V11, "k:a:b\r\n", [3]string{"k:a:b\n", "k:a:b\r\n", `k:a:b\r` + "\n"}},
		{"raw colon beside CR", frames.V12, `k:a:b\r` + "\n", [3]string{"k:a:b\n", "k:a:b\n", `k:a:b\r` + "\n"}},
		{"backslash", frames.V10, `k\n:\c` + "\n", [3]string{`k\n:\c` + "\n", `k\\n:\\c` + "\n", `k\\n:\\c` + "\n"}},
		{"escapes", frames.V11, `a\cb\n:\c\n\\n` + "\n", [3]string{`a_b_:: \n` + "\n", `a\cb\n:\c\n\\n` + "\n", `a\cb\n:\c\n\\n` + "\n"}},
		{"CR", frames.V10, "k:a\rb\n", [3]string{"k:a\rb\n", "k:a\rb\n", `k:a\rb` + "\n"}},
		{"CR", frames.V11, "n\r:a\rb\n", [3]string{"n_:ab\n", "n\r:a\rb\n", `n\r:a\rb` + "\n"}},
		{"CR", frames.V12, `n\r:a\rb\\r` + "\n", [3]string{`n_:ab\r` + "\n", `n_:ab\\r` + "\n", `n\r:a\rb\\r` + "\n"}},
		{"CR LF", frames.V12, `k:a\r\nb:c` + "\n", [3]string{"k:a b:c\n", `k:a\nb:c` + "\n", `k:a\r\nb:c` + "\n"}},
		{"a name does not become another one", frames.V12, `content-length\r:5` + "\n", [3]string{"content-length_:5\n", "content-length_:5\n", `content-length\r:5` + "\n"}},
		{"a name does not become another one", frames.V11, "content-length\r:5\n\r:v\n", [3]string{"content-length_:5\n_:v\n", "content-length\r:5\n\r:v\n", `content-length\r:5` + "\n" + `\r:v` + "\n"}},
		{"octets that are no UTF-8", frames.V10, "\xff:\x80\\\n", [3]string{"\xff:\x80\\\n", "\xff:\x80\\\\\n", "\xff:\x80\\\\\n"}},
	} {
		for to := frames.V10; to <= frames.V12; to++ {
			t.Run(fmt.Sprintf("%s from %v to %v", c.what, c.from, to), func(t *testing.T) {
				got := block(c.from, c.raw).AppendTo([]byte("before\n"), to)
				if want := "before\n" + c.want[to]; string(got) != want {
					t.Errorf("want %q, got %q", want, got)
				}
			})
		}
	}
}

func TestHeadersAreEscapedForTheirReader(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        [3]string
	}{
		{"k", "v", [3]string{"k:v", "k:v", "k:v"}},
		{"k", "", [3]string{"k:", "k:", "k:"}},
		{"a:b", "c:d", [3]string{"a_b:c:d", `a\cb:c\cd`, `a\cb:c\cd`}},
		{"k", "a\nb:c", [3]string{"k:a b:c", `k:a\nb\cc`, `k:a\nb\cc`}},
		{"k", "a\r\nb", [3]string{"k:a b", "k:a\r\\nb", `k:a\r\nb`}},
		{`\`, `a\nb`, [3]string{`\:a\nb`, `\\:a\\nb`, `\\:a\\nb`}},
		{"a\nb\rc", "v", [3]string{"a_b_c:v", "a\\nb\rc:v", `a\nb\rc:v`}},
	} {
		for v := frames.V10; v <= frames.V12; v++ {
			got := frames.AppendHeader([]byte("x"), v, c.name, c.value)
			if want := "x" + c.want[v] + "\n"; string(got) != want {
				t.Errorf("%q:%q in %v: want %q, got %q", c.name, c.value, v, want, got)
			}
		}
	}
	if got := frames.AppendRawHeader([]byte("x"), "receipt-id", []byte(`a\c:\t`)); string(got) != "xreceipt-id:a\\c:\\t\n" {
		t.Errorf("want the octets as they are, got %q", got)
	}
}

func TestFramesAreWrittenWhole(t *testing.T) {
	for _, c := range []struct {
		v    frames.Version
		f    frames.Frame
		want string
	}{
		{frames.V12, frames.Frame{Command: frames.Begin}, "BEGIN\n\n\x00"},
		{frames.V12, frames.Frame{Command: frames.Send, Header: block(frames.V12, "k:v\n"), Body: []byte("body")}, "SEND\nk:v\n\nbody\x00"},
		{frames.V12, frames.Frame{Command: frames.Send, Header: block(frames.V12, "k:v\n"), Body: []byte("a\x00b")}, "SEND\ncontent-length:3\nk:v\n\na\x00b\x00"},
		{frames.V12, frames.Frame{Command: frames.Send, Header: block(frames.V12, "content-length:3\n"), Body: []byte("a\x00b")}, "SEND\ncontent-length:3\n\na\x00b\x00"},
		{frames.V12, frames.Frame{Command: frames.Connect, Header: block(frames.V10, "login:a:b\\\n")}, "CONNECT\nlogin:a:b\\\n\n\x00"},
		{frames.V12, frames.Frame{Command: frames.Connected, Header: block(frames.V10, "session:a:b\\\n")}, "CONNECTED\nsession:a:b\\\n\n\x00"},
		{frames.V10, frames.Frame{Command: frames.Failure, Header: block(frames.V12, `message:a\nb\cc`+"\n"), Body: []byte("x")}, "ERROR\nmessage:a b:c\n\nx\x00"},
	} {
		if got := frames.AppendFrame(nil, c.v, &c.f); string(got) != c.want {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}
