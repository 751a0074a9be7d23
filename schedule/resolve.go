package schedule

import (
	"fmt"
	"math/bits"
	"time"
)

// Resolve finds what the headers ask for, now. Errors are of type *[HeaderError] and *[ConflictError].
//
// Each header that says when the message is due is read, and each must make sense. Those of other brokers that
// ask for no delay, a number below 1 or a time that is past, are what their libraries write by default:
// they say nothing. Of the rest the first, in the order of [Headers], counts. The others must
// mean the same first delivery:
//
//   - two times from now must be equal, or less than a second apart where one is in seconds;
//   - two times on the calendar, the next time of a schedule among them, must be equal, where what is past is now;
//   - a time on the calendar and one from now must be at most Options.Skew apart;
//   - a header that repeats contradicts one before it that does not.
//
// ActiveMQ's four headers are one. AMQ_SCHEDULED_DELAY is the time to the first delivery; without it
// that is AMQ_SCHEDULED_PERIOD. AMQ_SCHEDULED_REPEAT counts the deliveries after the first, and without it
// there is one. With AMQ_SCHEDULED_CRON each of its times begins such a series, the delay from then, 0 if it is
// missing. (ActiveMQ takes a delay of 0 as missing, and waits for delay or period after a time of
// the cron expression twice.) A blank value is as if the header was missing, as ActiveMQ's console sends it.
func (r *Request) Resolve(now time.Time, o Options) (Plan, error) {
	if !r.asks() {
		return Plan{}, nil
	}
	id, err := r.id()
	if err != nil {
		return Plan{}, err
	}
	o = o.withDefaults()
	var first claim
	for rest := r.claims(); rest != 0; rest &= rest - 1 {
		c, err := r.claim(Header(bits.TrailingZeros32(rest)), now, o)
		switch {
		case err != nil:
			return Plan{}, err
		case !c.counts:
		case !first.counts:
			first = c
		default:
			if reason := first.contradicts(c, o.Skew); reason != "" {
				a, b := first.plan.Header, c.plan.Header
				return Plan{}, &ConflictError{a, b, r.values[a], r.values[b], reason}
			}
		}
	}
	first.plan.ID = id
	return first.plan, nil
}

// asks tells whether there is any header that is not of a lifetime.
func (r *Request) asks() bool { return r.present&(1<<HeaderExpires-1) != 0 }

// claims returns the headers of due times, with AMQ_SCHEDULED_DELAY for all of ActiveMQ's group.
func (r *Request) claims() uint32 {
	const group = 1<<HeaderAMQDelay | 1<<HeaderAMQPeriod | 1<<HeaderAMQRepeat | 1<<HeaderAMQCron
	set := r.present & (1<<firstOther - 1)
	if set&group != 0 {
		set = set&^group | 1<<HeaderAMQDelay
	}
	return set
}

// claim is what one header asks for.
type claim struct {
	counts   bool
	plan     Plan
	relative bool  // a time from now
	seconds  bool  // in seconds
	at       int64 // the first delivery, in milliseconds since the epoch, never before now
}

// contradicts tells why c cannot stand with o, which comes after it; empty if it can.
func (c claim) contradicts(o claim, skew time.Duration) string {
	if o.plan.Kind == Repeating {
		return "only the second one repeats"
	}
	apart, allowed := max(c.at-o.at, o.at-c.at), int64(0)
	switch {
	case c.relative != o.relative:
		allowed = skew.Milliseconds()
	case c.seconds || o.seconds:
		allowed = second - 1
	}
	if apart <= allowed {
		return ""
	}
	return fmt.Sprintf("they are %v apart", time.Duration(apart)*time.Millisecond)
}

// claim reads one of the headers of claims.
func (r *Request) claim(h Header, now time.Time, o Options) (claim, error) {
	if h == HeaderAMQDelay {
		return r.activeMQ(now, o)
	}
	text := r.values[h]
	switch dialects[h].Form {
	case FormDuration:
		d, err := ParseDelay(text)
		if err != nil {
			return claim{}, r.wrong(h, err)
		}
		return after(h, d.Milliseconds(), now), nil
	case FormInstant:
		at, err := ParseInstant(text)
		if err != nil {
			return claim{}, r.wrong(h, err)
		}
		return onCalendar(h, at, now), nil
	case FormSchedule:
		return r.schedule(h, now, o)
	case FormEpoch:
		at, err := epochMilliseconds(text)
		if err != nil {
			return claim{}, r.wrong(h, err)
		}
		c := onCalendar(h, at, now)
		c.counts = c.plan.Kind == At
		return c, nil
	}
	unit, what := int64(1), "a number of milliseconds"
	if dialects[h].Form == FormSeconds {
		unit, what = second, "a number of seconds"
	}
	ms, err := milliseconds(text, what, unit)
	if err != nil {
		return claim{}, r.wrong(h, err)
	}
	c := after(h, ms, now)
	c.seconds = unit == second
	c.counts = c.plan.Kind == After
	return c, nil
}

// after is a claim to a time from now.
func after(h Header, ms int64, now time.Time) claim {
	ms = max(ms, 0)
	c := claim{counts: true, plan: Plan{Header: h}, relative: true, at: ceilMilli(now) + ms}
	if ms > 0 {
		c.plan.Kind, c.plan.Delay = After, ms
	}
	return c
}

// onCalendar is a claim to a time since the epoch.
func onCalendar(h Header, ms int64, now time.Time) claim {
	c := claim{counts: true, plan: Plan{Header: h}, at: max(ms, ceilMilli(now))}
	if ms > now.UnixMilli() {
		c.plan.Kind, c.plan.At = At, ms
	}
	return c
}

// schedule reads deliver-schedule.
func (r *Request) schedule(h Header, now time.Time, o Options) (claim, error) {
	s, err := Parse(r.values[h])
	if err != nil {
		return claim{}, r.wrong(h, err)
	}
	zone, err := r.zone(o)
	if err != nil {
		return claim{}, err
	}
	at, ok := s.Next(now, zone)
	if !ok {
		return claim{}, r.fail(h, "no time before the year 10000")
	}
	return claim{
		counts: true,
		plan:   Plan{Kind: OnSchedule, Header: h, Schedule: s, Zone: zone},
		at:     at.UnixMilli(),
	}, nil
}
