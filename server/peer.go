package server

import "net"

// isLocal tells whether a connection comes from this machine: over a loopback address or a Unix socket. Where one connection carries another, as
// behind a proxy that tells whom it speaks for or under TLS, all of them must: neither a proxy on this machine nor an address
// that a proxy made up counts.
func isLocal(nc net.Conn) bool {
	for {
		if !isLoopback(nc.RemoteAddr()) {
			return false
		}
		switch outer := nc.(type) {
		case interface{ NetConn() net.Conn }: // of tls.Conn
			nc = outer.NetConn()
		case interface{ Raw() net.Conn }: // of proxyproto.Conn
			nc = outer.Raw()
		default:
			return true
		}
	}
}

func isLoopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// remoteOf is the address of a peer as it is shown.
func remoteOf(nc net.Conn) string {
	switch a := nc.RemoteAddr().(type) {
	case nil:
		return ""
	case *net.UnixAddr:
		return "unix:" + nc.LocalAddr().String() // the other end has no name
	default:
		return a.String()
	}
}
