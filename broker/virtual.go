package broker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A virtual topic is one of which queues get copies, as with ActiveMQ: a queue whose name is that of the topic, with levels before it
// that say whose it is. So the consumers of a queue share what is sent to a topic, and it waits for them.

// VirtualTopic tells the topics of which queues get copies, and the names of these queues.
type VirtualTopic struct {
	prefix []patternLevel // of the name of a queue, one level each
	topics pattern        // the rest of it, which is the topic
}

// The marks around the topic in the text of a VirtualTopic.
const (
	topicBegins = ".{"
	topicEnds   = "}"
)

// ParseVirtualTopic reads a text such as Consumer.*.{VirtualTopic.>}: the pattern of the names of queues, in which the part that is the name of the topic
// is in braces. Before it a wildcard stands for one level only, so that a name can be read in one way.
func ParseVirtualTopic(text string) (VirtualTopic, error) {
	before, rest, ok := strings.Cut(text, topicBegins)
	topics, end := strings.CutSuffix(rest, topicEnds)
	if !ok || !end || strings.ContainsAny(before+topics, "{}") {
		return VirtualTopic{}, errors.New("must have the part that is the topic in braces at its end, as in Consumer.*.{VirtualTopic.>}")
	}
	var v VirtualTopic
	for i, part := range []string{before, topics} {
		p, err := parsePattern("/queue/" + part)
		if err != nil {
			return VirtualTopic{}, fmt.Errorf("has the part %q, which %w", part, err)
		}
		if strings.Contains(part, partsMark) {
			return VirtualTopic{}, fmt.Errorf("has the part %q, which has a comma", part)
		}
		if i == 0 && p.manies > 0 {
			return VirtualTopic{}, fmt.Errorf("has the part %q before the topic, where a wildcard stands for one level only", part)
		}
	}
	v.prefix, v.topics = patternOf(Queue, before).levels, patternOf(Topic, topics)
	return v, nil
}

// topicOf returns the topic of which a queue of that name gets copies.
func (v *VirtualTopic) topicOf(queue string) (topic string, ok bool) {
	rest := queue
	for _, want := range v.prefix {
		var level string
		if level, rest, ok = strings.Cut(rest, "."); !ok || !want.fits(level) {
			return "", false
		}
	}
	return rest, rest != "" && v.topics.matches(strings.Split(rest, "."))
}

// topicsOf lists the topics of which the queue d gets copies.
func (c *core) topicsOf(d *destination) (names []string) {
	if d.addr.Kind != Queue || d.addr.IsTemporary() {
		return nil
	}
	for i := range c.opt.VirtualTopics {
		if name, ok := c.opt.VirtualTopics[i].topicOf(d.addr.Name); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// virtualize has the queue d get its copies.
func (c *core) virtualize(d *destination) {
	for _, name := range c.topicsOf(d) {
		c.virtual[name] = append(c.virtual[name], d)
	}
}

// devirtualize has it get no more.
func (c *core) devirtualize(d *destination) {
	for _, name := range c.topicsOf(d) {
		if left := slices.DeleteFunc(c.virtual[name], func(o *destination) bool { return o == d }); len(left) > 0 {
			c.virtual[name] = left
		} else {
			delete(c.virtual, name)
		}
	}
}

// queuesOf lists the queues that get copies of what is sent to an address.
func (c *core) queuesOf(a Address) []*destination {
	if len(c.virtual) == 0 || a.Kind != Topic || a.IsTemporary() {
		return nil
	}
	return c.virtual[a.Name]
}

// refused tells whether d has consumers and none of them wants m, each for its selector.
func (c *core) refused(d *destination, m *Message) bool {
	q := d.queue
	if !c.opt.VirtualSelectors || len(q.consumers) == 0 || q.plain() > 0 {
		return false
	}
	c.look(q, &entry{msg: m})
	wanted := false
	q.index.Match(&c.probe, func(*lens) { wanted = true })
	return !wanted
}

// copyInto gives the queue d a copy of m, as if it had been sent there, with the times that count there.
func (c *core) copyInto(d *destination, m *Message) {
	own := m.another()
	own.Destination, own.topic, own.Retain = "", "", RetainNone
	if c.refused(d, own) {
		return
	}
	d.received++
	p := c.policyOf(d.addr, d)
	if p.override != nil {
		own.DeliverAt, own.ScheduledID, own.ChosenID = 0, "", false
		if err := c.setTimes(d.addr, p, own); err != nil {
			c.opt.Log.Warn("a copy of a message is due at once", "destination", d.text, "reason", err.Message)
		}
	} else {
		p.limit(own)
		own.lives(c.ms)
	}
	switch {
	case own.expired(max(c.ms, own.DeliverAt)):
		c.expired(d, own)
	case own.DeliverAt > c.ms:
		own.ID = MessageID{Shard: uint8(d.shard), Seq: uint64(c.next(d.shard))} // it says where it waits
		c.wait(d, own)
	default:
		c.enqueue(d.queue, own, c.next(d.shard))
	}
}
