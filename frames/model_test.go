package frames_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	gostomp "github.com/go-stomp/stomp/v3/frame"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"footfall/frames"
	"footfall/frames/framestest"
)

// texts are header names and values in which what matters is likely.
func texts(least int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'n', 'r', 'c', 't', ':', '\\', '\n', '\r', ' ', '\t', 'ž'}), least, 8, -1)
}

// headerOf draws a block of a version, with what it says.
func headerOf(t *rapid.T, v frames.Version) (h frames.Header, list []framestest.Pair) {
	h.Dialect = v
	for range rapid.IntRange(0, 6).Draw(t, "headers") {
		name, value := texts(1).Draw(t, "name"), texts(0).Draw(t, "value")
		if v == frames.V10 {
			name = strings.Map(func(r rune) rune {
				if strings.ContainsRune(":\r\n", r) {
					return 'x'
				}
				return r
			}, name)
			value = strings.Trim(strings.NewReplacer("\n", "", "\r", "").Replace(value), " \t")
		}
		h.Raw = frames.AppendHeader(h.Raw, v, name, value)
		h.HasCR = h.HasCR || strings.Contains(name+value, "\r")
		list = append(list, framestest.Pair{Name: name, Value: value})
	}
	return h, list
}

func TestFramesOfAnySizeComeBackHoweverTheyAreCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := frames.Version(rapid.IntRange(0, 2).Draw(t, "version"))
		var wire []byte
		var want []parsed
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			h, _ := headerOf(t, v)
			size := rapid.OneOf(rapid.IntRange(0, 50), rapid.IntRange(4000, 4200), rapid.IntRange(64_800, 65_600), rapid.IntRange(0, 300_000)).Draw(t, "size")
			body := strings.Repeat("0123456789", size/10+1)[:size]
			f := frames.Frame{Command: frames.Send, Body: []byte(body)}
			if rapid.Bool().Draw(t, "counted") {
				f.HasLength = true
				f.Header.Raw = []byte("content-length:" + strconv.Itoa(size) + "\n")
			}
			f.Header.Dialect, f.Header.HasCR = v, h.HasCR
			f.Header.Raw = append(f.Header.Raw, h.Raw...)
			wire = frames.AppendFrame(wire, v, &f)
			wire = append(wire, rapid.SampledFrom([]string{"", "\n", "\r\n", "\x00\n\n"}).Draw(t, "gap")...)
			want = append(want, copied(&f))
		}
		seed, most := rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]int{1000, 10_000, 200_000}).Draw(t, "most")
		got := read(t, open(t, false, v, random(string(wire), seed, most), frames.Limits{}))
		if diff := cmp.Diff(outcome{Frames: want}, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestHeadersSayTheSameInEachVersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := frames.Version(rapid.IntRange(0, 2).Draw(t, "from"))
		to := frames.Version(rapid.IntRange(0, 2).Draw(t, "to"))
		h, list := headerOf(t, from)
		p := parsed{Command: frames.Send, Raw: string(h.Raw), Dialect: from, HasCR: h.HasCR}
		if diff := cmp.Diff(list, p.decoded()); diff != "" {
			t.Fatalf("%q does not say what was put in (-want +got):\n%s", h.Raw, diff)
		}
		wire := "SEND\n" + string(h.AppendTo(nil, to)) + "\n\x00"
		o := read(t, open(t, false, to, whole(wire), frames.Limits{}))
		if o.Err != nil || len(o.Frames) != 1 {
			t.Fatalf("%q is read as %+v", wire, o)
		}
		if diff := cmp.Diff(asReceived(p, to), o.Frames[0].decoded()); diff != "" {
			t.Fatalf("%q from %v to %v (-want +got):\n%s", h.Raw, from, to, diff)
		}
	})
}

func TestReadsWhatGoStompWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.SampledFrom([]byte("a\x00\n\r:")), 0, 10).Draw(t, "body")
		theirs := gostomp.New("SEND")
		list := []framestest.Pair{}
		add := func(name, value string) {
			theirs.Header.Add(name, value)
			list = append(list, framestest.Pair{Name: name, Value: value})
		}
		add("content-length", strconv.Itoa(len(body)))
		for range rapid.IntRange(0, 4).Draw(t, "headers") {
			add(texts(1).Draw(t, "name"), texts(0).Draw(t, "value"))
		}
		theirs.Body = body
		var wire bytes.Buffer
		if err := gostomp.NewWriter(&wire).Write(theirs); err != nil {
			t.Fatal(err)
		}
		o := read(t, open(t, false, frames.V12, whole(wire.String()), frames.Limits{}))
		if o.Err != nil || len(o.Frames) != 1 || o.Frames[0].Body != string(body) {
			t.Fatalf("%q is read as %+v", wire.Bytes(), o)
		}
		if diff := cmp.Diff(list, o.Frames[0].decoded()); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", wire.Bytes(), diff)
		}
	})
}
