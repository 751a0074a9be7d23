package server

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/pires/go-proxyproto"
)

// proxied is a connection that a proxy made for a client, whose address its header told.
type proxied struct {
	net.Conn
	client net.Addr
	rest   []byte // came with the header
}

// Raw returns the connection of the proxy.
func (p *proxied) Raw() net.Conn { return p.Conn }

// RemoteAddr implements net.Conn: the address of the client.
func (p *proxied) RemoteAddr() net.Addr { return p.client }

// Read implements net.Conn.
func (p *proxied) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.rest)
	if p.rest = p.rest[n:]; len(p.rest) == 0 {
		p.rest = nil
	}
	return n, nil
}

// CloseWrite shuts the write side, where the connection can do that.
func (p *proxied) CloseWrite() error {
	if w, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// errProxy is why a connection of a proxy is of no use.
var errProxy = errors.New("PROXY header")

// readProxyHeader reads the header, of version 1 or 2, with which a connection of a proxy begins. One that is for the proxy itself, as
// in its health checks, leaves the address as it is.
func readProxyHeader(nc net.Conn) (net.Conn, error) {
	in := bufio.NewReader(nc)
	h, err := proxyproto.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProxy, err)
	}
	client := nc.RemoteAddr()
	if !h.Command.IsLocal() && h.SourceAddr != nil {
		client = h.SourceAddr
	}
	rest, _ := in.Peek(in.Buffered())
	return &proxied{Conn: nc, client: client, rest: rest}, nil
}

// isProxy tells whether an address is in one of the networks of proxies.
func (t *Transport) isProxy(at net.Addr) bool {
	address, ok := addressOf(at)
	if !ok {
		return false
	}
	for _, network := range t.Proxies {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// addressOf is the address of a peer without its port, false for what has none.
func addressOf(at net.Addr) (netip.Addr, bool) {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}, false
	}
	address, ok := netip.AddrFromSlice(tcp.IP)
	return address.Unmap().WithZone(""), ok
}
