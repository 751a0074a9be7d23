package server

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// noon is when the frames of these tests come in: Tuesday, 1 December 2026.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// newTestSession makes a session of a version, of connection 5, with these options, at noon.
func newTestSession(v frames.Version, o Options) *session {
	o.Log = quiet()
	o = o.withDefaults()
	return &session{
		shared:  &sharedState{options: o, destinations: newDestinations(o.QueuePrefixes, o.TopicPrefixes), denied: new(labels)},
		clock:   func() time.Time { return noon },
		version: v, id: 5,
	}
}

// feed has a session handle frames as they are on the wire, ^@ for NUL, and returns what it asks for.
func feed(t testing.TB, s *session, text string) []broker.Op {
	t.Helper()
	r := frames.NewReader(strings.NewReader("CONNECT\n\n\x00"+strings.ReplaceAll(text, "^@", "\x00")), s.shared.options.Limits)
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
		default:
			if err := r.Fill(); err == io.EOF {
				return ops(s)
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	return ops(s)
}

func ops(s *session) []broker.Op {
	if req := s.take(); req != nil {
		return req.Ops
	}
	return nil
}

// refused feeds frames of which the last must be refused, with an ERROR that has all of the words.
func refused(t *testing.T, s *session, text string, words ...string) {
	t.Helper()
	list := feed(t, s, text)
	if len(list) == 0 || list[len(list)-1].Kind != broker.OpFail {
		t.Errorf("%q was not refused", text)
		return
	}
	e := list[len(list)-1].Err
	for _, w := range words {
		if !strings.Contains(e.Message+e.Detail, w) {
			t.Errorf("%q: the error %q, %q does not say %q", text, e.Message, e.Detail, w)
		}
	}
	if strings.ContainsAny(e.Message, "\r\n") {
		t.Errorf("%q: the message has several lines: %q", text, e.Message)
	}
}

func TestSendTakesOverWhatIsPassedOnAndNothingElse(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	got := feed(t, s, "SEND\nz:1\ndestination:/queue/a%2Fb\nreceipt:r\\c1\nz:2\nz:2\nlogin:l\npasscode:p\npriority:7\npersistent:FALSE\n"+
		"JMSXDeliveryCount:9\nbrowser:end\ndead-letter-reason:x\noriginal-destination:/queue/x\nexpires:0\nreply-to:/queue/r\n"+
		"timestamp:12\nmessage-id:ID:a-1\nscheduledJobId:j\nx\\cy:z\\\\\nredelivered:true\nschedule-zone:UTC\nttl:0\ncontent-length:4\n\nb\x00dy^@")
	want := []broker.Op{{
		Kind: broker.OpSend, WantReceipt: true, Receipt: `r\c1`,
		To: broker.Address{Kind: broker.Queue, Name: "a/b"},
		Message: &broker.Message{
			Header: frames.Header{
				Raw:     []byte("z:1\nz:2\nz:2\npriority:7\npersistent:FALSE\nexpires:0\nreply-to:/queue/r\ntimestamp:12\nx\\cy:z\\\\\nttl:0\n"),
				Dialect: frames.V12,
			},
			Body: []byte("b\x00dy"), Destination: "/queue/a%2Fb", UserID: "ID:a-1",
			Priority: 7, HasLength: true, HasTimestamp: true,
		},
	}}
	compare(t, got, want)
}

func compare(t *testing.T, got, want []broker.Op) {
	t.Helper()
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Tag" }, cmp.Ignore())
	if d := cmp.Diff(want, got, ignore, cmpopts.EquateEmpty(), cmp.AllowUnexported(broker.Message{})); d != "" {
		t.Errorf("operations differ (-want +got):\n%s", d)
	}
}

func TestSendDefaults(t *testing.T) {
	for _, v := range []frames.Version{frames.V10, frames.V11, frames.V12} {
		m := feed(t, newTestSession(v, Options{}), "SEND\ndestination:a\nmessage-id:mine\n\n^@")[0].Message
		if m.Priority != 4 || !m.Persistent || m.HasLength || m.HasTimestamp || m.UserID != "" || m.Body != nil || len(m.Header.Raw) != 0 {
			t.Errorf("%v: %+v", v, m)
		}
	}
}

func TestRefusedFramesNameWhatIsWrong(t *testing.T) {
	all := []frames.Version{frames.V10, frames.V11, frames.V12}
	for _, c := range []struct {
		versions []frames.Version
		text     string
		words    []string
	}{
		{all, "SEND\n\n^@", []string{"SEND", "destination"}},
		{all, "SEND\ndestination:\n\n^@", []string{"destination"}},
		{all, "SEND\nDestination:a\n\n^@", []string{"destination"}},
		{all, "SEND\ndestination:a\npriority:high\n\n^@", []string{"priority", `"high"`}},
		{all, "SEND\ndestination:a\npersistent:yes\n\n^@", []string{"persistent", `"yes"`}},
		{all, "SEND\ndestination:a\ntransaction:t\n\n^@", []string{"transaction", `"t"`}},
		{all, "SUBSCRIBE\nid:1\n\n^@", []string{"SUBSCRIBE", "destination"}},
		{all, "SUBSCRIBE\nid:1\ndestination:a\nack:AUTO\n\n^@", []string{"ack", `"AUTO"`}},
		{all, "SUBSCRIBE\nid:1\ndestination:a\nack:\n\n^@", []string{"ack", `""`}},
		{all, "SUBSCRIBE\nid:1\ndestination:a\nprefetch-count:some\n\n^@", []string{"prefetch-count", `"some"`}},
		{all, "SUBSCRIBE\nid:1\ndestination:a\ncredit:1,x\n\n^@", []string{"credit", `"1,x"`}},
		{all, "SUBSCRIBE\nid:1\ndestination:a\n\n^@SUBSCRIBE\nid:1\ndestination:b\n\n^@", []string{"id", `"1"`}},
		{all, "UNSUBSCRIBE\n\n^@", []string{"UNSUBSCRIBE", "id"}},
		{all, "UNSUBSCRIBE\nid:x\n\n^@", []string{"id", `"x"`}},
		{all, "ACK\n\n^@", []string{"ACK", "id"}},
		{all, "NACK\n\n^@", []string{"NACK", "id"}},
		{all, "NACK\ncredit:1\n\n^@", []string{"NACK", "id"}},
		{all, "ACK\nid:5-1-1\nmessage-id:1.1\ntransaction:t\n\n^@", []string{"transaction", `"t"`}},
		{all, "ACK\ncredit:much\n\n^@", []string{"credit", `"much"`}},
		{all, "NACK\nid:5-1-1\nmessage-id:1.1\nrecover:maybe\n\n^@", []string{"recover", `"maybe"`}},
		{all, "NACK\nsubscription:x\nrecover:true\n\n^@", []string{"subscription", `"x"`}},
		{all, "RECOVER\nid:x\n\n^@", []string{"id", `"x"`}},
		{all, "BEGIN\n\n^@", []string{"BEGIN", "transaction"}},
		{all, "BEGIN\ntransaction:\n\n^@", []string{"BEGIN", "transaction"}},
		{all, "BEGIN\ntransaction:t\n\n^@BEGIN\ntransaction:t\n\n^@", []string{"transaction", `"t"`}},
		{all, "COMMIT\ntransaction:t\n\n^@", []string{"transaction", `"t"`}},
		{all, "ABORT\ntransaction:t\n\n^@", []string{"transaction", `"t"`}},
		{all, "CONNECT\naccept-version:1.2\n\n^@", []string{"CONNECT"}},
		{all[2:], "ACK\nmessage-id:1.1\nsubscription:1\n\n^@", []string{"ACK", "id"}},
		{all[1:2], "ACK\nsubscription:1\n\n^@", []string{"ACK", "message-id"}},
	} {
		for _, v := range c.versions {
			refused(t, newTestSession(v, Options{}), c.text, c.words...)
		}
	}
}

func TestWhatThisVersionLacksIsRefusedWhereItWouldChangeDelivery(t *testing.T) {
	harmlessOnQueues := []string{"no-local:True", "activemq.noLocal:1", "durable:true", "persistent:true", "activemq.subscriptionName:n", "activemq.subcriptionName:n", "durable-subscription-name:n", "shared:true"}
	harmless := []string{
		"unknown:x", "selector:", "selector:a = 1", "browser:false", "no-local:0", "exclusive:FALSE", "activemq.priority:0", "x-dead-letter-exchange:", "auto-delete:true", "x-queue-name:q",
	}
	for _, v := range []frames.Version{frames.V10, frames.V11, frames.V12} {
		check := func(accept bool, frame string, headers []string) {
			for _, h := range headers {
				s := newTestSession(v, Options{})
				text := fmt.Sprintf(frame, h)
				if accept {
					if feed(t, s, text); s.ended {
						t.Errorf("%v: %q was refused", v, text)
					}
					continue
				}
				name, value, _ := strings.Cut(h, ":")
				refused(t, s, text, name, value, "not support")
			}
		}
		check(true, "SEND\ndestination:/queue/a\n%s\n\n^@", []string{"dedup-id:", "JMSXGroupSeq:0", "reply-to:sms:1234", "reply-to:temperature"})
		for _, kind := range []string{"queue", "topic"} {
			check(true, "SUBSCRIBE\nid:1\ndestination:/"+kind+"/a\n%s\n\n^@", harmless)
		}
		check(true, "SUBSCRIBE\nid:1\ndestination:/queue/a\n%s\n\n^@", harmlessOnQueues)
		check(true, "NACK\nid:5-1-1\nmessage-id:1.1\n%s\n\n^@", []string{"requeue:true", "dead-letter:0", "reason:x"})
		check(false, "RECOVER\n%s\n\n^@", []string{"transaction:t"})
	}
}

func TestSubscribe(t *testing.T) {
	q := broker.Address{Kind: broker.Queue, Name: "a"}
	for _, c := range []struct {
		v       frames.Version
		headers string
		want    broker.SubscribeOp
	}{
		{frames.V12, "id:x\\cy\n", broker.SubscribeOp{ID: "x:y", Text: "/queue/a", From: q}},
		{frames.V10, "", broker.SubscribeOp{ID: "/queue/a", Text: "/queue/a", From: q}},
		{frames.V12, "id:\n", broker.SubscribeOp{ID: "/queue/a", Text: "/queue/a", From: q}},
		{frames.V12, "id:1\nack:client\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Mode: broker.AckClient}},
		{frames.V10, "id:1\nack:client-individual\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Mode: broker.AckIndividual}},
		{frames.V12, "id:1\nprefetch:7\nprefetch-count:3\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Window: 3}},
		{frames.V12, "id:1\nactivemq.prefetchSize:0\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Window: 1}},
		{frames.V12, "id:1\nprefetch:99999999999999999999\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Window: 1<<31 - 1}},
		{frames.V12, "id:1\nselector:a = 'b\\cc'\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Selector: "a = 'b:c'"}},
		{frames.V12, "id:1\ncredit:2,100\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Window: 2, WindowBytes: 100}},
		{frames.V12, "id:1\ncredit:0\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Window: 1}},
		{frames.V12, "id:1\nconsumer-window-size:100\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, WindowBytes: 100}},
		{frames.V12, "id:1\nconsumer-window-size:0\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Window: 1}},
		{frames.V12, "id:1\nexclusive:True\nconsumer-priority:7\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Exclusive: true, Priority: 7}},
		{frames.V12, "id:1\nactivemq.exclusive:1\nx-priority:-3\nactivemq.priority:9\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Exclusive: true, Priority: -3}},
		{frames.V12, "id:1\nexclusive:0\nx-priority:\nactivemq.priority:9\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Priority: 9}},
		{frames.V12, "id:1\nconsumer-window-size:-1\n", broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q}},
	} {
		s := newTestSession(c.v, Options{})
		compare(t, feed(t, s, "SUBSCRIBE\ndestination:/queue/a\n"+c.headers+"\n^@"), []broker.Op{{Kind: broker.OpSubscribe, Subscribe: &c.want}})
	}
	refused(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:1\ndestination:a\nexclusive:x\n\n^@", "exclusive", `"x"`)
	refused(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:1\ndestination:a\nx-priority:high\n\n^@", "x-priority", `"high"`)
	refused(t, newTestSession(frames.V11, Options{RequireSubscriptionID: true}), "SUBSCRIBE\ndestination:a\n\n^@", "id")
}

func TestUnsubscribeByDestinationFindsTheOneSubscriptionToIt(t *testing.T) {
	s := newTestSession(frames.V10, Options{})
	feed(t, s, "SUBSCRIBE\nid:1\ndestination:/queue/a\n\n^@")
	compare(t, feed(t, s, "UNSUBSCRIBE\ndestination:/queue/a\n\n^@"), []broker.Op{{Kind: broker.OpUnsubscribe, Sub: "1"}})
	feed(t, s, "SUBSCRIBE\nid:1\ndestination:/queue/a\n\n^@SUBSCRIBE\nid:2\ndestination:/queue/a\n\n^@")
	refused(t, s, "UNSUBSCRIBE\ndestination:/queue/a\n\n^@", "destination", `"/queue/a"`)
}

func TestAcksNameDeliveriesInTheWaysOfEachVersion(t *testing.T) {
	byID := broker.AckOp{SubNumber: 1, Number: 46, Text: "5-1-1a"}
	byMessage := broker.AckOp{MessageID: broker.MessageID{Shard: 2, Seq: 3}, Text: "2.3"}
	byUser := broker.AckOp{UserID: "ID:x", Text: "ID:x"}
	narrowed := byMessage
	narrowed.Sub = "s:1"
	for _, c := range []struct {
		v       frames.Version
		headers string
		want    broker.AckOp
	}{
		{frames.V12, "id:5-1-1a\nmessage-id:other\nsubscription:other\n", byID},
		{frames.V12, "id:2.3\n", byMessage},
		{frames.V12, "id:ID\\cx\n", byUser},
		{frames.V11, "message-id:2.3\nsubscription:s\\c1\n", narrowed},
		{frames.V11, "message-id:2.3\n", byMessage},
		{frames.V11, "id:2.3\n", byMessage},
		{frames.V11, "message-id:ID:x\n", byUser},
		{frames.V10, "message-id:2.3\n", byMessage},
		{frames.V10, "message-id:5-1-1a\n", byID},
		{frames.V12, "id:6-1-1a\n", broker.AckOp{Invalid: "6-1-1a", Text: "6-1-1a"}},
		{frames.V12, "id:5-1-01\n", broker.AckOp{Invalid: "5-1-01", Text: "5-1-01"}},
		{frames.V12, "id:5-0-1\n", broker.AckOp{Invalid: "5-0-1", Text: "5-0-1"}},
		{frames.V12, "id:5-1-1-1\n", broker.AckOp{Invalid: "5-1-1-1", Text: "5-1-1-1"}},
		{frames.V12, "id:never\n", broker.AckOp{Invalid: "never", Text: "never"}},
	} {
		for command, kind := range map[string]broker.OpKind{"ACK": broker.OpAck, "NACK": broker.OpNack} {
			s := newTestSession(c.v, Options{})
			compare(t, feed(t, s, command+"\n"+c.headers+"\n^@"), []broker.Op{{Kind: kind, Ack: c.want}})
		}
	}
	s := newTestSession(frames.V11, Options{})
	compare(t, feed(t, s, "ACK\nsubscription:s\ncredit:3,100\n\n^@"), []broker.Op{{Kind: broker.OpAck, Ack: broker.AckOp{Sub: "s", Credit: 3}}})
}

func TestRecover(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	feed(t, s, "SUBSCRIBE\nid:s\ndestination:a\n\n^@")
	got := feed(t, s, "RECOVER\nreceipt:r\n\n^@RECOVER\nid:s\n\n^@NACK\nid:5-1-1\nrecover:true\n\n^@NACK\nid:5-1-1\nsubscription:s\nrecover:1\n\n^@NACK\nid:s\nrecover:true\n\n^@")
	compare(t, got, []broker.Op{
		{Kind: broker.OpRecover, WantReceipt: true, Receipt: "r"},
		{Kind: broker.OpRecover, Sub: "s"},
		{Kind: broker.OpRecover},
		{Kind: broker.OpRecover, Sub: "s"},
		{Kind: broker.OpRecover, Sub: "s"},
	})
}

func TestTransactionsGatherSendsAndNumberWhatIsSettled(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	got := feed(t, s, "BEGIN\ntransaction:t\nreceipt:b\n\n^@SEND\ndestination:a\ntransaction:t\nreceipt:s\n\nx^@ACK\nid:5-1-1\ntransaction:t\nreceipt:k\n\n^@"+
		"BEGIN\ntransaction:u\n\n^@SEND\ndestination:b\ntransaction:u\n\ny^@ABORT\ntransaction:u\nreceipt:a\n\n^@COMMIT\ntransaction:t\nreceipt:c\n\n^@")
	compare(t, got, []broker.Op{
		{Kind: broker.OpReceipt, WantReceipt: true, Receipt: "b"},
		{Kind: broker.OpReceipt, WantReceipt: true, Receipt: "s"},
		{Kind: broker.OpAck, WantReceipt: true, Receipt: "k", Tx: 1, Ack: broker.AckOp{SubNumber: 1, Number: 1, Text: "5-1-1"}},
		{Kind: broker.OpAbort, WantReceipt: true, Receipt: "a", Tx: 2},
		{Kind: broker.OpCommit, WantReceipt: true, Receipt: "c", Tx: 1, Sends: []broker.Op{{
			Kind: broker.OpSend, Tx: 1, To: broker.Address{Kind: broker.Queue, Name: "a"},
			Message: &broker.Message{
				Header: frames.Header{Dialect: frames.V12}, Body: []byte("x"), Destination: "a", Priority: 4, Persistent: true,
			},
		}}},
	})
}

func TestLimitsOfASession(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		o       Options
		good    string
		more    string
		setting string
	}{
		{Options{}, repeat(64, "BEGIN\ntransaction:t%d\n\n^@"), "BEGIN\ntransaction:x\n\n^@", "limits.transactions"},
		{Options{TransactionActions: 3}, "BEGIN\ntransaction:t\n\n^@" + repeat(3, "ACK\nid:5-1-1%d\ntransaction:t\n\n^@"), "SEND\ndestination:a\ntransaction:t\n\n^@", "limits.transaction-actions"},
		{Options{TransactionBytes: 3000}, "BEGIN\ntransaction:t\n\n^@" + repeat(2, "SEND\ndestination:a\ntransaction:t\n\n%0900d^@"), "SEND\ndestination:a\ntransaction:t\n\n" + repeat(1, "%0900d") + "^@", "limits.transaction-bytes"},
		{Options{MaxSubscriptions: 3}, repeat(3, "SUBSCRIBE\nid:%d\ndestination:a\n\n^@"), "SUBSCRIBE\nid:x\ndestination:a\n\n^@", "limits.subscriptions"},
	} {
		s := newTestSession(frames.V12, c.o)
		if feed(t, s, c.good); s.ended {
			t.Errorf("%s: refused at the limit", c.setting)
			continue
		}
		refused(t, s, c.more, c.setting)
	}
}

func TestAfterAnErrorNothingCounts(t *testing.T) {
	for _, bad := range []string{"BOGUS\n\n^@", "SEND\n\n^@", "DISCONNECT\n\n^@"} {
		s := newTestSession(frames.V12, Options{})
		list := feed(t, s, "SEND\ndestination:a\n\n^@"+bad+"SEND\ndestination:a\n\n^@")
		if len(list) != 2 || !s.ended {
			t.Errorf("%q: %d operations", bad, len(list))
		}
	}
}

// ruledBy refuses what is named.
type ruledBy struct {
	auth.Open
	asked []string
	fault error
}

func (r *ruledBy) Authorize(id auth.Identity, a auth.Action, kind, name string) error {
	r.asked = append(r.asked, fmt.Sprint(a, " ", kind, " ", name))
	if name == "secret" {
		return r.fault
	}
	return nil
}

func TestEachDestinationIsAuthorisedOnceForSendAndForEachSubscribe(t *testing.T) {
	for _, fault := range []error{auth.ErrDenied, errors.New("database is down")} {
		rules := &ruledBy{fault: fault}
		s := newTestSession(frames.V12, Options{Auth: rules})
		feed(t, s, strings.Repeat("SEND\ndestination:/topic/a\n\n^@", 3)+"SUBSCRIBE\nid:1\ndestination:/topic/a\n\n^@SUBSCRIBE\nid:2\ndestination:b\n\n^@")
		refused(t, s, "SEND\ndestination:secret\n\n^@", "send", `"secret"`)
		want := []string{"send topic a", "receive topic a", "receive queue b", "create queue b", "send queue secret"}
		if d := cmp.Diff(want, rules.asked); d != "" {
			t.Errorf("asked (-want +got):\n%s", d)
		}
		refused(t, newTestSession(frames.V12, Options{Auth: rules}), "SUBSCRIBE\nid:1\ndestination:secret\n\n^@", "receive", `"secret"`)
	}
}

func TestDestinationsAreForgottenWhenThereAreTooMany(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	for i := range 3 * maxTargets {
		feed(t, s, fmt.Sprintf("SEND\ndestination:/queue/%d%s\n\n^@", i, strings.Repeat("n", i/maxTargets*400)))
		if n := len(s.targets.byText); n > maxTargets || s.targets.bytes > maxTargetBytes || n == 0 {
			t.Fatalf("%d destinations of %d octets are remembered", n, s.targets.bytes)
		}
	}
}

func TestIDsThatAreKeptAreLimited(t *testing.T) {
	fits, over := strings.Repeat("x", maxID), strings.Repeat("x", maxID+1)
	const frame = "SUBSCRIBE\ndestination:a\nid:%s\n\n^@"
	s := newTestSession(frames.V12, Options{})
	if feed(t, s, fmt.Sprintf(frame, fits)); s.ended {
		t.Errorf("an id of %d octets was refused", maxID)
	}
	refused(t, newTestSession(frames.V12, Options{}), fmt.Sprintf(frame, over), "id", "1025", "1024")
	for _, name := range []string{"login", "client-id"} {
		for value, ok := range map[string]bool{fits: true, over: false} {
			_, err := newTestSession(frames.V12, Options{}).connect(t.Context(), connectFrame(t, name+":"+value+"\n"), &Transport{})
			if (err == nil) != ok {
				t.Errorf("%s of %d octets: %v", name, len(value), err)
			}
		}
	}
	m := feed(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:a\nmessage-id:ID:"+over+"\n\n^@")[0].Message
	if m.UserID != "" {
		t.Errorf("a message-id of %d octets is shown", len(m.UserID))
	}
}

func TestWhatOnlyABrokerMaySayIsNotPassedOn(t *testing.T) {
	for _, name := range []string{
		"subscription", "ack", "redelivered", "JMSXDeliveryCount", "receipt-id", "message-id", "browser", "original-destination", "content-length",
		"dead-letter-reason", "dead-letter-detail", "dead-letter-time", "dead-letter-count", "original-expires", "dlqDeliveryFailureCause",
		"originalExpiration", "_AMQ_ORIG_ADDRESS", "_AMQ_ORIG_MESSAGE_ID", "x-death-reason", "x-first-death-queue",
		"login", "passcode", "receipt", "destination", "scheduledJobId",
	} {
		for _, v := range []frames.Version{frames.V10, frames.V11, frames.V12} {
			m := feed(t, newTestSession(v, Options{}), "SEND\ndestination:a\nk:v\n"+name+":0\nj:w\n\n^@")[0].Message
			if m == nil || string(m.Header.Raw) != "k:v\nj:w\n" {
				t.Errorf("%v: with %s the message is %+v", v, name, m)
			}
		}
	}
}

func TestAnIDOfDuplicatesIsBounded(t *testing.T) {
	for _, name := range []string{"dedup-id", "_AMQ_DUPL_ID"} {
		for _, length := range []int{maxID, maxID + 1} {
			s := newTestSession(frames.V12, Options{})
			feed(t, s, "SEND\ndestination:/queue/a\n"+name+":"+strings.Repeat("x", length)+"\n\n^@")
			if s.ended != (length > maxID) {
				t.Errorf("%s of %d octets: refused %v", name, length, s.ended)
			}
		}
	}
}
