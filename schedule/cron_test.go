package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"footfall/schedule"
)

func parseCron(t testing.TB, text string) *schedule.Cron {
	t.Helper()
	c, err := schedule.ParseCron(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCronNamesTheTimesOfUnix(t *testing.T) {
	checkRows(t, []nextRow{
		{"* * * * *", "UTC", "2026-12-01T00:00:00.001Z", []string{"2026-12-01T00:01:00Z", "2026-12-01T00:02:00Z"}},
		{"*/5 * * * *", "UTC", "2026-12-01T00:51:00Z", []string{"2026-12-01T00:55:00Z", "2026-12-01T01:00:00Z"}},
		{"*/25 * * * *", "UTC", start, []string{"2026-12-01T00:25:00Z", "2026-12-01T00:50:00Z", "2026-12-01T01:00:00Z"}},
		{"1-7/3 * * * *", "UTC", start, []string{"2026-12-01T00:01:00Z", "2026-12-01T00:04:00Z", "2026-12-01T00:07:00Z", "2026-12-01T01:01:00Z"}},
		{"10-12,50 * * * *", "UTC", "2026-12-01T00:11:00Z", []string{"2026-12-01T00:12:00Z", "2026-12-01T00:50:00Z", "2026-12-01T01:10:00Z"}},
		{"*/20 9-10 * * *", "UTC", "2026-12-01T10:30:00Z", []string{"2026-12-01T10:40:00Z", "2026-12-02T09:00:00Z"}},
		{"30 4 * * *", "UTC", "2026-12-01T04:30:00Z", []string{"2026-12-02T04:30:00Z"}},
		{"0 22 * * 1-5", "UTC", "2026-12-04T00:00:00Z", []string{"2026-12-04T22:00:00Z", "2026-12-07T22:00:00Z"}},
		{"0 22 * * MON-fri", "UTC", "2026-12-04T00:00:00Z", []string{"2026-12-04T22:00:00Z", "2026-12-07T22:00:00Z"}},
		{"0 0 * * 0", "UTC", start, []string{"2026-12-06T00:00:00Z", "2026-12-13T00:00:00Z"}},
		{"0 0 * * 7", "UTC", start, []string{"2026-12-06T00:00:00Z", "2026-12-13T00:00:00Z"}},
		{"0 0 * * Sun", "UTC", start, []string{"2026-12-06T00:00:00Z", "2026-12-13T00:00:00Z"}},
		{"0 0 * * 6-7", "UTC", start, []string{"2026-12-05T00:00:00Z", "2026-12-06T00:00:00Z", "2026-12-12T00:00:00Z"}},
		{"15 10 1 JAN *", "UTC", start, []string{"2027-01-01T10:15:00Z", "2028-01-01T10:15:00Z"}},
		{"0 0 1 jan-mar,Dec *", "UTC", start, []string{"2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z", "2027-03-01T00:00:00Z", "2027-12-01T00:00:00Z"}},
		{"0 20 * 4,5 0", "UTC", "2011-04-30T22:00:30Z", []string{"2011-05-01T20:00:00Z"}},
		{"0 20 * 4,5 0", "UTC", "2011-05-30T22:00:30Z", []string{"2012-04-01T20:00:00Z"}},

		// A day that the month lacks is left out, not moved.
		{"0 0 31 * *", "UTC", "2026-04-01T00:00:00Z", []string{"2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z"}},
		{"0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		{"0 0 */10 * *", "UTC", start, []string{"2026-12-11T00:00:00Z", "2026-12-21T00:00:00Z", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"}},

		// Both days restricted: either. A field that begins with an asterisk does not restrict.
		{"0 0 13 * 5", "UTC", start, []string{"2026-12-04T00:00:00Z", "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z", "2026-12-18T00:00:00Z"}},
		{"0 0 13 * 1-7", "UTC", start, []string{"2026-12-02T00:00:00Z", "2026-12-03T00:00:00Z"}},
		{"0 0 1-31 * 5", "UTC", start, []string{"2026-12-02T00:00:00Z", "2026-12-03T00:00:00Z"}},
		{"0 0 */7 * 2", "UTC", start, []string{"2026-12-08T00:00:00Z", "2026-12-15T00:00:00Z", "2026-12-22T00:00:00Z", "2026-12-29T00:00:00Z", "2027-06-01T00:00:00Z"}},
		{"0 0 13 * */2", "UTC", start, []string{"2026-12-13T00:00:00Z", "2027-02-13T00:00:00Z"}},
		{"0 0 30 2 1", "UTC", "2027-02-23T00:00:00Z", []string{"2028-02-07T00:00:00Z"}},
	}, func(text string, after time.Time, zone *time.Location) (time.Time, bool) {
		return parseCron(t, text).Next(after, zone)
	})
}

func TestCronErrorsNameTextAndPosition(t *testing.T) {
	const five = "expected five fields: minute hour dayOfMonth month dayOfWeek"
	rows := []struct{ text, want string }{
		{"", `"" at position 1: ` + five},
		{"8 10 6 *", `"8 10 6 *" at position 9: ` + five},
		{"61 8 10 6 *", `"61 8 10 6 *" at position 1: the minute must be 0 to 59`},
		{"* * * * * *", `"* * * * * *" at position 11: expected nothing after five fields`},
		{"* * * * *;", `"* * * * *;" at position 10: expected nothing after five fields`},
		{"* 24 * * *", `"* 24 * * *" at position 3: the hour must be 0 to 23`},
		{"* * 32 * *", `"* * 32 * *" at position 5: the day of the month must be 1 to 31`},
		{"* * 0 * *", `"* * 0 * *" at position 5: the day of the month must be 1 to 31`},
		{"* * * 13 *", `"* * * 13 *" at position 7: the month must be 1 to 12`},
		{"* * * * 8", `"* * * * 8" at position 9: the day of the week must be 0 to 7`},
		{"TZ=0", `"TZ=0" at position 1: expected the minute, 0 to 59`},
		{"TZ=UTC * * * * *", `"TZ=UTC * * * * *" at position 1: expected the minute, 0 to 59`},
		{"CRON_TZ=UTC", `"CRON_TZ=UTC" at position 1: expected the minute, 0 to 59`},
		{"@every 1ns", `"@every 1ns" at position 1: expected the minute, 0 to 59`},
		{"@daily", `"@daily" at position 1: expected the minute, 0 to 59`},
		{"? * * * *", `"? * * * *" at position 1: expected the minute, 0 to 59`},
		{"foo * * * *", `"foo * * * *" at position 1: expected the minute, 0 to 59`},
		{"1-x * * * *", `"1-x * * * *" at position 3: expected the minute, 0 to 59`},
		{"*/0 * * * *", `"*/0 * * * *" at position 3: the step of the minute must be 1 to 60`},
		{"*/61 * * * *", `"*/61 * * * *" at position 3: the step of the minute must be 1 to 60`},
		{"*/ * * * *", `"*/ * * * *" at position 3: the step of the minute must be 1 to 60`},
		{"*/99999999999999999999 * * * *", `"*/99999999999999999999 * * * *" at position 3: the step of the minute must be 1 to 60`},
		{"5/15 * * * *", `"5/15 * * * *" at position 2: a step can follow only an asterisk or a range`},
		{"*/2/2 * * * *", `"*/2/2 * * * *" at position 4: unexpected in the minute`},
		{"50-10 * * * *", `"50-10 * * * *" at position 1: this range of the minute runs backwards`},
		{"0 0 * * fri-sun", `"0 0 * * fri-sun" at position 9: this range of the day of the week runs backwards`},
		{"0 0 l * *", `"0 0 l * *" at position 5: expected the day of the month, 1 to 31`},
		{"0 0 * januar *", `"0 0 * januar *" at position 7: expected the month, 1 to 12`},
		{"0 0 30 2 *", `"0 0 30 2 *" at position 5: there is no such day in any year`},
		{"0 0 31 4,6,9,11 *", `"0 0 31 4,6,9,11 *" at position 5: there is no such day in any year`},
		{strings.Repeat(",", 10240), `"` + strings.Repeat(",", 64) + `"... at position 257: longer than 256 octets`},
	}
	for _, row := range rows {
		got, err := schedule.ParseCron(row.text)
		var e *schedule.Error
		if got != nil || !errors.As(err, &e) || e.Text != row.text || err.Error() != row.want {
			t.Errorf("%q: expected %s; saw %v, %v", row.text, row.want, got, err)
		}
	}
}

func TestCronHasACanonicalForm(t *testing.T) {
	rows := []struct{ text, want string }{
		{" *  *\t* * * ", "* * * * *"},
		{"0-59/5 0-23 1-31 1-12 0-7", "*/5 * 1-31 * 0-6"},
		{"0,30 */1 */1 JAN-DEC SUN-SAT", "0,30 * * * 0-6"},
		{"05 4,5,6 1,15 feb,jan 7", "5 4-6 1,15 1,2 0"},
		{"0 */8 */7 */3 2", "0 */8 */7 */3 2"},
		{"0 0 1-31/7 * 2", "0 0 1-31/7 * 2"},
		{"0 0 */16,2 * */3", "0 0 */31,2,17 * */3"},
		{"0 0 */31 * */7", "0 0 */31 * */7"},
		{"0 0 13 * */2,5", "0 0 13 * */7,2,4-6"},
	}
	for _, row := range rows {
		c := parseCron(t, row.text)
		if got := c.String(); got != row.want {
			t.Errorf("%q: expected %q; saw %q", row.text, row.want, got)
		}
		if again := parseCron(t, c.String()); *again != *c {
			t.Errorf("%q: %q means something else", row.text, c)
		}
	}
}

// TestTheLongestCanonicalFormOfCronIsShortEnough: a job is stored with it.
func TestTheLongestCanonicalFormOfCronIsShortEnough(t *testing.T) {
	pairs := func(low, high int) string { // 0,1,3,4,6,7: no list is longer than one of pairs
		var values []string
		for n := low; n <= high; n++ {
			if (n-low)%3 != 2 {
				values = append(values, itoa(n))
			}
		}
		return strings.Join(values, ",")
	}
	long := []string{pairs(0, 59), pairs(0, 23), "*/31," + pairs(1, 31), pairs(1, 12), "*/7," + pairs(0, 6)}
	var fields []string
	for i, text := range long {
		field := []string{"*", "*", "*", "*", "*"}
		field[i] = text
		fields = append(fields, strings.Fields(parseCron(t, strings.Join(field, " ")).String())[i])
	}
	whole := strings.Join(fields, " ")
	if c := parseCron(t, whole); c.String() != whole {
		t.Errorf("expected %q; saw %q", whole, c)
	}
}

func FuzzParseCron(f *testing.F) {
	for _, seed := range []string{
		"* * * * *", "*/5 1-7/3 1,15 jan-mar sun", "0 0 13 * */2,5", "61 8 10 6 *", "TZ=0", "@every 1ns", "0 0 30 2 *", "5/15 * * * *",
		strings.Repeat(",", 300), "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := schedule.ParseCron(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		again, err := schedule.ParseCron(c.String())
		if err != nil || *again != *c || again.String() != c.String() {
			t.Fatalf("%q: its canonical form %q gives %v, %v", text, c, again, err)
		}
		after := moment(start)
		next, ok := c.Next(after, zone("America/New_York"))
		if !ok || !next.After(after) || next.Year() > 2067 || next.Unix()%60 != 0 {
			t.Fatalf("%q: %v, %t", text, next, ok)
		}
	})
}
