package schedule

import (
	"fmt"
	"strconv"
)

// The greatest lengths of texts that are read, in octets: MaxText of one that names a time or a
// zone, MaxCron of a cron expression, MaxSchedule of a schedule. Everything that can be meant is shorter.
const (
	MaxText     = 64
	MaxCron     = 256
	MaxSchedule = 1024
)

// Error is a text that names no time.
type Error struct {
	// Text is the whole text, as it was given.
	Text string
	// Offset is where the text stops making sense, in octets from 0; it may be len(Text).
	Offset int
	// Reason says what was wrong there, in words that follow "at position N: ".
	Reason string
}

// Error names the text, shortened to MaxText octets, the position, counted from 1, and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("%s at position %d: %s", quote(e.Text), e.Offset+1, e.Reason)
}

// quote shows a text, shortened to MaxText octets.
func quote(text string) string {
	if len(text) > MaxText {
		return strconv.QuoteToASCII(text[:MaxText]) + "..."
	}
	return strconv.QuoteToASCII(text)
}

// scanner walks over a text. Its first failure is the one that is told.
type scanner struct {
	text string
	pos  int // of the next octet
	end  int // blanks at the end begin here
}

// scan begins to read a text of at most so many octets, past the blanks around it: people write
// "delay: 500", and from STOMP 1.1 on that blank is part of the value.
func scan(text string, limit int) (*scanner, error) {
	s := &scanner{text: text, end: len(text)}
	if len(text) > limit {
		s.pos = limit
		return nil, s.fail("longer than %d octets", limit)
	}
	for s.end > 0 && isBlank(text[s.end-1]) {
		s.end--
	}
	for s.pos < s.end && isBlank(text[s.pos]) {
		s.pos++
	}
	return s, nil
}

func (s *scanner) fail(format string, args ...any) error {
	return s.failAt(s.pos, format, args...)
}

func (s *scanner) failAt(offset int, format string, args ...any) error {
	return &Error{Text: s.text, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

func (s *scanner) done() bool { return s.pos >= s.end }

// peek returns the next octet, 0 at the end.
func (s *scanner) peek() byte {
	if s.done() {
		return 0
	}
	return s.text[s.pos]
}

// accept steps over the next octet if it is one of set.
func (s *scanner) accept(set string) (byte, bool) {
	c := s.peek()
	for i := range len(set) {
		if c == set[i] && !s.done() {
			s.pos++
			return c, true
		}
	}
	return 0, false
}

// digits reads digits, as many as there are, as a number that stops growing at ceiling.
func (s *scanner) digits(ceiling int64) (n int64, count int) {
	for ; isDigit(s.peek()); s.pos++ {
		count++
		n = min(n*10+int64(s.text[s.pos]-'0'), ceiling)
	}
	return n, count
}

// fixed reads a number of exactly count digits from low to high.
func (s *scanner) fixed(what string, count int, low, high int64) (int64, error) {
	start := s.pos
	if s.end-start < count {
		return 0, s.fail("expected a %s of %d digits", what, count)
	}
	n := int64(0)
	for range count {
		if !isDigit(s.peek()) {
			return 0, s.fail("expected a %s of %d digits", what, count)
		}
		n = n*10 + int64(s.text[s.pos]-'0')
		s.pos++
	}
	if n < low || n > high {
		return 0, s.failAt(start, "the %s must be %0*d to %0*d", what, count, low, count, high)
	}
	return n, nil
}

// fraction reads the digits after a decimal mark, in billionths; more says that
// there were digits below that which are not zero.
func (s *scanner) fraction() (billionths int64, more bool, err error) {
	if !isDigit(s.peek()) {
		return 0, false, s.fail("expected a digit after the decimal mark")
	}
	scale := int64(billion)
	for ; isDigit(s.peek()); s.pos++ {
		digit := int64(s.text[s.pos] - '0')
		scale /= 10
		billionths += digit * scale
		more = more || scale == 0 && digit != 0
	}
	return billionths, more, nil
}

const billion = 1_000_000_000

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
