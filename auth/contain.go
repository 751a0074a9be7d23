package auth

import (
	"slices"
	"strings"
)

// A subscription with wildcards names a set of destinations, those to come included. It may be made if all of the set may be
// received from, and so the question is one of sets, not of texts: whether the set is within the union of those that
// are allowed, and shares nothing with those that are denied.

// meets tells whether there is a name in both of two sets.
func meets(a, b []level) bool {
	// shared[j] tells it of what is left of a from i on, and of b from j on.
	shared, below := make([]bool, len(b)+1), make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		shared, below = below, shared
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				shared[j] = true
			case i < len(a) && a[i].kind == many:
				shared[j] = below[j] || j < len(b) && shared[j+1]
			case j < len(b) && b[j].kind == many:
				shared[j] = shared[j+1] || i < len(a) && below[j]
			case i == len(a) || j == len(b):
				shared[j] = false
			default:
				shared[j] = below[j+1] && (a[i].kind == single || b[j].kind == single || a[i].text == b[j].text)
			}
		}
	}
	return shared[0]
}

// maxCoverSteps bounds the work for one question of covers. What is not decided within it is not covered.
const maxCoverSteps = 1024

// covers tells whether each name of the set asked is in one of the sets of union.
//
// The union is read as one automaton that takes a name level by level. It is enough to try names that have, where asked
// has a wildcard, levels that stand in no pattern: to those only wildcards of the union fit, and what these take is taken of any
// other level too.
func covers(union [][]level, asked []level) bool {
	c := cover{asked: asked, seen: map[string]bool{}}
	start := 0
	for _, p := range union {
		for _, l := range p {
			c.states = append(c.states, state{level: l})
		}
		c.states = append(c.states, state{end: true})
		c.begin = append(c.begin, start)
		start = len(c.states)
	}
	first := make(stateSet, (len(c.states)+63)/64)
	for _, at := range c.begin {
		c.enter(first, at)
	}
	return c.from(0, first)
}

// cover is one question of covers.
type cover struct {
	asked  []level
	states []state // those of all patterns, one after the other, each with an end
	begin  []int
	seen   map[string]bool // what was asked before, or is being asked
	steps  int
}

// state is what a pattern wants next: a level, or the end of the name.
type state struct {
	level level
	end   bool
}

type stateSet []uint64

func (s stateSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// enter adds a state, and those that are reached from it without a level.
func (c *cover) enter(set stateSet, at int) {
	for ; ; at++ {
		set[at/64] |= 1 << (at % 64)
		if c.states[at].end || c.states[at].level.kind != many {
			return
		}
	}
}

// step returns the states after one more level: one of that text, or, where fresh, one that stands in no pattern.
func (c *cover) step(set stateSet, text string, fresh bool) stateSet {
	next := make(stateSet, len(set))
	for i := range c.states {
		if !set.has(i) || c.states[i].end {
			continue
		}
		switch l := c.states[i].level; {
		case l.kind == many:
			c.enter(next, i)
		case l.kind == single || !fresh && l.text == text:
			c.enter(next, i+1)
		}
	}
	return next
}

// from tells whether all names that begin as was read are taken, when what is left of asked is from i on.
func (c *cover) from(i int, set stateSet) bool {
	if c.steps++; c.steps > maxCoverSteps {
		return false
	}
	if i == len(c.asked) {
		return c.accepts(set)
	}
	key := set.key(i)
	if c.seen[key] {
		return true // a no would have ended all of it
	}
	c.seen[key] = true
	switch l := c.asked[i]; l.kind {
	case many:
		return c.from(i+1, set) && c.from(i, c.step(set, "", true))
	case single:
		return c.from(i+1, c.step(set, "", true))
	default:
		return c.from(i+1, c.step(set, l.text, false))
	}
}

func (c *cover) accepts(set stateSet) bool {
	for i, s := range c.states {
		if s.end && set.has(i) {
			return true
		}
	}
	return false
}

func (s stateSet) key(at int) string {
	var b strings.Builder
	for _, word := range append(slices.Clip(s), uint64(at)) {
		for shift := 0; shift < 64; shift += 8 {
			b.WriteByte(byte(word >> shift))
		}
	}
	return b.String()
}
