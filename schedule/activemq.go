package schedule

import (
	"strings"
	"time"
)

// amqValues are ActiveMQ's four headers as they were read.
type amqValues struct {
	delay, period, repeat int64
	cron                  *Cron

	hasDelay, hasPeriod bool
}

// activeMQ reads ActiveMQ's group of headers, see [Request.Resolve].
func (r *Request) activeMQ(now time.Time, o Options) (claim, error) {
	v, err := r.amqValues()
	if err != nil {
		return claim{}, err
	}
	if err := r.checkRepeats(v, o); err != nil {
		return claim{}, err
	}
	if v.cron != nil {
		return r.onCron(v, now, o)
	}
	first, header := v.delay, HeaderAMQDelay
	if !v.hasDelay {
		first, header = v.period, HeaderAMQPeriod
	}
	c := after(header, first, now)
	if v.repeat == 0 {
		c.counts = c.plan.Kind == After
		return c, nil
	}
	c.plan = Plan{
		Kind:   Repeating,
		Header: HeaderAMQRepeat,
		Repeat: Repeat{Delay: max(first, 0), Period: v.period, Count: v.repeat},
	}
	return c, nil
}

// onCron is the claim of a cron expression.
func (r *Request) onCron(v amqValues, now time.Time, o Options) (claim, error) {
	zone, err := r.zone(o)
	if err != nil {
		return claim{}, err
	}
	repeat := Repeat{Delay: max(v.delay, 0), Count: v.repeat, Cron: v.cron, Zone: zone}
	if v.repeat > 0 {
		repeat.Period = v.period
	}
	job, ok := repeat.Start(now)
	if !ok {
		return claim{}, r.fail(HeaderAMQCron, "no time before the year 10000")
	}
	return claim{
		counts: true,
		plan:   Plan{Kind: Repeating, Header: HeaderAMQCron, Repeat: repeat},
		at:     job.Due(),
	}, nil
}

// amqValues reads the four headers. What is missing or blank is 0.
func (r *Request) amqValues() (v amqValues, err error) {
	if v.delay, v.hasDelay, err = r.amqMilliseconds(HeaderAMQDelay); err != nil {
		return v, err
	}
	if v.period, v.hasPeriod, err = r.amqMilliseconds(HeaderAMQPeriod); err != nil {
		return v, err
	}
	if r.hasText(HeaderAMQRepeat) {
		if v.repeat, err = number(r.values[HeaderAMQRepeat], "a number of repeats"); err != nil {
			return v, r.wrong(HeaderAMQRepeat, err)
		}
	}
	if r.hasText(HeaderAMQCron) {
		if v.cron, err = ParseCron(r.values[HeaderAMQCron]); err != nil {
			return v, r.wrong(HeaderAMQCron, err)
		}
	}
	return v, nil
}

func (r *Request) amqMilliseconds(h Header) (ms int64, has bool, err error) {
	if !r.hasText(h) {
		return 0, false, nil
	}
	if ms, err = milliseconds(r.values[h], "a number of milliseconds", 1); err != nil {
		return 0, false, r.wrong(h, err)
	}
	return ms, true, nil
}

// hasText tells whether a header was set to more than blanks.
func (r *Request) hasText(h Header) bool {
	return r.Has(h) && strings.Trim(r.values[h], " \t") != ""
}

// checkRepeats holds the number of repeats and the time between them against the limits.
func (r *Request) checkRepeats(v amqValues, o Options) error {
	switch least := o.MinPeriod.Milliseconds(); {
	case v.repeat == 0:
		return nil
	case v.repeat < Forever:
		return r.fail(HeaderAMQRepeat, "the number of repeats must be 0 or more, or -1 for ever")
	case v.repeat > o.MaxRepeats:
		return r.fail(HeaderAMQRepeat, "at most %d repeats are allowed", o.MaxRepeats)
	case v.repeat == Forever && v.cron != nil:
		return r.fail(HeaderAMQRepeat, "with %s each of its times would begin another series without end", HeaderAMQCron)
	case !v.hasPeriod:
		return r.fail(HeaderAMQRepeat, "repeats need %s", HeaderAMQPeriod)
	case v.period < max(least, 1):
		return r.fail(HeaderAMQPeriod, "at least %d ms must be between repeats", max(least, 1))
	}
	return nil
}
