package schedule_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"footfall/schedule"
	"pgregory.net/rapid"
)

// headers are names and values, as in a SEND.
type headers []string

func request(t fataler, hs headers) *schedule.Request {
	r := new(schedule.Request)
	for i := 0; i < len(hs); i += 2 {
		h, ok := schedule.Lookup([]byte(hs[i]))
		if !ok {
			t.Fatalf("no header %s", hs[i])
		}
		r.Set(h, hs[i+1])
	}
	return r
}

// now is when the SENDs of these tests come in: Tuesday, 1 December 2026, noon.
var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// in is a time from now in milliseconds since the epoch, as text.
func in(d time.Duration) string { return strconv.FormatInt(now.Add(d).UnixMilli(), 10) }

func TestEachHeaderIsKept(t *testing.T) {
	rows := []struct {
		headers headers
		kind    schedule.PlanKind
		due     time.Duration
	}{
		{headers{"delay", "1500"}, schedule.After, 1500 * time.Millisecond},
		{headers{"delay", "2h30m"}, schedule.After, 150 * time.Minute},
		{headers{"delay", "PT5M"}, schedule.After, 5 * time.Minute},
		{headers{"deliver-at", in(time.Hour)}, schedule.At, time.Hour},
		{headers{"deliver-at", "2026-12-01T14:00:00+01:00"}, schedule.At, time.Hour},
		{headers{"deliver-schedule", "0 0 0 0 * * *"}, schedule.OnSchedule, 12 * time.Hour},
		{headers{"deliver-schedule", "0 0 0 0 * * *", "schedule-zone", "Europe/Berlin"}, schedule.OnSchedule, 11 * time.Hour},
		{headers{"AMQ_SCHEDULED_DELAY", "8640000000"}, schedule.After, 100 * 24 * time.Hour},
		{headers{"AMQ_SCHEDULED_TIME", in(time.Minute)}, schedule.At, time.Minute},
		{headers{"_AMQ_SCHED_DELIVERY", in(time.Minute)}, schedule.At, time.Minute},
		{headers{"JMS_JBOSS_SCHEDULED_DELIVERY", in(time.Minute)}, schedule.At, time.Minute},
		{headers{"JMS_OracleDelay", "86400"}, schedule.After, 24 * time.Hour},
		{headers{"JMSXRcvTimestamp", in(time.Minute)}, schedule.At, time.Minute},
		{headers{"JMS_BEA_TimeToDeliver", "900"}, schedule.After, 900 * time.Millisecond},
		{headers{"JMS_BEA_DeliveryTime", in(time.Minute)}, schedule.At, time.Minute},
		{headers{"JMSDeliveryTime", in(time.Minute)}, schedule.At, time.Minute},
		{headers{"JMSDeliveryDelay", " +600\t"}, schedule.After, 600 * time.Millisecond},
		{headers{"x-delay", "4294968296"}, schedule.After, 4294968296 * time.Millisecond},
		{headers{"DELIVERY_TIME", in(time.Minute)}, schedule.At, time.Minute},
		{headers{"deliver-at", in(time.Millisecond)}, schedule.At, time.Millisecond},
	}
	for _, row := range rows {
		plan, err := request(t, row.headers).Resolve(now, schedule.Options{})
		due, ok := plan.Due(now)
		if err != nil || plan.Kind != row.kind || !ok || due != now.Add(row.due).UnixMilli() || plan.Header.String() != row.headers[0] {
			t.Errorf("%v: expected %v; saw %+v, due %d, %v", row.headers, row.due, plan, due, err)
		}
	}
}

func TestWhatIsNotInTheFutureIsAtOnce(t *testing.T) {
	rows := []headers{
		{},
		{"delay", "0"},
		{"delay", "-1"},
		{"delay", "-PT5M"},
		{"AMQ_SCHEDULED_DELAY", "-5000"},
		{"x-delay", "-1"},
		{"x-delay", "-9223372036854775808"},
		{"deliver-at", "1"},
		{"deliver-at", "0"},
		{"deliver-at", in(0)},
		{"deliver-at", "2001-01-01T00:00:00Z"},
		{"AMQ_SCHEDULED_TIME", in(-time.Hour)},
		{"JMSDeliveryTime", "0"},
		{"JMSDeliveryTime", "-1"},
		{"JMSXRcvTimestamp", in(-time.Millisecond)},
		{"JMS_OracleDelay", "0"},
		{"JMS_BEA_TimeToDeliver", "-1"},
		{"AMQ_SCHEDULED_PERIOD", "0"},
		{"AMQ_SCHEDULED_PERIOD", "-1"},
		{"AMQ_SCHEDULED_REPEAT", "0"},
		{"AMQ_SCHEDULED_DELAY", "", "AMQ_SCHEDULED_PERIOD", " ", "AMQ_SCHEDULED_REPEAT", "", "AMQ_SCHEDULED_CRON", "\t"},
		{"schedule-zone", "Mars/Phobos"}, // of no schedule
		{"ttl", "1000"},
	}
	for _, row := range rows {
		plan, err := request(t, row).Resolve(now, schedule.Options{})
		if due, ok := plan.Due(now); err != nil || plan.Kind != schedule.AtOnce || due != 0 || !ok {
			t.Errorf("%v: saw %+v, %v", row, plan, err)
		}
	}
}

func TestTheSoonestMillisecondIsNeverEarly(t *testing.T) {
	late := now.Add(time.Microsecond)
	plan, err := request(t, headers{"delay", "1"}).Resolve(late, schedule.Options{})
	if due, _ := plan.Due(late); err != nil || due != now.UnixMilli()+2 {
		t.Errorf("expected 2 ms after noon; saw %d, %v", due-now.UnixMilli(), err)
	}
}

func TestADelayCountsFromWhenThePlanBegins(t *testing.T) {
	later := now.Add(10 * time.Hour)
	for _, row := range []struct {
		headers headers
		due     time.Time
	}{
		{headers{"delay", "1000"}, later.Add(time.Second)},
		{headers{"deliver-at", in(time.Minute)}, now.Add(time.Minute)},
		{headers{"deliver-schedule", "0 0 0 * * * *"}, later.Add(time.Hour)},
		{headers{"AMQ_SCHEDULED_PERIOD", "1000", "AMQ_SCHEDULED_REPEAT", "2"}, later.Add(time.Second)},
		{headers{"AMQ_SCHEDULED_CRON", "* * * * *"}, later.Add(time.Minute)},
	} {
		plan, err := request(t, row.headers).Resolve(now, schedule.Options{})
		if due, ok := plan.Due(later); err != nil || !ok || due != row.due.UnixMilli() {
			t.Errorf("%v: expected %v; saw %v, %v", row.headers, row.due, time.UnixMilli(due), err)
		}
	}
}

func TestBadValuesNameHeaderValueAndPosition(t *testing.T) {
	rows := []struct {
		headers headers
		want    string
	}{
		{headers{"delay", "abc"}, `delay "abc" at position 1: expected a number`},
		{headers{"deliver-at", "tomorrow"}, `deliver-at "tomorrow" at position 1: expected milliseconds since the epoch, or a time as in 2026-01-31T12:00:00Z`},
		{headers{"deliver-schedule", "0 60 0 0 * * *"}, `deliver-schedule "0 60 0 0 * * *" at position 3: the second must be 0 to 59`},
		{headers{"deliver-schedule", "* * * * * * *", "schedule-zone", "Mars/Phobos"}, `schedule-zone "Mars/Phobos" at position 1: no time zone has this name`},
		{headers{"AMQ_SCHEDULED_DELAY", "x"}, `AMQ_SCHEDULED_DELAY "x" at position 1: expected a number of milliseconds`},
		{headers{"AMQ_SCHEDULED_DELAY", "1.5"}, `AMQ_SCHEDULED_DELAY "1.5" at position 2: not part of a number of milliseconds`},
		{headers{"AMQ_SCHEDULED_PERIOD", "1s"}, `AMQ_SCHEDULED_PERIOD "1s" at position 2: not part of a number of milliseconds`},
		{headers{"AMQ_SCHEDULED_CRON", "61 8 10 6 *"}, `AMQ_SCHEDULED_CRON "61 8 10 6 *" at position 1: the minute must be 0 to 59`},
		{headers{"AMQ_SCHEDULED_CRON", "* * * * *", "schedule-zone", "../x"}, `schedule-zone "../x" at position 1: no time zone has this name`},
		{headers{"AMQ_SCHEDULED_TIME", "1e400"}, `AMQ_SCHEDULED_TIME "1e400" at position 2: not part of milliseconds since the epoch`},
		{headers{"AMQ_SCHEDULED_TIME", "2026-12-01T00:00:00Z"}, `AMQ_SCHEDULED_TIME "2026-12-01T00:00:00Z" at position 5: not part of milliseconds since the epoch`},
		{headers{"x-delay", "soon"}, `x-delay "soon" at position 1: expected a number of milliseconds`},
		{headers{"x-delay", ""}, `x-delay "" at position 1: expected a number of milliseconds`},
		{headers{"JMS_OracleDelay", "one"}, `JMS_OracleDelay "one" at position 1: expected a number of seconds`},
		{headers{"JMS_OracleDelay", "315619201"}, `JMS_OracleDelay "315619201" at position 1: longer than ten years`},
		{headers{"x-delay", "9223372036854775807"}, `x-delay "9223372036854775807" at position 1: longer than ten years`},
		{headers{"JMSDeliveryTime", "99999999999999999999999"}, `JMSDeliveryTime "99999999999999999999999" at position 1: later than the year 9999`},
		{headers{"JMS_BEA_TimeToDeliver", "--1"}, `JMS_BEA_TimeToDeliver "--1" at position 2: expected a number of milliseconds`},
		{headers{"x-delay", strings.Repeat("1", 65)}, `x-delay "` + strings.Repeat("1", 64) + `"... at position 65: longer than 64 octets`},
		// What does not count must make sense too.
		{headers{"delay", "1000", "x-delay", "soon"}, `x-delay "soon" at position 1: expected a number of milliseconds`},
		{headers{"delay", "1000", "scheduled-id", "a\nb"}, `scheduled-id "a\nb" at position 2: a control character`},
		{headers{"scheduled-id", strings.Repeat("i", 257)}, `scheduled-id "` + strings.Repeat("i", 64) + `"... at position 257: longer than 256 octets`},
		// Repeats.
		{headers{"AMQ_SCHEDULED_PERIOD", "60000", "AMQ_SCHEDULED_REPEAT", "1001"}, `AMQ_SCHEDULED_REPEAT "1001" at position 1: at most 1000 repeats are allowed`},
		{headers{"AMQ_SCHEDULED_PERIOD", "60000", "AMQ_SCHEDULED_REPEAT", "2147483647"}, `AMQ_SCHEDULED_REPEAT "2147483647" at position 1: at most 1000 repeats are allowed`},
		{headers{"AMQ_SCHEDULED_PERIOD", "60000", "AMQ_SCHEDULED_REPEAT", "-2"}, `AMQ_SCHEDULED_REPEAT "-2" at position 1: the number of repeats must be 0 or more, or -1 for ever`},
		{headers{"AMQ_SCHEDULED_PERIOD", "60000", "AMQ_SCHEDULED_REPEAT", "x"}, `AMQ_SCHEDULED_REPEAT "x" at position 1: expected a number of repeats`},
		{headers{"AMQ_SCHEDULED_DELAY", "60000", "AMQ_SCHEDULED_REPEAT", "3"}, `AMQ_SCHEDULED_REPEAT "3" at position 1: repeats need AMQ_SCHEDULED_PERIOD`},
		{headers{"AMQ_SCHEDULED_PERIOD", "0", "AMQ_SCHEDULED_REPEAT", "-1"}, `AMQ_SCHEDULED_PERIOD "0" at position 1: at least 10 ms must be between repeats`},
		{headers{"AMQ_SCHEDULED_PERIOD", "9", "AMQ_SCHEDULED_REPEAT", "1"}, `AMQ_SCHEDULED_PERIOD "9" at position 1: at least 10 ms must be between repeats`},
		{
			headers{"AMQ_SCHEDULED_CRON", "* * * * *", "AMQ_SCHEDULED_PERIOD", "1000", "AMQ_SCHEDULED_REPEAT", "-1"},
			`AMQ_SCHEDULED_REPEAT "-1" at position 1: with AMQ_SCHEDULED_CRON each of its times would begin another series without end`,
		},
	}
	for _, row := range rows {
		_, err := request(t, row.headers).Resolve(now, schedule.Options{})
		var e *schedule.HeaderError
		var inner *schedule.Error
		if !errors.As(err, &e) || !errors.As(err, &inner) || err.Error() != row.want || inner.Text != e.Value {
			t.Errorf("%v: expected %s; saw %v", row.headers, row.want, err)
		}
	}
}

func TestOfSeveralHeadersTheFirstOfTheTableCounts(t *testing.T) {
	rows := []struct {
		headers headers
		counts  string
	}{
		{headers{"x-delay", "60000", "AMQ_SCHEDULED_DELAY", "60000", "delay", "1m"}, "delay"},
		{headers{"x-delay", "60000", "JMSDeliveryDelay", "60000"}, "JMSDeliveryDelay"},
		// A part of a second, for what is told in seconds.
		{headers{"JMS_OracleDelay", "2", "x-delay", "1001"}, "JMS_OracleDelay"},
		{headers{"JMS_OracleDelay", "2", "x-delay", "2999"}, "JMS_OracleDelay"},
		// A library that writes both, and whose clock is not ours.
		{headers{"AMQ_SCHEDULED_DELAY", "60000", "JMSDeliveryTime", in(55 * time.Second)}, "AMQ_SCHEDULED_DELAY"},
		{headers{"AMQ_SCHEDULED_DELAY", "60000", "JMSDeliveryTime", in(65 * time.Second)}, "AMQ_SCHEDULED_DELAY"},
		{headers{"JMSDeliveryTime", in(time.Minute), "AMQ_SCHEDULED_DELAY", "60000", "AMQ_SCHEDULED_PERIOD", "1000", "AMQ_SCHEDULED_REPEAT", "2"}, "AMQ_SCHEDULED_REPEAT"},
		{headers{"deliver-at", "2026-12-02T00:00:00Z", "deliver-schedule", "0 0 0 0 * * *"}, "deliver-at"},
		{headers{"AMQ_SCHEDULED_CRON", "0 0 * * *", "JMSDeliveryTime", in(12 * time.Hour)}, "AMQ_SCHEDULED_CRON"},
		// Defaults of libraries say nothing.
		{headers{"AMQ_SCHEDULED_DELAY", "0", "JMSDeliveryTime", "0", "JMS_BEA_TimeToDeliver", "-1", "JMSXRcvTimestamp", in(-time.Hour), "x-delay", "60000"}, "x-delay"},
		{headers{"delay", "60000", "JMSDeliveryDelay", "0", "JMSDeliveryTime", in(-time.Second)}, "delay"},
		// At once is at once.
		{headers{"delay", "0", "deliver-at", in(-time.Hour), "x-delay", "-1"}, "delay"},
	}
	for _, row := range rows {
		plan, err := request(t, row.headers).Resolve(now, schedule.Options{})
		if err != nil || plan.Header.String() != row.counts {
			t.Errorf("%v: expected %s; saw %v, %v", row.headers, row.counts, plan.Header, err)
		}
	}
}

func TestHeadersThatContradictEachOtherAreNamed(t *testing.T) {
	rows := []struct {
		headers headers
		want    string
	}{
		{headers{"x-delay", "9000", "delay", "1000"}, `delay "1000" and x-delay "9000" contradict each other: they are 8s apart`},
		{headers{"delay", "100", "x-delay", "101"}, `delay "100" and x-delay "101" contradict each other: they are 1ms apart`},
		{headers{"delay", "0", "x-delay", "9000"}, `delay "0" and x-delay "9000" contradict each other: they are 9s apart`},
		{headers{"JMS_OracleDelay", "2", "x-delay", "1000"}, `JMS_OracleDelay "2" and x-delay "1000" contradict each other: they are 1s apart`},
		{
			headers{"AMQ_SCHEDULED_DELAY", "60000", "JMSDeliveryTime", in(time.Hour)},
			`AMQ_SCHEDULED_DELAY "60000" and JMSDeliveryTime "` + in(time.Hour) + `" contradict each other: they are 59m0s apart`,
		},
		{
			headers{"AMQ_SCHEDULED_DELAY", "60000", "JMSDeliveryTime", in(65001 * time.Millisecond)},
			`AMQ_SCHEDULED_DELAY "60000" and JMSDeliveryTime "` + in(65001*time.Millisecond) + `" contradict each other: they are 5.001s apart`,
		},
		{
			headers{"deliver-at", "1", "JMSDeliveryTime", in(time.Second)},
			`deliver-at "1" and JMSDeliveryTime "` + in(time.Second) + `" contradict each other: they are 1s apart`,
		},
		{
			headers{"deliver-at", in(time.Minute), "AMQ_SCHEDULED_TIME", in(time.Minute + 1e6)},
			`deliver-at "` + in(time.Minute) + `" and AMQ_SCHEDULED_TIME "` + in(time.Minute+1e6) + `" contradict each other: they are 1ms apart`,
		},
		{
			headers{"delay", "500", "AMQ_SCHEDULED_PERIOD", "500", "AMQ_SCHEDULED_REPEAT", "3"},
			`delay "500" and AMQ_SCHEDULED_REPEAT "3" contradict each other: only the second one repeats`,
		},
		{
			headers{"deliver-schedule", "0 0 0 * * * *", "AMQ_SCHEDULED_CRON", "0 * * * *"},
			`deliver-schedule "0 0 0 * * * *" and AMQ_SCHEDULED_CRON "0 * * * *" contradict each other: only the second one repeats`,
		},
		{headers{"AMQ_SCHEDULED_PERIOD", "60000", "x-delay", "1"}, `AMQ_SCHEDULED_PERIOD "60000" and x-delay "1" contradict each other: they are 59.999s apart`},
	}
	for _, row := range rows {
		_, err := request(t, row.headers).Resolve(now, schedule.Options{})
		var e *schedule.ConflictError
		if !errors.As(err, &e) || err.Error() != row.want {
			t.Errorf("%v: expected %s; saw %v", row.headers, row.want, err)
		}
	}
}

func TestActiveMQRepeats(t *testing.T) {
	const ms = time.Millisecond
	rows := []struct {
		headers headers
		due     []time.Duration // the first ones, from now
		left    int64
	}{
		{headers{"AMQ_SCHEDULED_DELAY", "300", "AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", "3"}, []time.Duration{300 * ms, 500 * ms, 700 * ms, 900 * ms}, 4},
		{headers{"AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", "1"}, []time.Duration{200 * ms, 400 * ms}, 2},
		{headers{"AMQ_SCHEDULED_DELAY", "0", "AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", "1"}, []time.Duration{0, 200 * ms}, 2},
		{headers{"AMQ_SCHEDULED_DELAY", "-9", "AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", "1"}, []time.Duration{0, 200 * ms}, 2},
		{headers{"AMQ_SCHEDULED_DELAY", "50", "AMQ_SCHEDULED_PERIOD", "50", "AMQ_SCHEDULED_REPEAT", "-1"}, []time.Duration{50 * ms, 100 * ms, 150 * ms, 200 * ms, 250 * ms}, schedule.Forever},
		{headers{"AMQ_SCHEDULED_PERIOD", "60000", "AMQ_SCHEDULED_REPEAT", "1000"}, []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute}, 1001},
		{headers{"AMQ_SCHEDULED_CRON", "0 * * * *"}, []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 5 * time.Hour}, schedule.Forever},
		{headers{"AMQ_SCHEDULED_CRON", "0 0 * * *", "schedule-zone", "Asia/Kolkata"}, []time.Duration{390 * time.Minute, 1830 * time.Minute, 3270 * time.Minute, 4710 * time.Minute, 6150 * time.Minute}, schedule.Forever},
		// The example of ActiveMQ's documentation: each hour ten deliveries, a second apart.
		{headers{"AMQ_SCHEDULED_CRON", "0 * * * *", "AMQ_SCHEDULED_DELAY", "1000", "AMQ_SCHEDULED_PERIOD", "1000", "AMQ_SCHEDULED_REPEAT", "2"}, []time.Duration{
			time.Hour + time.Second, time.Hour + 2*time.Second, time.Hour + 3*time.Second, 2*time.Hour + time.Second, 2*time.Hour + 2*time.Second,
		}, schedule.Forever},
		{headers{"AMQ_SCHEDULED_CRON", "0 * * * *", "AMQ_SCHEDULED_PERIOD", "1000"}, []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 5 * time.Hour}, schedule.Forever},
		// A series ends where the next one begins.
		{headers{"AMQ_SCHEDULED_CRON", "0 * * * *", "AMQ_SCHEDULED_PERIOD", "1500000", "AMQ_SCHEDULED_REPEAT", "9"}, []time.Duration{
			time.Hour, time.Hour + 25*time.Minute, time.Hour + 50*time.Minute, 2 * time.Hour, 2*time.Hour + 25*time.Minute,
		}, schedule.Forever},
	}
	for _, row := range rows {
		plan, err := request(t, row.headers).Resolve(now, schedule.Options{})
		if err != nil || plan.Kind != schedule.Repeating {
			t.Errorf("%v: saw %+v, %v", row.headers, plan, err)
			continue
		}
		job, ok := plan.Repeat.Start(now)
		if due, _ := plan.Due(now); !ok || due != job.Due() || job.Left() != row.left {
			t.Errorf("%v: due %d and %d, %d left", row.headers, due, job.Due(), job.Left())
		}
		got := job.AppendUpcoming(nil, 5)
		if len(got) != len(row.due) {
			t.Errorf("%v: expected %d times; saw %d", row.headers, len(row.due), len(got))
			continue
		}
		for i, due := range row.due {
			if got[i] != now.Add(due).UnixMilli() {
				t.Errorf("%v: delivery %d: expected after %v; saw after %v", row.headers, i+1, due, time.UnixMilli(got[i]).Sub(now))
			}
		}
	}
}

func TestSettingsBoundWhatIsAskedFor(t *testing.T) {
	o := schedule.Options{MaxRepeats: 5, MinPeriod: time.Second, Skew: time.Minute, Zone: "Asia/Kolkata", Zones: new(schedule.Zones)}
	for _, row := range []struct {
		headers headers
		ok      bool
	}{
		{headers{"AMQ_SCHEDULED_PERIOD", "1000", "AMQ_SCHEDULED_REPEAT", "5"}, true},
		{headers{"AMQ_SCHEDULED_PERIOD", "1000", "AMQ_SCHEDULED_REPEAT", "6"}, false},
		{headers{"AMQ_SCHEDULED_PERIOD", "999", "AMQ_SCHEDULED_REPEAT", "5"}, false},
		{headers{"AMQ_SCHEDULED_PERIOD", "1000", "AMQ_SCHEDULED_REPEAT", "-1"}, true},
		{headers{"delay", "1000", "deliver-at", in(time.Minute)}, true},
		{headers{"delay", "1000", "deliver-at", in(2 * time.Minute)}, false},
	} {
		if _, err := request(t, row.headers).Resolve(now, o); (err == nil) != row.ok {
			t.Errorf("%v: %v", row.headers, err)
		}
	}
	plan, err := request(t, headers{"deliver-schedule", "0 0 0 0 * * *"}).Resolve(now, o)
	if due, _ := plan.Due(now); err != nil || due != now.Add(390*time.Minute).UnixMilli() {
		t.Errorf("expected midnight in India; saw %v, %v", time.UnixMilli(due), err)
	}
	o.Zone = "Mars/Phobos"
	_, err = request(t, headers{"deliver-schedule", "0 0 0 0 * * *"}).Resolve(now, o)
	var e *schedule.HeaderError
	if err == nil || errors.As(err, &e) {
		t.Errorf("a zone of the settings that does not exist is no fault of a header; saw %v", err)
	}
}

func TestNothingIsPlannedAfterTheYear9999(t *testing.T) {
	late := time.UnixMilli(schedule.MaxInstant)
	for _, row := range []struct {
		headers headers
		want    string
	}{
		{headers{"deliver-schedule", "0 0 0 0 * * *"}, `deliver-schedule "0 0 0 0 * * *" at position 1: no time before the year 10000`},
		{headers{"AMQ_SCHEDULED_CRON", "0 0 * * *"}, `AMQ_SCHEDULED_CRON "0 0 * * *" at position 1: no time before the year 10000`},
	} {
		if _, err := request(t, row.headers).Resolve(late, schedule.Options{}); err == nil || err.Error() != row.want {
			t.Errorf("%v: expected %s; saw %v", row.headers, row.want, err)
		}
	}
}

func TestTheFirstOfRepeatedHeadersCounts(t *testing.T) {
	plan, err := request(t, headers{"delay", "1000", "delay", "soon"}).Resolve(now, schedule.Options{})
	if err != nil || plan.Delay != 1000 {
		t.Errorf("saw %+v, %v", plan, err)
	}
}

func TestADroppedHeaderDoesNotCount(t *testing.T) {
	r := request(t, headers{"DELIVERY_TIME", "soon"})
	r.Drop(schedule.HeaderDeliveryTime)
	if plan, err := r.Resolve(now, schedule.Options{}); err != nil || plan != (schedule.Plan{}) || r.Has(schedule.HeaderDeliveryTime) {
		t.Errorf("saw %+v, %v", plan, err)
	}
}

func TestTheSendersIDIsKept(t *testing.T) {
	for _, hs := range []headers{
		{"delay", "1000", "scheduled-id", "job 7"},
		{"scheduled-id", "job 7", "delay", "0"}, // takes the place of one that waits
		{"scheduled-id", "job 7"},
		{"AMQ_SCHEDULED_CRON", "* * * * *", "scheduled-id", "job 7"},
	} {
		if plan, err := request(t, hs).Resolve(now, schedule.Options{}); err != nil || plan.ID != "job 7" {
			t.Errorf("%v: saw %+v, %v", hs, plan, err)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add(uint8(0), "1500", uint8(16), "1500", uint8(19), "")
	f.Add(uint8(4), "1000", uint8(5), "3", uint8(6), "* * * * *")
	f.Add(uint8(2), "0 0 0 0 * * *", uint8(19), "Europe/Berlin", uint8(18), "id")
	f.Add(uint8(20), "1e30", uint8(21), "-1", uint8(22), "9223372036854775807")
	f.Fuzz(func(t *testing.T, h1 uint8, v1 string, h2 uint8, v2 string, h3 uint8, v3 string) {
		all := schedule.Headers()
		var r schedule.Request
		r.Set(all[int(h1)%len(all)], v1)
		r.Set(all[int(h2)%len(all)], v2)
		r.Set(all[int(h3)%len(all)], v3)
		checkLifetime(t, &r)
		plan, err := r.Resolve(now, schedule.Options{})
		if err != nil {
			if len(err.Error()) > 1000 || strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Fatalf("%q", err.Error())
			}
			if plan != (schedule.Plan{}) {
				t.Fatalf("%v, but %+v", err, plan)
			}
			return
		}
		due, ok := plan.Due(now)
		if !ok || plan.Kind == schedule.AtOnce && due != 0 || plan.Kind != schedule.AtOnce && due < now.UnixMilli() || due > schedule.MaxInstant {
			t.Fatalf("%+v is due %d, %t", plan, due, ok)
		}
	})
}

func checkLifetime(t fataler, r *schedule.Request) {
	l, err := r.Lifetime()
	if l.Expires < 0 || l.Expires > schedule.MaxInstant || l.TTL < 0 || err != nil && l != (schedule.Lifetime{}) {
		t.Fatalf("%+v, %v", l, err)
	}
	for _, limits := range []schedule.LifetimeLimits{{}, {Default: math.MaxInt64, Max: math.MaxInt64}, {Default: time.Hour, Max: time.Minute}} {
		until := l.Until(now, limits)
		if until < 0 || until > schedule.MaxInstant || limits.Max == time.Minute && (until == 0 || until > now.Add(time.Minute).UnixMilli()) {
			t.Fatalf("%+v with %+v: %d", l, limits, until)
		}
	}
}

func TestResolveGivesWhatTheHeaderSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(1, int64(schedule.MaxDelay/time.Millisecond)).Draw(t, "ms")
		at := time.UnixMilli(rapid.Int64Range(0, 4102444800000).Draw(t, "now"))
		h := rapid.SampledFrom([]string{"delay", "AMQ_SCHEDULED_DELAY", "JMSDeliveryDelay", "x-delay", "JMS_BEA_TimeToDeliver"}).Draw(t, "header")
		plan, err := request(t, headers{h, strconv.FormatInt(ms, 10)}).Resolve(at, schedule.Options{})
		if due, ok := plan.Due(at); err != nil || !ok || due != at.UnixMilli()+ms {
			t.Fatalf("%s:%d at %v: %d, %v", h, ms, at, due, err)
		}
	})
}
