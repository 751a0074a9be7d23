package broker

import (
	"cmp"
	"slices"
	"strings"
)

// What a SUBSCRIBE names of topics by wildcards, or as several, is a destination of its own, of kind Topic, which is fed by all topics that match: a SEND to one of them
// goes to the consumers of both. It exists as long as somebody takes from it. Its name is the canonical form of the
// pattern, or of several with commas between, which is no topic's name, as nothing is sent to such names.

// HasWildcard tells whether one of the levels of a name, which are parted by dots, stands for others: "*" for one level, and each of
// ">", "#" and "**" for any number of levels, none among them.
func HasWildcard(name string) bool {
	for level := range strings.SplitSeq(name, ".") {
		if kind, err := kindOfLevel(level); err == nil && kind != levelLiteral {
			return true
		}
	}
	return false
}

// partsMark is between the patterns in the name of a set of topics. No topic has one in its name.
const partsMark = ","

// Wildcard tells whether a stands for all topics that match it, or all queues.
func (a Address) Wildcard() bool {
	return a.Kind != Durable && !a.IsTemporary() && (HasWildcard(a.Name) || a.Kind == Topic && strings.Contains(a.Name, partsMark))
}

// patternOf reads a name as a pattern. Where a wildcard is not a whole level it is text as any other.
func patternOf(kind Kind, name string) pattern {
	p := pattern{kind: kind}
	for level := range strings.SplitSeq(name, ".") {
		kind, err := kindOfLevel(level)
		if err != nil {
			kind = levelLiteral
		}
		p.add(patternLevel{kind, level})
	}
	return p
}

// patterns are those in the name of an address.
func (a Address) patterns() []pattern {
	if a.Kind != Topic {
		return []pattern{patternOf(a.Kind, a.Name)}
	}
	var list []pattern
	for name := range strings.SplitSeq(a.Name, partsMark) {
		list = append(list, patternOf(Topic, name))
	}
	return list
}

// canonical is the same address in the one form that those have which name the same destinations.
func (a Address) canonical() Address {
	if !a.Wildcard() {
		return a
	}
	var names []string
	for _, p := range a.patterns() {
		names = append(names, p.canonicalName())
	}
	slices.Sort(names)
	a.Name = strings.Join(slices.Compact(names), partsMark)
	return a
}

func (p *pattern) canonicalName() string {
	var b strings.Builder
	for i, l := range p.levels {
		if i > 0 {
			b.WriteByte('.')
		}
		switch l.kind {
		case levelSingle:
			b.WriteByte('*')
		case levelMany:
			b.WriteString(manyLevels)
		default:
			b.WriteString(l.text)
		}
	}
	return b.String()
}

// file has d found by its address, and fed where that is a pattern.
func (c *core) file(d *destination) {
	c.dests[d.addr] = d
	if d.addr.Kind == Topic && d.addr.Wildcard() {
		d.patterns = d.addr.patterns()
		for i := range d.patterns {
			c.patterns.add(d.patterns[i].levels, d)
		}
	}
}

// unfile has it found no more.
func (c *core) unfile(d *destination) {
	delete(c.dests, d.addr)
	c.devirtualize(d)
	for i := range d.patterns {
		c.patterns.remove(d.patterns[i].levels, d)
	}
}

// feeds lists the destinations whose consumers get what is sent to a topic, of which d is the destination, or nil. The list is good until
// the next call.
func (c *core) feeds(to Address, d *destination) []*destination {
	c.fed = c.fed[:0]
	if d != nil && d.tapped() {
		c.fed = append(c.fed, d)
	}
	if !to.IsTemporary() {
		c.fed = c.patterns.match(to.Name, c.fed)
	}
	c.feeding++
	c.fed = slices.DeleteFunc(c.fed, func(d *destination) bool { // several of its patterns may match
		again := d.feeding == c.feeding
		d.feeding = c.feeding
		return again
	})
	return c.fed
}

// tells notes on m, which goes to consumers of patterns, which topic it was sent to.
func (m *Message) tells(to Address) {
	const prefix = "/topic/"
	name, usual := strings.CutPrefix(m.Destination, prefix)
	switch {
	case m.Destination == "":
		m.Destination = to.String()
	case !usual || name != to.Name:
		m.topic = to.Name
	}
}

// origin is the destination that m was sent to, which is in a backlog of d.
func (d *destination) origin(m *Message) Address {
	a := d.source()
	if !a.Wildcard() {
		return a
	}
	name, usual := strings.CutPrefix(m.Destination, "/topic/")
	switch {
	case m.topic != "":
		a.Name = m.topic
	case usual:
		a.Name = name
	}
	return a // else it was sent to the subscription itself
}

// retaining lists the topics that keep a message for those who subscribe to d, in the order in which these came.
func (c *core) retaining(d *destination) (list []*destination) {
	if d.patterns == nil {
		if d.retained != nil {
			list = append(list, d)
		}
		return list
	}
	for topic := range c.retainers {
		levels := strings.Split(topic.addr.Name, ".")
		if !topic.addr.IsTemporary() && slices.ContainsFunc(d.patterns, func(p pattern) bool { return p.matches(levels) }) {
			list = append(list, topic)
		}
	}
	slices.SortFunc(list, func(a, b *destination) int {
		return cmp.Or(cmp.Compare(a.retained.Timestamp, b.retained.Timestamp), cmp.Compare(a.addr.Name, b.addr.Name))
	})
	return list
}

// isSlow tells whether some subscriber of the topic at an address holds up its producers.
func (c *core) isSlow(a Address) bool {
	d := c.dests[a]
	if c.slowPatterns == 0 {
		return d != nil && d.slow > 0
	}
	return slices.ContainsFunc(c.feeds(a, d), func(d *destination) bool { return d.slow > 0 })
}

// textOf is the usual form of an address.
func (c *core) textOf(a Address) string {
	if d := c.dests[a]; d != nil {
		return d.text
	}
	return a.String()
}
