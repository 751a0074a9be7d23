package schedule

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// field is one of the fields of a schedule or of a cron expression.
type field struct {
	what      string
	low, high int
	// names are those of the values from low on.
	names []string
	// last: "l" and "last" are the greatest value. steps: "/n" may follow an asterisk or a range.
	last, steps bool
	// points: the values are milliseconds, the members of the set the points of the second.
	points bool
}

// set reads a field: a list of items with commas between them. It is a set of values, or of
// points. star tells whether it began with an asterisk.
func (s *scanner) set(f field) (set uint64, star bool, err error) {
	star = s.peek() == '*'
	for {
		items, err := s.item(f)
		if err != nil {
			return 0, false, err
		}
		set |= items
		if _, more := s.accept(","); !more {
			break
		}
	}
	if !s.atFieldEnd() {
		return 0, false, s.fail("unexpected in the %s", f.what)
	}
	return set, star, nil
}

// item reads an asterisk, a value or a range, with its step.
func (s *scanner) item(f field) (uint64, error) {
	start := s.pos
	low, high, isRange := f.low, f.high, true
	if _, all := s.accept("*"); !all {
		var err error
		if low, err = s.value(f); err != nil {
			return 0, err
		}
		high = low
		if _, isRange = s.accept("-"); isRange {
			if high, err = s.value(f); err != nil {
				return 0, err
			}
			if high < low {
				return 0, s.failAt(start, "this range of the %s runs backwards", f.what)
			}
		}
	}
	if f.points {
		low, high = pointOf(low), pointOf(high)
	}
	step, err := s.step(f, isRange)
	if err != nil {
		return 0, err
	}
	var set uint64
	for n := low; n <= high; n += step {
		set |= 1 << n
	}
	return set, nil
}

// step reads a step, 1 if there is none.
func (s *scanner) step(f field, isRange bool) (int, error) {
	if !f.steps {
		return 1, nil
	}
	slash := s.pos
	if _, ok := s.accept("/"); !ok {
		return 1, nil
	}
	if !isRange {
		return 0, s.failAt(slash, "a step can follow only an asterisk or a range")
	}
	start := s.pos
	step, count := s.digits(1 << 16)
	if most := int64(f.high - f.low + 1); count == 0 || step < 1 || step > most {
		return 0, s.failAt(start, "the step of the %s must be 1 to %d", f.what, most)
	}
	return int(step), nil
}

// value reads a number or a name.
func (s *scanner) value(f field) (int, error) {
	start := s.pos
	if isDigit(s.peek()) {
		n, _ := s.digits(1 << 16)
		if n < int64(f.low) || n > int64(f.high) {
			return 0, s.failAt(start, "the %s must be %d to %d", f.what, f.low, f.high)
		}
		return int(n), nil
	}
	for isLetter(s.peek()) {
		s.pos++
	}
	word := s.text[start:s.pos]
	for i, name := range f.names {
		if strings.EqualFold(word, name) {
			return f.low + i, nil
		}
	}
	if f.last && (strings.EqualFold(word, "l") || strings.EqualFold(word, "last")) {
		return f.high, nil
	}
	return 0, s.failAt(start, "expected the %s, %d to %d", f.what, f.low, f.high)
}

// blanks steps over blanks.
func (s *scanner) blanks() {
	for isBlank(s.peek()) {
		s.pos++
	}
}

// atFieldEnd tells whether a blank, the end of a schedule or the end of the text follows.
func (s *scanner) atFieldEnd() bool {
	return s.done() || isBlank(s.peek()) || s.peek() == ';'
}

// appendSet writes the shortest list of values and ranges that gives set, an asterisk if that is all of f.
func appendSet(dst []byte, f field, set uint64) []byte {
	if f.points && set == allPoints || !f.points && set == every(f, 1) {
		return append(dst, '*')
	}
	if f.steps {
		if dst, ok := appendSteps(dst, f, set, true); ok {
			return dst
		}
	}
	return appendItems(dst, f, set)
}

// appendItems writes values and ranges, never an asterisk.
func appendItems(dst []byte, f field, set uint64) []byte {
	for comma := false; set != 0; comma = true {
		if comma {
			dst = append(dst, ',')
		}
		low := bits.TrailingZeros64(set)
		high := low + bits.TrailingZeros64(^(set >> low)) - 1
		set &^= 1<<(high+1) - 1<<low
		dst = f.appendValue(dst, low)
		switch {
		case high == low+1:
			dst = f.appendValue(append(dst, ','), high)
		case high > low:
			dst = f.appendValue(append(dst, '-'), high)
		}
	}
	return dst
}

func (f field) appendValue(dst []byte, n int) []byte {
	if f.points {
		n = millisecondOf(n)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// appendSteps writes a set that is "*/n", n at least 2 and the set more than two values, in that form, or
// as a range with a step if it must not begin with an asterisk.
func appendSteps(dst []byte, f field, set uint64, star bool) ([]byte, bool) {
	for step := 2; f.low+2*step <= f.high; step++ {
		if set != every(f, step) {
			continue
		}
		if star {
			dst = append(dst, '*')
		} else {
			dst = f.appendValue(append(f.appendValue(dst, f.low), '-'), f.high)
		}
		return strconv.AppendInt(append(dst, '/'), int64(step), 10), true
	}
	return dst, false
}

// every is the set of "*/step".
func every(f field, step int) (set uint64) {
	for n := f.low; n <= f.high; n += step {
		set |= 1 << n
	}
	return set
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// addCalendar adds c to a list unless it is there.
func addCalendar(list []calendar, c calendar) []calendar {
	if slices.Contains(list, c) {
		return list
	}
	return append(list, c)
}
