package server

import (
	"maps"
	"sync"
	"sync/atomic"

	"footfall/frames"
)

// Stats is what a server counted since it began, and what is open now. The maps are
// the caller's. Their keys are few and fixed: nothing that a client says becomes one.
type Stats struct {
	// Transports has the listeners' shares, by Transport.Name.
	Transports map[string]TransportStats
	// Closed counts ended connections by reason, Rejected those that were not served, by
	// reason, ProtocolErrors the ERROR frames by kind, Logins the attempts by result: "ok", "refused", "throttled" or "busy", Denied
	// what was refused to users by action, see auth.Action.
	Closed, Rejected, ProtocolErrors, Logins, Denied map[string]uint64
	// FramesReceived and FramesSent count frames by command.
	FramesReceived, FramesSent map[string]uint64
	// HeartBeatsSent counts line feeds that were sent since nothing else was.
	HeartBeatsSent uint64
	// LogLinesLeftOut counts lines that were not logged, as others of their kind were in the same second.
	LogLinesLeftOut uint64
	// Panics counts connections that were closed because of a fault of ours.
	Panics uint64
	// Goroutines is the number of goroutines of connections: gone when all connections are.
	Goroutines int64
}

// TransportStats is one transport's share.
type TransportStats struct {
	// Open is the number of connections by version; those before CONNECTED are under "".
	Open map[string]int64
	// Opened counts accepted connections, OctetsIn and OctetsOut what went through them.
	Opened, OctetsIn, OctetsOut uint64
}

// greeting connections are counted in the place behind the last version.
const inGreeting = int(frames.V12) + 1

// transportCounters are those of TransportStats.
type transportCounters struct {
	open                        [inGreeting + 1]atomic.Int64
	opened, octetsIn, octetsOut atomic.Uint64
}

func (t *transportCounters) snapshot() TransportStats {
	s := TransportStats{
		Open:     map[string]int64{"": t.open[inGreeting].Load()},
		Opened:   t.opened.Load(),
		OctetsIn: t.octetsIn.Load(), OctetsOut: t.octetsOut.Load(),
	}
	for v := frames.V10; v <= frames.V12; v++ {
		s.Open[v.String()] = t.open[v].Load()
	}
	return s
}

// commandCounts counts frames by command.
type commandCounts [frames.Failure + 1]uint32

// addTo moves the counts into counters that all connections share, once for many frames.
func (c *commandCounts) addTo(all *commandCounters) {
	for i, n := range c {
		if n > 0 {
			all[i].Add(uint64(n))
			c[i] = 0
		}
	}
}

type commandCounters [frames.Failure + 1]atomic.Uint64

func (c *commandCounters) snapshot() map[string]uint64 {
	m := make(map[string]uint64)
	for i := range c {
		if n := c[i].Load(); n > 0 {
			m[frames.Command(i).String()] = n
		}
	}
	return m
}

// labels counts what is rare, by a label of few values.
type labels struct {
	mu     sync.Mutex
	counts map[string]uint64
}

func (l *labels) add(label string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = make(map[string]uint64)
	}
	l.counts[label]++
}

func (l *labels) snapshot() map[string]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := maps.Clone(l.counts)
	if m == nil {
		m = make(map[string]uint64)
	}
	return m
}

// counters are those of Stats, but for the transports.
type counters struct {
	closed, rejected, errors, logins labels
	denied                           labels
	received, sent                   commandCounters
	beats, panics                    atomic.Uint64
	goroutines                       atomic.Int64
}

// Stats returns what was counted until now.
func (s *Server) Stats() Stats {
	stats := Stats{
		Transports:     make(map[string]TransportStats),
		Closed:         s.counters.closed.snapshot(),
		Rejected:       s.counters.rejected.snapshot(),
		ProtocolErrors: s.counters.errors.snapshot(),
		Logins:         s.counters.logins.snapshot(),
		Denied:         s.counters.denied.snapshot(),
		FramesReceived: s.counters.received.snapshot(),
		FramesSent:     s.counters.sent.snapshot(),
		HeartBeatsSent: s.counters.beats.Load(),
		Panics:         s.counters.panics.Load(),

		LogLinesLeftOut: s.shared.lines.leftOut.Load(),

		Goroutines: s.counters.goroutines.Load(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, t := range s.transports {
		stats.Transports[name] = t.snapshot()
	}
	return stats
}
