package selector

import (
	"cmp"
	"slices"
	"strings"
)

// list is what is in the parentheses of IN.
type list struct {
	texts   []string // sorted
	numbers []Value  // sorted
	set     map[string]struct{}
}

// hashed is how many texts a list has that is looked up by hash.
const hashed = 9

// compareItems orders the values of a list: texts before numbers.
func compareItems(a, b Value) int {
	switch {
	case a.kind == text && b.kind == text:
		return strings.Compare(a.text, b.text)
	case a.isNumber() && b.isNumber():
		return compareNumbers(a, b)
	default:
		return cmp.Compare(truth(a.isNumber()), truth(b.isNumber()))
	}
}

// newList takes values ordered by compareItems, each once.
func newList(values []Value) list {
	count := 0
	for count < len(values) && values[count].kind == text {
		count++
	}
	l := list{numbers: exact(values[count:])}
	if count > 0 {
		l.texts = make([]string, count)
		for i := range l.texts {
			l.texts[i] = values[i].text
		}
	}
	if len(l.texts) >= hashed {
		l.set = make(map[string]struct{}, len(l.texts))
		for _, s := range l.texts {
			l.set[s] = struct{}{}
		}
	}
	return l
}

// holds is the OR of the comparisons with each value: of those that are no likes of it, if no other is equal, it is
// unknown.
func (l *list) holds(s *slot) Truth {
	result := False
	if len(l.texts) > 0 {
		switch {
		case s.value.kind != text:
			result = Unknown
		case l.hasText(s.value.text):
			return True
		}
	}
	if len(l.numbers) > 0 {
		n := s.asNumber()
		if n.kind == null {
			return Unknown
		}
		if _, ok := slices.BinarySearchFunc(l.numbers, *n, compareNumbers); ok {
			return True
		}
	}
	return result
}

func (l *list) hasText(s string) bool {
	if l.set != nil {
		_, ok := l.set[s]
		return ok
	}
	for i := range l.texts { // slices.Contains takes twice the time: it is shared by all types of a shape
		if l.texts[i] == s {
			return true
		}
	}
	return false
}
