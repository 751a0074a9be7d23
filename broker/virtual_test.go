package broker

import (
	"strings"
	"testing"
)

func TestVirtualTopicsAreRead(t *testing.T) {
	for text, names := range map[string]map[string]string{
		"Consumer.*.{VirtualTopic.>}": {
			"Consumer.A.VirtualTopic.t": "VirtualTopic.t", "Consumer.A.VirtualTopic.t.u": "VirtualTopic.t.u", "Consumer.A.VirtualTopic": "VirtualTopic",
			"Consumer.A.B.VirtualTopic.t": "", "Consumer.A": "", "Consumer.A.": "", "Consumer": "", "VirtualTopic.t": "", "consumer.A.VirtualTopic.t": "",
		},
		"q.{>}":       {"q.a": "a", "q.a.b": "a.b", "q": "", "q.": "", "r.a": ""},
		"*.*.{t.*.x}": {"a.b.t.c.x": "t.c.x", "a.b.t.x": "", "a.t.c.x": ""},
		"to.{t}":      {"to.t": "t", "to.u": ""},
	} {
		v, err := ParseVirtualTopic(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for queue, want := range names {
			if got, ok := v.topicOf(queue); ok != (want != "") || ok && got != want {
				t.Errorf("%s: %s gets copies of %q, not of %q", text, queue, got, want)
			}
		}
	}
}

func TestBadVirtualTopicsAreNamed(t *testing.T) {
	for text, word := range map[string]string{
		"":                         "braces",
		"Consumer.*":               "braces",
		"Consumer.*.{a":            "braces",
		"Consumer.*.{a}.b":         "braces",
		"a.{b}.{c}":                "braces",
		"{VirtualTopic.>}":         "braces",
		"Consumer.>.{VirtualTopic": "braces",
		"Consumer.>.{a}":           "one level",
		"Consumer.x*.{a}":          "x*",
		"Consumer.*.{}":            "no name",
		"a,b.{c}":                  "comma",
	} {
		if _, err := ParseVirtualTopic(text); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v does not say %q", text, err, word)
		}
	}
}

func FuzzParseVirtualTopic(f *testing.F) {
	f.Add("Consumer.*.{VirtualTopic.>}", "Consumer.A.VirtualTopic.t")
	f.Fuzz(func(t *testing.T, text, queue string) {
		v, err := ParseVirtualTopic(text)
		if err != nil {
			return
		}
		if topic, ok := v.topicOf(queue); ok && !strings.HasSuffix(queue, "."+topic) {
			t.Errorf("%q: the queue %q gets copies of %q", text, queue, topic)
		}
	})
}
