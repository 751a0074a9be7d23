package schedule

import "time"

// Forever is the count of a [Repeat] that does not end.
const Forever = -1

// Repeat says when a repeating job is due. It is one of two:
//
// Without Cron there is one series: the first delivery is Delay after the job is
// taken, and Count more follow, a Period apart.
//
// With Cron each of its times begins a series: the first delivery is Delay after that time, and Count
// more follow, a Period apart. A series ends where the next one begins.
type Repeat struct {
	// Delay and Period are in milliseconds, from 0 and from 1 to [MaxDelay]. Period may be 0 if Count is.
	Delay, Period int64
	// Count is the number of deliveries that follow the first, or [Forever], which a Cron cannot have.
	Count int64
	// Cron may be nil. Zone is that of its times, nil for UTC, and must be one that [Zones] finds.
	Cron *Cron
	Zone *time.Location
}

// Job is a repeating job: what it repeats, and where it stands. It is a value; a copy goes its own way.
//
// All deliveries are due on a grid, the start of a series plus a multiple of the period, however
// late they were made: a job does not drift. What fell due while nobody looked, because the broker
// was down or the clock jumped, is made up for by one delivery, at once; then the grid goes on. A job without
// Cron still makes all its Count+1 deliveries, the missing ones at its end, so that none is lost; a
// job with Cron, whose times are what counts, leaves out what was missed. (ActiveMQ keeps the
// number too, but adds the period to the time of the late delivery, and so drifts.)
type Job struct {
	repeat Repeat
	due    int64 // of the next delivery
	start  int64 // of the series, a point of its grid
	left   int64 // deliveries after the next one, without Cron
	begun  bool  // there was a delivery
}

// Start returns the job of a Repeat that is taken now. It is false if it has no delivery before the
// year 10000, or if its deliveries would all be at once, for want of a period.
func (r Repeat) Start(now time.Time) (Job, bool) {
	if r.Count != 0 && r.Period < 1 {
		return Job{}, false
	}
	j := Job{repeat: r, left: r.Count}
	if r.Cron == nil {
		j.start = ceilMilli(now) + r.Delay
	} else {
		at, ok := r.Cron.Next(now, r.Zone)
		if !ok {
			return Job{}, false
		}
		j.start = at.UnixMilli() + r.Delay
	}
	j.due = j.start
	return j, j.due <= MaxInstant
}

// Repeat returns what the job repeats.
func (j *Job) Repeat() Repeat { return j.repeat }

// Due returns when the next delivery is due, in milliseconds since the epoch.
func (j *Job) Due() int64 { return j.due }

// Left returns how many deliveries there will be, the next one among them, or [Forever], as for every Cron.
func (j *Job) Left() int64 {
	if j.left == Forever || j.repeat.Cron != nil {
		return Forever
	}
	return j.left + 1
}

// Fire records that the delivery that was due is made now, and goes on to the next one, which is later
// than now. It is false if there is no other; then the job has ended.
func (j *Job) Fire(now time.Time) bool {
	after := max(now.UnixMilli(), j.due)
	j.begun = true
	if j.repeat.Cron != nil {
		return j.nextOfCron(after)
	}
	if j.left == 0 {
		return false
	}
	if j.left != Forever {
		j.left--
	}
	j.due = nextOnGrid(j.start, j.repeat.Period, after)
	return j.due <= MaxInstant
}

// nextOfCron finds the first delivery after an instant, in the series in hand or the next one.
func (j *Job) nextOfCron(after int64) bool {
	r := &j.repeat
	// A time of the cron expression comes the delay before the series that it begins.
	passed := time.UnixMilli(after - r.Delay)
	next, more := r.Cron.Next(passed, r.Zone)
	if r.Count > 0 {
		began := r.latest(j.start-r.Delay, after-r.Delay)
		j.start = began + r.Delay
		end := int64(MaxInstant)
		if more {
			end = next.UnixMilli() + r.Delay - 1
		}
		at := nextOnGrid(j.start, r.Period, after)
		if at <= min(end, j.start+r.Count*r.Period) {
			j.due = at
			return true
		}
	}
	if !more {
		return false
	}
	j.start = next.UnixMilli() + r.Delay
	j.due = j.start
	return j.due <= MaxInstant
}

// latest returns the last time of the cron expression that is not after to. It is from, which is one
// itself, or later. It takes some forty steps at most, however many times lie between.
func (r *Repeat) latest(from, to int64) int64 {
	// No time is both after high and not after to.
	for high := to; from < high; {
		middle := from + (high-from)/2
		if at, ok := r.Cron.Next(time.UnixMilli(middle), r.Zone); ok && at.UnixMilli() <= to {
			from = at.UnixMilli()
		} else {
			high = middle
		}
	}
	return from
}

// SetBack tells the job that the clock was set back to now. A job without Cron that was delivered
// before, and whose next delivery would now be more than two periods away, goes back on its grid to
// the first point after now, so that it is not held up; the number of deliveries stays. The first
// delivery, and those of a Cron, are due at times that the clock will show again, and wait for
// them: nothing is delivered twice for the same time. It tells whether the job changed.
func (j *Job) SetBack(now time.Time) bool {
	at := now.UnixMilli()
	if !j.begun || j.repeat.Cron != nil || j.due <= at+2*j.repeat.Period {
		return false
	}
	j.due = nextOnGrid(j.start, j.repeat.Period, at)
	return true
}

// AppendUpcoming appends the times of the next n deliveries, in milliseconds since the epoch, or of as
// many as there are, each made when it is due.
func (j Job) AppendUpcoming(dst []int64, n int) []int64 {
	for more := true; n > 0 && more; n-- {
		dst = append(dst, j.due)
		more = j.Fire(time.UnixMilli(j.due))
	}
	return dst
}

// nextOnGrid returns the first of start, start+period, start+2*period and so on, or of these back
// in time, that is after an instant.
func nextOnGrid(start, period, after int64) int64 {
	return start + (floorDiv(after-start, period)+1)*period
}

// ceilMilli returns a time in milliseconds since the epoch, rounded up: what is due a delay later is not early.
func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return ms
}
