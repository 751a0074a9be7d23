package schedule

import "time"

// PlanKind says what a [Plan] is.
type PlanKind uint8

// The kinds of plans, with the fields of Plan that each uses beside ID.
const (
	// AtOnce: now. That is what no header asks for, a delay of 0, a negative one and a time that is past.
	AtOnce PlanKind = iota
	// After: Delay from now.
	After
	// At: at At.
	At
	// OnSchedule: the next time of Schedule in Zone.
	OnSchedule
	// Repeating: as Repeat says.
	Repeating
)

// Plan is when a message is due, as its SEND asks. It stays true until it is begun: in a
// transaction that is at COMMIT.
type Plan struct {
	Kind PlanKind
	// Header is the one that counted, if any did: of ActiveMQ's group the cron expression, else the
	// count of repeats, else the one that gave the time.
	Header   Header
	Delay    int64 // in milliseconds, above 0 and up to MaxDelay
	At       int64 // in milliseconds since the epoch, up to MaxInstant
	Schedule *Schedule
	Zone     *time.Location
	Repeat   Repeat
	// ID is the scheduled-id of the sender, empty if there is none. A message that is due at once
	// may have one too: that of a message that waits, whose place it takes.
	ID string
}

// Due returns the time of the first delivery of a plan that is begun now, in milliseconds since the
// epoch, 0 for at once. It is false if that is not before the year 10000.
func (p *Plan) Due(now time.Time) (int64, bool) {
	switch p.Kind {
	case After:
		return ceilMilli(now) + p.Delay, true
	case At:
		return p.At, true
	case OnSchedule:
		at, ok := p.Schedule.Next(now, p.Zone)
		return at.UnixMilli(), ok
	case Repeating:
		job, ok := p.Repeat.Start(now)
		return job.Due(), ok
	}
	return 0, true
}
