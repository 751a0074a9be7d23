package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// parts lists where the copies of a message go, and the destination that each carries.
func parts(sends []broker.Op) (list []string) {
	for i := range sends {
		list = append(list, sends[i].To.String()+" as "+sends[i].Message.Destination)
	}
	return list
}

func TestACompositeSendIsOneStep(t *testing.T) {
	for text, want := range map[string][]string{
		"a,b":                         {"/queue/a as a", "/queue/b as b"},
		"/queue/a, b ,/topic/c":       {"/queue/a as /queue/a", "/queue/b as b", "/topic/c as /topic/c"},
		"a,/queue/a,jms.queue.a":      {"/queue/a as a"}, // once each
		"/topic/x y,/queue/%2C":       {"/topic/x y as /topic/x y", "/queue/%2C as /queue/%2C"},
		"/temp-queue/r,/dsub/u\\cn,q": {"/temp-queue/5.r as /temp-queue/r", "/dsub/u:n as /dsub/u:n", "/queue/q as q"},
	} {
		s := newTestSession(frames.V12, Options{})
		ops := feed(t, s, "SEND\ndestination:"+text+"\nreceipt:r\nk:v\n\nbody^@SEND\ndestination:"+text+"\n\nagain^@")
		if len(ops) != 2 || ops[0].Kind != broker.OpCommit || ops[0].Tx != 0 || !ops[0].WantReceipt || ops[0].Receipt != "r" || ops[1].WantReceipt {
			t.Fatalf("%q: %+v", text, ops)
		}
		for i, body := range []string{"body", "again"} {
			if diff := cmp.Diff(want, parts(ops[i].Sends)); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
			for _, send := range ops[i].Sends {
				if string(send.Message.Body) != body {
					t.Errorf("%q: %v gets %q", text, send.To, send.Message.Body)
				}
			}
		}
		seen := map[*broker.Message]bool{}
		for _, send := range ops[0].Sends {
			if seen[send.Message] || string(send.Message.Header.Raw) != "k:v\n" {
				t.Errorf("%q: %v has a message of another, or %q", text, send.To, send.Message.Header.Raw)
			}
			seen[send.Message] = true
		}
	}
}

func TestACompositeSendInATransactionIsPartOfIt(t *testing.T) {
	s := newTestSession(frames.V12, Options{TransactionActions: 3})
	begin, send, commit := "BEGIN\ntransaction:t\n\n^@", "SEND\ntransaction:t\ndestination:a,b\n\nx^@", "COMMIT\ntransaction:t\n\n^@"
	ops := feed(t, s, begin+send+commit)
	if len(ops) != 1 || ops[0].Tx != 1 {
		t.Fatalf("%+v", ops)
	}
	if diff := cmp.Diff([]string{"/queue/a as a", "/queue/b as b"}, parts(ops[0].Sends)); diff != "" {
		t.Error(diff)
	}
	refused(t, s, begin+send+send, "limits.transaction-actions")
}

// One part that is refused has nothing sent at all.
func TestBadPartsOfACompositeSend(t *testing.T) {
	for text, words := range map[string][]string{
		"a,":                         {"empty", `"a,"`},
		",a":                         {"empty"},
		"a,,b":                       {"empty"},
		"a,/nowhere/x":               {`"/nowhere/x"`, `in "a,/nowhere/x"`},
		"a,/topic/b.*":               {`"/topic/b.*"`, "wildcard"},
		"a,/queue/":                  {"no name"},
		"DELAYED_QUEUE,a":            {`"DELAYED_QUEUE"`, "part"},
		"a,/topic/" + managementName: {managementName, "part"},
		"a,b,c,d":                    {"4 parts", "3 are the limit", "limits.composite-parts"},
		strings.Repeat(",", 30_000):  {"30001 parts"},
		"a,secret":                   {`"secret"`, "may not send"},
	} {
		refused(t, newTestSession(frames.V12, Options{MaxParts: 3, Auth: secretKeeper{}}), "SEND\ndestination:"+text+"\n\n^@", words...)
	}
	refused(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:"+managementText+"\nAMQ_SCHEDULER_ACTION:BROWSE\nreply-to:a,b\n\n^@", "reply-to", "composite")
}

func TestADelayQueueForwardsToACompositeDestination(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	ops := feed(t, s, "SEND\ndestination:DELAYED_QUEUE\nJMS_DESTINATION:a,b\nDELIVERY_TIME:4102444800000\n\nx^@")
	if diff := cmp.Diff([]string{"/queue/a as a", "/queue/b as b"}, parts(ops[0].Sends)); diff != "" {
		t.Error(diff)
	}
	if at := ops[0].Sends[1].Message.DeliverAt; at != 4102444800000 {
		t.Errorf("the second part is due at %d", at)
	}
}

// sources lists what a SUBSCRIBE takes from, and by which text.
func sources(op *broker.SubscribeOp) (list []string) {
	for _, part := range op.Parts {
		list = append(list, part.Address.String()+" as "+part.Text)
	}
	return list
}

func TestACompositeSubscribeIsOneSubscription(t *testing.T) {
	for text, want := range map[string][]string{
		"a,b":                       {"/queue/a as a", "/queue/b as b"},
		"/queue/a, b ,/topic/c.*":   {"/queue/a as /queue/a", "/queue/b as b", "/topic/c.* as /topic/c.*"},
		"a,/queue/a":                {"/queue/a as a", "/queue/a as /queue/a"}, // the broker takes from it once
		"/temp-queue/r,/dsub/u\\cn": {"/temp-queue/5.r as /temp-queue/r", "/dsub/u:n as /dsub/u:n"},
	} {
		s := newTestSession(frames.V12, Options{})
		ops := feed(t, s, "SUBSCRIBE\ndestination:"+text+"\nid:x\nack:client\nselector:k = 1\n\n^@UNSUBSCRIBE\nid:x\n\n^@")
		if len(ops) != 2 || ops[0].Subscribe == nil || ops[1].Sub != "x" {
			t.Fatalf("%q: %+v", text, ops)
		}
		op := ops[0].Subscribe
		if diff := cmp.Diff(want, sources(op)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if op.From != (broker.Address{}) || op.ID != "x" || op.Selector != "k = 1" || op.Mode != broker.AckClient {
			t.Errorf("%q: %+v", text, op)
		}
		if sub, ok := op.Tag.(*subscription); !ok || !sub.own {
			t.Errorf("%q: its messages show the text of SUBSCRIBE", text)
		}
	}
}

// Without an id the whole text is the id, and ends it.
func TestACompositeSubscribeWithoutAnID(t *testing.T) {
	for _, v := range []frames.Version{frames.V10, frames.V12} {
		ops := feed(t, newTestSession(v, Options{}), "SUBSCRIBE\ndestination:a,b\n\n^@UNSUBSCRIBE\ndestination:a,b\n\n^@")
		if len(ops) != 2 || ops[0].Subscribe.ID != "a,b" || ops[1].Sub != "a,b" {
			t.Errorf("%v: %+v", v, ops)
		}
	}
}

func TestWhatACompositeSubscribeAsksOfItsTopics(t *testing.T) {
	subscribe := func(destination, headers string) *broker.SubscribeOp {
		return feed(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:x\ndestination:"+destination+"\n"+headers+"\n\n^@")[0].Subscribe
	}
	for _, destination := range []string{"/topic/a,/topic/b", "a,/topic/b"} { // the broker refuses the second
		if op := subscribe(destination, "no-local:true\ndurable:true"); !op.NoLocal || op.Durable.Name != "x" {
			t.Errorf("%s: %+v", destination, op)
		}
		if op := subscribe(destination, "shared:true\nsubscription-name:n"); op.Shared.Name != "n" {
			t.Errorf("%s: %+v", destination, op)
		}
	}
	if op := subscribe("a,b", "no-local:true\ndurable:true"); op.NoLocal || op.Durable != (broker.SubscriptionName{}) {
		t.Errorf("of queues it asks for what they do anyway: %+v", op)
	}
}

// A temporary queue that is a part has somebody who takes the replies.
func TestRepliesToAPartOfASubscription(t *testing.T) {
	send := "SEND\ndestination:/queue/q\nreply-to:/temp-queue/r\n\n^@"
	for frame, want := range map[string][]string{
		"SUBSCRIBE\nid:1\ndestination:a,/temp-queue/r\n\n^@" + send:                        {"sub 1 to queue mode 0", "send"},
		send + "SUBSCRIBE\nid:1\ndestination:/temp-queue/r,/temp-queue/r\n\n^@" + send:     {"sub /temp-queue/r to temp-queue mode 0", "send", "unsub /temp-queue/r", "sub 1 to queue mode 0", "send"},
		"SUBSCRIBE\nid:1\ndestination:a,/temp-queue/r\n\n^@UNSUBSCRIBE\nid:1\n\n^@" + send: {"sub 1 to queue mode 0", "unsub 1", "sub /temp-queue/r to temp-queue mode 0", "send"},
	} {
		ops := feed(t, newTestSession(frames.V12, Options{}), frame)
		got := kinds(ops)
		for i := range got {
			if op := ops[i].Subscribe; op != nil && op.Parts != nil {
				got[i] = "sub 1 to queue mode 0"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", frame, diff)
		}
	}
}

func TestBadPartsOfACompositeSubscribe(t *testing.T) {
	for text, words := range map[string][]string{
		"a,":                        {"empty", `"a,"`},
		"a,,b":                      {"empty"},
		"a,/nowhere/x":              {`"/nowhere/x"`, `in "a,/nowhere/x"`},
		"/topic/b.*.*.*.>,a":        {"5 levels", "4 are the limit"},
		"/temp-topic/b.*,a":         {`"/temp-topic/b.*"`, "temporary"},
		"a,/queue/":                 {"no name"},
		"a,b,c,d":                   {"4 parts", "3 are the limit", "limits.composite-parts"},
		strings.Repeat(",", 30_000): {"30001 parts"},
		"a,secret":                  {`"secret"`, "may not receive"},
	} {
		refused(t, newTestSession(frames.V12, Options{MaxParts: 3, MaxWildcardLevels: 4, Auth: secretKeeper{}}), "SUBSCRIBE\nid:1\ndestination:"+text+"\n\n^@", words...)
	}
}

type secretKeeper struct{ auth.Open }

func (secretKeeper) Authorize(_ auth.Identity, _ auth.Action, _, name string) error {
	if name == "secret" {
		return auth.ErrDenied
	}
	return nil
}
