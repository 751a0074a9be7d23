package server

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const connect12 = "CONNECT\naccept-version:1.2\n\n\x00"

// world is a server on connections in memory, within a bubble of fake time.
type world struct {
	t *testing.T
	*Server
	broker   *fakeBroker
	listener *pipeListener
	served   chan error
}

// inBubble runs f with a server, and demands that it leaves nothing behind.
func inBubble(t *testing.T, o Options, tr Transport, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if o.Log == nil {
			o.Log = quiet()
		}
		w := &world{t: t, broker: newFakeBroker(), listener: newPipeListener(), served: make(chan error, 1)}
		w.Server = New(w.broker, o)
		go func() { w.served <- w.ServeTransport(w.listener, tr) }()
		f(w)
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-w.served; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
		w.wantNothingOpen()
	})
}

// wantNothingOpen demands that all gauges are back at zero.
func (w *world) wantNothingOpen() {
	w.t.Helper()
	stats := w.Stats()
	if stats.Goroutines != 0 {
		w.t.Errorf("%d goroutines are left", stats.Goroutines)
	}
	for name, s := range stats.Transports {
		for v, n := range s.Open {
			if n != 0 {
				w.t.Errorf("%d connections of version %q are open on %s", n, v, name)
			}
		}
	}
}

// session opens a session.
func (w *world) session() *pipeConn {
	c := w.listener.dial()
	w.say(c, connect12, "CONNECTED\n")
	return c
}

// say writes octets and demands that what comes back until nothing more does begins with want.
func (w *world) say(c *pipeConn, octets, want string) string {
	w.t.Helper()
	if _, err := c.Write([]byte(octets)); err != nil {
		w.t.Fatalf("writing %q: %v", octets, err)
	}
	synctest.Wait()
	got, _ := c.available()
	if !strings.HasPrefix(string(got), want) {
		w.t.Fatalf("%.80q is answered with %q, and not with %q", octets, got, want)
	}
	return string(got)
}

// wantEnd demands that the server has shut its side after an ERROR that says word, and then
// closes the connection within the linger timeout.
func (w *world) wantEnd(c *pipeConn, word string) {
	w.t.Helper()
	synctest.Wait()
	got, ended := c.available()
	if i := strings.LastIndex(string(got), "ERROR\n"); i < 0 || !strings.Contains(string(got[i:]), word) || !ended {
		w.t.Errorf("the server said %q, and shut its side: %v", got, ended)
	}
	<-time.After(2*time.Second + time.Millisecond)
	if !c.peerClosed() {
		w.t.Error("the connection was not closed")
	}
}
