package server

import (
	"strings"
	"testing"

	"footfall/broker"
	"footfall/frames"
)

func TestSubscribingByWildcards(t *testing.T) {
	for text, name := range map[string]string{
		"/topic/a.*": "a.*", "topic://>": ">", "jms.topic.#": "#", "/exchange/amq.topic/*.stock.#": "*.stock.#", "/topic/a%2Fb.**": "a/b.**",
		"/topic/a.b*": "a.b*", "/topic/" + strings.Repeat("*.", 31) + ">": strings.Repeat("*.", 31) + ">",
	} {
		for _, v := range []frames.Version{frames.V10, frames.V11, frames.V12} {
			s := newTestSession(v, Options{})
			ops := feed(t, s, "SUBSCRIBE\nid:1\ndestination:"+strings.ReplaceAll(text, ":", "\\c")+"\n\n^@")
			if v == frames.V10 {
				s = newTestSession(v, Options{})
				ops = feed(t, s, "SUBSCRIBE\nid:1\ndestination:"+text+"\n\n^@")
			}
			if len(ops) != 1 || ops[0].Subscribe == nil || ops[0].Subscribe.From != (broker.Address{Kind: broker.Topic, Name: name}) {
				t.Errorf("%s: %+v", text, ops)
			}
		}
	}
}

func TestBadWildcardsOfSubscribe(t *testing.T) {
	for text, words := range map[string][]string{
		"/temp-topic/a.*":                           {"temporary", `"/temp-topic/a.*"`},
		"/queue/" + strings.Repeat("a.", 3) + "*":   {"4 levels", "limits.wildcard-levels"},
		"/topic/" + strings.Repeat("a.", 3) + ">":   {"4 levels", "3 are the limit", "limits.wildcard-levels"},
		"/topic/" + strings.Repeat(">.", 400) + ">": {"401 levels"},
	} {
		refused(t, newTestSession(frames.V12, Options{MaxWildcardLevels: 3}), "SUBSCRIBE\nid:1\ndestination:"+text+"\n\n^@", words...)
	}
	for _, text := range []string{"/topic/a.*", "/topic/>", "/queue/#", "/queue/a.**.b", "/temp-queue/*"} {
		refused(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:"+text+"\n\n^@", "wildcard", text)
	}
}

// Each MESSAGE to a subscription by wildcards has the destination that its SEND had, as each version writes it.
func TestMessagesOfAPatternShowTheirDestination(t *testing.T) {
	for v, want := range map[frames.Version]string{
		frames.V10: "MESSAGE\ndestination:/topic/a:b\nmessage-id:0.0\nsubscription:s\n",
		frames.V11: "MESSAGE\ndestination:/topic/a\\cb\nmessage-id:0.0\nsubscription:s\n",
		frames.V12: "MESSAGE\ndestination:/topic/a\\cb\nmessage-id:0.0\nsubscription:s\nack:5-",
	} {
		r := newRendering(v, 5, nil, []byte("s"), broker.AckClient)
		got := string(r.appendMessage(nil, v, &broker.Output{Message: &broker.Message{HasTimestamp: true}, Destination: "/topic/a:b"}))
		if !strings.HasPrefix(got, want) || strings.Count(got, "destination") != 1 {
			t.Errorf("%v: %q", v, got)
		}
	}
}
