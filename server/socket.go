package server

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"unicode/utf8"
)

// socket is what the library for WebSockets reads from and writes to. It counts what is read, and gathers the frames of several
// messages into one write.
type socket struct {
	net.Conn
	total uint64 // octets read

	mu    sync.Mutex // one write at a time; the other one would be a close frame
	mode  socketMode
	buf   []byte // while corked
	ended bool   // a close frame went out
}

// socketMode is what a Write of the library is.
type socketMode uint8

const (
	control socketMode = iota // a control frame, whole
	direct                    // a part of a message
	corked                    // likewise, to be gathered
)

// opClose begins a close frame.
const opClose = 0x88

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.total += uint64(n)
	return n, err
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return 0, errClosing
	case s.mode == corked:
		s.buf = append(s.buf, p...)
		return len(p), nil
	}
	n, err := s.Conn.Write(p)
	s.ended = s.mode == control && len(p) > 0 && p[0] == opClose
	return n, err
}

// Close is what the library does after a close handshake. It shuts the write side only: were the socket closed with input unread, a
// reset would overtake the close frame.
func (s *socket) Close() error {
	if w, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
	if t, ok := s.Conn.(*tls.Conn); ok { // to which that is only an alert
		if w, ok := t.NetConn().(interface{ CloseWrite() error }); ok {
			_ = w.CloseWrite()
		}
	}
	return nil
}

// errClosing is the error of a write after the close frame.
var errClosing = errors.New("server: the WebSocket is being closed")

// begin says what will be written until done or uncork. Buf is memory to gather in.
func (s *socket) begin(mode socketMode, buf []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode, s.buf = mode, buf
}

// done ends begin.
func (s *socket) done() { s.begin(control, nil) }

// waiting is how many octets were gathered.
func (s *socket) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.buf)
}

// uncork writes what was gathered. It gives back the memory, which may have grown.
func (s *socket) uncork() (n int, buf []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	buf, s.buf, s.mode = s.buf, nil, control
	n, err = s.Conn.Write(buf)
	return n, buf[:0], err
}

// utf8Check looks whether pieces of a text are UTF-8 together.
type utf8Check struct {
	part [utf8.UTFMax]byte // the beginning of a character
	n    int
}

// take looks at one more piece. It is false if that cannot be.
func (u *utf8Check) take(p []byte) bool {
	for u.n > 0 && len(p) > 0 {
		u.part[u.n] = p[0]
		u.n++
		p = p[1:]
		if utf8.FullRune(u.part[:u.n]) {
			if r, size := utf8.DecodeRune(u.part[:u.n]); r == utf8.RuneError && size == 1 {
				return false
			}
			u.n = 0
		}
	}
	end := len(p)
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if utf8.RuneStart(p[len(p)-back]) {
			if !utf8.FullRune(p[len(p)-back:]) {
				end = len(p) - back
			}
			break
		}
	}
	u.n += copy(u.part[u.n:], p[end:])
	return utf8.Valid(p[:end])
}

// whole says whether the text may end here.
func (u *utf8Check) whole() bool { return u.n == 0 }
