package server

import (
	"strings"
	"unicode/utf8"

	"footfall/broker"
)

// maxName is the length of the longest name of a destination, in octets.
const maxName = 1024

// prefix is one of the texts that a destination may begin with, and what it means.
type prefix struct {
	text string
	kind broker.Kind
}

// destinations reads destination texts. It is shared by all sessions and never changes.
type destinations struct {
	prefixes []prefix
	accepted string // the forms, for errors
}

func newDestinations(queues, topics []string) *destinations {
	d := &destinations{}
	for _, text := range queues {
		d.prefixes = append(d.prefixes, prefix{text, broker.Queue})
	}
	for _, text := range topics {
		d.prefixes = append(d.prefixes, prefix{text, broker.Topic})
	}
	var forms []string
	for _, p := range d.prefixes {
		forms = append(forms, p.text+"NAME")
	}
	d.accepted = strings.Join(append(forms, "NAME", durablePrefix+"NAME", "/temp-queue/NAME", "/temp-topic/NAME"), ", ")
	return d
}

// durablePrefix is that of durable subscriptions as addresses.
const durablePrefix = "/dsub/"

// parse reads a destination text, decoded. The address has the name with %2F decoded. Wildcards
// are for the caller to judge.
func (d *destinations) parse(text string) (broker.Address, *broker.Error) {
	if text == "" {
		return broker.Address{}, refusal(broker.KindDestination, "destination is empty")
	}
	if name, ok := strings.CutPrefix(text, durablePrefix); ok {
		return d.named(text, broker.Durable, name)
	}
	kind, name, ok := d.cut(text)
	if !ok {
		return broker.Address{}, &broker.Error{
			Kind:    broker.KindDestination,
			Message: "destination " + quote(text) + " is of no known form",
			Detail:  "The forms are " + d.accepted + ".",
		}
	}
	return d.named(text, kind, name)
}

// cut takes the prefix away. The longest that fits counts; a text without one is the bare name of a
// queue, unless it begins with a slash.
func (d *destinations) cut(text string) (kind broker.Kind, name string, ok bool) {
	longest := -1
	for _, p := range d.prefixes {
		if len(p.text) > longest && strings.HasPrefix(text, p.text) {
			longest, kind = len(p.text), p.kind
		}
	}
	switch {
	case longest >= 0:
		return kind, text[longest:], true
	case text[0] == '/':
		return 0, "", false
	}
	return broker.Queue, text, true
}

// named makes an address of a name, of any form. No name has a comma: an address becomes a text again as the reply-to of a
// temporary destination, and who answers would send to several.
func (d *destinations) named(text string, kind broker.Kind, name string) (broker.Address, *broker.Error) {
	if strings.Contains(name, "%") {
		name = strings.NewReplacer("%2F", "/", "%2f", "/").Replace(name)
	}
	switch {
	case name == "":
		return broker.Address{}, refusal(broker.KindDestination, "destination %s has no name", quote(text))
	case isComposite(name):
		return broker.Address{}, refusal(broker.KindDestination, "destination %s has a comma, which parts a composite destination and is in no name", quote(text))
	case len(name) > maxName:
		return broker.Address{}, refusal(broker.KindDestination, "destination %s has a name of %d octets, and %d are the limit", quote(text), len(name), maxName)
	case !utf8.ValidString(name):
		return broker.Address{}, refusal(broker.KindDestination, "destination %s is not valid UTF-8", quote(text))
	case strings.ContainsFunc(name, isControl):
		return broker.Address{}, refusal(broker.KindDestination, "destination %s has a control character", quote(text))
	}
	return broker.Address{Kind: kind, Name: name}, nil
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }
