package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
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
	offset, limit, err := pageOf(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	list, total, ok := s.opt.Broker.Destinations(ctx, offset, limit)
	if !ok {
		refuse(w, http.StatusServiceUnavailable, "the broker's loop does not turn")
		return
	}
	p := page{Total: total, Offset: offset, Items: make([]destination, len(list))}
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

// pageOf reads offset and limit of a query; anything else in it is an error.
func pageOf(query url.Values) (offset, limit int, err error) {
	limit = defaultPage
	for name, values := range query {
		var into *int
		low, high := 0, int(^uint32(0)>>1)
		switch name {
		case "offset":
			into = &offset
		case "limit":
			into, low, high = &limit, 1, maxPage
		default:
			return 0, 0, fmt.Errorf("no such parameter: %.40q", name)
		}
		n, err := strconv.Atoi(values[0])
		if err != nil || n < low || n > high || len(values) > 1 {
			return 0, 0, fmt.Errorf("%s must be one number from %d to %d", name, low, high)
		}
		*into = n
	}
	return offset, limit, nil
}
