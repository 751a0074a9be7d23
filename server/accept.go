package server

import (
	"errors"
	"math/rand/v2"
	"net"
	"syscall"
	"time"

	"footfall/frames"
)

// An accept that failed for want of something that comes back is tried again after firstBackoff, then
// after twice as long each time up to maxBackoff, each with up to as much again at random.
const (
	firstBackoff = 5 * time.Millisecond
	maxBackoff   = 500 * time.Millisecond
)

// accept serves the connections of a listener until it fails.
func (s *Server) accept(l *listener) error {
	backoff := firstBackoff
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			backoff = firstBackoff
			s.welcome(nc, l)
		case s.isClosing():
			return ErrServerClosed
		case passes(err):
			s.counters.rejected.add("accept_failed")
			s.shared.options.Log.Warn("accepting a connection failed, and is tried again", "transport", l.transport.Name, "error", err)
			if !s.pause(backoff + rand.N(backoff)) {
				return ErrServerClosed
			}
			backoff = min(2*backoff, maxBackoff)
		default:
			return err
		}
	}
}

// passes says whether an error of Accept is one of a moment.
func passes(err error) bool {
	for _, e := range [...]syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// pause waits, or is false at once when the server closes.
func (s *Server) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.closed:
		return false
	}
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// welcome serves a connection in a goroutine of its own, if it is to be served.
func (s *Server) welcome(nc net.Conn, l *listener) {
	c := newConn(s, nc, l)
	if r := s.add(c); r != nil {
		s.rejected(c, r)
		c.turnAway(r)
		return
	}
	if !l.transport.isProxy(nc.RemoteAddr()) { // whose clients are counted when they are known
		if r := s.enter(c, nc.RemoteAddr()); r != nil {
			s.rejected(c, r)
			c.turnAway(r)
			s.remove(c)
			return
		}
	}
	l.counters.opened.Add(1)
	go c.run()
}

// turnAway closes a connection that is not served. It tells why if that cannot take time: the first octets to
// a new TCP connection find room in the kernel.
func (c *conn) turnAway(r *rejection) {
	_, tcp := c.raw.(*net.TCPConn)
	if plain := c.transport.TLS == nil && c.transport.WebSocket == nil; tcp && plain && r.reason != rejectedShutdown {
		_, _ = c.raw.Write(append(appendError(nil, frames.V12, r.err, false, ""), '\n'))
	}
	_ = c.raw.Close()
}
