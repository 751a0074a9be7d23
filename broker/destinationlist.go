package broker

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// DestinationQuery asks for a page of destinations.
type DestinationQuery struct {
	// Kind and Name narrow it down: to one kind, and to names with this text in them. 0 and empty: any.
	Kind Kind
	Name string
	// Sort is one of DestinationOrders: activity, which is what was received and delivered since the start, name, ready, unacked, bytes or
	// consumers; all but names the greatest first. Empty: activity.
	Sort string
	// Offset is how many are passed over, Limit how many there are at most, 0 for all.
	Offset, Limit int
}

// DestinationOrders are the values of DestinationQuery.Sort.
func DestinationOrders() []string {
	return []string{"activity", "name", "ready", "unacked", "bytes", "consumers"}
}

// CheckSort returns an error, a *Error, if there is no such order.
func (q *DestinationQuery) CheckSort() error {
	if q.Sort != "" && !slices.Contains(DestinationOrders(), q.Sort) {
		return &Error{Kind: KindInvalid, Message: "sort must be one of " + strings.Join(DestinationOrders(), ", ") + ", not " + quote(q.Sort)}
	}
	return nil
}

// key is what is sorted by, the greatest first.
func (q *DestinationQuery) key(d *DestinationStats) int64 {
	switch q.Sort {
	case "name":
		return 0
	case "ready":
		return d.Ready
	case "unacked":
		return d.Unacked
	case "bytes":
		return d.Bytes
	case "consumers":
		return int64(d.Consumers)
	}
	return int64(d.Received + d.Delivered)
}

// Destinations lists what exists; total is how many there are that the query wants. Those that are alike in what is sorted by are in the order of their
// names. An error is a *Error about the query, ErrClosed, or that of ctx.
func (b *Broker) Destinations(ctx context.Context, q DestinationQuery) (list []DestinationStats, total int, err error) {
	if err := q.CheckSort(); err != nil {
		return nil, 0, err
	}
	if err := b.callOr(ctx, func(c *core) {
		for a, d := range c.dests {
			if (q.Kind == 0 || q.Kind == a.Kind) && strings.Contains(a.Name, q.Name) {
				list = append(list, d.stats())
			}
		}
	}); err != nil {
		return nil, 0, err
	}
	slices.SortFunc(list, func(x, y DestinationStats) int {
		return cmp.Or(cmp.Compare(q.key(&y), q.key(&x)), cmp.Compare(x.Address.Kind, y.Address.Kind), cmp.Compare(x.Address.Name, y.Address.Name))
	})
	total = len(list)
	list = list[min(max(q.Offset, 0), total):]
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, total, nil
}
