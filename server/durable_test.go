package server

import (
	"strings"
	"testing"
	"testing/synctest"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// durableSession is a session of a client-id and a user, either of which may be empty.
func durableSession(v frames.Version, clientID, user string) *session {
	s := newTestSession(v, Options{})
	s.clientID, s.identity = clientID, auth.Identity{User: user}
	return s
}

func TestEachDialectNamesADurableSubscription(t *testing.T) {
	for _, c := range []struct {
		client, user, headers string
		want                  broker.SubscriptionName
	}{
		{"", "", "id:n\ndurable:true\n", broker.SubscriptionName{Name: "n"}},
		{"", "ann", "id:n\ndurable:true\nauto-delete:false\n", broker.SubscriptionName{Owner: "ann", Name: "n"}},
		{"", "ann", "id:n\npersistent:TRUE\n", broker.SubscriptionName{Owner: "ann", Name: "n"}},
		{"c", "ann", "id:1\nactivemq.subscriptionName:n\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		{"c", "ann", "id:1\nactivemq.subcriptionName:n\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		{"c", "", "id:1\ndurable-subscription-name:n\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		{"c", "", "id:1\ndurable-subscriber-name:n\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		{"c", "", "id:1\nactivemq.subscriptionName:later\ndurable-subscriber-name:n\ndurable:true\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		{"c", "", "id:1\nactivemq.subscriptionName:\ndurable-subscription-name:n\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		{"c", "", "id:1\nshared:true\nsubscription-name:n\ndurable:true\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		// stompjms
		{"c", "", "id:c\\cn\npersistent:true\n", broker.SubscriptionName{Owner: "c", Name: "n"}},
		{"", "", "id:null\\cn\npersistent:true\n", broker.SubscriptionName{Name: "n"}},
		{"c", "", "id:d\\cn\npersistent:true\n", broker.SubscriptionName{Owner: "c", Name: "d:n"}},
		{"c", "", "id:c\\c\npersistent:true\n", broker.SubscriptionName{Owner: "c", Name: "c:"}},
	} {
		for _, v := range []frames.Version{frames.V11, frames.V12} {
			s := durableSession(v, c.client, c.user)
			got := feed(t, s, "SUBSCRIBE\ndestination:/topic/a\n"+c.headers+"\n^@")
			if len(got) != 1 || got[0].Kind != broker.OpSubscribe || got[0].Subscribe.Durable != c.want {
				t.Errorf("SUBSCRIBE with %q: %+v, not %+v", c.headers, got, c.want)
			}
			// The same headers on UNSUBSCRIBE delete it, with a live subscription and without.
			for _, s := range []*session{s, durableSession(v, c.client, c.user)} {
				got := feed(t, s, "UNSUBSCRIBE\n"+c.headers+"\n^@")
				if len(got) != 1 || got[0].Kind != broker.OpUnsubscribe || got[0].Durable != c.want {
					t.Errorf("UNSUBSCRIBE with %q: %+v, not %+v", c.headers, got, c.want)
				}
			}
		}
	}
}

func TestWhatIsNoDurableSubscription(t *testing.T) {
	for _, c := range []struct{ destination, headers string }{
		{"/topic/a", "id:1\n"},
		{"/topic/a", "id:1\ndurable:false\npersistent:0\n"},
		{"/topic/a", "id:1\nactivemq.subscriptionName:\n"},
		{"/queue/a", "id:1\ndurable:true\nactivemq.subscriptionName:n\nno-local:true\nshared:true\nsubscription-name:n\n"},
	} {
		got := feed(t, durableSession(frames.V12, "c", ""), "SUBSCRIBE\ndestination:"+c.destination+"\n"+c.headers+"\n^@")
		want := broker.SubscribeOp{ID: "1", Text: c.destination, From: broker.Address{Kind: broker.Topic, Name: "a"}}
		if strings.HasPrefix(c.destination, "/queue") {
			want.From.Kind = broker.Queue
		}
		compare(t, got, []broker.Op{{Kind: broker.OpSubscribe, Subscribe: &want}})
	}
	// UNSUBSCRIBE without these headers keeps the subscription.
	s := durableSession(frames.V12, "", "")
	feed(t, s, "SUBSCRIBE\ndestination:/topic/a\nid:n\ndurable:true\n\n^@")
	compare(t, feed(t, s, "UNSUBSCRIBE\nid:n\n\n^@"), []broker.Op{{Kind: broker.OpUnsubscribe, Sub: "n"}})
}

func TestTopicOptions(t *testing.T) {
	for headers, want := range map[string]broker.SubscribeOp{
		"no-local:True\n":                          {NoLocal: true},
		"activemq.noLocal:1\nno-local:false\n":     {NoLocal: true},
		"shared:true\nsubscription-name:n\n":       {Shared: broker.SubscriptionName{Owner: "c", Name: "n"}},
		"shared:false\nsubscription-name:n\n":      {},
		"shared:true\ndurable-subscriber-name:n\n": {Durable: broker.SubscriptionName{Owner: "c", Name: "n"}},
	} {
		want.ID, want.Text, want.From = "1", "/topic/a", broker.Address{Kind: broker.Topic, Name: "a"}
		got := feed(t, durableSession(frames.V12, "c", ""), "SUBSCRIBE\nid:1\ndestination:/topic/a\n"+headers+"\n^@")
		compare(t, got, []broker.Op{{Kind: broker.OpSubscribe, Subscribe: &want}})
	}
	long := strings.Repeat("n", maxID+1)
	for headers, words := range map[string][]string{
		"id:1\nno-local:perhaps\n":                       {"no-local", `"perhaps"`},
		"id:1\ndurable:yes\n":                            {"durable", `"yes"`},
		"durable:true\n":                                 {"durable", "no id"},
		"id:1\nshared:true\n":                            {"shared", "subscription-name"},
		"id:1\nshared:x\n":                               {"shared", `"x"`},
		"id:1\ndurable-subscription-name:" + long + "\n": {"durable-subscription-name", "1025", "1024"},
	} {
		refused(t, durableSession(frames.V12, "c", ""), "SUBSCRIBE\ndestination:/topic/a\n"+headers+"\n^@", words...)
	}
}

func TestTheAddressOfADurableSubscriptionIsItsOwners(t *testing.T) {
	for _, c := range []struct{ client, user, text, want string }{
		{"c", "ann", "/dsub/n", "c:n"},
		{"", "ann", "/dsub/n", "ann:n"},
		{"", "", "/dsub/n", ":n"},
		{"c", "", "/dsub/c\\cn", "c:n"},
		{"c", "", "/dsub/d\\cn", "d:n"}, // of another client-id; the broker asks for the same user
		{"a:b%", "", "/dsub/n", "a%3Ab%25:n"},
		{"c", "", "/dsub/a.>", "c:a.>"},
	} {
		want := broker.Address{Kind: broker.Durable, Name: c.want}
		s := durableSession(frames.V12, c.client, c.user)
		got := feed(t, s, "SEND\ndestination:"+c.text+"\n\n^@SUBSCRIBE\nid:1\ndestination:"+c.text+"\n\n^@")
		if len(got) != 2 || got[0].To != want || got[1].Subscribe.From != want {
			t.Errorf("%s of %q, %q: %+v, not %v", c.text, c.client, c.user, got, want)
		}
	}
}

func TestAClientIDIsOneConnectionsWhereThatIsTheRule(t *testing.T) {
	connect := func(id string) string { return "CONNECT\naccept-version:1.2\nclient-id:" + id + "\n\n\x00" }
	inBubble(t, Options{}, Transport{RestrictClientIDs: true}, func(w *world) {
		first := w.listener.dial()
		w.say(first, connect("c"), "CONNECTED\n")
		w.say(w.listener.dial(), connect("d"), "CONNECTED\n")
		w.say(w.listener.dial(), connect12, "CONNECTED\n")
		w.say(w.listener.dial(), connect12, "CONNECTED\n")
		second := w.listener.dial()
		if _, err := second.Write([]byte(connect("c"))); err != nil {
			t.Fatal(err)
		}
		w.wantEnd(second, `client-id "c"`)
		// What was refused takes nothing away, and the end of the first gives the id back.
		third := w.listener.dial()
		if _, err := third.Write([]byte(connect("c"))); err != nil {
			t.Fatal(err)
		}
		w.wantEnd(third, `client-id "c"`)
		_ = first.Close()
		synctest.Wait()
		w.say(w.listener.dial(), connect("c"), "CONNECTED\n")
	})
	inBubble(t, Options{}, Transport{}, func(w *world) {
		for range 2 {
			w.say(w.listener.dial(), connect("c"), "CONNECTED\n")
		}
	})
}
