package frames_test

import (
	"errors"
	"io"
	"math/rand/v2"

	"footfall/frames"
	"footfall/frames/framestest"
)

// failer is what testing.TB and rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// parsed is a frame that was copied out of a Reader.
type parsed struct {
	Command   frames.Command
	Raw       string
	Dialect   frames.Version
	HasCR     bool
	Body      string
	HasLength bool
}

func copied(f *frames.Frame) parsed {
	return parsed{
		Command: f.Command, Raw: string(f.Header.Raw), Dialect: f.Header.Dialect, HasCR: f.Header.HasCR,
		Body: string(f.Body), HasLength: f.HasLength,
	}
}

// outcome is all that came out of a Reader.
type outcome struct {
	Frames []parsed
	// Last is what a failed Next left in the frame.
	Last parsed
	// Err is the breach of the protocol, nil if the octets ended before one.
	Err *frames.Error
	// InFrame says that the octets ended within a frame.
	InFrame bool
}

// cut gives octets in pieces; size tells how large the next one is.
type cut struct {
	octets string
	size   func() int
}

func (c *cut) Read(p []byte) (int, error) {
	if len(c.octets) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), max(1, c.size()))], c.octets)
	c.octets = c.octets[n:]
	return n, nil
}

// whole, single and random are ways to cut.
func whole(octets string) io.Reader { return &cut{octets, func() int { return len(octets) }} }

func single(octets string) io.Reader { return &cut{octets, func() int { return 1 }} }

func random(octets string, seed uint64, most int) io.Reader {
	rnd := rand.New(rand.NewPCG(seed, 0))
	return &cut{octets, func() int { return 1 + rnd.IntN(most) }}
}

// read takes all frames out of r until its octets end or it fails.
func read(tb failer, r *frames.Reader) (o outcome) {
	tb.Helper()
	var f frames.Frame
	for {
		ok, err := r.Next(&f)
		switch {
		case ok:
			o.Frames = append(o.Frames, copied(&f))
		case err != nil:
			o.Last = copied(&f)
			if !errors.As(err, &o.Err) {
				tb.Fatalf("Next: %v is no *Error", err)
			}
			return o
		default:
			if err := r.Fill(); err == io.EOF {
				o.InFrame = r.InFrame()
				return o
			} else if err != nil {
				tb.Fatalf("Fill: %v", err)
			}
		}
	}
}

// greeting is what opens a session for the Reader of a server or a client.
func greeting(client bool) string {
	if client {
		return "CONNECTED\n\n\x00"
	}
	return "CONNECT\n\n\x00"
}

// open returns a Reader of src in a session of version v.
func open(tb failer, client bool, v frames.Version, src io.Reader, limits frames.Limits) *frames.Reader {
	tb.Helper()
	src = io.MultiReader(whole(greeting(client)), src)
	r := frames.NewReader(src, limits)
	if client {
		r = frames.NewClientReader(src, limits)
	}
	var f frames.Frame
	for {
		ok, err := r.Next(&f)
		if err != nil {
			tb.Fatal(err)
		}
		if ok {
			r.SetVersion(v)
			return r
		}
		if err := r.Fill(); err != nil {
			tb.Fatal(err)
		}
	}
}

// start is open, or a Reader at the very beginning of a connection.
func start(tb failer, first, client bool, v frames.Version, src io.Reader, limits frames.Limits) *frames.Reader {
	tb.Helper()
	switch {
	case !first:
		return open(tb, client, v, src, limits)
	case client:
		return frames.NewClientReader(src, limits)
	}
	return frames.NewReader(src, limits)
}

// decoded returns the headers of a frame.
func (p parsed) decoded() []framestest.Pair {
	var list []framestest.Pair
	h := p.header()
	for name, value, pos := h.Next(0); pos >= 0; name, value, pos = h.Next(pos) {
		list = append(list, framestest.Pair{Name: h.Decode(name), Value: h.Decode(value)})
	}
	return list
}

func (p parsed) header() frames.Header {
	return frames.Header{Raw: []byte(p.Raw), Dialect: p.Dialect, HasCR: p.HasCR}
}
