package server

import (
	"strings"
	"testing"

	"footfall/broker"
	"footfall/frames"
	"footfall/frames/framestest"
)

// FuzzSession has a session of any version read any octets: it must not panic, and gives each receipt that is asked for one
// answer, in order, up to the frame that ends it.
func FuzzSession(f *testing.F) {
	for _, s := range framestest.Samples() {
		if !s.Client && !s.First {
			f.Add(uint8(s.Version), []byte(s.Octets))
		}
	}
	f.Add(uint8(2), []byte("BEGIN\ntransaction:t\nreceipt:1\n\n\x00SEND\ndestination:a\ntransaction:t\nreceipt:2\n\nx\x00COMMIT\ntransaction:t\nreceipt:3\n\n\x00"))
	f.Add(uint8(1), []byte("SUBSCRIBE\nid:1\ndestination:/topic/a\nreceipt:1\n\n\x00UNSUBSCRIBE\nid:1\nreceipt:2\n\n\x00DISCONNECT\nreceipt:3\n\n\x00SEND\nreceipt:4\n\n\x00"))
	f.Add(uint8(0), []byte("SEND\ndestination:a\ndelay:5\nreceipt:1\npriority:99\n\nx\x00ACK\nmessage-id:1.1\nreceipt:2\n\n\x00NACK\nrecover:true\nreceipt:3\n\n\x00"))
	f.Fuzz(func(t *testing.T, version uint8, octets []byte) {
		v := frames.Version(version % 3)
		asked := receiptsAsked(v, octets)
		s := newTestSession(v, Options{})
		var answered []string
		for _, op := range feedOctets(s, octets) {
			if op.WantReceipt {
				answered = append(answered, op.Receipt)
			}
			if op.Kind == broker.OpSend && (op.To.Name == "" || op.Message == nil) {
				t.Errorf("a SEND without address or message: %+v", op)
			}
			if op.Kind == broker.OpFail && (op.Err.Message == "" || strings.ContainsAny(op.Err.Message, "\r\n")) {
				t.Errorf("an ERROR with message %q", op.Err.Message)
			}
		}
		if len(answered) > len(asked) || !s.ended && len(answered) < len(asked) {
			t.Fatalf("asked for %q and answered %q", asked, answered)
		}
		for i := range answered {
			if answered[i] != asked[i] {
				t.Fatalf("asked for %q and answered %q", asked, answered)
			}
		}
	})
}

// feedOctets is feed for octets that may be anything.
func feedOctets(s *session, octets []byte) []broker.Op {
	r := frames.NewReader(strings.NewReader("CONNECT\n\n\x00"+string(octets)), frames.Limits{})
	var list []broker.Op
	var f frames.Frame
	for greeted := false; !s.ended; {
		ok, err := r.Next(&f)
		switch {
		case err != nil:
			s.fail(&f, err)
		case ok && !greeted:
			r.SetVersion(s.version)
			greeted = true
		case ok:
			s.handle(&f)
		case r.Fill() != nil:
			return append(list, ops(s)...)
		}
		if s.full() {
			list = append(list, ops(s)...)
		}
	}
	return append(list, ops(s)...)
}

// receiptsAsked returns the receipt headers of all frames, a bad one that ends them included.
func receiptsAsked(v frames.Version, octets []byte) (asked []string) {
	r := frames.NewReader(strings.NewReader("CONNECT\n\n\x00"+string(octets)), frames.Limits{})
	var f frames.Frame
	for greeted := false; ; {
		ok, err := r.Next(&f)
		if (ok || err != nil) && greeted {
			if raw, has := f.Header.GetRaw("receipt"); has {
				asked = append(asked, string(raw))
			}
		}
		if err != nil {
			return asked
		}
		if ok && !greeted {
			r.SetVersion(v)
			greeted = true
		}
		if !ok && r.Fill() != nil {
			return asked
		}
	}
}
