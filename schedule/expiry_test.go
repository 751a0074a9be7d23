package schedule_test

import (
	"errors"
	"testing"
	"time"

	"footfall/schedule"
	"pgregory.net/rapid"
)

func TestTheEarliestLimitOfALifetimeCounts(t *testing.T) {
	const never = -1
	at := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	rows := []struct {
		headers headers
		want    int64
	}{
		{headers{}, never},
		{headers{"expires", in(time.Minute)}, at(time.Minute)},
		{headers{"ttl", "200"}, at(200 * time.Millisecond)},
		{headers{"expiration", "200"}, at(200 * time.Millisecond)},
		{headers{"x-message-ttl", " +200 "}, at(200 * time.Millisecond)},
		{headers{"ttl", "300", "expiration", "200", "x-message-ttl", "400"}, at(200 * time.Millisecond)},
		{headers{"expires", in(time.Minute), "ttl", "1000"}, at(time.Second)},
		{headers{"expires", in(time.Second), "ttl", "60000"}, at(time.Second)},
		// It is past: the message expires at once, as its sender asked.
		{headers{"expires", in(-time.Hour)}, at(-time.Hour)},
		{headers{"expires", "1"}, 1},
		// Some clients always write these.
		{headers{"expires", "0"}, never},
		{headers{"expires", "-1"}, never},
		{headers{"ttl", "0", "expiration", "-1", "x-message-ttl", "-9223372036854775808"}, never},
		{headers{"expires", "0", "ttl", "1000"}, at(time.Second)},
		// Too large to matter.
		{headers{"expires", "9223372036854775807"}, never},
		{headers{"ttl", "9223372036854775807"}, never},
		{headers{"expires", "99999999999999999999999999999999999999"}, never},
		{headers{"expires", "253402300799999"}, schedule.MaxInstant},
		{headers{"expires", "253402300800000"}, never},
		{headers{"ttl", "253402300799999"}, never},
		// The longest that adds up.
		{headers{"ttl", itoa(int(schedule.MaxInstant - now.UnixMilli()))}, schedule.MaxInstant},
	}
	for _, row := range rows {
		l, err := request(t, row.headers).Lifetime()
		got := l.Until(now, schedule.LifetimeLimits{})
		if err != nil || got != max(row.want, 0) || (got == 0) != (row.want == never) {
			t.Errorf("%v: expected %d; saw %d, %v", row.headers, row.want, got, err)
		}
	}
}

func TestALifetimeThatIsNoNumberIsAnError(t *testing.T) {
	rows := []struct {
		headers headers
		want    string
	}{
		{headers{"ttl", "soon"}, `ttl "soon" at position 1: expected a number of milliseconds`},
		{headers{"ttl", "1e30"}, `ttl "1e30" at position 2: not part of a number of milliseconds`},
		{headers{"expiration", "1s5"}, `expiration "1s5" at position 2: not part of a number of milliseconds`},
		{headers{"x-message-ttl", ""}, `x-message-ttl "" at position 1: expected a number of milliseconds`},
		{headers{"expires", "tomorrow"}, `expires "tomorrow" at position 1: expected milliseconds since the epoch`},
		{headers{"expires", "1e30"}, `expires "1e30" at position 2: not part of milliseconds since the epoch`},
		{headers{"expires", "1.5"}, `expires "1.5" at position 2: not part of milliseconds since the epoch`},
		{headers{"expires", "0", "ttl", "x"}, `ttl "x" at position 1: expected a number of milliseconds`},
	}
	for _, row := range rows {
		l, err := request(t, row.headers).Lifetime()
		var e *schedule.HeaderError
		if !errors.As(err, &e) || err.Error() != row.want || l != (schedule.Lifetime{}) {
			t.Errorf("%v: expected %s; saw %v, %v", row.headers, row.want, l, err)
		}
	}
}

func TestADestinationBoundsLifetimes(t *testing.T) {
	minute, hour := now.Add(time.Minute).UnixMilli(), now.Add(time.Hour).UnixMilli()
	rows := []struct {
		lifetime schedule.Lifetime
		limits   schedule.LifetimeLimits
		want     int64
	}{
		{schedule.Lifetime{}, schedule.LifetimeLimits{}, 0},
		{schedule.Lifetime{}, schedule.LifetimeLimits{Default: time.Minute}, minute},
		{schedule.Lifetime{}, schedule.LifetimeLimits{Max: time.Minute}, minute},
		{schedule.Lifetime{}, schedule.LifetimeLimits{Default: time.Hour, Max: time.Minute}, minute},
		{schedule.Lifetime{TTL: 3600000}, schedule.LifetimeLimits{Default: time.Minute}, hour},
		{schedule.Lifetime{TTL: 3600000}, schedule.LifetimeLimits{Max: time.Minute}, minute},
		{schedule.Lifetime{Expires: hour}, schedule.LifetimeLimits{Default: time.Minute}, hour},
		{schedule.Lifetime{Expires: hour}, schedule.LifetimeLimits{Max: time.Minute}, minute},
		{schedule.Lifetime{Expires: minute}, schedule.LifetimeLimits{Max: time.Hour}, minute},
		{schedule.Lifetime{TTL: schedule.MaxInstant}, schedule.LifetimeLimits{Max: time.Hour}, hour},
	}
	for _, row := range rows {
		if got := row.lifetime.Until(now, row.limits); got != row.want {
			t.Errorf("%+v with %+v: expected %d; saw %d", row.lifetime, row.limits, row.want, got)
		}
	}
}

func TestNoLifetimeOutlivesAnyOfItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := schedule.Lifetime{
			Expires: rapid.Int64Range(0, schedule.MaxInstant).Draw(t, "expires"),
			TTL:     rapid.Int64Range(0, schedule.MaxInstant).Draw(t, "ttl"),
		}
		limits := schedule.LifetimeLimits{
			Default: time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "default")),
			Max:     time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "max")),
		}
		at := time.UnixMilli(rapid.Int64Range(1, schedule.MaxInstant).Draw(t, "now"))
		got := l.Until(at, limits)
		for limit, until := range map[string]int64{"expires": l.Expires, "ttl": at.UnixMilli() + l.TTL, "max": at.Add(limits.Max).UnixMilli()} {
			isSet := limit == "expires" && l.Expires > 0 || limit == "ttl" && l.TTL > 0 || limit == "max" && limits.Max > 0
			if isSet && until <= schedule.MaxInstant && (got == 0 || got > until) {
				t.Fatalf("%+v with %+v at %v: %d is after %s, %d", l, limits, at, got, limit, until)
			}
		}
		if got < 0 || got > schedule.MaxInstant {
			t.Fatalf("%d", got)
		}
	})
}
