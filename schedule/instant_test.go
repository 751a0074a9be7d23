package schedule_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"footfall/schedule"
	"pgregory.net/rapid"
)

func TestInstantForms(t *testing.T) {
	rows := []struct {
		text string
		want int64
	}{
		// Milliseconds since the epoch.
		{"0", 0},
		{"1", 1},
		{"1767225600000", 1767225600000},
		{"+1767225600000", 1767225600000},
		{"253402300799999", schedule.MaxInstant},
		// RFC 3339.
		{"1970-01-01T00:00:00Z", 0},
		{"2026-01-01T00:00:00Z", 1767225600000},
		{"2026-01-01t00:00:00z", 1767225600000},
		{"2026-01-01 00:00:00Z", 1767225600000},
		{"2026-01-01T01:00:00+01:00", 1767225600000},
		{"2025-12-31T18:30:00-05:30", 1767225600000},
		{"2026-01-01T00:00:00.5Z", 1767225600500},
		{"2026-01-01T00:00:00.123Z", 1767225600123},
		{"2024-02-29T00:00:00Z", 1709164800000},
		{"2016-12-31T23:59:60Z", 1483228800000},
		{"9999-12-31T23:59:59.999Z", schedule.MaxInstant},
		// Never early: rounded up.
		{"2026-01-01T00:00:00.0000001Z", 1767225600001},
		{"2026-01-01T00:00:00.00000000000000000001Z", 1767225600001},
		{"2026-01-01T00:00:00.9999Z", 1767225601000},
		// Before 1970 is past, and all that is past is at once.
		{"-1", 0},
		{"-9223372036854775809", 0},
		{"1969-12-31T23:59:59.999Z", 0},
		{"0000-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:00+23:59", 0},
		// Blanks around.
		{" 1767225600000\t", 1767225600000},
		{" 2026-01-01T00:00:00Z ", 1767225600000},
	}
	for _, row := range rows {
		got, err := schedule.ParseInstant(row.text)
		if err != nil || got != row.want {
			t.Errorf("%q: expected %d; saw %d, %v", row.text, row.want, got, err)
		}
	}
}

func TestInstantErrorsNameValueAndPosition(t *testing.T) {
	const form = "expected milliseconds since the epoch, or a time as in 2026-01-31T12:00:00Z"
	rows := []struct{ text, want string }{
		{"", `"" at position 1: ` + form},
		{"tomorrow", `"tomorrow" at position 1: ` + form},
		{"--1", `"--1" at position 2: ` + form},
		{"1e400", `"1e400" at position 2: expected nothing more`},
		{"1.5", `"1.5" at position 2: expected nothing more`},
		{"253402300800000", `"253402300800000" at position 1: later than the year 9999`},
		{"9223372036854775807", `"9223372036854775807" at position 1: later than the year 9999`},
		{"99999999999999999999999", `"99999999999999999999999" at position 1: later than the year 9999`},
		{"9999-12-31T23:59:59-00:01", `"9999-12-31T23:59:59-00:01" at position 1: later than the year 9999`},
		{"9999-12-31T23:59:59.9999Z", `"9999-12-31T23:59:59.9999Z" at position 1: later than the year 9999`},
		{"26-01-01T00:00:00Z", `"26-01-01T00:00:00Z" at position 3: expected a year of 4 digits`},
		{"12026-01-01T00:00:00Z", `"12026-01-01T00:00:00Z" at position 5: expected "-" before the month`},
		{"2026-13-01T00:00:00Z", `"2026-13-01T00:00:00Z" at position 6: the month must be 01 to 12`},
		{"2026-00-01T00:00:00Z", `"2026-00-01T00:00:00Z" at position 6: the month must be 01 to 12`},
		{"2026-1-01T00:00:00Z", `"2026-1-01T00:00:00Z" at position 7: expected a month of 2 digits`},
		{"2026-02-29T00:00:00Z", `"2026-02-29T00:00:00Z" at position 9: the day must be 01 to 28`},
		{"2026-04-31T00:00:00Z", `"2026-04-31T00:00:00Z" at position 9: the day must be 01 to 30`},
		{"2026-01-01", `"2026-01-01" at position 11: expected "T" before the hour`},
		{"2026-01-01T24:00:00Z", `"2026-01-01T24:00:00Z" at position 12: the hour must be 00 to 23`},
		{"2026-01-01T00:60:00Z", `"2026-01-01T00:60:00Z" at position 15: the minute must be 00 to 59`},
		{"2026-01-01T00:00:61Z", `"2026-01-01T00:00:61Z" at position 18: the second must be 00 to 60`},
		{"2026-01-01T00:00Z", `"2026-01-01T00:00Z" at position 17: expected ":" before the second`},
		{"2026-01-01T00:00:00", `"2026-01-01T00:00:00" at position 20: expected a zone, Z or as in +01:00`},
		{"2026-01-01T00:00:00.Z", `"2026-01-01T00:00:00.Z" at position 21: expected a digit after the decimal mark`},
		{"2026-01-01T00:00:00+0100", `"2026-01-01T00:00:00+0100" at position 23: expected ":" before the zone's minute`},
		{"2026-01-01T00:00:00+24:00", `"2026-01-01T00:00:00+24:00" at position 21: the zone's hour must be 00 to 23`},
		{"2026-01-01T00:00:00 CET", `"2026-01-01T00:00:00 CET" at position 20: expected a zone, Z or as in +01:00`},
		{"2026-01-01T00:00:00Z[UTC]", `"2026-01-01T00:00:00Z[UTC]" at position 21: expected nothing more`},
		{"2026-01-01T00:00:00Z\x00", `"2026-01-01T00:00:00Z\x00" at position 21: expected nothing more`},
		{
			strings.Repeat("1", schedule.MaxText+1),
			`"` + strings.Repeat("1", schedule.MaxText) + `"... at position 65: longer than 64 octets`,
		},
	}
	for _, row := range rows {
		got, err := schedule.ParseInstant(row.text)
		var e *schedule.Error
		if !errors.As(err, &e) || e.Text != row.text || err.Error() != row.want {
			t.Errorf("%q: expected %s; saw %v, %v", row.text, row.want, got, err)
		}
	}
}

func TestInstantReadsWhatGoWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(24*3600*1000, schedule.MaxInstant-24*3600*1000).Draw(t, "ms")
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "zone"))
		for _, text := range []string{strconv.FormatInt(want, 10), time.UnixMilli(want).In(zone).Format(time.RFC3339Nano)} {
			if got, err := schedule.ParseInstant(text); err != nil || got != want {
				t.Fatalf("%q: expected %d; saw %d, %v", text, want, got, err)
			}
		}
	})
}

func FuzzParseInstant(f *testing.F) {
	for _, seed := range []string{"0", "-1", "1767225600000", "2026-01-01T01:00:00.5+01:00", "9999-12-31T23:59:59-00:01", "2016-12-31T23:59:60Z", " 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := schedule.ParseInstant(text)
		std, stdErr := time.Parse(time.RFC3339, strings.ToUpper(strings.Trim(text, " \t")))
		if err != nil {
			checkError(t, text, err)
			return
		}
		if got < 0 || got > schedule.MaxInstant {
			t.Fatalf("%q: %d is out of bounds", text, got)
		}
		if stdErr != nil {
			return
		}
		// The standard library's fractions end at a nanosecond.
		if d := got - std.UnixMilli(); got > 0 && (d < 0 || d > 1) {
			t.Fatalf("%q: %d; the standard library reads %d", text, got, std.UnixMilli())
		}
	})
}
