package broker

import (
	"context"
	"math"
	"time"

	"footfall/store"
)

// ScheduledCounts is how much waits for its time, by how long it has to wait. What waits for its redelivery counts too.
type ScheduledCounts struct {
	// Overdue is due and not yet in its place; Minute, Hour and Day come within that time, each without what comes before it; Later is
	// the rest.
	Overdue, Minute, Hour, Day, Later Count
	// Total is all of it.
	Total int64
}

// Count is a number, or a bound below it.
type Count struct {
	N int64
	// AtLeast says that counting ended at MaxScheduledCount.
	AtLeast bool
}

// MaxScheduledCount is where each of the ScheduledCounts ends that is counted one by one.
const MaxScheduledCount = 100_000

// ScheduledCounts counts what waits for its time. Total is exact at one moment, the others are counted one after the other meanwhile.
// An error is ErrClosed, or that of ctx.
func (b *Broker) ScheduledCounts(ctx context.Context) (ScheduledCounts, error) {
	return ask(ctx, b, func(c *core, answer func(ScheduledCounts)) {
		t := &tally{answer: answer}
		bounds := []time.Duration{-time.Millisecond, time.Minute, time.Hour, 24 * time.Hour}
		from := int64(0)
		for i, count := range []*Count{&t.counts.Overdue, &t.counts.Minute, &t.counts.Hour, &t.counts.Day, &t.counts.Later} {
			until := int64(math.MaxInt64)
			if i < len(bounds) {
				until = c.ms + bounds[i].Milliseconds()
			}
			t.spans = append(t.spans, span{from, until, count})
			from = until + 1
		}
		t.total(c)
		t.looseOnes(c)
		t.stored(c, t.spans)
	})
}

// span is a part of the time to come, both inclusive, and what it is counted in.
type span struct {
	from, until int64
	count       *Count
}

func (s *span) add(n int64) {
	s.count.N = min(s.count.N+n, MaxScheduledCount)
	s.count.AtLeast = s.count.AtLeast || s.count.N == MaxScheduledCount
}

// tally is a count under way.
type tally struct {
	counts ScheduledCounts
	spans  []span
	answer func(ScheduledCounts)
}

func (t *tally) total(c *core) {
	for s := range c.agendas {
		t.counts.Total += int64(c.agendas[s].account.Count)
	}
	for _, ts := range c.loose {
		t.counts.Total += int64(len(ts))
	}
	t.counts.Total += c.looseReturning
}

// looseOnes counts what is in memory only.
func (t *tally) looseOnes(c *core) {
	for s := range c.agendas {
		for _, item := range c.agendas[s].heap {
			if item.stored {
				continue
			}
			for i := range t.spans {
				if s := &t.spans[i]; item.due.at <= s.until {
					s.add(1)
					break
				}
			}
		}
	}
}

// stored counts what is in the store, one span at a time, so that others have their turn between.
func (t *tally) stored(c *core, spans []span) {
	if len(spans) == 0 {
		t.answer(t.counts)
		return
	}
	s := spans[0]
	c.loads = append(c.loads, func(st Store, after uint64) (func(), error) {
		n, err := st.CountDue(store.DueCount{After: after, From: s.from, Until: s.until, Max: MaxScheduledCount})
		return func() {
			s.add(int64(n))
			t.stored(c, spans[1:])
		}, err
	})
}
