package frames_test

import (
	"fmt"
	"testing"

	"footfall/frames"
)

func TestNothingIsAllocatedPerFrame(t *testing.T) {
	for _, size := range []int{0, 100, 1024, 30_000} {
		r := open(t, false, frames.V12, &repeat{octets: typicalSend(size)}, frames.Limits{})
		for range 100_000 / (size + 100) {
			next(t, r) // until the buffer has its size
		}
		if n := testing.AllocsPerRun(1000, func() { next(t, r) }); n != 0 {
			t.Errorf("body of %d: want no allocation, got %v", size, n)
		}
	}
}

func TestLargeFramesTakeFewAllocations(t *testing.T) {
	const size = 1 << 20
	for _, head := range []string{"SEND\n", fmt.Sprintf("SEND\ncontent-length:%d\n", size)} {
		wire := frames.AppendBody([]byte(head), make([]byte, size))
		for i := range size {
			wire[len(head)+1+i] = 'x'
		}
		r := open(t, false, frames.V12, &repeat{octets: wire}, frames.Limits{})
		next(t, r)
		// Doubling from the read buffer to 1 MiB, and one to give the rest back.
		if n := testing.AllocsPerRun(10, func() { next(t, r) }); n > 10 {
			t.Errorf("%q: want at most 10 allocations, got %v", head, n)
		}
	}
}

func TestHeadersAreReadAndWrittenWithoutAllocation(t *testing.T) {
	h := block(frames.V12, "destination:/queue/a\nk:v\\cw\nreceipt:1\n")
	dst := make([]byte, 0, 1000)
	for what, do := range map[string]func(){
		"GetRaw": func() { h.GetRaw("receipt") },
		"Next": func() {
			for _, _, pos := h.Next(0); pos >= 0; _, _, pos = h.Next(pos) {
			}
		},
		"AppendTo the same": func() { h.AppendTo(dst, frames.V12) },
		"AppendTo 1.1":      func() { h.AppendTo(dst, frames.V11) },
		"AppendTo 1.0":      func() { h.AppendTo(dst, frames.V10) },
		"AppendHeader":      func() { frames.AppendHeader(dst, frames.V12, "k:n", "v:\n\\") },
		"AppendRawHeader":   func() { frames.AppendRawHeader(dst, "k", h.Raw[:5]) },
		"AppendCommand":     func() { frames.AppendCommand(dst, frames.Message) },
		"AppendBody":        func() { frames.AppendBody(dst, h.Raw) },
	} {
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: want no allocation, got %v", what, n)
		}
	}
}
