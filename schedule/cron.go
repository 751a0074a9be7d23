package schedule

import (
	"strconv"
	"time"
)

// Cron is a set of times in the language of Unix's crontab, of whole minutes:
//
//	minute hour dayOfMonth month dayOfWeek
//
//	*/5 * * * *             every five minutes
//	0 22 * * mon-fri        22:00 on weekdays
//	0 0 1,15 * *            midnight of the 1st and 15th
//
// A field is a list of values, ranges from a lower to a higher value, and asterisks. A range or an
// asterisk may have a step, "/n", that takes its first value and each n-th after it. Months and weekdays
// have names of three letters, in any case; Sunday is 0 and 7. If neither day field begins with an
// asterisk, a day need be in one of them only, else it must be in both. That is all: no seconds, no
// zone, no "@daily", no question mark.
//
// A Cron is immutable.
type Cron struct {
	calendars [1]calendar
}

var cronFields = [...]field{
	{what: "minute", low: 0, high: 59, steps: true},
	{what: "hour", low: 0, high: 23, steps: true},
	{what: "day of the month", low: 1, high: 31, steps: true},
	{what: "month", low: 1, high: 12, steps: true, names: []string{
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
	}},
	{what: "day of the week", low: 0, high: 7, steps: true, names: []string{
		"sun", "mon", "tue", "wed", "thu", "fri", "sat",
	}},
}

// ParseCron reads a cron expression of at most [MaxCron] octets. Errors are of type *[Error]; one
// that names no day that ever comes, such as 31 April, is an error.
func ParseCron(text string) (*Cron, error) {
	s, err := scan(text, MaxCron)
	if err != nil {
		return nil, err
	}
	var (
		sets  [len(cronFields)]uint64
		stars [len(cronFields)]bool
		day   int // where the days begin
	)
	for i, f := range cronFields {
		s.blanks()
		if s.done() {
			return nil, s.fail("expected five fields: minute hour dayOfMonth month dayOfWeek")
		}
		if i == 2 {
			day = s.pos
		}
		if sets[i], stars[i], err = s.set(f); err != nil {
			return nil, err
		}
	}
	s.blanks()
	if !s.done() {
		return nil, s.fail("expected nothing after five fields")
	}
	sunday := sets[4] >> 7 // 7 is 0
	c := &Cron{[1]calendar{{
		points:      1,
		seconds:     1,
		minutes:     sets[0],
		hours:       uint32(sets[1]),
		days:        uint32(sets[2]),
		months:      uint16(sets[3]),
		weekdays:    uint8((sets[4] | sunday) & 0x7f),
		dayStar:     stars[2],
		weekdayStar: stars[4],
	}}}
	if !c.calendars[0].isPossible() {
		return nil, s.failAt(day, "there is no such day in any year")
	}
	return c, nil
}

// Next returns the first time of the cron expression that is strictly after a time; zone says
// whose calendar and clock it means, nil is UTC. A time that the zone's clock skips is due at the
// first moment after the gap, one that it shows twice at the first of the two only: that goes
// for every time, so that while the clock shows an hour again nothing is due. The result is false only
// if there is none before the year 10000.
//
// It looks at no more than 480 months, and it does not allocate.
func (c *Cron) Next(after time.Time, zone *time.Location) (time.Time, bool) {
	return soonest(c.calendars[:], after, zone)
}

// String returns the canonical form: of equal sets it is the same, and [ParseCron] gives an equal
// expression for it.
func (c *Cron) String() string {
	in := &c.calendars[0]
	dst := appendSet(nil, cronFields[0], in.minutes)
	dst = appendSet(append(dst, ' '), cronFields[1], uint64(in.hours))
	dst = appendDays(append(dst, ' '), cronFields[2], uint64(in.days), in.dayStar)
	dst = appendSet(append(dst, ' '), cronFields[3], uint64(in.months))
	weekdays := cronFields[4]
	weekdays.high = 6
	return string(appendDays(append(dst, ' '), weekdays, uint64(in.weekdays), in.weekdayStar))
}

// appendDays writes a field for which it matters whether it begins with an asterisk. A
// set that was read so has the least value.
func appendDays(dst []byte, f field, set uint64, star bool) []byte {
	if star && set == every(f, 1) {
		return append(dst, '*')
	}
	if dst, ok := appendSteps(dst, f, set, star); ok {
		return dst
	}
	if !star {
		return appendItems(dst, f, set)
	}
	size := f.high - f.low + 1
	dst = strconv.AppendInt(append(dst, '*', '/'), int64(size), 10) // the least value alone
	if set &^= 1 << f.low; set == 0 {
		return dst
	}
	return appendItems(append(dst, ','), f, set)
}
