package frames_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"footfall/frames"
)

// sizes of bodies that are measured.
var sizes = []int{100, 1024}

// typicalSend is a SEND as clients write it: five headers.
func typicalSend(size int) []byte {
	head := fmt.Sprintf("SEND\ndestination:/queue/orders.eu.new\ncontent-type:application/json\nreceipt:message-17\n"+
		"correlation-id:a81bc81b-dead\ncontent-length:%d\n", size)
	return frames.AppendBody([]byte(head), bytes.Repeat([]byte{'x'}, size))
}

// repeat gives the same octets over and over.
type repeat struct {
	octets []byte
	pos    int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], r.octets[r.pos:])
		n += k
		r.pos = (r.pos + k) % len(r.octets)
	}
	return n, nil
}

// next takes one frame out of r.
func next(tb failer, r *frames.Reader) (f frames.Frame) {
	for {
		ok, err := r.Next(&f)
		if err != nil {
			tb.Fatal(err)
		}
		if ok {
			return f
		}
		if err := r.Fill(); err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for v := frames.V10; v <= frames.V12; v++ {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("version=%v/size=%d", v, size), func(b *testing.B) {
				octets := typicalSend(size)
				r := open(b, false, v, &repeat{octets: octets}, frames.Limits{})
				b.SetBytes(int64(len(octets)))
				b.ReportAllocs()
				for b.Loop() {
					next(b, r)
				}
			})
		}
	}
}

// BenchmarkWrite renders a MESSAGE as a broker does: its own headers, then the sender's block.
func BenchmarkWrite(b *testing.B) {
	for _, size := range sizes {
		for to := frames.V10; to <= frames.V12; to++ {
			b.Run(fmt.Sprintf("from=1.2/to=%v/size=%d", to, size), func(b *testing.B) {
				f := next(b, open(b, false, frames.V12, &repeat{octets: typicalSend(size)}, frames.Limits{}))
				dst := make([]byte, 0, 4096)
				b.ReportAllocs()
				for b.Loop() {
					out := frames.AppendCommand(dst, frames.Message)
					out = frames.AppendHeader(out, to, "subscription", "sub-1")
					out = frames.AppendHeader(out, to, "message-id", "7-19a3f-1c")
					out = frames.AppendHeader(out, to, "ack", "1-17")
					out = f.Header.AppendTo(out, to)
					out = frames.AppendBody(out, f.Body)
					b.SetBytes(int64(len(out)))
				}
			})
		}
	}
}

// BenchmarkWalk looks at each header once.
func BenchmarkWalk(b *testing.B) {
	f := next(b, open(b, false, frames.V12, &repeat{octets: typicalSend(100)}, frames.Limits{}))
	var octets int
	for b.Loop() {
		for name, value, pos := f.Header.Next(0); pos >= 0; name, value, pos = f.Header.Next(pos) {
			octets += len(name) + len(value)
		}
	}
}

// BenchmarkTrickle reads a frame one octet at a time: the time per octet must not grow with
// the size of the frame.
func BenchmarkTrickle(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 60 << 10} {
		for what, frame := range map[string]string{
			"header": "SEND\nk:" + strings.Repeat("v", size) + "\n\n\x00",
			"body":   "SEND\n\n" + strings.Repeat("v", size) + "\x00",
		} {
			b.Run(fmt.Sprintf("in=%s/size=%d", what, size), func(b *testing.B) {
				r := open(b, false, frames.V12, iotest.OneByteReader(&repeat{octets: []byte(frame)}), frames.Limits{})
				for b.Loop() {
					next(b, r)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(frame)), "ns/octet")
			})
		}
	}
}
