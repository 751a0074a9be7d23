package frames_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/frames"
	"footfall/frames/framestest"
)

// cuts are the ways in which octets arrive.
var cuts = map[string]func(octets string) io.Reader{
	"whole":  whole,
	"single": single,
	"random": func(octets string) io.Reader { return random(octets, uint64(len(octets)), 7) },
}

func TestGoodFramesSayWhatTheyMean(t *testing.T) {
	for _, s := range framestest.Samples() {
		for how, source := range cuts {
			t.Run(s.Name+"/"+how, func(t *testing.T) {
				o := read(t, start(t, s.First, s.Client, s.Version, source(s.Octets), frames.Limits{}))
				if o.Err != nil || len(o.Frames) != 1 || o.InFrame {
					t.Fatalf("want one frame of %q, got %+v", s.Octets, o)
				}
				got := o.Frames[0]
				if got.Command != s.Command || got.Body != s.Body || got.HasLength != s.HasLength {
					t.Errorf("want %+v, got %+v", s, got)
				}
				if diff := cmp.Diff(s.Header, got.decoded()); diff != "" {
					t.Errorf("headers (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestManyFramesInOneRead(t *testing.T) {
	var octets strings.Builder
	var want []frames.Command
	for _, s := range framestest.Samples() {
		if !s.First && !s.Client && s.Version == frames.V12 {
			octets.WriteString(s.Octets)
			want = append(want, s.Command)
		}
	}
	for how, source := range cuts {
		o := read(t, open(t, false, frames.V12, source(octets.String()), frames.Limits{}))
		var got []frames.Command
		for _, f := range o.Frames {
			got = append(got, f.Command)
		}
		if diff := cmp.Diff(want, got); diff != "" || o.Err != nil {
			t.Errorf("%s: %v, commands (-want +got):\n%s", how, o.Err, diff)
		}
	}
}

func TestHostileOctetsAreRefusedAtTheFirstOctetThatTells(t *testing.T) {
	for _, b := range framestest.Hostile() {
		for how, source := range cuts {
			t.Run(b.Name+"/"+how, func(t *testing.T) {
				o := read(t, start(t, b.First, b.Client, b.Version, source(b.Octets), frames.Limits{}))
				if o.Err == nil || len(o.Frames) > 0 {
					t.Fatalf("want an error, got %+v", o)
				}
				if o.Err.Kind != b.Kind || !strings.Contains(o.Err.Message, b.Names) {
					t.Errorf("want %s naming %s, got %s: %s", b.Kind, b.Names, o.Err.Kind, o.Err.Message)
				}
				if o.Err.Detail == "" || strings.ContainsAny(o.Err.Message+o.Err.Detail, "\r\n\x00") {
					t.Errorf("want a line of message and one of detail, got %q, %q", o.Err.Message, o.Err.Detail)
				}
				if limit := o.Err.Kind == frames.KindLimit; limit != (o.Err.Setting != "") || limit != (o.Err.Limit != 0) {
					t.Errorf("want a setting for limits only, got %+v", o.Err)
				}
				if len(o.Err.Message) > 300 {
					t.Errorf("want a short message, got %d octets", len(o.Err.Message))
				}
				before := read(t, start(t, b.First, b.Client, b.Version, source(b.Octets[:len(b.Octets)-1]), frames.Limits{}))
				if before.Err != nil {
					t.Errorf("want no error before the last octet, got %v", before.Err)
				}
			})
		}
	}
}

func TestErrorsStay(t *testing.T) {
	r := open(t, false, frames.V12, whole("BOGUS\n\n\x00SEND\n\nx\x00"), frames.Limits{})
	first := read(t, r)
	second := read(t, r)
	if first.Err == nil || first.Err != second.Err || len(second.Frames) > 0 {
		t.Fatalf("want the same error again, got %v and then %v", first.Err, second.Err)
	}
	if first.Err.Error() != first.Err.Message {
		t.Errorf("want the message, got %q", first.Err.Error())
	}
}

func TestErrorsLeaveWhatCameBefore(t *testing.T) {
	for name, octets := range map[string]string{
		"no colon":       "SEND\nreceipt:r\nnocolon\n\nx\x00",
		"NUL":            "SEND\nreceipt:r\nk:\x00\n\nx\x00",
		"escape":         "SEND\nreceipt:r\nk:\\t\n\nx\x00",
		"escape before":  "SEND\nk:\\t\nreceipt:r\n\nx\x00",
		"CR before":      "SEND\nk:a\rb\nreceipt:r\n\nx\x00",
		"content-length": "SEND\nreceipt:r\ncontent-length:x\n\nx\x00",
		"no NUL":         "SEND\ncontent-length:1\nreceipt:r\n\nxx\x00",
	} {
		for how, source := range cuts {
			o := read(t, open(t, false, frames.V12, source(octets), frames.Limits{}))
			if o.Err == nil {
				t.Fatalf("%s: want an error", name)
			}
			if got, _ := o.Last.header().Get("receipt"); got != "r" || o.Last.Command != frames.Send {
				t.Errorf("%s, %s: want SEND and its receipt, got %+v", name, how, o.Last)
			}
		}
	}
}

func TestErrorsShowNoSecret(t *testing.T) {
	for _, octets := range []string{
		"CONNECT\npasscode:secret\x00", "CONNECT\npasscode secret\n", "STOMP\n:secret\n",
		"CONNECT\npasscode:" + strings.Repeat("secret", 20000),
	} {
		o := read(t, frames.NewReader(whole(octets), frames.Limits{}))
		if o.Err == nil || strings.Contains(o.Err.Message+o.Err.Detail, "secret") {
			t.Errorf("want an error without the passcode, got %+v", o.Err)
		}
	}
}

func TestErrorsShowLittleOfLongValues(t *testing.T) {
	o := read(t, open(t, false, frames.V12, whole("SEND\n"+strings.Repeat("x", 5000)+"\n"), frames.Limits{}))
	if want := `"` + strings.Repeat("x", 64) + `"...`; o.Err == nil || !strings.HasSuffix(o.Err.Message, want) {
		t.Errorf("want %s, got %v", want, o.Err)
	}
}

func TestHintsForOtherProtocols(t *testing.T) {
	for octets, hint := range map[string]string{
		"\x16\x03\x01": "TLS", "GET / HTTP/1.1\r\n": "HTTP", "POST / HTTP/1.1\r\n": "HTTP",
		"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n": "PROXY", "SEND\n": "CONNECT",
	} {
		o := read(t, frames.NewReader(whole(octets), frames.Limits{}))
		if o.Err == nil || !strings.Contains(o.Err.Detail, hint) {
			t.Errorf("%q: want detail with %s, got %+v", octets, hint, o.Err)
		}
	}
}

func TestFirstFrameOnlyUntilSetVersion(t *testing.T) {
	const octets = "CONNECT\n\n\x00SEND\n\nx\x00"
	if o := read(t, frames.NewReader(whole(octets), frames.Limits{})); o.Err == nil || len(o.Frames) != 1 {
		t.Errorf("want SEND to be refused before SetVersion, got %+v", o)
	}
	if o := read(t, open(t, false, frames.V12, whole("SEND\n\nx\x00CONNECT\nk:\\t\n\n\x00"), frames.Limits{})); o.Err != nil || len(o.Frames) != 2 {
		t.Errorf("want a second CONNECT to be a frame, and literal, got %+v", o)
	}
}

func TestInFrame(t *testing.T) {
	for octets, want := range map[string]bool{
		"": false, "\n\r\n\x00": false, "S": true, "SEND\n": true, "SEND\nk:v\n\n": true, "SEND\n\nbody": true, "SEND\n\nbody\x00": false,
		"SEND\ncontent-length:70000\n\nx": true,
	} {
		if o := read(t, open(t, false, frames.V12, whole(octets), frames.Limits{})); o.Err != nil || o.InFrame != want {
			t.Errorf("%q: want InFrame %v, got %+v", octets, want, o)
		}
	}
}

// withError gives its octets and an error in one Read.
type withError struct {
	octets string
	err    error
	reads  int
}

func (w *withError) Read(p []byte) (int, error) {
	w.reads++
	return copy(p, w.octets), w.err
}

func TestFillKeepsAnErrorThatCameWithOctets(t *testing.T) {
	broken := errors.New("broken")
	src := &withError{octets: "CONNECT\n\n\x00", err: broken}
	r := frames.NewReader(src, frames.Limits{})
	if err := r.Fill(); err != nil {
		t.Fatalf("want the octets first, got %v", err)
	}
	var f frames.Frame
	if ok, err := r.Next(&f); !ok || f.Command != frames.Connect {
		t.Fatalf("want CONNECT, got %v, %v", f.Command, err)
	}
	for range 2 {
		if err := r.Fill(); err != broken || src.reads != 1 {
			t.Errorf("want the error without another Read, got %v after %d", err, src.reads)
		}
	}
}

func TestFillReadsOnceAndNextNever(t *testing.T) {
	src := &withError{octets: "\n"}
	r := frames.NewReader(src, frames.Limits{})
	var f frames.Frame
	for i := range 10 {
		if ok, err := r.Next(&f); ok || err != nil || src.reads != i {
			t.Fatalf("want nothing and %d Reads, got %v, %v and %d", i, ok, err, src.reads)
		}
		if err := r.Fill(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOwnedBodiesAreTheCallers(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 10000)
	for _, head := range []string{"SEND\n\n", fmt.Sprintf("SEND\ncontent-length:%d\n\n", len(body))} {
		r := open(t, false, frames.V12, whole(strings.Repeat(head+body+"\x00", 2)), frames.Limits{})
		var kept [][]byte
		var f frames.Frame
		for len(kept) < 2 {
			ok, err := r.Next(&f)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				if !f.Owned {
					t.Fatal("want a body of its own")
				}
				kept = append(kept, f.Body)
			} else if err := r.Fill(); err != nil {
				t.Fatal(err)
			}
		}
		for i, got := range kept {
			if string(got) != body {
				t.Errorf("body %d was changed after it was handed out", i)
			}
			if waste := cap(got) - len(got); waste > len(got)/4 {
				t.Errorf("body %d wastes %d octets", i, waste)
			}
		}
	}
}

func TestBodiesAroundTheSizeOfTheBuffer(t *testing.T) {
	warm := strings.Repeat("SEND\n\n"+strings.Repeat("y", 1000)+"\x00", 500)
	for size := 64_950; size < 65_550; size += 10 {
		for _, head := range []string{"SEND\n\n", fmt.Sprintf("SEND\ncontent-length:%d\n\n", size)} {
			body := strings.Repeat("x", size)
			// The buffer has its full size and the body comes in one read, its NUL in another.
			src := io.MultiReader(whole(warm), whole(head+body), whole("\x00SEND\n\nlast\x00"))
			o := read(t, open(t, false, frames.V12, src, frames.Limits{}))
			if o.Err != nil || len(o.Frames) != 502 || o.Frames[500].Body != body || o.Frames[501].Body != "last" {
				t.Errorf("%q and %d octets: got %d frames, %v", head, size, len(o.Frames), o.Err)
			}
		}
	}
}

func TestSmallBodiesAreViews(t *testing.T) {
	r := open(t, false, frames.V12, whole("SEND\n\nbody\x00"), frames.Limits{})
	var f frames.Frame
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Next(&f); !ok || f.Owned || string(f.Body) != "body" {
		t.Errorf("want a view, got %v %q %v", f.Owned, f.Body, err)
	}
	if cap(f.Body) != len(f.Body) || cap(f.Header.Raw) != len(f.Header.Raw) {
		t.Error("want views that cannot be appended to")
	}
}
