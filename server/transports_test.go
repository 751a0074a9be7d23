package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"footfall/frames"
	"footfall/frames/framestest"
)

// way is a way to a server: each of its connections takes and gives octets, whatever is between.
type way struct {
	name string
	dial func(t *testing.T) net.Conn
}

// ways serves all transports and returns the ways to them.
func ways(t *testing.T, r *realServer) []way {
	t.Helper()
	a := newAuthority(t)
	certs := load(t, a.server(t.TempDir()))
	overTLS, overWS := Transport{Name: "tls", TLS: certs.Config}, Transport{Name: "ws", WebSocket: &WebSocket{}}
	overBoth := Transport{Name: "wss", TLS: certs.Config, WebSocket: &WebSocket{}}
	behind := Transport{Name: "proxied", Proxies: fromAnywhere}
	addrs := map[string]string{"tcp": r.addr}
	for _, transport := range []Transport{overTLS, overWS, overBoth, behind} {
		addrs[transport.Name] = r.also(t, transport)
	}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.ServeTransport(l, Transport{Name: "unix"}) }()
	t.Cleanup(func() { _ = r.Close(); <-served })

	tcp := func(name string) func(t *testing.T) net.Conn {
		return func(t *testing.T) net.Conn { return dialed(t)(net.Dial("tcp", addrs[name])) }
	}
	secured := func(name string) func(t *testing.T) net.Conn {
		return func(t *testing.T) net.Conn {
			c := tls.Client(tcp(name)(t), a.client())
			if err := c.HandshakeContext(context.Background()); err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
	web := func(below func(t *testing.T) net.Conn, kind byte) func(t *testing.T) net.Conn {
		return func(t *testing.T) net.Conn {
			p, _ := openPeer(t, below(t), "")
			return &wsOctets{wsPeer: p, kind: kind}
		}
	}
	return []way{
		{"tcp", tcp("tcp")},
		{"tls", secured("tls")},
		{"ws", web(tcp("ws"), opBinary)},
		{"wss", web(secured("wss"), opBinary)},
		{"unix", func(t *testing.T) net.Conn { return dialed(t)(net.Dial("unix", socket)) }},
		{"proxied", func(t *testing.T) net.Conn {
			c := tcp("proxied")(t)
			if _, err := io.WriteString(c, proxyHeader(t, 2, "127.0.0.1:1")); err != nil {
				t.Fatal(err)
			}
			return c
		}},
	}
}

func dialed(t *testing.T) func(net.Conn, error) net.Conn {
	return func(nc net.Conn, err error) net.Conn {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nc.Close() })
		_ = nc.SetDeadline(time.Now().Add(patience))
		return nc
	}
}

// wsOctets is a WebSocket as a connection of octets, of a client.
type wsOctets struct {
	*wsPeer
	kind byte
	rest string
}

func (c *wsOctets) Write(p []byte) (int, error) {
	if _, err := io.WriteString(c.wsPeer.Conn, masked(c.kind, string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *wsOctets) Read(p []byte) (int, error) {
	for c.rest == "" {
		f, err := c.frame()
		if err != nil {
			return 0, err
		}
		switch f.first {
		case 0x88:
			_, _ = io.WriteString(c.wsPeer.Conn, masked(0x88, f.payload))
			return 0, io.EOF
		case opText, opBinary:
			c.rest = f.payload
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// The hostile frames of all transports are those of one table, so that none can have forgotten what another knows.
func TestHostileFramesAreRefusedOverEveryTransport(t *testing.T) {
	r := newReal(t, Options{LingerTimeout: time.Second})
	for _, w := range ways(t, r) {
		for _, bad := range framestest.Hostile() {
			if bad.Client {
				continue
			}
			t.Run(w.name+"/"+bad.Name, func(t *testing.T) {
				nc := w.dial(t)
				c := &client{Conn: nc, t: t, r: frames.NewClientReader(nc, frames.Limits{})}
				if !bad.First {
					c = greetedClient(t, nc, bad.Version)
				}
				go func() { _, _ = io.WriteString(nc, bad.Octets) }() // some of it may not be read any more
				if f := c.next(); f.Command != frames.Failure {
					t.Fatalf("%v came", f.Command)
				}
				if f, err := c.read(); err == nil {
					t.Errorf("after the ERROR came %v", f.Command)
				}
			})
		}
	}
}

func TestGoodFramesPassOverEveryTransport(t *testing.T) {
	r := newReal(t, Options{})
	for _, w := range ways(t, r) {
		t.Run(w.name, func(t *testing.T) {
			c := greetedClient(t, w.dial(t), frames.V12)
			topic := "/topic/" + w.name
			c.send("SUBSCRIBE\nid:1\ndestination:" + topic + "\nreceipt:s\n\n\x00")
			c.want(frames.Receipt, "receipt-id", "s")
			for _, size := range []int{0, 1, 125, 126, 65_535, 65_536, 1 << 20} {
				body := strings.Repeat("\x00\xff", size)[:size]
				c.send(fmt.Sprintf("SEND\ndestination:%s\ncontent-length:%d\n\n%s\x00", topic, size, body))
				if m := c.want(frames.Message, "subscription", "1"); string(m.Body) != body {
					t.Errorf("of %d octets %d came back", size, len(m.Body))
				}
			}
			c.send("DISCONNECT\nreceipt:d\n\n\x00")
			c.want(frames.Receipt, "receipt-id", "d")
			if _, err := c.read(); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

func TestATricklingCONNECTIsCutOverEveryTransport(t *testing.T) {
	r := newReal(t, Options{ConnectTimeout: 500 * time.Millisecond, LingerTimeout: time.Second})
	for _, w := range ways(t, r) {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			nc := w.dial(t)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, octet := range strings.Repeat("\n", 1000) {
					if _, err := io.WriteString(nc, string(octet)); err != nil {
						return
					}
					<-time.After(20 * time.Millisecond)
				}
			}()
			c := &client{Conn: nc, t: t, r: frames.NewClientReader(nc, frames.Limits{})}
			if f := c.next(); f.Command != frames.Failure {
				t.Errorf("%v came", f.Command)
			}
			_ = nc.Close()
			<-done
		})
	}
}
