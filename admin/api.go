package admin

import (
	"net/http"
	"time"

	"footfall/broker"
)

// overview is the body of /api/v1/overview. Sizes are in octets, times in RFC 3339,
// durations in seconds.
type overview struct {
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Ready    readiness `json:"readiness"`
	Messages struct {
		Ready     int64 `json:"ready"`
		Unacked   int64 `json:"unacked"`
		Scheduled int64 `json:"scheduled"`

		Received    uint64 `json:"received"`
		Delivered   uint64 `json:"delivered"`
		Redelivered uint64 `json:"redelivered"`
		Acked       uint64 `json:"acked"`
		Nacked      uint64 `json:"nacked"`
	} `json:"messages"`
	Connections   int     `json:"connections"`
	Subscriptions int     `json:"subscriptions"`
	Destinations  int     `json:"destinations"`
	MemoryBytes   int64   `json:"memory_bytes"`
	DiskBytes     uint64  `json:"disk_bytes"`
	DiskFreeBytes uint64  `json:"disk_free_bytes"`
	ScheduledLag  float64 `json:"scheduled_lag_seconds"`
}

func (s *Server) overview(w http.ResponseWriter, r *http.Request) {
	stats, ok := s.stats(r.Context())
	if !ok {
		refuse(w, http.StatusServiceUnavailable, "the broker's loop does not turn")
		return
	}
	o := overview{
		Version: s.opt.Version, Started: s.opt.Started.UTC(), Ready: s.readiness(stats, ok),
		Connections: stats.Connections, Subscriptions: stats.Subscriptions, Destinations: stats.Destinations,
		MemoryBytes: stats.MemoryBytes, DiskBytes: s.opt.Store.Stats().DiskBytes,
		ScheduledLag: stats.ScheduledLag.Seconds(),
	}
	o.DiskFreeBytes, _ = s.opt.Store.DiskFree() // 0 when it cannot be told, as in the metric
	m := &o.Messages
	m.Ready, m.Unacked, m.Scheduled = stats.Ready, stats.Unacked, stats.Scheduled
	m.Received, m.Delivered, m.Redelivered = stats.ReceivedQueue+stats.ReceivedTopic, stats.Delivered, stats.Redelivered
	m.Acked, m.Nacked = stats.Acked, stats.Nacked
	reply(w, http.StatusOK, o)
}

// page is the body of /api/v1/destinations.
type page struct {
	Total  int           `json:"total"`
	Offset int           `json:"offset"`
	Items  []destination `json:"items"`
}

type destination struct {
	Destination string    `json:"destination"`
	Kind        string    `json:"kind"`
	Name        string    `json:"name"`
	Ready       int64     `json:"ready"`
	Unacked     int64     `json:"unacked"`
	Bytes       int64     `json:"bytes"`
	Consumers   int       `json:"consumers"`
	Received    uint64    `json:"received"`
	Delivered   uint64    `json:"delivered"`
	Acked       uint64    `json:"acked"`
	Created     time.Time `json:"created"`
}

// The size of a page: by default and at most.
const (
	defaultPage = 100
	maxPage     = 1000
)

func (s *Server) destinations(w http.ResponseWriter, r *http.Request) {
	q, err := destinationsQuery(r.URL.Query())
	if err != nil {
		refuseError(w, err, "")
		return
	}
	list, total, err := s.opt.Broker.Destinations(r.Context(), q)
	if err != nil {
		refuseError(w, err, "the broker's loop does not turn")
		return
	}
	p := page{Total: total, Offset: q.Offset, Items: make([]destination, len(list))}
	for i, d := range list {
		p.Items[i] = destinationOf(d)
	}
	reply(w, http.StatusOK, p)
}

func destinationOf(d broker.DestinationStats) destination {
	return destination{
		Destination: d.Address.String(), Kind: d.Address.Kind.String(), Name: d.Address.Name,
		Ready: d.Ready, Unacked: d.Unacked, Bytes: d.Bytes, Consumers: d.Consumers,
		Received: d.Received, Delivered: d.Delivered, Acked: d.Acked, Created: d.Created.UTC(),
	}
}
