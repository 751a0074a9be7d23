package schedule

import "time"

// MaxDelay is the longest delay, ten years with their leap days.
const MaxDelay = 3653 * 24 * time.Hour

// The lengths of units, in milliseconds.
const (
	second = 1000
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day

	maxDelay = int64(MaxDelay / time.Millisecond)
)

// ParseDelay reads a time from now, in one of three forms:
//
//	1500           milliseconds
//	2h30m, 1.5s    numbers with the units d, h, m, s, ms, the greatest first
//	P1DT2H, PT0.5S an ISO 8601 duration of weeks, days, hours, minutes and seconds
//
// A sign may come first. Only the last number may have a fraction. The result is
// in whole milliseconds, rounded up, from -MaxDelay to [MaxDelay]: a longer delay is an
// error, while anything below -MaxDelay gives that, as all that is negative means at once.
// Years and months are an error, since they have no fixed length. Blanks around the text are skipped.
// Errors are of type *[Error].
func ParseDelay(text string) (time.Duration, error) {
	s, err := scan(text, MaxText)
	if err != nil {
		return 0, err
	}
	start := s.pos
	sign, _ := s.accept("+-")
	var ms int64
	if _, iso := s.accept("Pp"); iso {
		ms, err = s.isoDuration()
	} else {
		ms, err = s.duration()
	}
	switch {
	case err != nil:
		return 0, err
	case sign == '-':
		ms = -min(ms, maxDelay)
	case ms > maxDelay:
		return 0, s.failAt(start, "longer than ten years")
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// duration reads "1500" or "2h30m", in milliseconds, of any size up to beyond maxDelay.
func (s *scanner) duration() (int64, error) {
	n, err := s.quantity(".")
	if err != nil {
		return 0, err
	}
	if s.done() && !n.fractional {
		return min(n.whole, maxDelay+1), nil
	}
	total, last := int64(0), int64(week)
	for {
		start := s.pos
		unit := s.unit()
		switch {
		case unit == 0:
			return 0, s.failAt(start, "expected a unit: d, h, m, s or ms")
		case unit >= last:
			return 0, s.failAt(start, "units must come once each, the greatest first")
		}
		last = unit
		total = min(total+n.milliseconds(unit), maxDelay+1)
		if s.done() {
			return total, nil
		}
		if n.fractional {
			return 0, s.fail("only the last number may have a fraction")
		}
		if n, err = s.quantity("."); err != nil {
			return 0, err
		}
	}
}

// unit reads a unit and returns its length in milliseconds, 0 if there is none.
func (s *scanner) unit() int64 {
	c, _ := s.accept("dhms")
	switch c {
	case 'd':
		return day
	case 'h':
		return hour
	case 's':
		return second
	case 'm':
		if _, ok := s.accept("s"); ok {
			return 1
		}
		return minute
	}
	return 0
}

// isoDuration reads what follows the P of an ISO 8601 duration.
func (s *scanner) isoDuration() (int64, error) {
	total, last, inTime := int64(0), int64(week+1), false
	for {
		if _, ok := s.accept("Tt"); ok {
			if inTime {
				return 0, s.failAt(s.pos-1, "a second T")
			}
			inTime = true
		} else if s.done() && last <= week {
			return total, nil
		}
		n, err := s.quantity(".,")
		if err != nil {
			return 0, err
		}
		unit, err := s.isoUnit(inTime)
		switch {
		case err != nil:
			return 0, err
		case unit >= last:
			return 0, s.failAt(s.pos-1, "units must come once each, the greatest first")
		}
		last = unit
		total = min(total+n.milliseconds(unit), maxDelay+1)
		if n.fractional && !s.done() {
			return 0, s.fail("only the last number may have a fraction")
		}
	}
}

// isoUnit reads the letter after a number, before or after the T.
func (s *scanner) isoUnit(inTime bool) (int64, error) {
	c, ok := s.accept("YyMmWwDdHhSs")
	c |= 'a' - 'A'
	switch {
	case ok && inTime && c == 'h':
		return hour, nil
	case ok && inTime && c == 'm':
		return minute, nil
	case ok && inTime && c == 's':
		return second, nil
	case ok && !inTime && c == 'w':
		return week, nil
	case ok && !inTime && c == 'd':
		return day, nil
	case ok && !inTime && (c == 'y' || c == 'm'):
		return 0, s.failAt(s.pos-1, "years and months have no fixed length")
	case ok:
		s.pos--
	}
	if inTime {
		return 0, s.fail("expected a unit of time: H, M or S")
	}
	return 0, s.fail("expected a unit of date, W or D, or a T before units of time")
}

// quantity is a number without a sign as it was written.
type quantity struct {
	whole      int64 // stops growing well above maxDelay
	billionths int64
	more       bool // the fraction does not end at a billionth
	fractional bool // there was a decimal mark
}

func (s *scanner) quantity(marks string) (n quantity, err error) {
	var count int
	if n.whole, count = s.digits(2 * maxDelay); count == 0 {
		return n, s.fail("expected a number")
	}
	if _, n.fractional = s.accept(marks); n.fractional {
		n.billionths, n.more, err = s.fraction()
	}
	return n, err
}

// milliseconds returns n units in milliseconds, rounded up, but no more than maxDelay+1.
func (n quantity) milliseconds(unit int64) int64 {
	if n.whole > maxDelay/unit {
		return maxDelay + 1
	}
	part := n.billionths * unit // at most 1e9 weeks in milliseconds, 6e17
	ms := part / billion
	if part%billion != 0 || n.more {
		ms++
	}
	return n.whole*unit + ms
}
