package server

import (
	"testing"

	"footfall/broker"
	"footfall/frames"
)

func TestBrowsersReadTheirHeaders(t *testing.T) {
	q := broker.Address{Kind: broker.Queue, Name: "a"}
	for headers, want := range map[string]*broker.BrowseOp{
		"":                            nil,
		"browser:false\nfrom-seq:x\n": nil,
		"browser:true\n":              {},
		"browser:TRUE\nbrowser-end:true\nfrom-seq:0\n":                   {},
		"browser:1\nbrowser-end:false\n":                                 {Follow: true},
		"browser:true\nfrom-seq:18446744073709551615\ninclude-seq:seq\n": {From: 1<<64 - 1},
		"browser:true\nfrom-seq:-1\n":                                    {Tail: true},
		"browser:true\nfrom-seq:\nbrowser-end:\ninclude-seq:\n":          {},
	} {
		got := feed(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:1\ndestination:/queue/a\n"+headers+"\n^@")
		compare(t, got, []broker.Op{{Kind: broker.OpSubscribe, Subscribe: &broker.SubscribeOp{ID: "1", Text: "/queue/a", From: q, Browse: want}}})
	}
	for headers, words := range map[string][]string{
		"destination:/queue/a\nbrowser:perhaps\n":                        {"browser", `"perhaps"`},
		"destination:/queue/a\nbrowser:true\nbrowser-end:no\n":           {"browser-end", `"no"`},
		"destination:/queue/a\nbrowser:true\nfrom-seq:-2\n":              {"from-seq", `"-2"`},
		"destination:/queue/a\nbrowser:true\ninclude-seq:ack\n":          {"include-seq", `"ack"`},
		"destination:/topic/a\nbrowser:true\ndurable:true\n":             {"browser", "/dsub/"},
		"destination:/queue/a\nbrowser:true\ninclude-seq:subscription\n": {"include-seq", `"subscription"`},
	} {
		refused(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:1\n"+headers+"\n^@", words...)
	}
}

func TestABrowserIsShownNumbersAndAnEnd(t *testing.T) {
	for _, v := range []frames.Version{frames.V10, frames.V11, frames.V12} {
		r := newRendering(v, 5, []byte("/queue/a"), []byte("s"), broker.AckClient)
		r.seq = "at"
		ack := ""
		if v == frames.V12 {
			ack = "ack:5-2-1\n"
		}
		m := &broker.Message{ID: broker.MessageID{Shard: 1, Seq: 40}, HasTimestamp: true}
		got := string(r.appendMessage(nil, v, &broker.Output{Message: m, SubNumber: 2, Number: 1, Seq: 70}))
		if want := "MESSAGE\ndestination:/queue/a\nmessage-id:1.14\nsubscription:s\n" + ack + "at:70\n"; got != want {
			t.Errorf("%v: a message is %q, not %q", v, got, want)
		}
		got = string(r.appendBrowserEnd(nil, &broker.Output{SubNumber: 2}))
		if want := "MESSAGE\ndestination:/queue/a\nmessage-id:browser-end.2\nsubscription:s\nbrowser:end\n\n\x00"; got != want {
			t.Errorf("%v: the end is %q, not %q", v, got, want)
		}
	}
}
