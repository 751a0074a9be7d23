package broker

import (
	"cmp"
	"context"
	"slices"
	"strconv"
)

// MaxConnections bounds a page of connections, and of consumers.
const MaxConnections = 1000

// ConnectionStats is a connection as it is at some moment.
type ConnectionStats struct {
	// ID is Conn.ID.
	ID     uint64
	Client Client
	// Subscriptions are live, Unacked messages are with them, UnwrittenBytes are the octets of those that were not handed to the kernel yet.
	Subscriptions, Unacked int
	UnwrittenBytes         int64
	// Transactions are open ones that have settled something, Temporaries the temporary destinations that it owns.
	Transactions, Temporaries int
	// Blocked says that what it sent has to wait.
	Blocked bool
}

// LiveConsumer is a consumer, or a browser, of one destination.
type LiveConsumer struct {
	Connection uint64
	Client     Client
	// ID is the key of the subscription, Destination what it takes from, Selector what it wants of that.
	ID          string
	Destination Address
	Selector    string
	Mode        AckMode
	Browser     bool
	// Window bounds what it may have unacknowledged; Unacked are what it has, of all its destinations. Delivered is what it was given, of all of them.
	Window    int
	Unacked   int
	Delivered uint64
}

// PageQuery asks for a page of a list in the order of connections.
type PageQuery struct {
	// After is where another page ended: the next that it returned. 0: the beginning.
	After uint64
	// Limit is 1 to MaxConnections; 0: 100.
	Limit int
}

func (q *PageQuery) check() error {
	if q.Limit = cmp.Or(q.Limit, 100); q.Limit < 1 || q.Limit > MaxConnections {
		return &Error{Kind: KindInvalid, Message: "a page has 1 to 1000 items"}
	}
	return nil
}

// Connections lists the sessions in the order in which they came. next is the After of the next page, 0 at the end. An error is a *Error about the
// query, ErrClosed, or that of ctx.
func (b *Broker) Connections(ctx context.Context, q PageQuery) (list []ConnectionStats, next uint64, err error) {
	if err := q.check(); err != nil {
		return nil, 0, err
	}
	err = b.callOr(ctx, func(c *core) {
		for _, conn := range c.sessions(q.After) {
			if len(list) == q.Limit {
				next = list[len(list)-1].ID
				return
			}
			list = append(list, conn.stats())
		}
	})
	return list, next, err
}

// Connection looks at one session; an error of KindDestination says that there is none.
func (b *Broker) Connection(ctx context.Context, id uint64) (ConnectionStats, error) {
	return look(ctx, b, func(c *core) (ConnectionStats, *Error) {
		conn, err := c.session(id)
		if err != nil {
			return ConnectionStats{}, err
		}
		return conn.stats(), nil
	})
}

// CloseConnection ends a session with an ERROR that gives the reason, one line. What it was given returns to its place when the connection is gone.
func (b *Broker) CloseConnection(ctx context.Context, id uint64, reason string) (ConnectionStats, error) {
	return change(ctx, b, func(c *core) (ConnectionStats, *Error) {
		conn, err := c.session(id)
		if err != nil {
			return ConnectionStats{}, err
		}
		stats := conn.stats()
		text := "an operator closed the connection"
		if reason != "" {
			text += ": " + oneLine(reason, MaxNackReason)
		}
		c.fail(conn, &Op{}, &Error{Kind: KindClosed, Message: text})
		c.stats.ConnectionsClosed++
		return stats, nil
	})
}

// Consumers lists who takes from destinations, or browses them, in the order of their connections; of one destination where that is not nil. A page has the consumers of
// so many connections as fit into it, and at least of one.
func (b *Broker) Consumers(ctx context.Context, of *Address, q PageQuery) (list []LiveConsumer, next uint64, err error) {
	if err := q.check(); err != nil {
		return nil, 0, err
	}
	err = b.callOr(ctx, func(c *core) {
		last := q.After
		for _, conn := range c.sessions(q.After) {
			some := conn.consumers(of)
			if len(list) > 0 && len(list)+len(some) > q.Limit {
				next = last
				return
			}
			list, last = append(list, some...), conn.id
		}
	})
	return list, next, err
}

// sessions lists those that are not over, from one on, in the order in which they came.
func (c *core) sessions(after uint64) (list []*Conn) {
	for id, conn := range c.conns {
		if id > after && !conn.ended {
			list = append(list, conn)
		}
	}
	slices.SortFunc(list, func(a, b *Conn) int { return cmp.Compare(a.id, b.id) })
	return list
}

func (c *core) session(id uint64) (*Conn, *Error) {
	if conn := c.conns[id]; conn != nil && !conn.ended {
		return conn, nil
	}
	return nil, &Error{Kind: KindDestination, Message: "there is no connection " + strconv.FormatUint(id, 10)}
}

func (conn *Conn) stats() ConnectionStats {
	s := ConnectionStats{
		ID: conn.id, Client: conn.client, Subscriptions: len(conn.subs), UnwrittenBytes: conn.unwrittenBytes,
		Transactions: len(conn.txs), Temporaries: len(conn.temporaries), Blocked: conn.parked != nil && !conn.searching,
	}
	for _, sub := range conn.numbers {
		s.Unacked += sub.pending.len() - sub.settled
	}
	return s
}

// consumers lists those of a connection in the order of its subscriptions.
func (conn *Conn) consumers(of *Address) (list []LiveConsumer) {
	for _, s := range conn.inOrder() {
		for _, one := range s.consumers {
			a := one.q.dest.addr
			if s.ended || of != nil && a != *of {
				continue
			}
			list = append(list, LiveConsumer{
				Connection: conn.id, Client: conn.client, ID: s.op.ID, Destination: a, Selector: s.op.Selector, Mode: s.op.Mode,
				Browser: s.browser != nil, Window: s.window, Unacked: s.pending.len() - s.settled, Delivered: s.issued,
			})
		}
	}
	return list
}
