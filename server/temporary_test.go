package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// sealed is how others see a temporary destination of connection 5, that of newTestSession.
func sealed(s *session, kind, name string) string {
	return "/remote-temp-" + kind + "/5-" + s.shared.secret.seal("5") + "." + name
}

func TestFormsOfTemporaryDestinations(t *testing.T) {
	s := newTestSession(frames.V12, Options{HostID: "h"})
	own := broker.Owner{Conn: 5}
	for text, want := range map[string]broker.Address{
		"/temp-queue/a":             {Kind: broker.Queue, Name: "a", Owner: own},
		"/temp-topic/a":             {Kind: broker.Topic, Name: "a", Owner: own},
		"temp-queue://a":            {Kind: broker.Queue, Name: "a", Owner: own},
		"temp-topic://a":            {Kind: broker.Topic, Name: "a", Owner: own},
		"/temp-queue/a.b/c%2Fd:e":   {Kind: broker.Queue, Name: "a.b/c/d:e", Owner: own},
		sealed(s, "queue", "a.b"):   {Kind: broker.Queue, Name: "a.b", Owner: own},
		sealed(s, "topic", "a"):     {Kind: broker.Topic, Name: "a", Owner: own},
		"/remote-temp-queue/5-00.a": {Kind: broker.Queue, Name: "a", Owner: broker.Owner{Conn: broker.Nobody}},
		"/remote-temp-queue/5.a":    {Kind: broker.Queue, Name: "a", Owner: broker.Owner{Conn: broker.Nobody}},
		strings.Replace(sealed(s, "queue", "a"), "/5-", "/6-", 1): {Kind: broker.Queue, Name: "a", Owner: broker.Owner{Conn: broker.Nobody}},
		// stompjms, after Apollo
		"/queue/temp.h.1f.x-y": {Kind: broker.Queue, Name: "temp.h.1f.x-y", Owner: broker.Owner{Conn: 51, Plain: true}},
		"/topic/temp.h.5.x":    {Kind: broker.Topic, Name: "temp.h.5.x", Owner: broker.Owner{Conn: 5, Plain: true}},
		"/queue/temp.g.5.x":    {Kind: broker.Queue, Name: "temp.g.5.x"},
		"/queue/temp.h.5":      {Kind: broker.Queue, Name: "temp.h.5"},
		"/queue/temp.h.5.":     {Kind: broker.Queue, Name: "temp.h.5."},
		"/queue/temp.h.0.x":    {Kind: broker.Queue, Name: "temp.h.0.x"},
		"/queue/temp.h.F.x":    {Kind: broker.Queue, Name: "temp.h.F.x"},
	} {
		if got, err := s.address(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, not %v", text, got, err, want)
		}
	}
	for text, word := range map[string]string{
		"/temp-queue/": "no name", "temp-topic://": "no name", "/remote-temp-queue/5": "reply-to", "/temp-queue/\n": "control",
		"/temp-queue/a,b": "comma", "temp-topic://a,/queue/b": "comma", sealed(s, "queue", "a,b"): "comma",
		"/temp-topic/" + strings.Repeat("n", 1025): "1024",
	} {
		if got, err := s.address(text); err == nil || !strings.Contains(err.Message, word) {
			t.Errorf("%q is %v, %v, which does not say %q", text, got, err, word)
		}
	}
}

func TestAReplyToIsWhereOthersCanSend(t *testing.T) {
	for _, v := range []frames.Version{frames.V10, frames.V11, frames.V12} {
		for text, remote := range map[string]string{
			"/temp-queue/r": "queue", "temp-queue://r": "queue", "/temp-topic/r": "topic", "temp-topic://r": "topic",
		} {
			s := newTestSession(v, Options{})
			want := sealed(s, remote, "r")
			raw := text
			if v != frames.V10 {
				raw = strings.ReplaceAll(text, ":", `\c`)
			}
			ops := feed(t, s, "SEND\ndestination:/queue/q\na:1\nreply-to:"+raw+"\nreply-to:/queue/second\nz:2\n\nbody^@")
			m := ops[len(ops)-1].Message
			if got, _ := m.Header.Get("reply-to"); got != want {
				t.Fatalf("%v: reply-to %s became %s, not %s", v, text, got, want)
			}
			if got := string(m.Header.Raw); got != "a:1\nreply-to:"+want+"\nreply-to:/queue/second\nz:2\n" || string(m.Body) != "body" {
				t.Errorf("%v: the message has %q and %q", v, got, m.Body)
			}
		}
	}
}

func TestOtherRepliesToStayAsTheyAre(t *testing.T) {
	for _, text := range []string{"", "sms:1234", "temperature", "temp-", "/temp-", "/temp-queue", "/queue/temp.h.5.x", "/remote-temp-queue/4-00.a"} {
		s := newTestSession(frames.V12, Options{HostID: "h"})
		ops := feed(t, s, "SEND\ndestination:/queue/q\nreply-to:"+text+"\n\n^@")
		if len(ops) != 1 || ops[0].Kind != broker.OpSend || string(ops[0].Message.Header.Raw) != "reply-to:"+text+"\n" {
			t.Errorf("reply-to %q gives %+v", text, ops)
		}
	}
}

func TestBadRepliesToAreNamed(t *testing.T) {
	for text, word := range map[string]string{
		// Who answered would send to all of the parts, and nobody has asked whether this user may.
		"/temp-queue/r,/queue/secret": "comma", "temp-queue\\c//r,/queue/secret": "comma", "/temp-topic/r,secret": "comma",
		"/temp-queue/": "no name", "/temp-queue/a.*": "wildcard", "/temp-queue/" + strings.Repeat("n", 1025): "1024",
	} {
		refused(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:/queue/q\nreply-to:"+text+"\n\n^@", "reply-to", word)
	}
}

// kinds lists the operations with the subscription that each is about.
func kinds(ops []broker.Op) (list []string) {
	for i := range ops {
		switch op := &ops[i]; op.Kind {
		case broker.OpSubscribe:
			list = append(list, fmt.Sprintf("sub %s to %s mode %d", op.Subscribe.ID, op.Subscribe.From.Form(), op.Subscribe.Mode))
		case broker.OpUnsubscribe:
			list = append(list, "unsub "+op.Sub)
		case broker.OpSend:
			list = append(list, "send")
		default:
			list = append(list, fmt.Sprint("op ", op.Kind))
		}
	}
	return list
}

// RabbitMQ's request and reply: who names a temporary queue that nobody takes from takes from it.
func TestImplicitSubscriptions(t *testing.T) {
	const implicit = "sub /temp-queue/r to temp-queue mode 0"
	send := "SEND\ndestination:/queue/q\nreply-to:/temp-queue/r\n\n^@"
	for _, c := range []struct {
		name, frames string
		want         []string
	}{
		{"once", send + send, []string{implicit, "send", "send"}},
		{"each", send + strings.ReplaceAll(send, "/r", "/s"), []string{implicit, "send", "sub /temp-queue/s to temp-queue mode 0", "send"}},
		{"not for topics", strings.ReplaceAll(send, "queue/r", "topic/r"), []string{"send"}},
		{"not with a subscription", "SUBSCRIBE\nid:1\ndestination:/temp-queue/r\n\n^@" + send, []string{"sub 1 to temp-queue mode 0", "send"}},
		{"again after it", "SUBSCRIBE\nid:1\ndestination:/temp-queue/r\n\n^@UNSUBSCRIBE\nid:1\n\n^@" + send, []string{"sub 1 to temp-queue mode 0", "unsub 1", implicit, "send"}},
		{"not for a browser", "SUBSCRIBE\nid:1\ndestination:/temp-queue/r\nbrowser:true\n\n^@" + send, []string{"sub 1 to temp-queue mode 0", implicit, "send"}},
		{"ends with one", send + "SUBSCRIBE\nid:1\nack:client\ndestination:/temp-queue/r\n\n^@" + send, []string{implicit, "send", "unsub /temp-queue/r", "sub 1 to temp-queue mode 1", "send"}},
		{"of the same id", send + "SUBSCRIBE\ndestination:/temp-queue/r\n\n^@", []string{implicit, "send", "unsub /temp-queue/r", implicit}},
		{"can be ended", send + "UNSUBSCRIBE\nid:/temp-queue/r\n\n^@" + send, []string{implicit, "send", "unsub /temp-queue/r", implicit, "send"}},
		{"at once in a transaction", "BEGIN\ntransaction:t\n\n^@" + strings.Replace(send, "\n\n", "\ntransaction:t\n\n", 1), []string{implicit}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSession(frames.V12, Options{})
			if diff := cmp.Diff(c.want, kinds(feed(t, s, c.frames))); diff != "" {
				t.Error(diff)
			}
		})
	}
	limited := newTestSession(frames.V12, Options{MaxSubscriptions: 1})
	refused(t, limited, send+strings.ReplaceAll(send, "/r", "/s"), "limits.subscriptions")
	refused(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:/temp-queue/r\ndestination:/queue/q\n\n^@"+send, "/temp-queue/r", "another subscription")
}

func TestWhoTakesRepliesIsSubscribedUnderTheText(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	ops := feed(t, s, "SEND\ndestination:/queue/q\nreply-to:temp-queue\\c//r\n\n^@")
	tag := ops[0].Subscribe.Tag.(*subscription)
	got := string(tag.appendMessage(nil, frames.V12, &broker.Output{Message: &broker.Message{HasTimestamp: true, UserID: "ID:1"}}))
	if want := "MESSAGE\ndestination:temp-queue\\c//r\nmessage-id:ID:1\nsubscription:temp-queue\\c//r\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestPermissionsKnowTemporaryDestinations(t *testing.T) {
	denier := &denyAll{}
	s := newTestSession(frames.V12, Options{Auth: denier})
	refused(t, s, "SUBSCRIBE\nid:1\ndestination:/temp-queue/r\n\n^@", "may not receive")
	s = newTestSession(frames.V12, Options{Auth: denier})
	refused(t, s, "SEND\ndestination:"+sealed(s, "topic", "r")+"\n\n^@", "may not send")
	if diff := cmp.Diff([]string{"receive temp-queue r", "send temp-topic r"}, denier.asked); diff != "" {
		t.Error(diff)
	}
}

// denyAll refuses everything, and remembers what it was asked.
type denyAll struct {
	auth.Open
	asked []string
}

func (d *denyAll) Authorize(_ auth.Identity, action auth.Action, kind, name string) error {
	d.asked = append(d.asked, action.String()+" "+kind+" "+name)
	return auth.ErrDenied
}
