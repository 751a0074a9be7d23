package server

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// stream carries octets one way, with a bounded buffer, as the kernel does for a socket. It waits in a way that a
// synctest bubble sees.
type stream struct {
	mu     sync.Mutex
	cond   sync.Cond
	buf    []byte
	room   int
	ended  bool // the writer has shut it
	broken bool // the reader is gone
	rd, wd time.Time
	rt, wt *time.Timer
}

func newStream(room int) *stream {
	s := &stream{room: room}
	s.cond.L = &s.mu
	return s
}

// setDeadline sets a deadline and has those wake up who wait when it comes.
func (s *stream) setDeadline(field *time.Time, timer **time.Timer, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field = at
	if *timer != nil {
		(*timer).Stop()
		*timer = nil
	}
	if !at.IsZero() {
		*timer = time.AfterFunc(max(time.Until(at), 0), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.cond.Broadcast()
		})
	}
	s.cond.Broadcast()
}

func overdue(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.broken:
			return 0, net.ErrClosed
		case overdue(s.rd):
			return 0, os.ErrDeadlineExceeded
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			s.buf = s.buf[n:]
			s.cond.Broadcast()
			return n, nil
		case s.ended:
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended:
			return n, net.ErrClosed
		case s.broken:
			return n, io.ErrClosedPipe
		case overdue(s.wd):
			return n, os.ErrDeadlineExceeded
		case n == len(p):
			return n, nil
		}
		if free := min(s.room-len(s.buf), len(p)-n); free > 0 {
			s.buf = append(s.buf, p[n:n+free]...)
			n += free
			s.cond.Broadcast()
			continue
		}
		s.cond.Wait()
	}
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.cond.Broadcast()
}

func (s *stream) breakOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
	s.cond.Broadcast()
}

// pipeConn is one end of a connection in memory.
type pipeConn struct {
	in, out *stream
	closed  sync.Once
	// fault comes in place of what a Read or Write would give, where it is set before use.
	fault func(op string)
}

// newPipe makes both ends of a connection, with a kernel buffer of room octets each way.
func newPipe(room int) (client, server *pipeConn) {
	a, b := newStream(room), newStream(room)
	return &pipeConn{in: a, out: b}, &pipeConn{in: b, out: a}
}

func (c *pipeConn) Read(p []byte) (int, error) {
	if c.fault != nil {
		c.fault("read")
	}
	return c.in.read(p)
}

func (c *pipeConn) Write(p []byte) (int, error) {
	if c.fault != nil {
		c.fault("write")
	}
	return c.out.write(p)
}

func (c *pipeConn) CloseWrite() error { c.out.end(); return nil }

func (c *pipeConn) Close() error {
	c.closed.Do(func() {
		c.out.end()
		c.in.breakOff()
		_ = c.SetDeadline(time.Time{})
	})
	return nil
}

func (c *pipeConn) SetDeadline(at time.Time) error {
	_ = c.SetReadDeadline(at)
	return c.SetWriteDeadline(at)
}

func (c *pipeConn) SetReadDeadline(at time.Time) error {
	c.in.setDeadline(&c.in.rd, &c.in.rt, at)
	return nil
}

func (c *pipeConn) SetWriteDeadline(at time.Time) error {
	c.out.setDeadline(&c.out.wd, &c.out.wt, at)
	return nil
}

func (c *pipeConn) LocalAddr() net.Addr  { return pipeAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr { return pipeAddr{} }

// available takes what can be read without waiting, and tells whether the other end has shut its side.
func (c *pipeConn) available() (octets []byte, ended bool) {
	s := c.in
	s.mu.Lock()
	defer s.mu.Unlock()
	octets, s.buf = s.buf, nil
	s.cond.Broadcast()
	return octets, s.ended
}

// peerClosed tells whether the other end has closed the connection.
func (c *pipeConn) peerClosed() bool {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.out.broken
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// pipeListener accepts what dial makes.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

// dial opens a connection with a kernel buffer of 64 KiB each way.
func (l *pipeListener) dial() *pipeConn { return l.dialRoom(64 << 10) }

func (l *pipeListener) dialRoom(room int) *pipeConn {
	client, server := newPipe(room)
	l.conns <- server
	return client
}
