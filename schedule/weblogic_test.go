package schedule_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"footfall/schedule"
)

func itoa(n int) string { return strconv.Itoa(n) }

func zone(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return loc
}

func moment(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func parse(t testing.TB, text string) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// nextRow is an expression, and the times that follow one another from a moment, worked out with a calendar.
type nextRow struct {
	text, zone, after string
	want              []string
}

func checkRows(t *testing.T, rows []nextRow, next func(text string, after time.Time, zone *time.Location) (time.Time, bool)) {
	t.Helper()
	for _, row := range rows {
		at := moment(row.after)
		for _, want := range row.want {
			got, ok := next(row.text, at, zone(row.zone))
			if !ok || !got.Equal(moment(want)) {
				t.Errorf("%s in %s after %v: expected %s; saw %v, %t", row.text, row.zone, at, want, got, ok)
				break
			}
			if got.Location().String() != row.zone {
				t.Errorf("%s in %s: the time is in %v", row.text, row.zone, got.Location())
			}
			at = got
		}
	}
}

// 1 December 2026 is a Tuesday.
const start = "2026-12-01T00:00:00Z"

func TestScheduleNamesThePublishedTimes(t *testing.T) {
	checkRows(t, []nextRow{
		// The examples of WebLogic's documentation, with its slips put right: Sunday is 1, not 0.
		{"0 0 0,30 * * * *", "UTC", start, []string{"2026-12-01T00:30:00Z", "2026-12-01T01:00:00Z"}},
		{"* * 0,30 4-5 * * *", "UTC", start, []string{"2026-12-01T04:00:00Z", "2026-12-01T04:00:00.019Z", "2026-12-01T04:00:00.039Z"}},
		{"* * 0,30 4-5 * * *", "UTC", "2026-12-01T04:00:59.999Z", []string{"2026-12-01T04:30:00Z"}},
		{"* * 0,30 4-5 * * *", "UTC", "2026-12-01T05:30:59.999Z", []string{"2026-12-02T04:00:00Z"}},
		{"* * * 9-16 * * *", "UTC", start, []string{"2026-12-01T09:00:00Z", "2026-12-01T09:00:00.019Z"}},
		{"* * * 9-16 * * *", "UTC", "2026-12-01T16:59:59.979Z", []string{"2026-12-01T16:59:59.999Z", "2026-12-02T09:00:00Z"}},
		{"* * * * 8-14 * 3", "UTC", start, []string{"2026-12-08T00:00:00Z", "2026-12-08T00:00:00.019Z"}},
		{"0 0 0 0 8-14 * 3", "UTC", start, []string{"2026-12-08T00:00:00Z", "2027-01-12T00:00:00Z", "2027-02-09T00:00:00Z"}},
		{"* * * 13-16 * * 1", "UTC", start, []string{"2026-12-06T13:00:00Z", "2026-12-06T13:00:00.019Z"}},
		{"* * * * 31 * *", "UTC", start, []string{"2026-12-31T00:00:00Z", "2026-12-31T00:00:00.019Z"}},
		{"* * * * 15 4 1", "UTC", start, []string{"2029-04-15T00:00:00Z", "2029-04-15T00:00:00.019Z"}},
		{"0 0 0 1 * * 2-6;0 0 0 2 * * 1,7", "UTC", "2026-12-04T00:00:00Z", []string{
			"2026-12-04T01:00:00Z", "2026-12-05T02:00:00Z", "2026-12-06T02:00:00Z", "2026-12-07T01:00:00Z",
		}},
		{"0 0 0 9-17,0 * * *", "UTC", "2026-12-01T16:30:00Z", []string{"2026-12-01T17:00:00Z", "2026-12-02T00:00:00Z", "2026-12-02T09:00:00Z"}},

		// The last day of a month, in every spelling, over a leap year.
		{"0 0 0 0 31 * *", "UTC", "2028-01-15T00:00:00Z", []string{
			"2028-01-31T00:00:00Z", "2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z", "2028-04-30T00:00:00Z",
		}},
		{"0 0 0 0 l 2 *", "UTC", start, []string{"2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z", "2029-02-28T00:00:00Z"}},
		{"0 0 0 0 LAST 2 *", "UTC", "2099-03-01T00:00:00Z", []string{"2100-02-28T00:00:00Z"}},
		{"0 0 0 0 30 2 *", "UTC", start, []string{"2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z"}},
		{"0 0 0 0 29 2 *", "UTC", start, []string{"2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z"}},
		{"0 0 0 0 28 2 *", "UTC", start, []string{"2027-02-28T00:00:00Z", "2028-02-28T00:00:00Z"}},
		{"0 0 0 12 30,l * *", "UTC", start, []string{
			"2026-12-30T12:00:00Z", "2026-12-31T12:00:00Z", "2027-01-30T12:00:00Z", "2027-01-31T12:00:00Z", "2027-02-28T12:00:00Z", "2027-03-30T12:00:00Z",
		}},
		{"0 0 0 9 * * L", "UTC", start, []string{"2026-12-05T09:00:00Z", "2026-12-12T09:00:00Z"}},
		{"l l l l l l *", "UTC", start, []string{"2026-12-31T23:59:59.999Z", "2027-12-31T23:59:59.999Z"}},
		{"0 0 0 0 25-l * 7", "UTC", start, []string{"2026-12-26T00:00:00Z", "2027-01-30T00:00:00Z"}},

		// Milliseconds are rounded down to a 50th of a second.
		{"18 0 0 0 * * *", "UTC", start, []string{"2026-12-02T00:00:00Z"}},
		{"19 0 0 0 * * *", "UTC", start, []string{"2026-12-01T00:00:00.019Z"}},
		{"38 0 0 0 * * *", "UTC", start, []string{"2026-12-01T00:00:00.019Z"}},
		{"500 0 0 * * * *", "UTC", start, []string{"2026-12-01T00:00:00.499Z", "2026-12-01T01:00:00.499Z"}},
		{"998 0 0 0 * * *", "UTC", start, []string{"2026-12-01T00:00:00.979Z"}},
		{"999 0 0 0 * * *", "UTC", start, []string{"2026-12-01T00:00:00.999Z"}},
		{"20-41 0 0 0 * * *", "UTC", start, []string{"2026-12-01T00:00:00.019Z", "2026-12-01T00:00:00.039Z", "2026-12-02T00:00:00.019Z"}},

		{"500 * * * * * *", "UTC", "2026-12-01T00:00:00.7Z", []string{"2026-12-01T00:00:01.499Z", "2026-12-01T00:00:02.499Z"}},
		{"500 59 * * * * *", "UTC", "2026-12-01T23:58:59.7Z", []string{"2026-12-01T23:59:59.499Z", "2026-12-02T00:00:59.499Z"}},

		// Strictly after, to the millisecond and below it.
		{"0 0 0 * * * *", "UTC", "2026-12-01T00:59:59.999999999Z", []string{"2026-12-01T01:00:00Z"}},
		{"0 0 0 * * * *", "UTC", "2026-12-01T01:00:00.000000001Z", []string{"2026-12-01T02:00:00Z"}},
		{"0 59 59 23 31 12 *", "UTC", "2026-12-31T23:59:59Z", []string{"2027-12-31T23:59:59Z"}},
		// Blanks may be tabs, and be many.
		{" 0\t0  0 12 * * * ; 0 0 0 18 * * *\t", "UTC", start, []string{"2026-12-01T12:00:00Z", "2026-12-01T18:00:00Z", "2026-12-02T12:00:00Z"}},
	}, func(text string, after time.Time, zone *time.Location) (time.Time, bool) {
		return parse(t, text).Next(after, zone)
	})
}

func TestScheduleErrorsNameTextAndPosition(t *testing.T) {
	const seven = "expected seven fields: millisecond second minute hour dayOfMonth month dayOfWeek"
	rows := []struct{ text, want string }{
		{"", `"" at position 1: ` + seven},
		{"   ", `"   " at position 1: ` + seven},
		{";", `";" at position 1: ` + seven},
		{"* * *", `"* * *" at position 6: ` + seven},
		{"0 0 0 0 * * *;", `"0 0 0 0 * * *;" at position 15: ` + seven},
		{"0 0 0 0 * * *;x", `"0 0 0 0 * * *;x" at position 15: expected the millisecond, 0 to 999`},
		{"0 0 0 0 * * *;;0 0 0 0 * * *", `"0 0 0 0 * * *;;0 0 0 0 * * *" at position 15: ` + seven},
		{"0 0 0 0 * * * *", `"0 0 0 0 * * * *" at position 15: expected a semicolon or nothing after seven fields`},
		{"1000 0 0 0 * * *", `"1000 0 0 0 * * *" at position 1: the millisecond must be 0 to 999`},
		{"0 60 0 0 * * *", `"0 60 0 0 * * *" at position 3: the second must be 0 to 59`},
		{"0 0 60 0 * * *", `"0 0 60 0 * * *" at position 5: the minute must be 0 to 59`},
		{"0 0 0 24 * * *", `"0 0 0 24 * * *" at position 7: the hour must be 0 to 23`},
		{"0 0 0 0 32 * *", `"0 0 0 0 32 * *" at position 9: the day of the month must be 1 to 31`},
		{"0 0 0 0 0 * *", `"0 0 0 0 0 * *" at position 9: the day of the month must be 1 to 31`},
		{"0 0 0 0 1 13 *", `"0 0 0 0 1 13 *" at position 11: the month must be 1 to 12`},
		{"0 0 0 0 1 0 *", `"0 0 0 0 1 0 *" at position 11: the month must be 1 to 12`},
		{"0 0 0 0 * * 8", `"0 0 0 0 * * 8" at position 13: the day of the week must be 1 to 7`},
		{"0 0 0 0 * * 0", `"0 0 0 0 * * 0" at position 13: the day of the week must be 1 to 7`},
		{"0 0 0 0 * 18446744073709551617 *", `"0 0 0 0 * 18446744073709551617 *" at position 11: the month must be 1 to 12`},
		{"a b c d e f g", `"a b c d e f g" at position 1: expected the millisecond, 0 to 999`},
		{"0 0 0 0 * jan *", `"0 0 0 0 * jan *" at position 11: expected the month, 1 to 12`},
		{"0 0 0 0 lasting * *", `"0 0 0 0 lasting * *" at position 9: expected the day of the month, 1 to 31`},
		{"0 0 0 -1 * * *", `"0 0 0 -1 * * *" at position 7: expected the hour, 0 to 23`},
		{"0 0 0 1- * * *", `"0 0 0 1- * * *" at position 9: expected the hour, 0 to 23`},
		{"0 0 0 1, * * *", `"0 0 0 1, * * *" at position 9: expected the hour, 0 to 23`},
		{"0 0 0 17-9 * * *", `"0 0 0 17-9 * * *" at position 7: this range of the hour runs backwards`},
		{"0 0 0 1-2-3 * * *", `"0 0 0 1-2-3 * * *" at position 10: unexpected in the hour`},
		{"0 0 */5 * * * *", `"0 0 */5 * * * *" at position 6: unexpected in the minute`},
		{"0 0 *5 * * * *", `"0 0 *5 * * * *" at position 6: unexpected in the minute`},
		{"0 0 0\x00 * * * *", `"0 0 0\x00 * * * *" at position 6: unexpected in the minute`},
		{"\u0660 0 0 * * * *", `"\u0660 0 0 * * * *" at position 1: expected the millisecond, 0 to 999`},
		{strings.Repeat(",", 10240), `"` + strings.Repeat(",", 64) + `"... at position 1025: longer than 1024 octets`},
		{strings.Repeat(",", 1024), `"` + strings.Repeat(",", 64) + `"... at position 1: expected the millisecond, 0 to 999`},
	}
	for _, row := range rows {
		got, err := schedule.Parse(row.text)
		var e *schedule.Error
		if got != nil || !errors.As(err, &e) || e.Text != row.text || err.Error() != row.want {
			t.Errorf("%q: expected %s; saw %v, %v", row.text, row.want, got, err)
		}
	}
}

func TestScheduleHasACanonicalForm(t *testing.T) {
	rows := []struct{ text, want string }{
		{"* * * * * * *", "* * * * * * *"},
		{"0-999 0-59 0-l 0-23 1-31 1-12 1-last", "* * * * * * *"},
		{" 007  1,0,2  5,4 1-2,2-3 31 12,1 7 ", "0 0-2 4,5 1-3 31 1,12 7"},
		{"18,19,500-600 0 0 0 l L last", "0,19,499-599 0 0 0 31 12 7"},
		{"0 0 0 1 * * 2-6 ;\t0 0 0 2 * * 7,1;0 0 0 1 * * 2-3,3-6", "0 0 0 1 * * 2-6;0 0 0 2 * * 1,7"},
	}
	for _, row := range rows {
		s := parse(t, row.text)
		if got := s.String(); got != row.want {
			t.Errorf("%q: expected %q; saw %q", row.text, row.want, got)
		}
		checkCanonical(t, s)
	}
}

type fataler interface{ Fatalf(string, ...any) }

// checkCanonical demands that the canonical form is one of itself, and means the same.
func checkCanonical(t fataler, s *schedule.Schedule) {
	text := s.String()
	again, err := schedule.Parse(text)
	if err != nil || again.String() != text {
		t.Fatalf("%q gives %v, %v", text, again, err)
	}
	for _, at := range []string{start, "2028-02-28T23:59:59.990Z", "2031-08-31T16:59:59.5Z"} {
		a, okA := s.Next(moment(at), time.UTC)
		b, okB := again.Next(moment(at), time.UTC)
		if !a.Equal(b) || okA != okB {
			t.Fatalf("%q: %v, again %v", text, a, b)
		}
	}
}

func TestSoonestOfSeveralSchedulesCounts(t *testing.T) {
	parts := []string{"0 0 0 1 * * *", "0 0 0 0 31 * *", "0 30 * 12 * 6-8 *", "500 0 0 6 29 2 *", "0 0 0 0 15 4 1"}
	all := parse(t, strings.Join(parts, ";"))
	for _, name := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe"} {
		for at := moment("2027-01-01T00:00:00Z"); at.Year() < 2029; at = at.Add(37 * time.Hour) {
			var times []time.Time
			for _, part := range parts {
				next, _ := parse(t, part).Next(at, zone(name))
				times = append(times, next)
			}
			want := slices.MinFunc(times, time.Time.Compare)
			if got, ok := all.Next(at, zone(name)); !ok || !got.Equal(want) {
				t.Fatalf("after %v in %s: expected %v; saw %v", at, name, want, got)
			}
		}
	}
}

func TestNothingIsDueAfterTheYear9999(t *testing.T) {
	s := parse(t, "0 0 0 0 1 1 *")
	if got, ok := s.Next(moment("9998-06-01T00:00:00Z"), nil); !ok || got.Year() != 9999 {
		t.Errorf("expected the year 9999; saw %v, %t", got, ok)
	}
	for _, after := range []time.Time{moment("9999-06-01T00:00:00Z"), time.Unix(1<<60, 0), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		for _, name := range []string{"UTC", "America/New_York"} {
			for _, s := range []*schedule.Schedule{s, parse(t, "0 0 0 0 1 3 *")} {
				if got, ok := s.Next(after, zone(name)); ok {
					t.Errorf("after %v: %v", after, got)
				}
			}
		}
	}
}

func TestBeforeTheYear1TheFirstTimeIsFound(t *testing.T) {
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	if got, ok := parse(t, "* * * * * * *").Next(first.Add(-1), time.UTC); !ok || !got.Equal(first) {
		t.Errorf("saw %v, %t", got, ok)
	}
	for _, after := range []time.Time{{}, time.Unix(-1<<60, 0)} {
		if got, ok := parse(t, "0 0 0 0 29 2 *").Next(after, time.UTC); !ok || !got.Equal(time.Date(1, 2, 28, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("after %v: %v, %t", after, got, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"0 0 0,30 * * * *", "* * * 9-16 * * *", "0 0 0 1 * * 2-6;0 0 0 2 * * 1,7", "l LAST 25-l 0 0 0 0", "0 0 0 24 * * *",
		strings.Repeat(",", 1030), "TZ=0", "\x00", "0 0 0 0 31 2 *;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schedule.Parse(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		if len(s.String()) <= schedule.MaxSchedule {
			checkCanonical(t, s)
		}
		after := moment(start)
		next, ok := s.Next(after, zone("America/New_York"))
		if !ok || !next.After(after) || next.Year() > 2067 {
			t.Fatalf("%q: %v, %t", text, next, ok)
		}
	})
}
