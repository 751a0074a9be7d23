package broker

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// destinationLog keeps the log of what happens to single messages short: so many lines a second, and of what is
// beyond that, how many there were at each destination.
type destinationLog struct {
	until time.Time // the end of the second that began with the first line
	lines int
	more  map[*destination]int // beyond the lines
	rest  int                  // of destinations that more has no room for
}

// destinationLines bounds the lines of single messages in a second, and then those of destinations.
const destinationLines = 10

// reserve takes a line for a message at d, or counts the message. Of those there is told that there were more of what.
func (l *destinationLog) reserve(c *core, d *destination, what string) bool {
	if l.until.IsZero() {
		l.until = c.now.Add(time.Second)
		c.timers.add(l.until, func() { l.sumUp(c, what) })
	}
	if l.lines < destinationLines {
		l.lines++
		return true
	}
	if _, known := l.more[d]; !known && len(l.more) >= destinationLines {
		l.rest++
		return false
	}
	if l.more == nil {
		l.more = map[*destination]int{}
	}
	l.more[d]++
	return false
}

// sumUp tells at the end of a second what had no line of its own.
func (l *destinationLog) sumUp(c *core, what string) {
	was := *l
	*l = destinationLog{}
	byText := func(a, b *destination) int { return strings.Compare(a.text, b.text) }
	for _, d := range slices.SortedFunc(maps.Keys(was.more), byText) {
		c.opt.Log.Info(what, "destination", d.text, "count", was.more[d])
	}
	if was.rest > 0 {
		c.opt.Log.Info(what, "destination", "others", "count", was.rest)
	}
}
