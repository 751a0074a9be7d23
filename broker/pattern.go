package broker

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a set of destinations of one kind: those of one name, or those whose names, taken
// apart at the dots, have levels that fit.
type pattern struct {
	kind Kind
	text string
	name string // of the one destination, if there is no wildcard
	// levels is the canonical form of a name with wildcards: in a row of wildcards the single ones come
	// first, and there is one for any number at most.
	levels []patternLevel
	// What says how specific it is:
	literals, singles, manies int
}

// patternLevel is a level of a pattern: a wildcard, or the text of a literal one.
type patternLevel struct {
	kind levelKind
	text string
}

// levelKind orders levels, the most specific first.
type levelKind uint8

const (
	levelLiteral levelKind = iota
	levelSingle            // any one level
	levelMany              // any number of levels, none among them
)

// manyLevels is the canonical one of the wildcards for any number of levels.
const manyLevels = ">"

// The limits of patterns: the octets of a name, and the levels of one with wildcards.
const (
	maxPatternName   = 1024
	maxPatternLevels = 32
)

// isWildcard tells whether the pattern names more than one destination.
func (p *pattern) isWildcard() bool { return p.levels != nil }

// address is the one destination of a pattern without wildcards.
func (p *pattern) address() Address { return Address{Kind: p.kind, Name: p.name} }

// parsePattern reads /queue/NAME or /topic/NAME, where levels of the name may be wildcards.
func parsePattern(text string) (pattern, error) {
	p := pattern{text: text}
	name, isQueue := strings.CutPrefix(text, "/queue/")
	p.kind = Queue
	if !isQueue {
		p.kind = Topic
		var isTopic bool
		if name, isTopic = strings.CutPrefix(text, "/topic/"); !isTopic {
			return pattern{}, errors.New("must begin with /queue/ or /topic/")
		}
	}
	if err := checkName(name); err != nil {
		return pattern{}, err
	}
	levels := strings.Split(name, ".")
	for _, level := range levels {
		kind, err := kindOfLevel(level)
		if err != nil {
			return pattern{}, err
		}
		p.add(patternLevel{kind, level})
	}
	if p.singles+p.manies == 0 {
		p.name, p.levels = name, nil
		return p, nil
	}
	if len(p.levels) > maxPatternLevels {
		return pattern{}, fmt.Errorf("has more than %d levels, the most that one with wildcards may have", maxPatternLevels)
	}
	return p, nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("has no name after the kind")
	case len(name) > maxPatternName:
		return fmt.Errorf("has a name of more than %d octets", maxPatternName)
	case !utf8.ValidString(name):
		return errors.New("is not valid UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("has a control character")
	case strings.Contains(name, "%2F") || strings.Contains(name, "%2f"):
		return errors.New("has %2F, which names have as a plain slash") // sessions decode it
	}
	return nil
}

func kindOfLevel(level string) (levelKind, error) {
	switch level {
	case "*":
		return levelSingle, nil
	case manyLevels, "#", "**":
		return levelMany, nil
	}
	if strings.ContainsAny(level, "*>") {
		return 0, fmt.Errorf("has the level %s: a wildcard stands for whole levels, as in a.* and a.>", quote(level))
	}
	return levelLiteral, nil
}

// add appends a level, in canonical form: a.>.* is a.*.>, and a.>.> is a.>.
func (p *pattern) add(l patternLevel) {
	switch l.kind {
	case levelLiteral:
		p.literals++
	case levelSingle:
		p.singles++
		l.text = ""
		if n := len(p.levels); n > 0 && p.levels[n-1].kind == levelMany {
			p.levels[n-1] = l
			l = patternLevel{kind: levelMany}
		}
	case levelMany:
		if n := len(p.levels); n > 0 && p.levels[n-1].kind == levelMany {
			return
		}
		p.manies++
		l.text = ""
	}
	p.levels = append(p.levels, l)
}

// matches tells whether a name with these levels is in the set of a pattern with wildcards. Instead of a name it may be given the levels of
// a pattern in canonical form, all names of which are to be in the set. It takes at most as many steps as the product of both numbers of levels.
func (p *pattern) matches(name []string) bool {
	// A many takes as few levels as it can. When a level does not fit, only the last many has to take one more:
	// what an earlier one could take, the last can take too.
	i, last, taken := 0, -1, 0
	for j := 0; j < len(name); {
		switch {
		case i < len(p.levels) && p.levels[i].kind == levelMany:
			last, taken = i, j
			i++
		case i < len(p.levels) && p.levels[i].fits(name[j]):
			i++
			j++
		case last >= 0:
			taken++
			i, j = last+1, taken
		default:
			return false
		}
	}
	for i < len(p.levels) && p.levels[i].kind == levelMany {
		i++
	}
	return i == len(p.levels)
}

// matchesAll is matches of several names.
func (p *pattern) matchesAll(names [][]string) bool {
	for _, name := range names {
		if !p.matches(name) {
			return false
		}
	}
	return true
}

func (l patternLevel) fits(level string) bool {
	return l.kind == levelSingle && level != manyLevels || l.kind == levelLiteral && l.text == level
}

// compare orders patterns, the most specific first: one without wildcards; the one with more literal levels; the
// one with fewer wildcards for any number of levels; the one with more wildcards for one level; the one that is
// literal, or else single, at the first level, from the left, where they differ in that. Only
// patterns that are equal in all of this are tied.
func (p *pattern) compare(o *pattern) int {
	if p.isWildcard() != o.isWildcard() {
		if o.isWildcard() {
			return -1
		}
		return 1
	}
	c := cmp.Or(cmp.Compare(o.literals, p.literals), cmp.Compare(p.manies, o.manies), cmp.Compare(o.singles, p.singles))
	for i := 0; c == 0 && i < min(len(p.levels), len(o.levels)); i++ {
		c = cmp.Compare(p.levels[i].kind, o.levels[i].kind)
	}
	return c
}

// overlaps tells whether there is a name that both patterns, of one kind and with wildcards, match.
func (p *pattern) overlaps(o *pattern) bool {
	a, b := p.levels, o.levels
	if first, other := a[0], b[0]; first.kind == levelLiteral && other.kind == levelLiteral && first.text != other.text {
		return false
	}
	// shared[j] tells it of what is left of a from i on, and of b from j on.
	shared, below := make([]bool, len(b)+1), make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		shared, below = below, shared
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				shared[j] = true
			case i < len(a) && a[i].kind == levelMany:
				shared[j] = below[j] || j < len(b) && shared[j+1]
			case j < len(b) && b[j].kind == levelMany:
				shared[j] = shared[j+1] || i < len(a) && below[j]
			case i == len(a) || j == len(b):
				shared[j] = false
			default:
				shared[j] = below[j+1] && (a[i].kind == levelSingle || b[j].kind == levelSingle || a[i].text == b[j].text)
			}
		}
	}
	return shared[0]
}

// ParseDestination reads /queue/NAME or /topic/NAME, without wildcards.
func ParseDestination(text string) (Address, error) {
	p, err := parsePattern(text)
	if err == nil && p.isWildcard() {
		err = fmt.Errorf("has a wildcard")
	}
	if err != nil {
		return Address{}, fmt.Errorf("destination %s %w", quote(text), err)
	}
	return p.address(), nil
}
