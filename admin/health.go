package admin

import (
	"context"
	"net/http"

	"footfall/broker"
)

// readiness is the body of /readyz.
type readiness struct {
	Ready bool `json:"ready"`
	// Reasons say why not.
	Reasons []string `json:"reasons"`
	// Alarms are what slows the broker down but does not keep it from working.
	Alarms []string `json:"alarms"`
}

// livez tells whether the process works: it answers, and the broker's loop turns. It
// never looks at the disk, since a process that is killed because its disk is slow or full
// only becomes slower.
func (s *Server) livez(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.stats(r.Context()); !ok {
		http.Error(w, "the broker's loop does not turn", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// readyz tells whether the process may be sent work, and if not why.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ready := s.readiness(s.stats(r.Context()))
	status := http.StatusOK
	if !ready.Ready {
		status = http.StatusServiceUnavailable
	}
	reply(w, status, ready)
}

// readiness judges by what the broker told, if it told anything.
func (s *Server) readiness(stats broker.Stats, ok bool) readiness {
	state := readiness{Reasons: []string{}, Alarms: []string{}}
	state.Reasons = append(state.Reasons, s.opt.Unready()...)
	st := s.opt.Store.Stats()
	if st.Failed {
		state.Reasons = append(state.Reasons, "the store failed")
	}
	if !ok {
		state.Reasons = append(state.Reasons, "the broker's loop does not turn")
	}
	for _, a := range alarms() {
		if a.on(&stats, st.Stalled) {
			state.Alarms = append(state.Alarms, a.text)
		}
	}
	state.Ready = len(state.Reasons) == 0
	return state
}

// alarm is a state in which senders wait.
type alarm struct {
	kind string // its label in metrics
	text string
	on   func(s *broker.Stats, stalled bool) bool
}

func alarms() []alarm {
	return []alarm{
		{"disk", "free disk is below its watermark", func(s *broker.Stats, _ bool) bool { return s.DiskLow }},
		{"memory", "messages in memory are above their watermark", func(s *broker.Stats, _ bool) bool { return s.MemoryHigh }},
		{"store", "writes wait for the store's background work", func(_ *broker.Stats, stalled bool) bool { return stalled }},
	}
}

// stats asks the broker, which must answer within patience.
func (s *Server) stats(ctx context.Context) (broker.Stats, bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.opt.Broker.Stats(ctx)
}
