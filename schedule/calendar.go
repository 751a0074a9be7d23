package schedule

import "math/bits"

// calendar is a set of wall times: those whose time of day and whose day are both in its
// sets. It says nothing of zones; see wall.go.
type calendar struct {
	points   uint64 // of the second, see pointOf
	seconds  uint64 // bit 0 to 59
	minutes  uint64 // bit 0 to 59
	hours    uint32 // bit 0 to 23
	days     uint32 // of the month, bit 1 to 31
	months   uint16 // bit 1 to 12
	weekdays uint8  // bit 0, Sunday, to 6

	// clamps: a day that the month lacks means its last one.
	clamps bool
	// dayStar and weekdayStar: the field began with an asterisk. If neither did, a day need
	// be in one set only.
	dayStar, weekdayStar bool
}

// The points of a second to which the milliseconds of a schedule are rounded down:
// 0, 19, 39, 59 and so on to 979 and 999.
const (
	pointCount = 51
	allPoints  = 1<<pointCount - 1
)

// pointOf is the number of the last point that is not after a millisecond.
func pointOf(ms int) int { return (ms + 1) / 20 }

// pointFrom is the number of the first point that is not before a millisecond.
func pointFrom(ms int) int {
	if ms == 0 {
		return 0
	}
	return (ms + 20) / 20
}

// millisecondOf is the place of a point.
func millisecondOf(point int) int { return max(20*point-1, 0) }

// none is where a set has no bit.
const none = 64

// least returns the least bit of set that is not below n, or none.
func least(set uint64, n int) int {
	if set >>= n; set == 0 {
		return none
	}
	return n + bits.TrailingZeros64(set)
}

// next returns the first wall time of c that is not before wall and, to the day, not after limit.
// Both are milliseconds of wall clock since 1970, as if it were UTC.
func (c *calendar) next(wall, limit int64) (int64, bool) {
	today, last := floorDiv(wall, day), floorDiv(limit, day)
	on, ok := c.nextDay(today, last)
	if ok && on == today {
		if at, ok := c.nextTime(wall - today*day); ok {
			return today*day + at, true
		}
		on, ok = c.nextDay(today+1, last)
	}
	return on*day + c.firstTime(), ok
}

// firstTime returns the first time of day of c, in milliseconds since midnight.
func (c *calendar) firstTime() int64 {
	at, _ := c.nextTime(0)
	return at
}

// nextTime returns the first time of day of c that is not before start, both in
// milliseconds since midnight. It goes up from the points of a second to the hours: what finds
// nothing begins anew, one further in the field above.
func (c *calendar) nextTime(start int64) (int64, bool) {
	ms := int(start)
	p, s, m, h := pointFrom(ms%second), ms/second%60, ms/minute%60, ms/hour
	if p = least(c.points, p); p == none {
		s++
	}
	at := s
	if s = least(c.seconds, s); s == none {
		m++
	}
	if s != at || p == none {
		p = least(c.points, 0)
	}
	at = m
	if m = least(c.minutes, m); m == none {
		h++
	}
	if m != at || s == none {
		p, s = least(c.points, 0), least(c.seconds, 0)
	}
	at = h
	if h = least(uint64(c.hours), h); h == none {
		return 0, false
	}
	if h != at || m == none {
		p, s, m = least(c.points, 0), least(c.seconds, 0), least(c.minutes, 0)
	}
	return int64(h*hour + m*minute + s*second + millisecondOf(p)), true
}

// nextDay returns the first day of c from one day to another, both in, in days since 1970.
//
// It looks at each month once. The Gregorian calendar repeats after 400 years, so that a day which is not in
// these never comes. One that comes, comes within 40 years, 480 months: that is the longest between two 29ths
// of February of the same weekday, and every other date meets each weekday more often.
func (c *calendar) nextDay(first, last int64) (int64, bool) {
	year, month, date := civil(first)
	for start := first - int64(date-1); start <= last; {
		length := monthLength(year, month)
		if c.months>>month&1 != 0 {
			if found := c.monthDays(start, length) >> date << date; found != 0 {
				on := start + int64(bits.TrailingZeros32(found)) - 1
				return on, on <= last
			}
		}
		start += int64(length)
		date = 1
		if month++; month > 12 {
			year, month = year+1, 1
		}
	}
	return 0, false
}

// monthDays returns the days of a month that are days of c, as bits 1 to 31. The month begins on
// the day start and has so many days.
func (c *calendar) monthDays(start int64, length int) uint32 {
	all := uint32(1)<<(length+1) - 2
	byDate := c.days & all
	if c.clamps && c.days&^all != 0 {
		byDate |= 1 << length
	}
	// Bit n of weeks is weekday n mod 7.
	weeks := uint64(c.weekdays) * (1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35)
	byWeekday := uint32(weeks>>weekday(start)<<1) & all
	if c.dayStar || c.weekdayStar {
		return byDate & byWeekday
	}
	return byDate | byWeekday
}

// isPossible tells whether c has any day at all: one in the 400 years after which all repeats.
func (c *calendar) isPossible() bool {
	_, ok := c.nextDay(0, cycle-1)
	return ok
}
