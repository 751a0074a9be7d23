package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Request collects the headers of one SEND that say when its message is due and how long it lives.
// The zero Request has none. It is used in one place at a time, and holds the values that it is
// given.
type Request struct {
	present uint32
	values  [headerCount]string
}

// Options are what the settings say about schedules.
type Options struct {
	// MaxRepeats is the greatest AMQ_SCHEDULED_REPEAT, 1000 if it is 0. Without end, -1, is always allowed.
	MaxRepeats int64
	// MinPeriod is the least time between two repeats, 10 ms if it is 0.
	MinPeriod time.Duration
	// Skew is how far a time on the calendar and a time from now may be apart and still mean the same, since
	// the sender's clock is not ours and a SEND takes its time; 5 s if it is 0.
	Skew time.Duration
	// Zone is the name of the zone of schedules whose senders name none, UTC if it is empty.
	Zone string
	// Zones finds zones. Nil is allowed, but then each one is read from disk each time.
	Zones *Zones
}

func (o Options) withDefaults() Options {
	if o.MaxRepeats == 0 {
		o.MaxRepeats = 1000
	}
	if o.MinPeriod == 0 {
		o.MinPeriod = 10 * time.Millisecond
	}
	if o.Skew == 0 {
		o.Skew = 5 * time.Second
	}
	return o
}

// Set adds a header. STOMP 1.2 Repeated Header Entries: the first counts.
func (r *Request) Set(h Header, value string) {
	if !r.Has(h) {
		r.present |= 1 << h
		r.values[h] = value
	}
}

// Has tells whether a header was set.
func (r *Request) Has(h Header) bool { return r.present>>h&1 != 0 }

// Drop takes a header back, so that it does not count: HeaderDeliveryTime of a SEND that is not to
// a delay queue.
func (r *Request) Drop(h Header) { r.present &^= 1 << h }

// HeaderError is a header whose value cannot be kept.
type HeaderError struct {
	Header Header
	Value  string
	Err    error // of type *Error, about Value
}

// Error names the header, the value, the position in it and the reason.
func (e *HeaderError) Error() string { return e.Header.String() + " " + e.Err.Error() }

// Unwrap returns what is wrong with the value.
func (e *HeaderError) Unwrap() error { return e.Err }

// ConflictError is two headers that cannot both be kept. Header is the one that would count.
type ConflictError struct {
	Header, Other     Header
	Value, OtherValue string
	Reason            string
}

// Error names both headers, their values, shortened to MaxText octets, and the reason.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s %s and %s %s contradict each other: %s", e.Header, quote(e.Value), e.Other, quote(e.OtherValue), e.Reason)
}

// fail says what is wrong with the whole value of a header.
func (r *Request) fail(h Header, format string, args ...any) error {
	return r.wrong(h, &Error{Text: r.values[h], Reason: fmt.Sprintf(format, args...)})
}

func (r *Request) wrong(h Header, err error) error {
	return &HeaderError{h, r.values[h], err}
}

// MaxID is the greatest length of a scheduled-id, in octets.
const MaxID = 256

// id reads the name that the sender gave to the schedule, empty if it gave none.
func (r *Request) id() (string, error) {
	if !r.Has(HeaderScheduledID) {
		return "", nil
	}
	id := r.values[HeaderScheduledID]
	if len(id) > MaxID {
		return "", r.wrong(HeaderScheduledID, &Error{Text: id, Offset: MaxID, Reason: "longer than 256 octets"})
	}
	if at := strings.IndexFunc(id, func(c rune) bool { return c < ' ' || c == 0x7f }); at >= 0 {
		return "", r.wrong(HeaderScheduledID, &Error{Text: id, Offset: at, Reason: "a control character"})
	}
	return id, nil
}

// zone finds the zone of the schedule.
func (r *Request) zone(o Options) (*time.Location, error) {
	if o.Zones == nil {
		o.Zones = new(Zones)
	}
	if !r.Has(HeaderScheduleZone) {
		zone, err := o.Zones.Load(o.Zone)
		if err != nil {
			return nil, fmt.Errorf("the zone of schedules: %w", err)
		}
		return zone, nil
	}
	zone, err := o.Zones.Load(strings.Trim(r.values[HeaderScheduleZone], " \t"))
	if err != nil {
		return nil, r.wrong(HeaderScheduleZone, err)
	}
	return zone, nil
}

// number reads a whole number. Its size stops growing at tooLarge.
func number(text, what string) (int64, error) {
	s, err := scan(text, MaxText)
	if err != nil {
		return 0, err
	}
	sign, _ := s.accept("+-")
	n, count := s.digits(tooLarge)
	switch {
	case count == 0:
		return 0, s.fail("expected %s", what)
	case !s.done():
		return 0, s.fail("not part of %s", what)
	case sign == '-':
		return -n, nil
	}
	return n, nil
}

// tooLarge is above all numbers that mean something, and adds up with any of them.
const tooLarge = 1 << 58

// milliseconds reads a time from now in units of so many milliseconds.
func milliseconds(text, what string, unit int64) (int64, error) {
	n, err := number(text, what)
	if err != nil {
		return 0, err
	}
	if n > maxDelay/unit {
		return 0, &Error{Text: text, Reason: "longer than ten years"}
	}
	return max(n, -maxDelay/unit) * unit, nil
}

// epochMilliseconds reads a time on the calendar.
func epochMilliseconds(text string) (int64, error) {
	n, err := number(text, "milliseconds since the epoch")
	if err != nil {
		return 0, err
	}
	if n > MaxInstant {
		return 0, &Error{Text: text, Reason: "later than the year 9999"}
	}
	return n, nil
}
