package schedule_test

import (
	"slices"
	"testing"
	"time"

	"footfall/schedule"
	"pgregory.net/rapid"
)

// walker finds the next time of a schedule the slow way: it walks from minute to minute, looks at
// the wall clock, and tries every second and every point of a second. It shares nothing with the
// package but the meaning.
type walker struct {
	millis, seconds, minutes, hours, days, months, weekdays []int // weekdays from 0, Sunday

	clamps   bool // a day that the month lacks is its last
	eitherOr bool // one of the day fields is enough
}

func (w *walker) isDay(date time.Time) bool {
	if !slices.Contains(w.months, int(date.Month())) {
		return false
	}
	last := time.Date(date.Year(), date.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	byDate := slices.Contains(w.days, date.Day())
	if w.clamps && date.Day() == last && slices.Max(w.days) > last {
		byDate = true
	}
	byWeekday := slices.Contains(w.weekdays, int(date.Weekday()))
	if w.eitherOr {
		return byDate || byWeekday
	}
	return byDate && byWeekday
}

// wallClock is what the clock of a zone shows, as a time in UTC.
func wallClock(t time.Time, zone *time.Location) time.Time {
	y, mo, d := t.In(zone).Date()
	h, mi, s := t.In(zone).Clock()
	return time.Date(y, mo, d, h, mi, s, t.Nanosecond(), time.UTC)
}

// next walks from two days before after, to learn which wall times were shown, for so many days.
func (w *walker) next(after time.Time, zone *time.Location, days int) (time.Time, bool) {
	t := after.Truncate(time.Minute).Add(-48 * time.Hour)
	shown := wallClock(t, zone).Add(-time.Minute)
	var today time.Time
	isDay := false
	for end := after.AddDate(0, 0, days); t.Before(end); t = t.Add(time.Minute) {
		for now := wallClock(t, zone); shown.Before(now); {
			shown = shown.Add(time.Minute)
			if midnight := shown.Truncate(24 * time.Hour); !midnight.Equal(today) {
				today, isDay = midnight, w.isDay(midnight)
			}
			if !isDay || !slices.Contains(w.hours, shown.Hour()) || !slices.Contains(w.minutes, shown.Minute()) {
				continue
			}
			if shown.Before(now) { // the clock jumped over it
				if t.After(after) {
					return t, true
				}
				continue
			}
			if !t.Add(time.Minute).After(after) {
				continue
			}
			for _, s := range w.seconds {
				for _, ms := range w.millis {
					at := t.Add(time.Duration(s)*time.Second + time.Duration(ms)*time.Millisecond)
					if at.After(after) {
						return at, true
					}
				}
			}
		}
	}
	return time.Time{}, false
}

// genField draws the text of a field, and its values.
func genField(t *rapid.T, label string, low, high int, mayStep bool) (text string, values []int, star bool) {
	if rapid.IntRange(0, 2).Draw(t, label+" star") == 0 {
		return "*", interval(low, high, 1), true
	}
	n := rapid.IntRange(1, 4).Draw(t, label+" items")
	for i := range n {
		item, more := genItem(t, label, low, high, mayStep)
		if i > 0 {
			text += ","
		}
		text += item
		values = append(values, more...)
	}
	slices.Sort(values)
	return text, slices.Compact(values), text[0] == '*'
}

func genItem(t *rapid.T, label string, low, high int, mayStep bool) (string, []int) {
	a := rapid.IntRange(low, high).Draw(t, label+" from")
	b := rapid.IntRange(a, high).Draw(t, label+" to")
	step := rapid.IntRange(1, high-low+1).Draw(t, label+" step")
	switch kind := rapid.IntRange(0, 3).Draw(t, label+" kind"); {
	case kind == 0 && mayStep:
		return "*/" + itoa(step), interval(low, high, step)
	case kind == 1 && mayStep:
		return itoa(a) + "-" + itoa(b) + "/" + itoa(step), interval(a, b, step)
	case kind == 2:
		return itoa(a) + "-" + itoa(b), interval(a, b, 1)
	}
	return itoa(a), []int{a}
}

func interval(low, high, step int) (out []int) {
	for n := low; n <= high; n += step {
		out = append(out, n)
	}
	return out
}

// points are the places in a second, as they are published.
func points() []int {
	out := []int{0}
	for ms := 19; ms < 1000; ms += 20 {
		out = append(out, ms)
	}
	return out
}

// genZone draws zones that have little in common: no summer time, north, south, half hours, a
// quarter of an hour, a summer time of 30 minutes, one by another calendar, and days that were left
// out or came twice.
func genZone(t *rapid.T) *time.Location {
	return zone(rapid.SampledFrom([]string{
		"UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu",
		"America/Santiago", "Africa/Casablanca", "Pacific/Apia", "Asia/Tehran", "America/Sao_Paulo", "Pacific/Chatham",
	}).Draw(t, "zone"))
}

// genTime draws moments near changes of clocks as well as anywhere.
func genTime(t *rapid.T, zone *time.Location) time.Time {
	at := time.UnixMilli(rapid.Int64Range(0, 2500000000000).Draw(t, "ms"))
	if _, change := at.In(zone).ZoneBounds(); !change.IsZero() && rapid.Bool().Draw(t, "near a change") {
		at = change.Add(time.Duration(rapid.Int64Range(-8000000, 8000000).Draw(t, "from it")) * time.Millisecond)
	}
	return at
}

// walkDays is how far the walker looks. What is further off, it must only not have seen.
const walkDays = 45

func checkWalk(t *rapid.T, w *walker, zone *time.Location, next func(time.Time, *time.Location) (time.Time, bool)) {
	after := genTime(t, zone)
	got, ok := next(after, zone)
	if !ok {
		t.Fatalf("from %v: no time", after)
	}
	want, found := w.next(after, zone, walkDays)
	if found && !got.Equal(want) || !found && got.Before(after.AddDate(0, 0, walkDays)) {
		t.Fatalf("from %v in %v: expected %v, %t; saw %v", after.In(zone), zone, want.In(zone), found, got)
	}
	if !got.After(after) {
		t.Fatalf("from %v in %v: %v is not later", after, zone, got)
	}
	// Whatever is between gives the same.
	between := after.Add(time.Duration(rapid.Int64Range(0, int64(got.Sub(after))-1).Draw(t, "between")))
	if again, _ := next(between, zone); !again.Equal(got) {
		t.Fatalf("from %v in %v: %v, but from %v: %v", after, zone, got, between, again)
	}
}

func TestScheduleAgreesWithAWalkThroughTheMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &walker{clamps: true}
		ms, millis, _ := genField(t, "millisecond", 0, 999, false)
		for _, v := range millis { // rounded down to the last point
			last := 0
			for _, p := range points() {
				if p <= v {
					last = p
				}
			}
			w.millis = append(w.millis, last)
		}
		slices.Sort(w.millis)
		text := ms
		for _, f := range []struct {
			values    *[]int
			label     string
			low, high int
		}{
			{&w.seconds, "second", 0, 59},
			{&w.minutes, "minute", 0, 59},
			{&w.hours, "hour", 0, 23},
			{&w.days, "day", 1, 31},
			{&w.months, "month", 1, 12},
			{&w.weekdays, "weekday", 1, 7},
		} {
			field, values, _ := genField(t, f.label, f.low, f.high, false)
			text += " " + field
			*f.values = values
		}
		for i := range w.weekdays {
			w.weekdays[i]--
		}
		s, err := schedule.Parse(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		checkCanonical(t, s)
		checkWalk(t, w, genZone(t), s.Next)
	})
}

func TestCronAgreesWithAWalkThroughTheMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &walker{millis: []int{0}, seconds: []int{0}}
		var text string
		var stars [5]bool
		for i, f := range []struct {
			values    *[]int
			label     string
			low, high int
		}{
			{&w.minutes, "minute", 0, 59},
			{&w.hours, "hour", 0, 23},
			{&w.days, "day", 1, 31},
			{&w.months, "month", 1, 12},
			{&w.weekdays, "weekday", 0, 7},
		} {
			var field string
			field, *f.values, stars[i] = genField(t, f.label, f.low, f.high, true)
			text += field + " "
		}
		for i := range w.weekdays {
			w.weekdays[i] %= 7
		}
		w.eitherOr = !stars[2] && !stars[4]
		c, err := schedule.ParseCron(text)
		if err != nil {
			if w.hasDay() {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := schedule.ParseCron(c.String()); err != nil || *again != *c {
			t.Fatalf("%q: its canonical form %q gives %v, %v", text, c, again, err)
		}
		checkWalk(t, w, genZone(t), c.Next)
	})
}

// hasDay tells whether any day of 400 years is one of the walker's.
func (w *walker) hasDay() bool {
	d := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 146097 {
		if w.isDay(d) {
			return true
		}
		d = d.AddDate(0, 0, 1)
	}
	return false
}

func TestDaysAgreeWithAWalkThroughTheYears(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &walker{clamps: true}
		days, values, _ := genField(t, "day", 1, 31, false)
		w.days = values
		months, values, _ := genField(t, "month", 1, 12, false)
		w.months = values
		weekdays, values, _ := genField(t, "weekday", 1, 7, false)
		for _, v := range values {
			w.weekdays = append(w.weekdays, v-1)
		}
		s, err := schedule.Parse("0 0 0 0 " + days + " " + months + " " + weekdays)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(rapid.IntRange(1, 9900).Draw(t, "year"), 1, 1+rapid.IntRange(0, 365).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		got, ok := s.Next(at.Add(-1), time.UTC)
		for !w.isDay(at) {
			at = at.AddDate(0, 0, 1)
		}
		if !ok || !got.Equal(at) {
			t.Fatalf("%v: expected %v; saw %v, %t", s, at, got, ok)
		}
	})
}
