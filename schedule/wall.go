package schedule

import (
	"math"
	"time"
)

// A wall time is what a clock on the wall shows, in milliseconds since 1970 as if
// it were UTC. A zone skips some and shows others twice. One rule says when a wall time is due,
// whatever the zone does: at the first instant at which its clock has reached it. So
// what is skipped is due when the clock jumps over it, and what is shown twice is due at the first.

// reach is more than two clocks of one zone can differ, 51 hours, by the limits of RFC 9636 section 3.2.
const reach = 52 * hour

// period is a span of time in which a zone keeps one distance from UTC, in milliseconds.
type period struct {
	start, end int64 // since the epoch; the end is not in it
	offset     int64 // of the wall clock from UTC
}

func periodAt(ms int64, zone *time.Location) period {
	if zone == time.UTC {
		return period{start: math.MinInt64, end: math.MaxInt64}
	}
	t := time.UnixMilli(ms).In(zone)
	_, offset := t.Zone()
	p := period{math.MinInt64, math.MaxInt64, int64(offset) * second}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = start.UnixMilli()
	}
	if !end.IsZero() {
		p.end = end.UnixMilli()
	}
	return p
}

// reached returns the latest wall time that the clock has shown, or jumped over, up to an instant.
func reached(ms int64, zone *time.Location) int64 {
	p := periodAt(ms, zone)
	latest := ms + p.offset
	for p.start > ms-reach {
		p = periodAt(p.start-1, zone)
		latest = max(latest, p.end-1+p.offset)
	}
	return latest
}

// reaches returns the instant at which the clock reaches a wall time that it had not reached at the
// instant before.
func reaches(wall, before int64, zone *time.Location) int64 {
	for at := max(before, wall-reach); ; {
		p := periodAt(at, zone)
		if t := max(p.start, wall-p.offset); t < p.end {
			return t
		}
		at = p.end
	}
}

// The beginning of the year 1, before which nothing is due, and the latest wall time at which
// something may be due.
const (
	minInstant = -62135596800000
	maxWall    = MaxInstant + reach
)

// soonest returns the first instant after another one at which a calendar is due. It does not
// allocate: the calendars' wall times are compared before any zone is asked, as they keep their order.
func soonest(calendars []calendar, after time.Time, zone *time.Location) (time.Time, bool) {
	if zone == nil {
		zone = time.UTC
	}
	if after.Unix() > MaxInstant/second {
		return time.Time{}, false
	}
	before := int64(minInstant - 1)
	if after.Unix() >= minInstant/second {
		before = after.UnixMilli()
	}
	from := reached(before, zone) + 1
	best, found := int64(maxWall), false
	for i := range calendars {
		if wall, ok := calendars[i].next(from, best); ok && wall <= best {
			best, found = wall, true
		}
	}
	if !found {
		return time.Time{}, false
	}
	at := reaches(best, before, zone)
	if at > MaxInstant {
		return time.Time{}, false
	}
	return time.UnixMilli(at).In(zone), true
}

// cycle is the number of days after which the Gregorian calendar repeats, 400 years.
const cycle = 146097

// civil returns the date of a day since 1970, by Hinnant's "civil_from_days": years that
// begin in March have their leap day at the end.
func civil(days int64) (year, month, date int) {
	days += 719468 // since 1 March of the year 0
	era := floorDiv(days, cycle)
	n := int(days - era*cycle)
	y := (n - n/1460 + n/36524 - n/146096) / 365
	n -= 365*y + y/4 - y/100
	m := (5*n + 2) / 153
	date = n - (153*m+2)/5 + 1
	year = y + int(era)*400
	if m < 10 {
		return year, m + 3, date
	}
	return year + 1, m - 9, date
}

// weekday returns the weekday of a day since 1970, 0 for Sunday.
func weekday(days int64) int {
	return int(days + 4 - 7*floorDiv(days+4, 7))
}

func monthLength(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// floorDiv divides and rounds down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
