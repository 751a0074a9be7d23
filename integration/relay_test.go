//go:build linux

package integration

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// fault is what a relay between a client and the broker does, beside passing on what both say.
type fault int

const (
	// silent passes on CONNECTED and from then on nothing, either way, and leaves both connections open: a network that is gone.
	silent fault = iota
	// severed closes a connection instead of passing on what holds `cut-here`: a broker that is gone and comes back.
	severed
)

// startRelay passes connections on to a port until the test ends, with a fault, and returns its own port.
func startRelay(t testing.TB, port string, f fault) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			broker, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
			if err != nil {
				_ = client.Close()
				continue
			}
			r := &relay{client: client, broker: broker, quiet: make(chan struct{})}
			go r.up()
			go r.down(f)
		}
	}()
	_, own, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// relay is one connection through a relay.
type relay struct {
	client, broker net.Conn
	quiet          chan struct{} // closed when nothing more is passed on
}

func (r *relay) close() {
	_ = r.client.Close()
	_ = r.broker.Close()
}

// up passes on what the client says.
func (r *relay) up() {
	defer r.close()
	r.copy(r.broker, r.client, func([]byte) bool { return true })
}

// down passes on what the broker says.
func (r *relay) down(f fault) {
	defer r.close()
	r.copy(r.client, r.broker, func(said []byte) bool {
		if f == severed {
			return !bytes.Contains(said, []byte("cut-here"))
		}
		if bytes.Contains(said, []byte("CONNECTED")) {
			defer close(r.quiet)
		}
		return true
	})
}

func (r *relay) copy(to io.Writer, from io.Reader, passes func([]byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-r.quiet:
			continue
		default:
		}
		if !passes(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
