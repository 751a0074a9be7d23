package broker

import (
	"context"
	"time"
)

// Stats is what the broker counted since it started, and what it holds now.
type Stats struct {
	// Counters, since the start.
	ReceivedQueue, ReceivedTopic uint64 // SENDs taken
	Delivered, Redelivered       uint64
	Acked, Nacked, Recovered     uint64
	AckTimeouts                  uint64               // deliveries that were not acknowledged in time
	DeadLettered                 [deathReasons]uint64 // moved to an error destination, by DeathReason
	DeadDeleted                  uint64               // not moved, as there is no error destination for them
	DeadKept                     uint64               // failures beyond the limit of what has nowhere to go, and stays where it is
	DeadRetried                  uint64               // sent back by an operator
	Returned                     uint64               // given back by a connection or subscription that ended
	Fired                        uint64               // delayed messages that took their place
	Expired                      uint64
	Cancelled                    uint64 // taken back before their time
	StaleAcks                    uint64 // ACK or NACK of what is no longer pending
	DroppedNoSubscriber          uint64 // sent to a topic nobody was subscribed to
	DroppedNoOwner               uint64 // sent to a temporary destination whose session was over
	TemporariesEnded             uint64 // temporary destinations that are gone
	Blocked                      uint64 // SENDs that had to wait for a watermark or a slow consumer
	Refused                      uint64 // of these, those that were refused in the end
	OverQuota                    uint64 // SENDs and COMMITs refused for a quota
	SlowConsumers, SlowCutOff    uint64 // disconnected as they held up producers for too long, or by SlowDisconnect
	SlowDroppedOldest            uint64 // messages not given to a slow consumer, by SlowDropOldest
	SlowDroppedNewest            uint64 // the same by SlowDropNewest
	DestinationsDeleted          uint64 // by operators
	ConnectionsClosed            uint64 // by operators
	Browsed                      uint64 // messages shown to browsers
	UnknownDurables              uint64 // UNSUBSCRIBEs of durable subscriptions that did not exist
	Duplicates                   uint64 // SENDs that were not taken, as their ids were known
	DuplicateReads               uint64 // times that the ids of a destination were read of the store
	Searches, Searched           uint64 // looks for what selectors want behind windows, and messages looked at
	Rounds, Batches              uint64

	// Gauges.
	Connections, Subscriptions, Destinations int
	Durables                                 int // of the destinations, durable subscriptions
	Temporaries                              int // of the destinations, temporary ones
	Paused                                   int // of the destinations, those of which something is paused
	Selectors                                int // distinct ones in use
	Ready, Unacked, Scheduled                int64
	DuplicateIDs                             int           // ids of messages in memory
	RetainedBytes                            int64         // of what topics keep for new subscribers
	MemoryBytes                              int64         // of all messages in memory
	LentBytes                                int64         // of these, of those that consumers have
	Starved                                  int           // consumers that get nothing more until they acknowledge, for the sake of LentBytes
	Returning                                int64         // messages that wait for their redelivery
	ScheduledLag                             time.Duration // how late the oldest overdue message is
	DiskLow, MemoryHigh                      bool
}

// DestinationStats is one destination's part.
type DestinationStats struct {
	Address             Address
	Ready, Unacked      int64
	Bytes               int64
	Consumers           int
	Received, Delivered uint64
	Acked               uint64
	Created             time.Time
}

// Stats takes stock. It waits for the loop, at most as long as ctx lives: false says that
// the loop did not turn.
func (b *Broker) Stats(ctx context.Context) (Stats, bool) {
	var s Stats
	ok := b.call(ctx, func(c *core) { s = c.takeStock() })
	return s, ok
}

func (c *core) takeStock() Stats {
	s := c.stats
	s.Connections, s.Destinations, s.Selectors = len(c.conns), len(c.dests), c.selectors.Len()
	for _, conn := range c.conns {
		s.Subscriptions += len(conn.subs)
	}
	for _, d := range c.dests {
		if d.temp != nil {
			s.Temporaries++
		}
		if d.paused != 0 {
			s.Paused++
		}
		ready, unacked := d.depth()
		s.Ready += ready
		s.Unacked += unacked
	}
	for _, ts := range c.loose {
		s.Scheduled += int64(len(ts))
	}
	s.Returning = c.looseReturning
	for i := range c.agendas {
		a := &c.agendas[i].account
		s.Scheduled += int64(a.Count - a.Returning)
		s.Returning += int64(a.Returning)
	}
	if due, ok := c.nextDue(); ok && due < c.ms {
		s.ScheduledLag = time.Duration(c.ms-due) * time.Millisecond
	}
	s.LentBytes, s.Starved = c.loans.total, c.loans.hungry()
	s.RetainedBytes, s.Durables = c.retained, len(c.durables)
	s.DuplicateIDs = c.dups.count
	s.MemoryBytes, s.DiskLow, s.MemoryHigh = c.memory, c.diskLow, c.memoryHigh
	return s
}

// depth counts what waits at a destination, and what is with its consumers.
func (d *destination) depth() (ready, unacked int64) {
	if d.queue != nil {
		return d.queue.waiting(), int64(d.queue.flight.n)
	}
	for t := range d.allTaps() {
		if !t.durable { // which counts as a destination of its own
			ready += t.q.waiting()
			unacked += int64(t.q.flight.n)
		}
	}
	return ready, unacked
}

func (d *destination) stats() DestinationStats {
	s := DestinationStats{
		Address: d.addr, Received: d.received, Delivered: d.delivered, Acked: d.acked,
		Created: time.UnixMilli(d.created),
	}
	s.Ready, s.Unacked = d.depth()
	for t := range d.allTaps() {
		s.Consumers += len(t.q.consumers)
	}
	if d.queue != nil {
		s.Consumers = len(d.queue.consumers)
		s.Bytes = int64(d.queue.account.Bytes) + d.queue.loose
	}
	return s
}
