package auth

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of patterns: the octets of a name, and the levels of one with wildcards.
const (
	maxPatternName   = 1024
	maxPatternLevels = 32
)

// anything is the pattern of all destinations of all kinds.
const anything = ">"

// userVariable stands in a pattern for the name of the user whose permission is asked.
const userVariable = "{user}"

// kindNames are the kinds of destinations, as Authorizer.Authorize is given them.
var kindNames = [...]string{"queue", "topic", "dsub", "temp-queue", "temp-topic"}

// Pattern is a set of destinations: those of a kind whose names, taken apart at the dots, have levels that fit. Use
// ParsePattern to make one.
type Pattern struct {
	text   string
	kind   string // empty for all
	levels []level
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// level is a level of a name or of a set of names: a wildcard, or the text of a literal one.
type level struct {
	kind levelKind
	text string
}

type levelKind uint8

const (
	literal levelKind = iota
	single            // any one level
	many              // any number of levels, none among them
)

// ParsePattern reads /KIND/NAME, where levels of the name may be wildcards: * for one level, and >, # or ** for any number of
// them. KIND is queue, topic, dsub, temp-queue or temp-topic. > by itself is everything. {user} within a level
// stands for the name of the user.
func ParsePattern(text string) (Pattern, error) {
	if text == anything {
		return Pattern{text: text, levels: []level{{kind: many}}}, nil
	}
	kind, name, ok := cutKind(text)
	if !ok {
		return Pattern{}, fmt.Errorf("must begin with /%s/, or be %s", strings.Join(kindNames[:], "/, /"), anything)
	}
	if err := checkPatternName(name); err != nil {
		return Pattern{}, err
	}
	p := Pattern{text: text, kind: kind, levels: levelsOf(name)}
	wild := false
	for _, l := range p.levels {
		if l.kind == literal && strings.ContainsAny(l.text, "*>") {
			return Pattern{}, fmt.Errorf("has the level %q: a wildcard stands for whole levels, as in a.* and a.>", l.text)
		}
		wild = wild || l.kind != literal
	}
	if wild && len(p.levels) > maxPatternLevels {
		return Pattern{}, fmt.Errorf("has more than %d levels, the most that one with wildcards may have", maxPatternLevels)
	}
	return p, nil
}

// cutKind takes the kind off a destination.
func cutKind(text string) (kind, name string, ok bool) {
	for _, kind := range kindNames {
		if name, ok := strings.CutPrefix(text, "/"+kind+"/"); ok {
			return kind, name, true
		}
	}
	return "", "", false
}

func checkPatternName(name string) error {
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
	case strings.ContainsAny(strings.ReplaceAll(name, userVariable, ""), "{}"):
		return fmt.Errorf("has a brace, and %s is the only variable", userVariable)
	}
	return nil
}

// levelsOf takes a name apart. With a wildcard in it it is a set of names.
func levelsOf(name string) []level {
	parts := strings.Split(name, ".")
	levels := make([]level, len(parts))
	for i, part := range parts {
		switch part {
		case "*":
			levels[i].kind = single
		case ">", "#", "**":
			levels[i].kind = many
		default:
			levels[i].text = part
		}
	}
	return levels
}

// isPersonal tells whether a pattern depends on who asks.
func (p *Pattern) isPersonal() bool { return strings.Contains(p.text, userVariable) }

// of returns the pattern with the name of a user in the place of the variable. A name that has dots in it would be several levels to
// those who read it, and one level to the pattern.
func (p *Pattern) of(user string) Pattern {
	own := Pattern{text: p.text, kind: p.kind, levels: make([]level, len(p.levels))}
	for i, l := range p.levels {
		l.text = strings.ReplaceAll(l.text, userVariable, user)
		own.levels[i] = l
	}
	return own
}

// fits tells whether a pattern is about destinations of a kind.
func (p *Pattern) fits(kind string) bool { return p.kind == "" || p.kind == kind }
