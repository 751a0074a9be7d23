package schedule_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
	"time"

	"footfall/schedule"
	"pgregory.net/rapid"
)

func begin(t fataler, r schedule.Repeat) schedule.Job {
	job, ok := r.Start(now)
	if !ok {
		t.Fatalf("%+v does not start", r)
	}
	return job
}

// offsets are times from now.
func offsets(ms []int64) []time.Duration {
	var out []time.Duration
	for _, m := range ms {
		out = append(out, time.UnixMilli(m).Sub(now))
	}
	return out
}

const (
	sec  = time.Second
	mins = time.Minute
)

func TestAJobDoesNotDrift(t *testing.T) {
	job := begin(t, schedule.Repeat{Delay: 500, Period: 1000, Count: 4})
	var due []int64
	for more := true; more; {
		due = append(due, job.Due())
		more = job.Fire(time.UnixMilli(job.Due() + 999)) // nearly a period late, each time
	}
	want := []time.Duration{500e6, 1500e6, 2500e6, 3500e6, 4500e6}
	if got := offsets(due); !slices.Equal(got, want) {
		t.Errorf("expected %v; saw %v", want, got)
	}
}

func TestWhatFellDueUnseenIsMadeUpForOnce(t *testing.T) {
	cron, err := schedule.ParseCron("0 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name   string
		repeat schedule.Repeat
		fired  int           // deliveries in time
		away   time.Duration // then the next one is made so long after now
		want   []time.Duration
		left   int64
	}{
		// The number of deliveries is kept: 2 in time, 1 for all that was missed, 3 on the grid.
		{"count", schedule.Repeat{Delay: 1000, Period: 1000, Count: 5}, 2, 60*sec + 1, []time.Duration{61 * sec, 62 * sec, 63 * sec}, 3},
		{"on the grid", schedule.Repeat{Delay: 1000, Period: 1000, Count: 5}, 2, 60 * sec, []time.Duration{61 * sec, 62 * sec, 63 * sec}, 3},
		{"just late", schedule.Repeat{Delay: 1000, Period: 1000, Count: 2}, 1, 2*sec + 999e6, []time.Duration{3 * sec}, 1},
		{"forever", schedule.Repeat{Period: 60000, Count: schedule.Forever}, 1, 90*mins + sec, []time.Duration{91 * mins, 92 * mins, 93 * mins}, schedule.Forever},
		{"the first", schedule.Repeat{Delay: 1000, Period: 60000, Count: 2}, 0, 10 * mins, []time.Duration{10*mins + sec, 11*mins + sec}, 2},
		// Times of a cron expression are not made up for.
		{"cron", schedule.Repeat{Cron: cron}, 1, 350 * mins, []time.Duration{360 * mins, 420 * mins, 480 * mins}, schedule.Forever},
		{"cron in its series", schedule.Repeat{Cron: cron, Period: 60000, Count: 3}, 2, 62*mins + sec, []time.Duration{63 * mins, 120 * mins, 121 * mins}, schedule.Forever},
		{"cron after its series", schedule.Repeat{Cron: cron, Period: 60000, Count: 3}, 2, 70 * mins, []time.Duration{120 * mins, 121 * mins, 122 * mins}, schedule.Forever},
		{"cron in a later series", schedule.Repeat{Cron: cron, Delay: 30000, Period: 60000, Count: 3}, 2, 361 * mins, []time.Duration{361*mins + 30*sec, 362*mins + 30*sec, 363*mins + 30*sec}, schedule.Forever},
		{"cron between series", schedule.Repeat{Cron: cron, Delay: 30000, Period: 60000, Count: 3}, 2, 360 * mins, []time.Duration{360*mins + 30*sec, 361*mins + 30*sec, 362*mins + 30*sec}, schedule.Forever},
	}
	for _, row := range rows {
		job := begin(t, row.repeat)
		for range row.fired {
			job.Fire(time.UnixMilli(job.Due()))
		}
		more := job.Fire(now.Add(row.away))
		if got := offsets(job.AppendUpcoming(nil, 3)); !more || !slices.Equal(got, row.want) || job.Left() != row.left {
			t.Errorf("%s: expected %v, %d left; saw %v, %d left", row.name, row.want, row.left, got, job.Left())
		}
	}
}

func TestADeliveryThatIsMadeEarlyIsNotMadeAgain(t *testing.T) {
	cron, err := schedule.ParseCron("0 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []schedule.Repeat{{Delay: 3600000, Period: 3600000, Count: 9}, {Cron: cron}} {
		job := begin(t, r)
		if !job.Fire(now) || job.Due() != now.Add(2*time.Hour).UnixMilli() {
			t.Errorf("expected the next one after 2 h; saw it after %v", time.UnixMilli(job.Due()).Sub(now))
		}
	}
}

func TestAJobEndsAfterItsCount(t *testing.T) {
	job := begin(t, schedule.Repeat{Delay: 10, Period: 10, Count: 2})
	if got := offsets(job.AppendUpcoming(nil, 10)); !slices.Equal(got, []time.Duration{10e6, 20e6, 30e6}) {
		t.Errorf("saw %v", got)
	}
	for i, more := range []bool{true, true, false} {
		if got := job.Fire(time.UnixMilli(job.Due())); got != more {
			t.Errorf("delivery %d: more is %t", i+1, got)
		}
	}
}

func TestAJobEndsBeforeTheYear10000(t *testing.T) {
	late := time.UnixMilli(schedule.MaxInstant - 1000)
	if _, ok := (schedule.Repeat{Delay: 1001}).Start(late); ok {
		t.Error("it starts after the year 9999")
	}
	cron, err := schedule.ParseCron("0 0 1 1 *")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := (schedule.Repeat{Cron: cron}).Start(late); ok {
		t.Error("it starts after the year 9999, by cron")
	}
	yearly, ok := schedule.Repeat{Cron: cron}.Start(late.AddDate(-1, 0, 0))
	if !ok || yearly.Fire(late) {
		t.Errorf("%t, and goes on to %d", ok, yearly.Due())
	}
	job, ok := schedule.Repeat{Delay: 1000, Period: 1000, Count: schedule.Forever}.Start(late)
	if !ok || job.Fire(time.UnixMilli(job.Due())) {
		t.Errorf("%t, and goes on to %d", ok, job.Due())
	}
}

func TestRepeatsWithoutAPeriodDoNotStart(t *testing.T) {
	if job, ok := (schedule.Repeat{Delay: 1000, Count: 1}).Start(now); ok {
		t.Errorf("saw %+v", job)
	}
	if _, ok := (schedule.Repeat{Delay: 1000}).Start(now); !ok {
		t.Error("one delivery needs no period")
	}
}

func TestAClockThatIsSetForwardLosesAndRepeatsNothing(t *testing.T) {
	job := begin(t, schedule.Repeat{Period: 60000, Count: 99})
	n, clock := 0, now
	for more := true; more; {
		due := time.UnixMilli(job.Due())
		if n == 10 {
			clock = clock.Add(time.Hour)
		}
		if due.After(clock) {
			clock = due
		}
		more = job.Fire(clock)
		n++
		if more && (job.Due() <= clock.UnixMilli() || job.Due() > clock.Add(time.Minute).UnixMilli()) {
			t.Fatalf("delivery %d at %v: the next one is due at %v", n, clock, time.UnixMilli(job.Due()))
		}
	}
	if n != 100 {
		t.Errorf("expected 100 deliveries; saw %d", n)
	}
}

func TestAClockThatIsSetBackHoldsNothingUp(t *testing.T) {
	job := begin(t, schedule.Repeat{Delay: 90000, Period: 60000, Count: 99})
	back := now.Add(-time.Hour)
	if job.SetBack(back) || job.Due() != now.Add(90*sec).UnixMilli() {
		t.Error("the first delivery waits for its time by the wall clock")
	}
	job.Fire(now.Add(90 * sec))
	if job.SetBack(now.Add(30*sec)) || job.Due() != now.Add(150*sec).UnixMilli() {
		t.Error("less than a period changes nothing")
	}
	if !job.SetBack(back) || job.Due() != back.Add(30*sec).UnixMilli() || job.Left() != 99 {
		t.Errorf("expected the grid's next point, 30 s on, and 99 left; saw %v, %d left", time.UnixMilli(job.Due()).Sub(back), job.Left())
	}
	n := 1
	for more := true; more; n++ {
		more = job.Fire(time.UnixMilli(job.Due()))
	}
	if n != 100 {
		t.Errorf("expected 100 deliveries; saw %d", n)
	}

	cron, err := schedule.ParseCron("5 12 * * *")
	if err != nil {
		t.Fatal(err)
	}
	daily := begin(t, schedule.Repeat{Cron: cron})
	daily.Fire(now.Add(5 * mins))
	if daily.SetBack(back) || daily.Due() != now.Add(24*time.Hour+5*mins).UnixMilli() {
		t.Errorf("a time is not delivered twice; saw %v", time.UnixMilli(daily.Due()))
	}
}

func TestAJobIsStoredAsItIsDocumented(t *testing.T) {
	berlin := zone("Europe/Berlin")
	cron, err := schedule.ParseCron("*/5 9-17 * * mon-fri")
	if err != nil {
		t.Fatal(err)
	}
	fired := begin(t, schedule.Repeat{Delay: 300, Period: 200, Count: 3})
	fired.Fire(now.Add(300 * time.Millisecond))
	rows := []struct {
		name string
		job  schedule.Job
		want string
	}{
		{"plain", begin(t, schedule.Repeat{Delay: 300, Period: 200, Count: 3}), "0100d8fcce97c668d8fcce97c66806d804900306"},
		{"fired", fired, "0101e8ffce97c668d8fcce97c66804d804900306"},
		{"forever", begin(t, schedule.Repeat{Period: 50, Count: schedule.Forever}), "010080f8ce97c66880f8ce97c66801006401"},
		{"cron in UTC", begin(t, schedule.Repeat{Cron: cron}), "0102c0c7f397c668c0c7f397c66800000000" +
			"10" + hex.EncodeToString([]byte("*/5 9-17 * * 1-5")) + "03" + hex.EncodeToString([]byte("UTC"))},
		{"cron", begin(t, schedule.Repeat{Cron: cron, Zone: berlin}), "0102c0c7f397c668c0c7f397c66800000000" +
			"10" + hex.EncodeToString([]byte("*/5 9-17 * * 1-5")) + "0d" + hex.EncodeToString([]byte("Europe/Berlin"))},
	}
	for _, row := range rows {
		got, err := row.job.AppendBinary(nil)
		if err != nil || hex.EncodeToString(got) != row.want {
			t.Errorf("%s: expected %s; saw %x, %v", row.name, row.want, got, err)
		}
		again, err := schedule.DecodeJob(got, new(schedule.Zones))
		if err != nil || again.Due() != row.job.Due() || again.Left() != row.job.Left() {
			t.Errorf("%s: saw %+v, %v", row.name, again, err)
		}
		if got, want := again.Repeat(), row.job.Repeat(); got.Delay != want.Delay || got.Period != want.Period || got.Count != want.Count ||
			(got.Cron == nil) != (want.Cron == nil) {
			t.Errorf("%s: it repeats %+v", row.name, got)
		}
		if !slices.Equal(again.AppendUpcoming(nil, 20), row.job.AppendUpcoming(nil, 20)) {
			t.Errorf("%s: it goes on differently", row.name)
		}
	}
}

func TestWhatIsNoJobIsAnError(t *testing.T) {
	for _, text := range []string{
		"", "01", "00000000000000", "0200000000000000", "0104000000000000", "010000000000000000", // version, flags, more behind
		"010001000000" + "0000", // due before 1970
		"010000000600" + "0000", // more left than there were, without end or not
		"010000000100" + "0006", // a period of 0
		"010000000000" + "c801", // cut short
		"010000000000" + "0000" + "00",
		"0102000000000000" + "05" + hex.EncodeToString([]byte("* * *")) + "00",
		"0102000000000000" + "ffffffffffffffffff01",
		"0102000000000000" + "09" + hex.EncodeToString([]byte("* * * * *")) + "7f",
	} {
		src, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if job, err := schedule.DecodeJob(src, new(schedule.Zones)); err == nil {
			t.Errorf("%s: saw %+v", text, job)
		}
	}
}

func TestAZoneThatIsNotKnownHereIsToldApart(t *testing.T) {
	src := slices.Concat([]byte{1, 2, 0, 0, 0, 0, 0, 0, 9}, []byte("* * * * *"), []byte{11}, []byte("Mars/Phobos"))
	_, err := schedule.DecodeJob(src, new(schedule.Zones))
	var e *schedule.Error
	if !errors.As(err, &e) || e.Text != "Mars/Phobos" {
		t.Errorf("saw %v", err)
	}
}

func FuzzDecodeJob(f *testing.F) {
	cron, err := schedule.ParseCron("0 * * * *")
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range []schedule.Repeat{
		{Delay: 300, Period: 200, Count: 3},
		{Period: 50, Count: schedule.Forever},
		{Cron: cron, Zone: zone("Europe/Berlin"), Delay: 1000, Period: 1000, Count: 9},
	} {
		job, _ := r.Start(now)
		src, _ := job.AppendBinary(nil)
		f.Add(src)
	}
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 0, 9})
	zones := new(schedule.Zones)
	f.Fuzz(func(t *testing.T, src []byte) {
		job, err := schedule.DecodeJob(src, zones)
		if err != nil {
			return
		}
		stored, err := job.AppendBinary(nil)
		if err != nil || len(stored) > 400 {
			t.Fatalf("%d octets, %v", len(stored), err)
		}
		again, err := schedule.DecodeJob(stored, zones)
		if err != nil {
			t.Fatalf("%+v: %v", job, err)
		}
		if twice, _ := again.AppendBinary(nil); !bytes.Equal(stored, twice) {
			t.Fatalf("%x, then %x", stored, twice)
		}
		upcoming := job.AppendUpcoming(nil, 10)
		for i := 1; i < len(upcoming); i++ {
			if upcoming[i] <= upcoming[i-1] {
				t.Fatalf("%v", upcoming)
			}
		}
		job.SetBack(now)
		if job.Fire(now) && job.Due() <= now.UnixMilli() {
			t.Fatalf("due at %d after %d", job.Due(), now.UnixMilli())
		}
	})
}

// series is the model of a job: all its due times up to an end, one by one.
func series(r schedule.Repeat, end int64) (due []int64) {
	if r.Cron == nil {
		for k := int64(0); ; k++ {
			at := now.UnixMilli() + r.Delay + k*r.Period
			if at > end || r.Period == 0 && k > 0 {
				return due
			}
			due = append(due, at)
		}
	}
	hit, _ := r.Cron.Next(now, r.Zone)
	for hit.UnixMilli()+r.Delay <= end {
		next, _ := r.Cron.Next(hit, r.Zone)
		for k := int64(0); k <= r.Count; k++ {
			if at := hit.UnixMilli() + r.Delay + k*r.Period; at < next.UnixMilli()+r.Delay && at <= end && (k == 0 || r.Period > 0) {
				due = append(due, at)
			}
		}
		hit = next
	}
	return due
}

func TestJobsAgreeWithTheListOfAllTheirTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := schedule.Repeat{
			Delay:  rapid.Int64Range(0, 100000).Draw(t, "delay"),
			Period: rapid.Int64Range(10000, 400000).Draw(t, "period"),
			Count:  rapid.Int64Range(0, 30).Draw(t, "count"),
		}
		switch text := rapid.SampledFrom([]string{"", "forever", "* * * * *", "*/7 * * * *", "0 */2 * * *"}).Draw(t, "kind"); text {
		case "":
		case "forever":
			r.Count = schedule.Forever
		default:
			r.Cron, _ = schedule.ParseCron(text)
			r.Zone = zone("Asia/Kathmandu")
		}
		all := series(r, now.Add(24*time.Hour).UnixMilli())
		total := r.Count + 1
		job := begin(t, r)
		for clock, made, more := now, int64(0), true; more && clock.Before(now.Add(12*time.Hour)); {
			want := all[slices.IndexFunc(all, func(at int64) bool { return made == 0 || at > clock.UnixMilli() })]
			if job.Due() != want {
				t.Fatalf("%+v at %v, after %d deliveries: expected %v; saw %v", r, clock, made, time.UnixMilli(want).Sub(now), time.UnixMilli(job.Due()).Sub(now))
			}
			late := time.Duration(rapid.SampledFrom([]int64{0, 0, 0, 1, 50, 70000, 4000000}).Draw(t, "late")) * time.Millisecond
			clock = time.UnixMilli(job.Due()).Add(late)
			if rapid.Bool().Draw(t, "restart") {
				src, _ := job.AppendBinary(nil)
				var err error
				if job, err = schedule.DecodeJob(src, new(schedule.Zones)); err != nil {
					t.Fatal(err)
				}
			}
			made++
			more = job.Fire(clock)
			if isLast := r.Cron == nil && made == total; more == isLast {
				t.Fatalf("%+v: after %d deliveries more is %t", r, made, more)
			}
		}
	})
}
