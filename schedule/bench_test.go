package schedule_test

import (
	"strings"
	"testing"
	"time"

	"footfall/schedule"
)

type nexter interface {
	Next(after time.Time, zone *time.Location) (time.Time, bool)
}

type benchRow struct{ name, text, zone, after string }

// benchRows are usual expressions, and the worst ones.
var benchRows = []benchRow{
	{"half-hours", "0 0 0,30 * * * *", "UTC", start},
	{"weekdays-in-Berlin", "0 0 0 9 * * 2-6", "Europe/Berlin", start},
	{"over-a-gap", "0 0 30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z"},
	{"weekdays-and-weekends", "0 0 0 1 * * 2-6;0 0 0 2 * * 1,7", "UTC", start},
	{"April-15th-on-a-Sunday", "0 0 0 0 15 4 1", "America/New_York", start},
	{"many-parts", manyParts(), "America/New_York", start},
	{"cron-5-minutes", "*/5 * * * *", "America/New_York", start},
	{"cron-40-years", "0 0 */28 2 */7", "America/New_York", "2072-02-29T00:00:00Z"},
}

// manyParts is as many different rare parts as a text can hold.
func manyParts() string {
	var parts []string
	for length := 0; ; {
		part := "0 0 " + itoa(len(parts)%60) + " " + itoa(len(parts)/60) + " 31 2 1"
		if length += len(part) + 1; length > schedule.MaxSchedule {
			return strings.Join(parts, ";")
		}
		parts = append(parts, part)
	}
}

func (row benchRow) parse(tb testing.TB) nexter {
	if strings.HasPrefix(row.name, "cron") {
		return parseCron(tb, row.text)
	}
	return parse(tb, row.text)
}

func BenchmarkNext(b *testing.B) {
	for _, row := range benchRows {
		b.Run(row.name, func(b *testing.B) {
			s, after, loc := row.parse(b), moment(row.after), zone(row.zone)
			b.ReportAllocs()
			for b.Loop() {
				s.Next(after, loc)
			}
		})
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, row := range benchRows {
		s, after, loc := row.parse(t), moment(row.after), zone(row.zone)
		if n := testing.AllocsPerRun(100, func() { s.Next(after, loc) }); n != 0 {
			t.Errorf("%s: %v allocations", row.name, n)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := schedule.Parse("0 0 0 1 * * 2-6;0 0 0 2 * * 1,7"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResolve is what a SEND costs: without any of the headers, and with one.
func BenchmarkResolve(b *testing.B) {
	now := moment(start)
	for _, row := range []struct{ name, header, value string }{{"none", "content-type", "text/plain"}, {"delay", "delay", "90s"}} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			name := []byte(row.header)
			for b.Loop() {
				var r schedule.Request
				if h, ok := schedule.Lookup(name); ok {
					r.Set(h, row.value)
				}
				if _, err := r.Resolve(now, schedule.Options{}); err != nil {
					b.Fatal(err)
				}
				if _, err := r.Lifetime(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestAMessageWithoutHeadersCostsNoMemory(t *testing.T) {
	now := moment(start)
	names := [][]byte{[]byte("destination"), []byte("content-type"), []byte("x-delayed"), []byte("Delay"), []byte("")}
	n := testing.AllocsPerRun(100, func() {
		var r schedule.Request
		for _, name := range names {
			if h, ok := schedule.Lookup(name); ok {
				r.Set(h, "1")
			}
		}
		plan, err := r.Resolve(now, schedule.Options{})
		if err != nil || plan.Kind != schedule.AtOnce {
			t.Fatal(plan, err)
		}
		if l, err := r.Lifetime(); err != nil || l != (schedule.Lifetime{}) {
			t.Fatal(l, err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
