package server

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"footfall/broker"
	"footfall/frames"
)

// BenchmarkSend is from the octets of SENDs to a request.
func BenchmarkSend(b *testing.B) {
	for _, size := range []int{100, 1024} {
		for _, receipts := range []bool{false, true} {
			b.Run(fmt.Sprintf("size=%d/receipts=%v", size, receipts), func(b *testing.B) {
				header := ""
				if receipts {
					header = "receipt:r-12345\n"
				}
				benchmarkSend(b, sendFrame(size, header))
			})
		}
	}
}

// BenchmarkSendLater is BenchmarkSend with headers that say when the message is due or how long it lives.
func BenchmarkSendLater(b *testing.B) {
	for name, header := range map[string]string{
		"delay": "delay:90s\n", "expires": "expires:0\n", "schedule": "deliver-schedule:0 0 0 8 * * 2-6\nschedule-zone:Europe/Berlin\n",
	} {
		b.Run(name, func(b *testing.B) { benchmarkSend(b, sendFrame(100, header)) })
	}
}

func benchmarkSend(b *testing.B, frame string) {
	b.ReportAllocs()
	s := newTestSession(frames.V12, Options{})
	r := frames.NewReader(io.MultiReader(strings.NewReader(connect12), &repeated{text: frame}), frames.Limits{})
	var f frames.Frame
	for ok, _ := r.Next(&f); !ok; ok, _ = r.Next(&f) {
		_ = r.Fill()
	}
	r.SetVersion(frames.V12)
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		for ok, _ := r.Next(&f); !ok; ok, _ = r.Next(&f) {
			s.take()
			_ = r.Fill()
		}
		if s.handle(&f); s.full() {
			s.take()
		}
	}
}

func sendFrame(size int, header string) string {
	return fmt.Sprintf("SEND\ndestination:/queue/orders\ncontent-type:application/json\ncorrelation-id:c-1\npersistent:true\n%scontent-length:%d\n\n%s\x00",
		header, size, strings.Repeat("x", size))
}

// repeated is a text over and over.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], r.text[r.at:])
		n += m
		if r.at += m; r.at == len(r.text) {
			r.at = 0
		}
	}
	return n, nil
}

// BenchmarkMessage is from what the broker has for a session to the octets on a connection that takes all.
func BenchmarkMessage(b *testing.B) {
	for _, size := range []int{100, 1024} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			s := New(newFakeBroker(), Options{Log: quiet()})
			null, _ := newPipe(1)
			c := newConn(s, devNull{null}, &listener{transport: Transport{}.withDefaults(), counters: new(transportCounters)})
			c.link, _ = newFakeBroker().Attach(c.out, broker.Client{})
			w := &writer{c: c, version: frames.V12, lf: true}
			sub := &subscription{rendering: newRendering(frames.V12, 35, []byte("/queue/orders"), []byte("sub-0"), broker.AckClient)}
			m := &broker.Message{
				Header: frames.Header{Raw: []byte("content-type:application/json\ncorrelation-id:c-1\npersistent:true\n"), Dialect: frames.V12},
				Body:   make([]byte, size), HasLength: true, Timestamp: 1700000000000, ID: broker.MessageID{Shard: 5, Seq: 1 << 44},
			}
			outputs := make([]broker.Output, 64)
			for i := range outputs {
				outputs[i] = broker.Output{Kind: broker.OutputMessage, Message: m, Tag: sub, SubNumber: 1, Number: uint64(i)}
			}
			b.SetBytes(int64(size))
			for n := 0; b.Loop(); n++ {
				if n%len(outputs) != 0 {
					continue
				}
				c.out.Put(outputs)
				l := c.out.take()
				if _, err := w.renderAll(l.outputs); err != nil {
					b.Fatal(err)
				}
				s.lots.put(l)
				if err := w.flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// devNull is a connection that takes all.
type devNull struct{ *pipeConn }

func (devNull) Write(p []byte) (int, error) { return len(p), nil }
