package frames

import (
	"io"
	"math"
)

// stage is the part of a frame that a Reader is in.
type stage uint8

const (
	inPadding stage = iota // between frames
	inCommand
	inHeader
	inBody
)

// Reader makes frames of octets. The caller drives it, so that it can tell octets from frames:
//
//	for {
//		ok, err := r.Next(&frame) // all that is there
//		if ok { use frame; continue }
//		if err != nil { the octets are not STOMP }
//		err = r.Fill() // waits for more
//	}
//
// The first frame must be CONNECT or STOMP (on the side of a client: CONNECTED or ERROR)
// until SetVersion is called.
type Reader struct {
	src    io.Reader
	srcErr error // came with octets, for the next Fill
	limits Limits
	client bool

	version Version
	greeted bool // SetVersion was called
	// loginEnd is the end of the octets in buf that are within Limits.Login.
	loginEnd int

	// buf[pos:end] was read and not taken yet; buf[pos:scan] of it was searched without a hit.
	buf            []byte
	pos, scan, end int
	full           bool // the last Read filled all the room there was
	small          int  // Reads in a row that used little of buf

	stage stage
	err   *Error
	progress
}

// progress is what is known of the frame in progress.
type progress struct {
	command Command
	dialect Version
	hasCR   bool
	// stripCR and trim are what is done to each header line.
	stripCR, trim bool
	// buf[head:headEnd] are the header lines so far, as Header has them.
	head, headEnd int
	// headOctets and lines count what was on the wire.
	headOctets, lines int
	// hasLength says that there is a content-length, its text buf[lengthAt:lengthEnd].
	hasLength           bool
	lengthAt, lengthEnd int

	// counted says that length is the length of the body, which otherwise ends at NUL.
	begun, counted bool
	length         int
	// own is a body too large for buf.
	own  []byte
	owns bool
}

// NewReader returns the Reader of a server. It has no buffer before the first Fill.
func NewReader(src io.Reader, limits Limits) *Reader {
	limits = limits.WithDefaults()
	return &Reader{src: src, limits: limits, loginEnd: limits.Login}
}

// NewClientReader returns the Reader of a client: it takes the commands of servers and no others.
func NewClientReader(src io.Reader, limits Limits) *Reader {
	return &Reader{src: src, limits: limits.WithDefaults(), client: true, loginEnd: math.MaxInt}
}

// SetVersion says what was agreed on; the frames after it follow the rules of v. It is
// called once, when the first frame was taken and before the next one is asked for, and ends Limits.Login.
func (r *Reader) SetVersion(v Version) {
	r.version = v
	r.greeted = true
	r.loginEnd = math.MaxInt
}

// InFrame says that a frame has begun and not ended, so that the end of the
// connection would be within it.
func (r *Reader) InFrame() bool { return r.stage != inPadding }

// Next takes the next whole frame of what is buffered, and is false where that is none: then
// Fill is due. It never waits. An error is always an *Error, and stays: f then holds the command and the
// header lines that came before it, as far as they are known.
func (r *Reader) Next(f *Frame) (ok bool, err error) {
	*f = Frame{}
	end := min(r.end, r.loginEnd)
	for r.err == nil {
		var on bool
		switch r.stage {
		case inPadding:
			on = r.skipPadding(end)
		case inCommand:
			on = r.readCommand(end)
		case inHeader:
			on = r.readHeader(end)
		case inBody:
			if r.readBody(end) {
				r.finish(f)
				return true, nil
			}
		}
		if !on {
			break
		}
	}
	if r.err == nil && r.end > end {
		r.failLimit("more than", " octets before the end of the first frame", "limits.login", r.limits.Login,
			"CONNECT and all before it are too long")
	}
	if r.err == nil {
		return false, nil
	}
	f.Command = r.command
	f.Header = r.header()
	f.HasLength = r.hasLength
	return false, r.err
}

func (r *Reader) header() Header {
	return Header{Raw: r.buf[r.head:r.headEnd:r.headEnd], Dialect: r.dialect, HasCR: r.hasCR}
}

// finish hands out the frame in progress; readBody says where it ends.
func (r *Reader) finish(f *Frame) {
	f.Command = r.command
	f.Header = r.header()
	f.HasLength = r.hasLength
	switch {
	case !r.command.hasBody():
		// STOMP 1.0 SUBSCRIBE: a body is ignored.
	case r.owns:
		f.Body, f.Owned = r.own, true
	default:
		f.Body = r.buf[r.pos : r.pos+r.length : r.pos+r.length]
	}
	if !r.owns {
		r.pos += r.length
	}
	r.pos++
	r.stage = inPadding
	r.progress = progress{}
}
