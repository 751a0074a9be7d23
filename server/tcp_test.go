package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"footfall/broker"
	"footfall/frames"
	"footfall/store"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// realServer is a server with the real broker on a loopback address.
type realServer struct {
	*Server
	addr string
}

func newReal(t *testing.T, o Options) *realServer {
	t.Helper()
	memory := store.NewMemory()
	b := broker.New(memory, broker.Options{Log: quiet()})
	o.Log = quiet()
	s := New(b, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
		if err := b.Close(context.Background()); err != nil {
			t.Errorf("closing the broker: %v", err)
		}
		if err := memory.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
		if n := s.Stats().Goroutines; n != 0 {
			t.Errorf("%d goroutines are left", n)
		}
	})
	return &realServer{s, l.Addr().String()}
}

// client is a client that reads whole frames.
type client struct {
	net.Conn
	t testing.TB
	r *frames.Reader
}

func (r *realServer) dial(t testing.TB, v frames.Version) *client {
	t.Helper()
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	return greetedClient(t, nc, v)
}

func greetedClient(t testing.TB, nc net.Conn, v frames.Version) *client {
	t.Helper()
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(patience))
	c := &client{Conn: nc, t: t, r: frames.NewClientReader(nc, frames.Limits{})}
	c.send("CONNECT\naccept-version:" + v.String() + "\nhost:x\n\n\x00")
	if f := c.next(); f.Command != frames.Connected {
		t.Fatalf("CONNECT is answered with %v %q", f.Command, f.Header.Raw)
	}
	c.r.SetVersion(v)
	return c
}

func (c *client) send(octets string) {
	c.t.Helper()
	if _, err := io.WriteString(c, octets); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next frame, valid until the next call.
func (c *client) read() (*frames.Frame, error) {
	f := new(frames.Frame)
	for {
		if ok, err := c.r.Next(f); ok || err != nil {
			return f, err
		}
		if err := c.r.Fill(); err != nil {
			return nil, err
		}
	}
}

func (c *client) next() *frames.Frame {
	c.t.Helper()
	f, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

func (c *client) want(command frames.Command, header, value string) *frames.Frame {
	c.t.Helper()
	f := c.next()
	if got, _ := f.Header.Get(header); f.Command != command || got != value {
		c.t.Fatalf("%v with %s:%s came as %v %q", command, header, value, f.Command, f.Header.Raw)
	}
	return f
}

func TestFromSenderToReceiverThroughTheRealBroker(t *testing.T) {
	r := newReal(t, Options{})
	for from := frames.V10; from <= frames.V12; from++ {
		for to := frames.V10; to <= frames.V12; to++ {
			q := fmt.Sprintf("/queue/%v-%v", from, to)
			sender, receiver := r.dial(t, from), r.dial(t, to)
			for i := range 3 {
				sender.send(fmt.Sprintf("SEND\ndestination:%s\nk:v\nreceipt:%d\n\nbody %d\x00", q, i, i))
				sender.want(frames.Receipt, "receipt-id", fmt.Sprint(i))
			}
			receiver.send("SUBSCRIBE\nid:s\ndestination:" + q + "\nack:client\nreceipt:s\n\n\x00")
			receiver.want(frames.Receipt, "receipt-id", "s")
			var last string
			for i := range 3 {
				m := receiver.want(frames.Message, "k", "v")
				if string(m.Body) != fmt.Sprintf("body %d", i) {
					t.Fatalf("%s: message %d is %q", q, i, m.Body)
				}
				name := map[bool]string{true: "ack", false: "message-id"}[to == frames.V12]
				last, _ = m.Header.Get(name)
			}
			receiver.send("ACK\nid:" + last + "\nmessage-id:" + last + "\nsubscription:s\nreceipt:a\n\n\x00")
			receiver.want(frames.Receipt, "receipt-id", "a")
			receiver.send("DISCONNECT\nreceipt:d\n\n\x00")
			receiver.want(frames.Receipt, "receipt-id", "d")
			if f, err := receiver.read(); !errors.Is(err, io.EOF) {
				t.Fatalf("after DISCONNECT came %v, %v", f, err)
			}
		}
	}
}

func TestWhatAClientDidNotAcknowledgeComesBack(t *testing.T) {
	r := newReal(t, Options{})
	a := r.dial(t, frames.V12)
	a.send("SEND\ndestination:/queue/a\n\nx\x00SUBSCRIBE\nid:1\ndestination:/queue/a\nack:client\n\n\x00")
	first, _ := a.want(frames.Message, "destination", "/queue/a").Header.Get("message-id")
	_ = a.Close()
	b := r.dial(t, frames.V12)
	b.send("SUBSCRIBE\nid:1\ndestination:/queue/a\nack:client\n\n\x00")
	m := b.want(frames.Message, "redelivered", "true")
	if again, _ := m.Header.Get("message-id"); again != first {
		t.Errorf("the message-id is %q and was %q", again, first)
	}
}

func TestAnErrorIsSeenByAClientThatGoesOnSending(t *testing.T) {
	r := newReal(t, Options{})
	for range 5 {
		c := r.dial(t, frames.V12)
		c.send("BOGUS\n\n\x00")
		junk := strings.Repeat("SEND\ndestination:/queue/never\n\nx\x00", 4000)
		for range 20 {
			if _, err := io.WriteString(c, junk); err != nil {
				break
			}
		}
		if f := c.next(); f.Command != frames.Failure {
			t.Fatalf("%v came", f.Command)
		}
		if f, err := c.read(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the ERROR came %v, %v, and not the end", f, err)
		}
	}
}

func TestManyQuickConnectionsLeaveNothingBehind(t *testing.T) {
	r := newReal(t, Options{})
	before := runtime.NumGoroutine()
	n := 3000
	if testing.Short() {
		n = 300
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range n / 8 {
				if err := quickly(r.addr, worker*n+i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	// The last may have gone before the server took them from the kernel.
	remains := func() string {
		tcp := r.Stats().Transports["tcp"]
		for v, open := range tcp.Open {
			if open != 0 {
				return fmt.Sprintf("%d connections of version %q are open", open, v)
			}
		}
		switch {
		case int(tcp.Opened) != n/8*8:
			return fmt.Sprintf("%d connections were counted, of %d", tcp.Opened, n/8*8)
		case r.Stats().Goroutines > 0 || runtime.NumGoroutine() > before:
			return fmt.Sprintf("%d goroutines of connections, %d in all, and %d before", r.Stats().Goroutines, runtime.NumGoroutine(), before)
		}
		return ""
	}
	for deadline := time.Now().Add(patience); remains() != ""; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal(remains())
		}
	}
}

// quickly opens a connection and ends it in one of several ways.
func quickly(addr string, i int) error {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	octets := []string{
		"", "CONN", connect12, connect12 + "SUBSCRIBE\nid:1\ndestination:/topic/a\n\n\x00SEND\ndestination:/topic/a\n\nx\x00",
		connect12 + "DISCONNECT\nreceipt:r\n\n\x00", "GET / HTTP/1.1\r\n\r\n", connect12 + "SEND\n\n\x00",
	}[i%7]
	if _, err := io.WriteString(nc, octets); err != nil {
		return err
	}
	if i%7 < 4 {
		return nil
	}
	_, err = io.ReadAll(nc)
	return err
}

func TestOneTCPConnectionTooManyIsToldSo(t *testing.T) {
	r := newReal(t, Options{MaxConnections: 1})
	r.dial(t, frames.V12)
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	if answer, err := io.ReadAll(nc); err != nil || !strings.Contains(string(answer), "limits.connections") {
		t.Errorf("it is told %q, %v", answer, err)
	}
}
