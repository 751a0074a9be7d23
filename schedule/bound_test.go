package schedule

import (
	"testing"
	"time"
)

// These tests look inside: they prove what the comments promise of the calendar.

func TestTheCalendarIsThatOfTheStandardLibrary(t *testing.T) {
	for n := int64(-cycle); n < 4*cycle; n++ {
		at := time.Unix(n*day/second, 0).UTC()
		year, month, date := civil(n)
		if year != at.Year() || month != int(at.Month()) || date != at.Day() || weekday(n) != int(at.Weekday()) {
			t.Fatalf("day %d: expected %v; saw %d-%d-%d, weekday %d", n, at, year, month, date, weekday(n))
		}
		if last := at.AddDate(0, 0, 1).Day() == 1; last != (date == monthLength(year, month)) {
			t.Fatalf("%v: a month of %d days", at, monthLength(year, month))
		}
	}
}

// TestNoDayIsMoreThan40YearsAway looks at every pair of a date and a weekday. All other sets of days
// are unions of these, so that they are found no later.
func TestNoDayIsMoreThan40YearsAway(t *testing.T) {
	type pair struct{ month, date, weekday int }
	last := map[pair]int64{}
	longest := int64(0)
	for n := range int64(2 * cycle) {
		_, month, date := civil(n)
		p := pair{month, date, weekday(n)}
		before, seen := last[p]
		if seen {
			longest = max(longest, n-before)
			c := calendar{
				points: 1, seconds: 1, minutes: 1, hours: 1, days: 1 << date, months: 1 << month, weekdays: 1 << p.weekday,
				dayStar: true, weekdayStar: true,
			}
			if got, ok := c.nextDay(before+1, before+40*366); !ok || got != n {
				t.Fatalf("%v after day %d: expected %d; saw %d, %t", p, before, n, got, ok)
			}
		}
		last[p] = n
	}
	if len(last) != 366*7 {
		t.Fatalf("saw %d pairs of a date and a weekday", len(last))
	}
	if year := int64(366); longest > 40*year || longest < 39*year {
		t.Fatalf("the longest wait is %d days", longest)
	}
}

func TestPointsOfASecond(t *testing.T) {
	for ms := range 1000 {
		point := pointOf(ms)
		if at := millisecondOf(point); at > ms || point < pointCount-1 && millisecondOf(point+1) <= ms {
			t.Errorf("%d is rounded down to %d", ms, at)
		}
		first := pointFrom(ms)
		if at := millisecondOf(first); at < ms || first > 0 && millisecondOf(first-1) >= ms {
			t.Errorf("the first point from %d is %d", ms, at)
		}
	}
	if millisecondOf(pointCount-1) != 999 {
		t.Errorf("the last point is %d", millisecondOf(pointCount-1))
	}
}
