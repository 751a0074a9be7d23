package schedule

import "time"

// MaxInstant is the latest time, the end of the year 9999, in milliseconds since the epoch.
const MaxInstant = 253402300799999

// ParseInstant reads a time on the calendar, in one of two forms:
//
//	1767225600000                   milliseconds since the epoch
//	2026-01-01T01:00:00.5+01:00     RFC 3339; the zone is required
//
// The result is in milliseconds since the epoch, rounded up, from 0 to [MaxInstant].
// A later time is an error. An earlier one gives 0: it has passed, and all that has
// passed means at once. Blanks around the text are skipped. Errors are of type *[Error].
func ParseInstant(text string) (int64, error) {
	s, err := scan(text, MaxText)
	if err != nil {
		return 0, err
	}
	start := s.pos
	var ms int64
	if s.isEpoch() {
		ms, err = s.epoch()
	} else {
		ms, err = s.rfc3339()
	}
	switch {
	case err != nil:
		return 0, err
	case !s.done():
		return 0, s.fail("expected nothing more")
	case ms > MaxInstant:
		return 0, s.failAt(start, "later than the year 9999")
	}
	return max(ms, 0), nil
}

// isEpoch tells a number from a date: a date has four digits and a hyphen.
func (s *scanner) isEpoch() bool {
	at := s.pos
	if at < s.end && (s.text[at] == '-' || s.text[at] == '+') {
		return true
	}
	for at < s.end && isDigit(s.text[at]) {
		at++
	}
	return at == s.end || s.text[at] != '-'
}

func (s *scanner) epoch() (int64, error) {
	sign, _ := s.accept("+-")
	ms, count := s.digits(MaxInstant + 1)
	switch {
	case count == 0:
		return 0, s.fail("expected milliseconds since the epoch, or a time as in 2026-01-31T12:00:00Z")
	case sign == '-':
		return -ms, nil
	}
	return ms, nil
}

// rfc3339 reads a date-time of RFC 3339 section 5.6: the T may be a blank, T and Z may be
// small, and a leap second is the second after it.
func (s *scanner) rfc3339() (int64, error) {
	year, err := s.fixed("year", 4, 0, 9999)
	if err != nil {
		return 0, err
	}
	month, err := s.after("-", "month", 1, 12)
	if err != nil {
		return 0, err
	}
	date, err := s.after("-", "day", 1, int64(monthLength(int(year), int(month))))
	if err != nil {
		return 0, err
	}
	hour, err := s.after("Tt ", "hour", 0, 23)
	if err != nil {
		return 0, err
	}
	minute, err := s.after(":", "minute", 0, 59)
	if err != nil {
		return 0, err
	}
	second, err := s.after(":", "second", 0, 60)
	if err != nil {
		return 0, err
	}
	ms, err := s.subsecond()
	if err != nil {
		return 0, err
	}
	offset, err := s.zone()
	if err != nil {
		return 0, err
	}
	at := time.Date(int(year), time.Month(month), int(date), int(hour), int(minute), int(second), 0, time.UTC)
	return at.UnixMilli() - offset + ms, nil
}

// after reads a mark and the two digits behind it.
func (s *scanner) after(marks, what string, low, high int64) (int64, error) {
	if _, ok := s.accept(marks); !ok {
		return 0, s.fail("expected %q before the %s", marks[:1], what)
	}
	return s.fixed(what, 2, low, high)
}

// subsecond reads the fraction of a second, if there is one, in milliseconds, rounded up.
func (s *scanner) subsecond() (int64, error) {
	if _, ok := s.accept("."); !ok {
		return 0, nil
	}
	billionths, more, err := s.fraction()
	if err != nil {
		return 0, err
	}
	return quantity{billionths: billionths, more: more}.milliseconds(second), nil
}

// zone reads Z or the distance from UTC, in milliseconds.
func (s *scanner) zone() (int64, error) {
	if _, ok := s.accept("Zz"); ok {
		return 0, nil
	}
	sign, ok := s.accept("+-")
	if !ok {
		return 0, s.fail("expected a zone, Z or as in +01:00")
	}
	hours, err := s.fixed("zone's hour", 2, 0, 23)
	if err != nil {
		return 0, err
	}
	minutes, err := s.after(":", "zone's minute", 0, 59)
	if err != nil {
		return 0, err
	}
	offset := hours*hour + minutes*minute
	if sign == '-' {
		offset = -offset
	}
	return offset, nil
}
