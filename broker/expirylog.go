package broker

import (
	"maps"
	"slices"
	"strings"
	"time"

	"footfall/store"
)

// expiryLog keeps the log of what expires short, where policies ask for one: so many lines a second, and of what is
// beyond that, how many there were at each destination.
type expiryLog struct {
	until time.Time // the end of the second that began with the first line
	lines int
	more  map[*destination]int // beyond the lines
	rest  int                  // of destinations that more has no room for
}

// expiryLines bounds the lines of single messages in a second, and then those of destinations.
const expiryLines = 10

// reserve takes a line for a message that expires at d, or counts the message.
func (c *core) reserve(d *destination) bool {
	l := &c.expiryLog
	if l.until.IsZero() {
		l.until = c.now.Add(time.Second)
		c.timers.add(l.until, c.sumUpExpiries)
	}
	if l.lines < expiryLines {
		l.lines++
		return true
	}
	if _, known := l.more[d]; !known && len(l.more) >= expiryLines {
		l.rest++
		return false
	}
	if l.more == nil {
		l.more = map[*destination]int{}
	}
	l.more[d]++
	return false
}

// sumUpExpiries tells at the end of a second what had no line of its own.
func (c *core) sumUpExpiries() {
	l := c.expiryLog
	c.expiryLog = expiryLog{}
	byText := func(a, b *destination) int { return strings.Compare(a.text, b.text) }
	for _, d := range slices.SortedFunc(maps.Keys(l.more), byText) {
		c.opt.Log.Info("more messages expired", "destination", d.text, "count", l.more[d])
	}
	if l.rest > 0 {
		c.opt.Log.Info("more messages expired", "destination", "others", "count", l.rest)
	}
}

// logExpired tells of a message that expired, with how long ago it was taken, on the line that was reserved for it.
func (c *core) logExpired(d *destination, m *Message) {
	age := time.Duration(c.ms-m.Timestamp) * time.Millisecond
	c.opt.Log.Info("message expired", "destination", d.text, "message-id", m.ID.String(), "age", age)
}

// readExpired reads a message behind the window, of which only the place is known, so that it can be told of. It
// expires when that is done, unless it leaves its place before.
func (c *core) readExpired(t *timed, key store.RefKey) {
	c.reading[key] = t
	scan := store.RefScan{From: key, MaxCount: 1, MaxBytes: 1}
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		scan.After = after
		read, _, err := readRefs(s, scan, c.zones)
		return func() {
			if c.reading[key] != t {
				return
			}
			delete(c.reading, key)
			if t.q.covers(place{lane: 9 - key.Priority, seq: key.Seq}) || t.q.flight.has(key.Seq) {
				c.expirePlace(t)
				return
			}
			if len(read) == 1 && read[0].seq == key.Seq {
				c.logExpired(t.q.dest, read[0].msg)
			}
			c.dropBehind(t, key)
		}, err
	})
}
