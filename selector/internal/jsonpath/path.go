package jsonpath

import (
	"math"
	"strconv"
	"strings"
)

// Path leads to a value.
type Path struct {
	steps []step
}

// step is to a member of an object, or of an array.
type step struct {
	name  string
	index int // -1 for a name
}

// Parse reads a path. Errors are of type *[Error].
func Parse(text string) (*Path, error) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return nil, &Error{0, "expected $ at the begin of the path"}
	}
	p := &Path{}
	for rest != "" {
		s, n := scanStep(rest)
		if n == 0 {
			return nil, &Error{len(text) - len(rest), "expected .name, ['name'] or [number]"}
		}
		p.steps = append(p.steps, s)
		rest = rest[n:]
	}
	return p, nil
}

// scanStep returns the step at the begin of s, and its length: 0 if there is none.
func scanStep(s string) (step, int) {
	if s[0] == '.' {
		end := 1
		for end < len(s) && s[end] != '.' && s[end] != '[' && strings.IndexByte(" \t\"'*?@()]", s[end]) < 0 {
			end++
		}
		if end == 1 {
			return step{}, 0
		}
		return step{name: s[1:end], index: -1}, end
	}
	if s[0] != '[' || len(s) < 3 {
		return step{}, 0
	}
	if quote := s[1]; quote == '\'' || quote == '"' {
		end := strings.IndexByte(s[2:], quote)
		if end < 0 || !strings.HasPrefix(s[2+end+1:], "]") {
			return step{}, 0
		}
		return step{name: s[2 : 2+end], index: -1}, end + 4
	}
	end := strings.IndexByte(s, ']')
	if end < 2 || !isDigit(s[1]) {
		return step{}, 0
	}
	index, err := strconv.ParseUint(s[1:end], 10, 31)
	if err != nil || index == math.MaxInt32 {
		return step{}, 0
	}
	return step{index: int(index)}, end + 1
}

// Find returns the value that the path leads to: of a text what it says, of a number or boolean how it is written. There is none, ok is
// false, where the path leads nowhere, to null, to an object or to an array.
func (p *Path) Find(d *Document) (value string, ok bool) {
	at := int32(0)
	for _, s := range p.steps {
		if at = d.step(at, s); at < 0 {
			return "", false
		}
	}
	n := d.nodes[at]
	switch d.body[n.start] {
	case '{', '[', 'n':
		return "", false
	case '"':
		return d.text(at), true
	}
	return string(d.body[n.start:n.end]), true
}

// step returns the node of a member, -1 if there is none.
func (d *Document) step(at int32, s step) int32 {
	n := d.nodes[at]
	switch c := d.body[n.start]; {
	case c == '{' && s.index < 0:
		for i := at + 1; i < n.next; i = d.nodes[i+1].next {
			if d.text(i) == s.name {
				return i + 1
			}
		}
	case c == '[' && s.index >= 0:
		i := at + 1
		for k := 0; i < n.next; k++ {
			if k == s.index {
				return i
			}
			i = d.nodes[i].next
		}
	}
	return -1
}
