package broker

import (
	"context"
	"time"

	"footfall/frames"
	"footfall/schedule"
)

// ScheduledQuery asks for what waits for its time. The zero value asks for what is due first.
type ScheduledQuery struct {
	// Destination narrows it down to one destination, ID to one id; nil and empty: any.
	Destination *Address
	ID          string
	// From and Until are times of delivery in milliseconds since the epoch, both inclusive. Until 0 is no end.
	From, Until int64
	// After is where another page ended: what Scheduled returned with it. Empty: the beginning.
	After string
	// Limit is the greatest number of messages on a page, 1 to MaxScheduled; 0: 100.
	Limit int
	// BodyBytes is how many octets of each body are wanted, 0 to MaxScheduledBody.
	BodyBytes int
}

// The bounds of a page: messages, and octets of one body.
const (
	MaxScheduled     = 1000
	MaxScheduledBody = 64 << 10
)

// ScheduledMessage is something that waits for its time.
type ScheduledMessage struct {
	// ID is the id of its schedule, any octets. Several destinations may each have one of the same id.
	ID          string
	Destination Address
	// Due is when it takes its place, in milliseconds since the epoch.
	Due int64
	// Repeat is nil of what is due once.
	Repeat *ScheduledRepeat
	// Persistent messages wait on disk, others in memory.
	Persistent bool
	Priority   uint8
	// Sent is when the broker took it, Expires when nobody wants it any more, 0 for never, TTL how long each message of a
	// repeating job lives, 0 for ever; in milliseconds, the first two since the epoch.
	Sent, Expires, TTL int64
	// Header is what the sender wrote and what is passed on.
	Header frames.Header
	// BodySize is the size of the body in octets, Body its beginning, as far as it was asked for.
	BodySize int64
	Body     []byte
}

// ScheduledRepeat is how a repeating job goes on.
type ScheduledRepeat struct {
	schedule.Repeat
	// Left counts the deliveries to come, schedule.Forever for no end.
	Left int64
	// Next are the times of the next deliveries, five at most, in milliseconds since the epoch.
	Next []int64
}

// Scheduled lists what waits for its time, in memory or on disk, in the order of the times. next is the After of the next page, empty at the end.
// A page may have few messages or none and still a next one: what it looks at is bounded, too. Pages are of different moments, and what
// moves between them may be on both or on none. An error is a *Error about the query, ErrClosed, or that of ctx.
func (b *Broker) Scheduled(ctx context.Context, q ScheduledQuery) (list []ScheduledMessage, next string, err error) {
	l, err := newListing(q)
	if err != nil {
		return nil, "", err
	}
	p, err := ask(ctx, b, l.begin)
	if err != nil {
		return nil, "", err
	}
	for i := range p.found {
		list = append(list, p.found[i].describe(q.BodyBytes))
	}
	return list, p.next, nil
}

// ask has the loop begin something, and waits for the answer. When ctx ends first it goes on.
func ask[T any](ctx context.Context, b *Broker, begin func(c *core, answer func(T))) (result T, err error) {
	answers := make(chan T, 1)
	b.inbox.run(func() {
		if ctx.Err() == nil {
			begin(b.core, func(v T) { answers <- v })
		}
	})
	select {
	case result = <-answers:
		return result, nil
	case <-ctx.Done():
		return result, ctx.Err()
	case <-b.done:
	}
	select {
	case result = <-answers:
		return result, nil
	default:
		return result, ErrClosed
	}
}

// describe makes of it what is shown.
func (w *waiting) describe(body int) ScheduledMessage {
	m := w.m
	s := ScheduledMessage{
		ID: m.ScheduledID, Destination: w.to, Due: w.at.At, Persistent: m.Persistent, Priority: m.Priority,
		Sent: m.Timestamp, Expires: m.Expires, TTL: m.TTL, Header: m.Header, BodySize: w.body, Body: m.Body,
	}
	if body == 0 {
		s.Body = nil
	}
	if m.job != nil {
		s.Repeat = repeatOf(*m.job, w.at.At)
	}
	return s
}

// repeatOf tells how a job goes on whose next delivery is at due, which may have been moved from its place on the grid.
func repeatOf(job schedule.Job, due int64) *ScheduledRepeat {
	const upcoming = 5
	r := &ScheduledRepeat{Repeat: job.Repeat(), Left: job.Left(), Next: []int64{due}}
	if job.Fire(time.UnixMilli(due)) {
		r.Next = job.AppendUpcoming(r.Next, upcoming-1)
	}
	return r
}
