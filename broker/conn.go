package broker

import "sync/atomic"

// Client describes a session to those who look at the broker; the loop draws nothing from it.
type Client struct {
	User, Remote, ClientID, Version, Transport string
}

// Conn is a session's side of the broker. Its methods are called by the session, the
// rest is the loop's.
type Conn struct {
	id     uint64
	inbox  *inbox
	outbox Outbox
	client Client

	// Guarded by the inbox's lock.
	queuedOps, queuedBytes int

	written atomic.Int64 // messages written that the loop has not seen
	eager   atomic.Bool  // the loop waits for what is written

	// Owned by the loop from here on.

	subs    map[string]*subscription // live, by key
	numbers map[uint64]*subscription // live or with deliveries pending, by number
	lastSub uint64
	txs     map[uint64]*transaction
	index   *messageIndex // made when the first ACK by message id comes
	userIDs map[string]int

	out  []Output   // of this round
	held ring[held] // answers that wait for a batch
	// lastBatch holds the last durable effect of this connection.
	lastBatch uint64
	fenced    bool // some subscription waits for a receipt, see holdBack
	listed    bool // in core.changed

	unwritten      ring[unwritten] // messages in the outbox, in order
	unwrittenBytes int64
	full           bool // unwrittenBytes kept a delivery back
	auto           bool // it had a subscription of mode auto

	following    int         // consumers in queues that its subscriptions follow by wildcards
	searching    bool        // its parked operation waits for a search of the store
	walked       *ScheduleOp // the span of the schedule that was gone over last
	parked       *parked     // what waits, nil when nothing does
	temporaries  map[*destination]struct{}
	ended        bool // no further output: failed, disconnected or gone
	disconnected bool // ended by DISCONNECT
	gone         bool // the session is over
}

// held is an answer and the batch that must be on disk before it.
type held struct {
	batch  uint64
	output Output
}

// unwritten is a message in the outbox.
type unwritten struct {
	d     *delivery // nil of one that a browser was shown
	shown *Message  // that one
	size  int64
}

// ID is unique among the connections of one run.
func (conn *Conn) ID() uint64 { return conn.id }

// Submit hands a request to the loop. It waits while the inbox is full, or
// while this connection has much in it. After Close it returns ErrClosed.
func (conn *Conn) Submit(req *Request) error { return conn.inbox.submit(conn, req) }

// Written tells that so many more outputs of kind OutputMessage were wholly
// handed to the kernel, in order.
func (conn *Conn) Written(messages int) {
	if messages > 0 && conn.written.Add(int64(messages)) == int64(messages) {
		conn.inbox.noteWritten(conn, conn.eager.Load())
	}
}

// Detach tells that the session is over. What it submitted before counts. It does not wait.
func (conn *Conn) Detach() { _ = conn.inbox.mark(conn, entryDetach) }
