package schedule

import "time"

// Schedule is a set of times in the language of WebLogic's
// weblogic.jms.extensions.Schedule: one or more schedules of seven fields, with semicolons between them.
//
//	millisecond second minute hour dayOfMonth month dayOfWeek
//
//	0 0 0,30 * * * *                         every half hour
//	0 0 0 0 8-14 * 3                         the second Tuesday of a month
//	0 0 0 12 last * *                        noon of a month's last day
//	0 0 0 1 * * 2-6; 0 0 0 2 * * 1,7         01:00 on weekdays, 02:00 on weekends
//
// A field is an asterisk for everything, or a list of values and ranges from a lower to
// a higher value. "l" or "last", in any case, is the greatest value. The day of the week is 1 for
// Sunday to 7, and a time must fit both it and the day of the month. A day of the month that the month lacks
// means its last day. Milliseconds are rounded down to a 50th of a second, to one of 0, 19,
// 39, 59 and so on to 979 and 999; an asterisk is all of these.
//
// A Schedule is immutable.
type Schedule struct {
	calendars []calendar
}

var scheduleFields = [...]field{
	{what: "millisecond", low: 0, high: 999, last: true, points: true},
	{what: "second", low: 0, high: 59, last: true},
	{what: "minute", low: 0, high: 59, last: true},
	{what: "hour", low: 0, high: 23, last: true},
	{what: "day of the month", low: 1, high: 31, last: true},
	{what: "month", low: 1, high: 12, last: true},
	{what: "day of the week", low: 1, high: 7, last: true},
}

// Parse reads a schedule of at most [MaxSchedule] octets. Errors are of type *[Error]. What it
// takes always has a next time, since every month has a last day, and every day its weekdays.
func Parse(text string) (*Schedule, error) {
	s, err := scan(text, MaxSchedule)
	if err != nil {
		return nil, err
	}
	sch := new(Schedule)
	for {
		c, err := s.schedule()
		if err != nil {
			return nil, err
		}
		sch.calendars = addCalendar(sch.calendars, c)
		if s.done() {
			return sch, nil
		}
		s.pos++ // the semicolon
	}
}

// schedule reads seven fields, up to a semicolon or the end.
func (s *scanner) schedule() (calendar, error) {
	var sets [len(scheduleFields)]uint64
	for i, f := range scheduleFields {
		s.blanks()
		if s.done() || s.peek() == ';' {
			return calendar{}, s.fail("expected seven fields: millisecond second minute hour dayOfMonth month dayOfWeek")
		}
		var err error
		if sets[i], _, err = s.set(f); err != nil {
			return calendar{}, err
		}
	}
	s.blanks()
	if !s.atFieldEnd() {
		return calendar{}, s.fail("expected a semicolon or nothing after seven fields")
	}
	return calendar{
		points:   sets[0],
		seconds:  sets[1],
		minutes:  sets[2],
		hours:    uint32(sets[3]),
		days:     uint32(sets[4]),
		months:   uint16(sets[5]),
		weekdays: uint8(sets[6] >> 1),
		clamps:   true,
		// A day must be in both sets, asterisk or not.
		dayStar: true, weekdayStar: true,
	}, nil
}

// Next returns the first time of the schedule that is strictly after a time, in whole
// milliseconds; zone says whose calendar and clock it means, nil is UTC. A time that the zone's
// clock skips is due at the first moment after the gap, one that it shows twice at the first of the two only.
// The result is false only if there is none before the year 10000.
//
// Of each part it looks at no more than 480 months, and it does not allocate.
func (s *Schedule) Next(after time.Time, zone *time.Location) (time.Time, bool) {
	return soonest(s.calendars, after, zone)
}

// String returns the canonical form: values in order, ranges where they are shorter, numbers for
// "l". [Parse] gives an equal schedule for it, unless the numbers make it longer than
// [MaxSchedule].
func (s *Schedule) String() string {
	var dst []byte
	for i, c := range s.calendars {
		if i > 0 {
			dst = append(dst, ';')
		}
		sets := [len(scheduleFields)]uint64{
			c.points, c.seconds, c.minutes, uint64(c.hours), uint64(c.days), uint64(c.months), uint64(c.weekdays) << 1,
		}
		for j, f := range scheduleFields {
			if j > 0 {
				dst = append(dst, ' ')
			}
			dst = appendSet(dst, f, sets[j])
		}
	}
	return string(dst)
}
