package server

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/broker"
	"footfall/frames"
)

func ackID(conn, sub, number uint64) string {
	return strconv.FormatUint(conn, 36) + "-" + strconv.FormatUint(sub, 36) + "-" + strconv.FormatUint(number, 36)
}

func TestMessagesInAllVersions(t *testing.T) {
	block := frames.Header{Raw: []byte("k:a\\cb\\nc\nz:1\n"), Dialect: frames.V12}
	id := broker.MessageID{Shard: 63, Seq: 1 << 44}
	plain := broker.Message{Header: block, Body: []byte("x"), ID: id, Timestamp: 12}
	full := broker.Message{
		Header: block, Body: []byte("a\x00b"), ID: id, Timestamp: 12, UserID: "ID:a:1", HasTimestamp: true, DeliverAt: 99, ScheduledID: "j:1",
	}
	counted := plain
	counted.HasLength = true
	for _, c := range []struct {
		name string
		v    frames.Version
		mode broker.AckMode
		id   string // of the subscription, empty for none
		out  broker.Output
		want string
	}{
		{
			"1.0 without id", frames.V10, broker.AckClient, "",
			broker.Output{Message: &plain, SubNumber: 1, Number: 2},
			"destination:/queue/d\nmessage-id:1r.68hqlcqv4\ntimestamp:12\nk:a:b c\nz:1\n",
		},
		{
			"1.0 with id", frames.V10, broker.AckAuto, "s",
			broker.Output{Message: &counted},
			"content-length:1\ndestination:/queue/d\nmessage-id:1r.68hqlcqv4\nsubscription:s\ntimestamp:12\nk:a:b c\nz:1\n",
		},
		{
			"1.1 has no ack", frames.V11, broker.AckClient, "s",
			broker.Output{Message: &plain, SubNumber: 1, Number: 2},
			"destination:/queue/d\nmessage-id:1r.68hqlcqv4\nsubscription:s\ntimestamp:12\nk:a\\cb\\nc\nz:1\n",
		},
		{
			"1.2 auto", frames.V12, broker.AckAuto, "s",
			broker.Output{Message: &plain, SubNumber: 1, Number: 2},
			"destination:/queue/d\nmessage-id:1r.68hqlcqv4\nsubscription:s\ntimestamp:12\nk:a\\cb\\nc\nz:1\n",
		},
		{
			"1.2 client", frames.V12, broker.AckClient, "s",
			broker.Output{Message: &plain, SubNumber: 1, Number: 36},
			"destination:/queue/d\nmessage-id:1r.68hqlcqv4\nsubscription:s\nack:z-1-10\ntimestamp:12\nk:a\\cb\\nc\nz:1\n",
		},
		{
			"1.2 all at once", frames.V12, broker.AckIndividual, "s",
			broker.Output{Message: &full, SubNumber: 3, Number: 1, Redelivered: true, Deliveries: 2},
			"content-length:3\ndestination:/queue/d\nmessage-id:ID:a:1\nsubscription:s\nack:z-3-1\nredelivered:true\nJMSXDeliveryCount:2\ndeliver-at:99\nscheduledJobId:j\\c1\nk:a\\cb\\nc\nz:1\n",
		},
		{
			"the sender's id is hidden", frames.V11, broker.AckClient, "s",
			broker.Output{Message: &full, HideUserID: true},
			"content-length:3\ndestination:/queue/d\nmessage-id:1r.68hqlcqv4\nsubscription:s\ndeliver-at:99\nscheduledJobId:j\\c1\nk:a\\cb\\nc\nz:1\n",
		},
	} {
		var shown []byte
		if c.id != "" {
			shown = []byte(c.id)
		}
		r := newRendering(c.v, 35, []byte("/queue/d"), shown, c.mode)
		if d := cmp.Diff("MESSAGE\n"+c.want, string(r.appendMessage(nil, c.v, &c.out))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestReceiptsInAllVersions(t *testing.T) {
	for v, want := range map[frames.Version]string{
		frames.V10: "RECEIPT\nreceipt-id:a\\c\nscheduled-id:j:1\ndeliver-at:5\n\n\x00",
		frames.V12: "RECEIPT\nreceipt-id:a\\c\nscheduled-id:j\\c1\ndeliver-at:5\n\n\x00",
	} {
		out := broker.Output{Receipt: `a\c`, ScheduledID: "j:1", DeliverAt: 5}
		if got := string(appendReceipt(nil, v, &out)); got != want {
			t.Errorf("%v: %q", v, got)
		}
	}
}

func TestWhatIsMadeForAMessageDoesNotAllocate(t *testing.T) {
	block := frames.Header{Raw: []byte("k:a\\cb\\nc\nz:1\n"), Dialect: frames.V12}
	m := broker.Message{Header: block, Body: make([]byte, 1000), Timestamp: 12, UserID: "ID:1", DeliverAt: 5, ScheduledID: "j:1"}
	for _, v := range []frames.Version{frames.V10, frames.V11, frames.V12} {
		r := newRendering(v, 35, []byte("/queue/d"), []byte("s"), broker.AckClient)
		out := broker.Output{Kind: broker.OutputMessage, Message: &m, Redelivered: true, Deliveries: 7, SubNumber: 1, Number: 1}
		dst := make([]byte, 0, 4096)
		if n := testing.AllocsPerRun(100, func() {
			dst = frames.AppendBody(r.appendMessage(dst[:0], v, &out), m.Body)
			dst = appendReceipt(dst, v, &broker.Output{Receipt: "r"})
		}); n != 0 {
			t.Errorf("%v: %v allocations", v, n)
		}
	}
}

func TestASendAllocatesItsMessageAndOnePieceOfMemory(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	f := frames.Frame{
		Command: frames.Send, Body: make([]byte, 100),
		Header: frames.Header{Raw: []byte("destination:/queue/a\ncontent-type:text/plain\nx:y\nlogin:a\npriority:5\npersistent:true\n"), Dialect: frames.V12},
	}
	s.ops = make([]broker.Op, 0, 10_000)
	if n := testing.AllocsPerRun(1000, func() { s.handle(&f) }); n != 2 {
		t.Errorf("%v allocations", n)
	}
	body := make([]byte, 100)
	owned := f
	owned.Body, owned.Owned = body, true
	s.ops = s.ops[:0]
	s.handle(&owned)
	if m := s.ops[0].Message; &m.Body[0] != &body[0] {
		t.Error("a body that the reader gave away was copied")
	}
}
