package server

import (
	"strings"
	"testing"

	"footfall/broker"
)

func defaultDestinations() *destinations {
	o := Options{}.withDefaults()
	return newDestinations(o.QueuePrefixes, o.TopicPrefixes)
}

func TestFormsOfDestinations(t *testing.T) {
	d := defaultDestinations()
	long := strings.Repeat("n", maxName)
	for text, want := range map[string]broker.Address{
		"/queue/a":                {Kind: broker.Queue, Name: "a"},
		"a":                       {Kind: broker.Queue, Name: "a"},
		"/amq/queue/a":            {Kind: broker.Queue, Name: "a"},
		"queue://a":               {Kind: broker.Queue, Name: "a"},
		"jms.queue.a":             {Kind: broker.Queue, Name: "a"},
		"/topic/a":                {Kind: broker.Topic, Name: "a"},
		"topic://a":               {Kind: broker.Topic, Name: "a"},
		"jms.topic.a":             {Kind: broker.Topic, Name: "a"},
		"/exchange/amq.topic/a":   {Kind: broker.Topic, Name: "a"},
		"/queue/a/b":              {Kind: broker.Queue, Name: "a/b"},
		"/queue/a%2Fb%2f%41":      {Kind: broker.Queue, Name: "a/b/%41"},
		"/queue//queue/a":         {Kind: broker.Queue, Name: "/queue/a"},
		"/queue/..":               {Kind: broker.Queue, Name: ".."},
		"/queue/ a:b\\ ":          {Kind: broker.Queue, Name: " a:b\\ "},
		"/queue/\u200b\U0001F600": {Kind: broker.Queue, Name: "\u200b\U0001F600"},
		"a/b":                     {Kind: broker.Queue, Name: "a/b"},
		"jms.queue":               {Kind: broker.Queue, Name: "jms.queue"},
		"/queue/" + long:          {Kind: broker.Queue, Name: long},
		"/queue/temp.h.s.x":       {Kind: broker.Queue, Name: "temp.h.s.x"},
	} {
		if got, err := d.parse(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, not %v", text, got, err, want)
		}
	}
}

func TestBadDestinationsAreNamed(t *testing.T) {
	d := defaultDestinations()
	for text, words := range map[string][]string{
		"":                                    {"empty"},
		"/":                                   {`"/"`, "/queue/NAME", "/topic/NAME"},
		"/x":                                  {`"/x"`, "/queue/NAME"},
		"/Queue/x":                            {`"/Queue/x"`},
		"/nowhere/x":                          {`"/nowhere/x"`},
		"/queue/":                             {"no name"},
		"topic://":                            {"no name"},
		"/queue/a\x01b":                       {`\x01`, "control"},
		"/queue/a\nb":                         {`\n`, "control"},
		"/topic/\x7f":                         {"control"},
		"/topic/\u0085":                       {"control"},
		"/queue/\xff\xfe":                     {`\xff`, "UTF-8"},
		"/queue/" + strings.Repeat("n", 1025): {"1025", "1024"},
		"/dsub/":                              {"no name"},
		"a,b":                                 {"comma", "composite"},
	} {
		_, err := d.parse(text)
		if err == nil {
			t.Errorf("%q is accepted", text)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Message+err.Detail, w) {
				t.Errorf("%q: %q, %q does not say %q", text, err.Message, err.Detail, w)
			}
		}
	}
}

func TestPrefixesAreASettingAndTheLongestCounts(t *testing.T) {
	d := newDestinations([]string{"/q/", "/q/x/"}, []string{"/t/", "/q/topic/"})
	for text, want := range map[string]broker.Address{
		"/q/a":       {Kind: broker.Queue, Name: "a"},
		"/q/x/a":     {Kind: broker.Queue, Name: "a"},
		"/q/topic/a": {Kind: broker.Topic, Name: "a"},
		"/t/a":       {Kind: broker.Topic, Name: "a"},
	} {
		if got, err := d.parse(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, not %v", text, got, err, want)
		}
	}
	if a, err := d.parse("/queue/a"); err == nil {
		t.Errorf("a prefix that is not set is accepted: %v", a)
	}
}
