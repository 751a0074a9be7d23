package server

import (
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// phase is how far a connection is.
type phase uint8

const (
	talking  phase = iota // frames are read
	stopping              // Shutdown wants it to end: what was read counts, no more is read
	ending                // the session is over: what comes is thrown away
	leaving               // the last frame is out
)

// The reasons why a connection ended, for metrics and the log.
const (
	endDisconnect   = "disconnect"      // DISCONNECT
	endClient       = "client_closed"   // the client closed it without
	endError        = "error"           // ERROR
	endRead         = "read_failed"     // reset, for the most part
	endWrite        = "write_failed"    // likewise
	endWriteTimeout = "write_timeout"   // the client took nothing
	endConnect      = "connect_timeout" // no CONNECT in time
	endOpen         = "not_opened"      // PROXY header, TLS or WebSocket did not come about
	endSilence      = "heartbeat"       // no heart-beat in time
	endShutdown     = "shutdown"
	endRevoked      = "revoked" // its user, or what the user may do, has changed
	endPanic        = "panic"
)

// conn is one connection. Its reader is the goroutine of run, which starts its writer.
type conn struct {
	// Immutable.
	srv       *Server
	listener  *listener
	raw       net.Conn // the socket: closed, and given deadlines, by anybody
	transport *Transport
	counters  *transportCounters
	accepted  time.Time
	out       *outbox

	// Owned by the reader; the writer sees what was set before it began.
	nc       net.Conn // what frames are read from and written to: raw, or a layer upon it
	in       *frames.Reader
	session  session
	greeting greeting
	link     Link // nil before CONNECTED
	silence  time.Duration
	received commandCounts
	armed    bool // a read deadline is set

	// What was counted of it, see admission.
	from    netip.Addr
	entered bool
	user    string

	writerDone chan struct{} // closed when there is no writer (any more)

	mu       sync.Mutex
	phase    phase
	revoked  bool // of one that is stopping: why
	reason   string
	cause    error
	identity auth.Identity // that of the session, when it is known
	known    bool
}

func newConn(s *Server, nc net.Conn, l *listener) *conn {
	c := &conn{
		srv: s, listener: l, raw: nc, nc: nc, transport: &l.transport, counters: l.counters,
		accepted:   time.Now(),
		out:        newOutbox(&s.lots),
		writerDone: make(chan struct{}),
	}
	close(c.writerDone)
	c.in = frames.NewReader((*input)(c), s.shared.options.Limits)
	c.session = session{shared: &s.shared, clock: time.Now, version: frames.V12}
	c.session.remote = remoteOf(nc)
	return c
}

// run is the reader, from a connection's beginning to its end.
func (c *conn) run() {
	c.srv.counters.goroutines.Add(1)
	c.counters.open[inGreeting].Add(1)
	defer c.finish()
	defer c.rescue()
	if c.open() && c.greet() {
		c.converse()
	}
}

// finish ends the writer, and with it the connection.
func (c *conn) finish() {
	c.out.close()
	_ = c.nc.Close()
	<-c.writerDone
	c.detach()
	c.received.addTo(&c.srv.counters.received)
	if c.link != nil {
		c.counters.open[c.greeting.version].Add(-1)
	} else {
		c.counters.open[inGreeting].Add(-1)
	}
	c.log()
	c.srv.counters.goroutines.Add(-1)
	c.srv.remove(c)
}

// detach gives back to the broker what the client did not acknowledge. The reader calls it when it submits no more.
func (c *conn) detach() {
	if c.link != nil {
		c.link.Detach()
	}
}

// log tells of a connection's end, and counts it.
func (c *conn) log() {
	c.mu.Lock()
	reason, cause := c.reason, c.cause
	c.mu.Unlock()
	c.srv.counters.closed.add(reason)
	args := []any{"reason", reason, "remote", c.session.remote, "transport", c.transport.Name}
	if c.link != nil {
		args = append(args, "version", c.greeting.version.String(), "user", short(c.session.identity.User), "session", c.session.id)
	}
	if cause != nil {
		args = append(args, "error", cause)
	}
	const msg = "connection closed"
	if log := c.srv.shared.options.Log; reason == endDisconnect || reason == endClient {
		log.Debug(msg, args...)
	} else {
		c.line("closed: "+reason, log.Info, msg, args...)
	}
}

// line writes a line of the log, unless there are too many of its class.
func (c *conn) line(class string, write func(msg string, args ...any), msg string, args ...any) {
	c.srv.shared.lines.line(class, time.Now(), write, msg, args...)
}

// rescue ends a connection, and nothing else, when a fault of ours comes up in one of its goroutines.
func (c *conn) rescue() {
	fault := recover()
	if fault == nil {
		return
	}
	c.srv.counters.panics.Add(1)
	c.line("panic", c.srv.shared.options.Log.Error, "panic in a connection", "remote", c.session.remote, "panic", fault, "stack", string(debug.Stack()))
	c.because(endPanic, nil)
	c.abort()
}

// because notes why the connection ends. The first reason is the one.
func (c *conn) because(reason string, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason, c.cause = reason, cause
	}
}

// reasonNow tells why the connection ends, empty if it does not.
func (c *conn) reasonNow() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// arm sets the deadline of the reads to come, zero for none. It is false when no more frames are to be read.
func (c *conn) arm(deadline time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != talking {
		return false
	}
	if c.armed || !deadline.IsZero() {
		_ = c.raw.SetReadDeadline(deadline)
		c.armed = !deadline.IsZero()
	}
	return true
}

// quiet has reads wait until the last frame is out. It is false when that is so already.
func (c *conn) quiet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == leaving {
		return false
	}
	c.phase = ending
	_ = c.raw.SetReadDeadline(time.Time{})
	return true
}

// phaseNow tells how far the connection is.
func (c *conn) phaseNow() phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase
}

// stop asks the reader to end the session, for Shutdown.
func (c *conn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halt()
}

// halt has the reader read no more, with c.mu held.
func (c *conn) halt() {
	if c.phase == talking {
		c.phase = stopping
		_ = c.raw.SetReadDeadline(time.Now())
	}
}

// recheck asks the reader to end the session if its login is no longer what it was.
func (c *conn) recheck(a auth.Authorizer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known && c.phase == talking && !a.Current(c.identity) {
		c.revoked = true
		c.halt()
	}
}

// whyStopping tells why the session of a connection that is stopping ends, and what to tell the client.
func (c *conn) whyStopping() (reason string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.revoked {
		return endRevoked, errRevoked()
	}
	return endShutdown, broker.ErrClosed
}

// errRevoked tells a client that its session ends as its login is no longer what it was.
func errRevoked() error {
	return refusal(kindLogin, "the login, or what it may do, has changed: connect again")
}

// leave shuts the write side after the last frame, and wakes the reader to see to the rest.
func (c *conn) leave() {
	switch nc := c.nc.(type) {
	case *webSocket:
		nc.sayClose(closeStatus(c.reasonNow()))
	case interface{ CloseWrite() error }:
		_ = nc.CloseWrite()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = leaving
	_ = c.raw.SetReadDeadline(time.Now())
}

// abort cuts the connection. Its goroutines end soon.
func (c *conn) abort() {
	c.because(endShutdown, nil)
	c.out.close()
	_ = c.raw.Close()
}

// input is a conn as its frames.Reader sees it: a source of octets that counts them.
type input conn

// Read implements io.Reader.
func (c *input) Read(p []byte) (int, error) {
	n, err := c.nc.Read(p)
	if n > 0 {
		c.counters.octetsIn.Add(uint64(n))
	}
	return n, err
}
