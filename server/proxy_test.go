package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"footfall/frames"
	"github.com/pires/go-proxyproto"
)

var fromAnywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}

// addressed gives the connections of a listener an address.
type addressed struct {
	net.Conn
	at net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.at }
func (a addressed) CloseWrite() error    { return a.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// dialFrom opens a connection that comes from an address.
func (w *world) dialFrom(at string) *pipeConn {
	w.t.Helper()
	tcp := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at))
	client, server := newPipe(64 << 10)
	w.listener.conns <- addressed{server, tcp}
	return client
}

func proxyHeader(t *testing.T, version byte, source string) string {
	t.Helper()
	from, to := netip.MustParseAddrPort(source), netip.MustParseAddrPort("192.0.2.9:61613")
	if from.Addr().Is6() {
		to = netip.MustParseAddrPort("[2001:db8::9]:61613")
	}
	octets, err := proxyproto.HeaderProxyFromAddrs(version, net.TCPAddrFromAddrPort(from), net.TCPAddrFromAddrPort(to)).Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(octets)
}

func TestAProxyTellsTheAddressOfItsClient(t *testing.T) {
	local := "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
	for name, c := range map[string]struct{ header, remote string }{
		"version 1":                 {proxyHeader(t, 1, "198.51.100.7:1234"), "198.51.100.7:1234"},
		"version 1, IPv6":           {proxyHeader(t, 1, "[2001:db8::7]:1234"), "[2001:db8::7]:1234"},
		"version 1, unknown":        {"PROXY UNKNOWN\r\n", "10.0.0.1:5"},
		"version 2":                 {proxyHeader(t, 2, "198.51.100.7:1234"), "198.51.100.7:1234"},
		"version 2, IPv6":           {proxyHeader(t, 2, "[2001:db8::7]:1234"), "[2001:db8::7]:1234"},
		"version 2, for the proxy":  {local, "10.0.0.1:5"},
		"version 2, with additions": {proxyHeader(t, 2, "198.51.100.7:1234")[:14] + "\x00\x10" + proxyHeader(t, 2, "198.51.100.7:1234")[16:] + "\x04\x00\x01x", "198.51.100.7:1234"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, Transport{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, func(w *world) {
				p := w.dialFrom("10.0.0.1:5")
				w.say(p, c.header+connect12, "CONNECTED\n")
				if got := w.broker.links[0].client.Remote; got != c.remote {
					t.Errorf("the client is said to be at %s", got)
				}
				w.say(p, "SEND\ndestination:/queue/a\nreceipt:r\n\nx\x00", "RECEIPT\n")
			})
		})
	}
}

func TestAHeaderIsTakenFromProxiesOnlyAndMustBeThere(t *testing.T) {
	for name, c := range map[string]struct{ from, octets, reason string }{
		"from elsewhere":          {"192.0.2.1:5", proxyHeader(t, 1, "127.0.0.1:1") + connect12, endError},
		"version 2 from there":    {"192.0.2.1:5", proxyHeader(t, 2, "127.0.0.1:1") + connect12, endError},
		"missing":                 {"10.0.0.1:5", connect12, endOpen},
		"too long":                {"10.0.0.1:5", "PROXY TCP4 " + strings.Repeat("1", 200) + "\r\n" + connect12, endOpen},
		"no address":              {"10.0.0.1:5", "PROXY TCP4 a b 1 2\r\n" + connect12, endOpen},
		"no line end":             {"10.0.0.1:5", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n" + connect12, endOpen},
		"version 3":               {"10.0.0.1:5", "\r\n\r\n\x00\r\nQUIT\n\x31\x11\x00\x0c" + strings.Repeat("\x00", 12), endOpen},
		"64 KiB of additions":     {"10.0.0.1:5", "\r\n\r\n\x00\r\nQUIT\n\x21\x11\xff\xff", endOpen},
		"an address that is none": {"10.0.0.1:5", "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x01x", endOpen},
		"silence":                 {"10.0.0.1:5", "", endConnect},
		"half of one":             {"10.0.0.1:5", "\r\n\r\n\x00\r\n", endConnect},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, Transport{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, func(w *world) {
				p := w.dialFrom(c.from)
				if _, err := p.Write([]byte(c.octets)); err != nil {
					t.Fatal(err)
				}
				<-time.After(12*time.Second + time.Millisecond)
				synctest.Wait()
				if got, _ := p.available(); strings.Contains(string(got), "CONNECTED") || !p.peerClosed() {
					t.Errorf("it was told %q; closed: %v", got, p.peerClosed())
				}
				if n := w.Stats().Closed[c.reason]; n != 1 {
					t.Errorf("closed: %v", w.Stats().Closed)
				}
			})
		})
	}
}

func TestAllLayersAtOnce(t *testing.T) {
	a := newAuthority(t)
	r := newReal(t, Options{})
	addr := r.also(t, Transport{Name: "wss", Proxies: fromAnywhere, TLS: load(t, a.server(t.TempDir())).Config, WebSocket: &WebSocket{}})
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	if _, err := nc.Write([]byte(proxyHeader(t, 2, "198.51.100.7:1234"))); err != nil {
		t.Fatal(err)
	}
	secured := tls.Client(nc, a.client())
	if err := secured.HandshakeContext(context.Background()); err != nil {
		t.Fatal(err)
	}
	p, _ := openPeer(t, secured, "")
	p.text(connect12)
	p.want(opText, "CONNECTED\n")
}

func TestAProxyMakesNobodyLocal(t *testing.T) {
	for _, c := range []struct {
		proxy, client string
		local         bool
	}{
		{"10.0.0.1:5", "127.0.0.1:6", false}, {"127.0.0.1:5", "198.51.100.7:6", false}, {"127.0.0.1:5", "127.0.0.1:6", true},
	} {
		g := new(gate)
		inBubble(t, Options{Auth: g}, Transport{Proxies: fromAnywhere, WebSocket: &WebSocket{}}, func(w *world) {
			nc := w.dialFrom(c.proxy)
			if _, err := nc.Write([]byte(proxyHeader(t, 1, c.client))); err != nil {
				t.Fatal(err)
			}
			p, _ := openPeer(t, nc, "")
			p.text(connect12)
			p.want(opText, "CONNECTED\n")
			if g.seen.Local != c.local || g.seen.Remote != c.client {
				t.Errorf("%+v: %+v", c, g.seen)
			}
		})
	}
}

func TestACertificateNamesTheUserToTheAuthorizer(t *testing.T) {
	a := newAuthority(t)
	dir := t.TempDir()
	files := a.server(dir)
	files.ClientCA = filepath.Join(dir, "ca.pem")
	a.write(files.ClientCA, "CERTIFICATE", a.cert.Raw)
	_, _, ann := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "ann"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	g := new(gate)
	r := newReal(t, Options{Auth: g})
	nc, err := tls.Dial("tcp", r.also(t, Transport{TLS: load(t, files).Config}), a.client(ann))
	if err != nil {
		t.Fatal(err)
	}
	greetedClient(t, nc, frames.V12)
	if g.seen.Certificate != "ann" || !g.seen.Local {
		t.Errorf("%+v", g.seen)
	}
}
