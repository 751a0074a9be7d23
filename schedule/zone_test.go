package schedule_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"footfall/schedule"
)

func TestScheduleFollowsTheClockOfItsZone(t *testing.T) {
	checkRows(t, []nextRow{
		{"0 0 0 9 * * 2-6", "America/New_York", "2026-12-04T15:00:00Z", []string{"2026-12-07T14:00:00Z"}},
		{"0 0 0 0 * * *", "Asia/Kolkata", start, []string{"2026-12-01T18:30:00Z"}},
		{"0 0 0 0 * * *", "Asia/Kathmandu", start, []string{"2026-12-01T18:15:00Z", "2026-12-02T18:15:00Z"}},
		{"0 0 30 18 l * *", "Europe/Berlin", start, []string{"2026-12-31T17:30:00Z", "2027-01-31T17:30:00Z"}},
		// A skipped time is due at the first moment after the gap, and once.
		{"0 0 30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", []string{"2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"}},
		{"0 15 30 2 * * *", "America/New_York", "2027-03-13T12:00:00Z", []string{"2027-03-14T07:00:00Z", "2027-03-15T06:30:15Z"}},
		{"0 0 0,30 1-3 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", []string{"2027-03-28T00:30:00Z", "2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z"}},
		{"0 0 30 2 * * *", "Australia/Lord_Howe", "2027-10-02T00:00:00Z", []string{"2027-10-02T15:30:00Z", "2027-10-03T15:30:00Z"}},
		{"0 0 15 2 * * *", "Australia/Lord_Howe", "2027-10-02T00:00:00Z", []string{"2027-10-02T15:30:00Z", "2027-10-03T15:15:00Z"}},
		{"0 0 30 0 * * *", "America/Santiago", "2027-09-05T00:00:00Z", []string{"2027-09-05T04:00:00Z", "2027-09-06T03:30:00Z"}},
		// A day that a zone left out: 30 December 2011 in Samoa.
		{"0 0 0 12 30 * *", "Pacific/Apia", "2011-12-01T00:00:00Z", []string{"2011-12-30T10:00:00Z", "2012-01-29T22:00:00Z"}},
		// A time that is shown twice is due at the first, and once.
		{"0 0 30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", []string{"2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"}},
		{"0 0 0 1 * * *", "America/New_York", "2027-11-06T12:00:00Z", []string{"2027-11-07T05:00:00Z", "2027-11-08T06:00:00Z"}},
		{"0 0 45 1 * * *", "Australia/Lord_Howe", "2027-04-03T00:00:00Z", []string{"2027-04-03T14:45:00Z", "2027-04-04T15:15:00Z"}},
		{"0 0 30 23 * * *", "America/Santiago", "2027-04-03T12:00:00Z", []string{"2027-04-04T02:30:00Z", "2027-04-05T03:30:00Z"}},
		// While an hour is shown again nothing is due.
		{"0 0 0,30 * * * *", "Europe/Berlin", "2027-10-30T23:45:00Z", []string{"2027-10-31T00:00:00Z", "2027-10-31T00:30:00Z", "2027-10-31T02:00:00Z"}},
		{"0 0 0,30 * * * *", "Europe/Berlin", "2027-10-31T01:10:00Z", []string{"2027-10-31T02:00:00Z"}},
		// A day that came twice: at the end of September 1969 Kwajalein's clock went back by 23 hours.
		{"0 0 0 12 * * *", "Pacific/Kwajalein", "1969-09-29T12:00:00Z", []string{"1969-09-30T01:00:00Z", "1969-10-02T00:00:00Z"}},
		{"0 0 45 22 * * *", "Pacific/Kwajalein", "1969-10-01T10:30:00Z", []string{"1969-10-02T10:45:00Z"}},
	}, func(text string, after time.Time, zone *time.Location) (time.Time, bool) {
		return parse(t, text).Next(after, zone)
	})
}

func TestCronFollowsTheClockOfItsZone(t *testing.T) {
	checkRows(t, []nextRow{
		{"*/15 * * * *", "Asia/Kathmandu", start, []string{"2026-12-01T00:15:00Z", "2026-12-01T00:30:00Z"}},
		{"0 * * * *", "Asia/Kathmandu", start, []string{"2026-12-01T00:15:00Z", "2026-12-01T01:15:00Z"}},
		{"30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", []string{"2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"}},
		{"*/20 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", []string{"2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"}},
		{"30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", []string{"2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"}},
		{"0 0 * * *", "America/Sao_Paulo", "2017-10-14T12:00:00Z", []string{"2017-10-15T03:00:00Z", "2017-10-16T02:00:00Z"}},
		{"0 0 * * *", "America/Sao_Paulo", "2018-02-16T12:00:00Z", []string{"2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"}},
	}, func(text string, after time.Time, zone *time.Location) (time.Time, bool) {
		return parseCron(t, text).Next(after, zone)
	})
}

func TestZonesAreFoundByName(t *testing.T) {
	var zones schedule.Zones
	for range 2 {
		for _, name := range []string{"Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "UTC"} {
			if got, err := zones.Load(name); err != nil || got.String() != name {
				t.Errorf("%s: saw %v, %v", name, got, err)
			}
		}
	}
	if got, err := zones.Load(""); err != nil || got != time.UTC {
		t.Errorf("without a name: saw %v, %v", got, err)
	}
}

func TestWhatIsNoZoneIsAnError(t *testing.T) {
	var zones schedule.Zones
	rows := []struct{ name, want string }{
		{"Mars/Phobos", `"Mars/Phobos" at position 1: no time zone has this name`},
		{"Local", `"Local" at position 1: no time zone has this name`},
		{"../../etc/passwd", `"../../etc/passwd" at position 1: no time zone has this name`},
		{"/etc/localtime", `"/etc/localtime" at position 1: no time zone has this name`},
		{"Europe/../UTC", `"Europe/../UTC" at position 8: not part of the name of a time zone`},
		{"Europe", `"Europe" at position 1: no time zone has this name`},
		{"Europe/", `"Europe/" at position 1: no time zone has this name`},
		{"zone.tab", `"zone.tab" at position 5: not part of the name of a time zone`},
		{"UTC\x00", `"UTC\x00" at position 4: not part of the name of a time zone`},
		{"+02:00", `"+02:00" at position 1: no time zone has this name`},
		{strings.Repeat("A", 65), `"` + strings.Repeat("A", 64) + `"... at position 65: longer than 64 octets`},
	}
	for _, row := range rows {
		got, err := zones.Load(row.name)
		var e *schedule.Error
		if got != nil || !errors.As(err, &e) || err.Error() != row.want {
			t.Errorf("%q: expected %s; saw %v, %v", row.name, row.want, got, err)
		}
	}
}

func TestZonesServeSeveralAtOnce(t *testing.T) {
	var zones schedule.Zones
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := zones.Load("Europe/Berlin"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
