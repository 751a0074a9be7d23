package server

import (
	"errors"
	"net"
	"os"
	"time"
)

// writeSteps is in how many parts the write timeout is waited for: a Write that was cut short does not tell when it
// last got on.
const writeSteps = 5

// steadily writes to a socket. A client that takes some octets in each timeout gets all the time it wants.
type steadily struct {
	nc      net.Conn
	timeout time.Duration
	// until is the deadline that the socket has.
	until time.Time
}

// write writes p. Took is told how many octets were taken, each time that some were.
func (s *steadily) write(p []byte, took func(n int)) (written int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for idle := 0; ; idle++ {
		s.wait(s.timeout / writeSteps)
		n, err := s.nc.Write(p[written:])
		written += n
		if n > 0 {
			took(n)
		}
		switch {
		case written == len(p):
			return written, nil
		case !errors.Is(err, os.ErrDeadlineExceeded) || idle == writeSteps-1 && n == 0:
			return written, err
		case n > 0:
			idle = -1
		}
	}
}

// wait sets the deadline to so much from now, unless it was set a moment ago: to set it costs as much as rendering a
// message, and need not be done for each.
func (s *steadily) wait(step time.Duration) {
	now := time.Now()
	if left := s.until.Sub(now); left < step-step/8 {
		s.until = now.Add(step)
		_ = s.nc.SetWriteDeadline(s.until)
	}
}

// steady is a socket below TLS or WebSocket. These cannot go on after a Write that was cut short, so it is
// here that a client gets the time it wants, and deadlines of writes from above do not count.
type steady struct {
	net.Conn
	steadily
	// opening bounds the writes while the connection is being opened. It is zero from then on.
	opening time.Time
}

// SetWriteDeadline implements net.Conn.
func (s *steady) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements net.Conn.
func (s *steady) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// CloseWrite shuts the write side, where the socket can do that.
func (s *steady) CloseWrite() error {
	if w, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// Write implements net.Conn.
func (s *steady) Write(p []byte) (int, error) {
	if !s.opening.IsZero() {
		_ = s.Conn.SetWriteDeadline(s.opening)
		return s.Conn.Write(p)
	}
	return s.write(p, func(int) {})
}
