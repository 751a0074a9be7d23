package broker

import "sync"

// inbox is where all others leave what the loop is to do. It is bounded for
// sessions, which wait in submit; the rest is bounded by what the loop itself has
// under way.
type inbox struct {
	maxOps, maxBytes int

	mu     sync.Mutex
	room   sync.Cond
	wake   chan struct{} // holds one token when there is something to take
	closed bool
	conns  uint64 // attached so far

	entries []inboxEntry
	ops     int // of entries
	bytes   int
	written []*Conn  // with a Written that the loop has not seen
	events  []func() // run by the loop, in order, before the entries
}

// inboxEntry is a session's request, or its beginning or end.
type inboxEntry struct {
	conn *Conn
	kind entryKind
	req  *Request
}

type entryKind uint8

const (
	entryRequest entryKind = iota
	entryAttach
	entryDetach
)

// taken is what the loop took out for one round.
type taken struct {
	entries []inboxEntry
	written []*Conn
	events  []func()
}

func newInbox(maxOps, maxBytes int) *inbox {
	in := &inbox{maxOps: maxOps, maxBytes: maxBytes, wake: make(chan struct{}, 1)}
	in.room.L = &in.mu
	return in
}

func (in *inbox) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// A connection has at most this much in the inbox at a time, so that one of them
// cannot fill it; it may always have one request.
const (
	connOps   = 4096
	connBytes = 4 << 20
)

// submit waits for room.
func (in *inbox) submit(c *Conn, req *Request) error {
	in.mu.Lock()
	for !in.closed && c.queuedOps > 0 &&
		(in.ops >= in.maxOps || in.bytes >= in.maxBytes || c.queuedOps >= connOps || c.queuedBytes >= connBytes) {
		in.room.Wait()
	}
	if in.closed {
		in.mu.Unlock()
		return ErrClosed
	}
	in.entries = append(in.entries, inboxEntry{conn: c, req: req})
	in.ops += len(req.Ops)
	in.bytes += req.Bytes
	c.queuedOps += len(req.Ops)
	c.queuedBytes += req.Bytes
	in.mu.Unlock()
	in.signal()
	return nil
}

// nextConn numbers the connections.
func (in *inbox) nextConn() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.conns++
	return in.conns
}

// mark leaves the beginning or the end of a session.
func (in *inbox) mark(c *Conn, kind entryKind) error {
	in.mu.Lock()
	if in.closed && kind == entryAttach {
		in.mu.Unlock()
		return ErrClosed
	}
	in.entries = append(in.entries, inboxEntry{conn: c, kind: kind})
	in.mu.Unlock()
	in.signal()
	return nil
}

// noteWritten tells that c.written has grown. The loop is not woken for it unless it waits for that.
func (in *inbox) noteWritten(c *Conn, wake bool) {
	in.mu.Lock()
	in.written = append(in.written, c)
	in.mu.Unlock()
	if wake {
		in.signal()
	}
}

// run has the loop call f, whatever the state of the inbox.
func (in *inbox) run(f func()) {
	in.mu.Lock()
	in.events = append(in.events, f)
	in.mu.Unlock()
	in.signal()
}

// take moves what waits into t, whose slices are reused. Without requests set it leaves the entries.
func (in *inbox) take(t *taken, requests bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	t.written, in.written = in.written, t.written[:0]
	t.events, in.events = in.events, t.events[:0]
	if !requests {
		t.entries = t.entries[:0]
		return
	}
	t.entries, in.entries = in.entries, t.entries[:0]
	in.ops, in.bytes = 0, 0
}

// release gives the connections their shares back after these entries were worked off.
func (in *inbox) release(entries []inboxEntry) {
	if len(entries) == 0 {
		return
	}
	in.mu.Lock()
	for _, e := range entries {
		if e.req != nil {
			e.conn.queuedOps -= len(e.req.Ops)
			e.conn.queuedBytes -= e.req.Bytes
		}
	}
	in.mu.Unlock()
	in.room.Broadcast()
}

// waiting tells whether requests wait, idle whether nothing at all does.
func (in *inbox) waiting() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.entries) > 0
}

func (in *inbox) idle() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.entries)+len(in.written)+len(in.events) == 0
}

func (in *inbox) close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.room.Broadcast()
}
