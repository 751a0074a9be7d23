package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"footfall/broker"
	"footfall/schedule"
)

// maxChange bounds the body of a request, in octets.
const maxChange = 4096

// changed is the answer to a change: how many messages or jobs it touched, each at another destination. The change is on disk.
type changed struct {
	Cancelled   int `json:"cancelled,omitempty"`
	Run         int `json:"run,omitempty"`
	Rescheduled int `json:"rescheduled,omitempty"`
}

func (s *Server) cancelScheduled(w http.ResponseWriter, r *http.Request) {
	n, err := s.opt.Broker.CancelScheduled(r.Context(), r.PathValue("id"))
	s.replyChange(w, r, n, err, changed{Cancelled: n})
}

func (s *Server) runScheduled(w http.ResponseWriter, r *http.Request) {
	n, err := s.opt.Broker.RunScheduled(r.Context(), r.PathValue("id"))
	s.replyChange(w, r, n, err, changed{Run: n})
}

func (s *Server) reschedule(w http.ResponseWriter, r *http.Request) {
	at, status, err := newTime(w, r)
	if err != nil {
		refuse(w, status, err.Error())
		return
	}
	n, err := s.opt.Broker.Reschedule(r.Context(), r.PathValue("id"), at)
	s.replyChange(w, r, n, err, changed{Rescheduled: n})
}

func (s *Server) replyChange(w http.ResponseWriter, r *http.Request, n int, err error, c changed) {
	id := r.PathValue("id")
	switch {
	case err != nil:
		refuseSchedule(w, err, "no answer in time: it may have happened or not")
	case n == 0:
		refuse(w, http.StatusNotFound, nothingWaits(id))
	default:
		s.opt.Log.Info("the schedule was changed", "id", id, "change", c, "remote", r.RemoteAddr)
		reply(w, http.StatusOK, c)
	}
}

// rescheduling is the document that gives something another time: one of the two.
type rescheduling struct {
	DeliverAt json.RawMessage `json:"deliver_at,omitempty"`
	Alias     json.RawMessage `json:"deliverAt,omitempty"`
}

// newTime reads {"deliver_at": ...}: milliseconds since the epoch, or RFC 3339 as a text. The name deliverAt is taken as well.
func newTime(w http.ResponseWriter, r *http.Request) (at int64, status int, err error) {
	var body rescheduling
	if status, err := readDocument(w, r, &body); err != nil {
		return 0, status, err
	}
	if (body.DeliverAt == nil) == (body.Alias == nil) {
		return 0, http.StatusBadRequest, errors.New("the body needs deliver_at, once")
	}
	at, err = instantOf(append(body.DeliverAt, body.Alias...))
	return at, http.StatusBadRequest, err
}

// instantOf reads a time: a number, or a text.
func instantOf(raw json.RawMessage) (int64, error) {
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return 0, fmt.Errorf("deliver_at: %w", err)
		}
	}
	at, err := schedule.ParseInstant(text)
	if err != nil {
		return 0, fmt.Errorf("deliver_at: %w", err)
	}
	return at, nil
}

// scheduledCounts is the body of /api/v1/scheduled/counts: how much is due within a minute, an hour and a day, each without
// what is due before, later than that, and overdue.
type scheduledCounts struct {
	Overdue count `json:"overdue"`
	Minute  count `json:"minute"`
	Hour    count `json:"hour"`
	Day     count `json:"day"`
	Later   count `json:"later"`
	Total   int64 `json:"total"`
}

// count is a number; with AtLeast there may be more.
type count struct {
	Count   int64 `json:"count"`
	AtLeast bool  `json:"at_least,omitempty"`
}

func (s *Server) countScheduled(w http.ResponseWriter, r *http.Request) {
	c, err := s.opt.Broker.ScheduledCounts(r.Context())
	if err != nil {
		refuseSchedule(w, err, "the schedule could not be counted in time")
		return
	}
	of := func(c broker.Count) count { return count{c.N, c.AtLeast} }
	reply(w, http.StatusOK, scheduledCounts{of(c.Overdue), of(c.Minute), of(c.Hour), of(c.Day), of(c.Later), c.Total})
}
