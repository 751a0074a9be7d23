package server

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// limited says that a connection from an address is served, or rejected for a reason.
func (w *world) limited(at, octets, reason string) *pipeConn {
	w.t.Helper()
	before := w.Stats().Rejected[reason]
	c := w.dialFrom(at)
	if _, err := c.Write([]byte(octets)); err != nil && reason == "" {
		w.t.Fatal(err)
	}
	synctest.Wait()
	got, _ := c.available()
	rejected := reason != "" && w.Stats().Rejected[reason] == before+1
	if served := strings.HasPrefix(string(got), "CONNECTED\n"); served != (reason == "") || rejected != (reason != "") {
		w.t.Errorf("from %s, wanted to be rejected for %q: it was told %q, rejected: %v", at, reason, got, w.Stats().Rejected)
	}
	return c
}

func TestConnectionsOfAnAddressAreBounded(t *testing.T) {
	inBubble(t, Options{MaxConnectionsPerAddress: 2}, Transport{}, func(w *world) {
		first := w.limited("192.0.2.1:1", connect12, "")
		w.limited("192.0.2.1:2", connect12, "")
		w.limited("192.0.2.1:3", connect12, rejectedAddress)
		w.limited("[::ffff:192.0.2.1]:4", connect12, rejectedAddress) // the same, written otherwise
		w.limited("192.0.2.2:1", connect12, "")
		w.limited("[2001:db8::1]:1", connect12, "")
		w.limited("[2001:db8::2]:1", connect12, "")
		w.limited("[2001:db8::ffff:3]:1", connect12, rejectedAddress)
		w.limited("[2001:db8:0:1::1]:1", connect12, "")
		_ = first.Close()
		synctest.Wait()
		w.limited("192.0.2.1:5", connect12, "")
	})
}

func TestConnectionsOfTheClientsOfAProxyAreBounded(t *testing.T) {
	inBubble(t, Options{MaxConnectionsPerAddress: 1}, Transport{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, func(w *world) {
		one := proxyHeader(t, 1, "198.51.100.7:1")
		w.limited("10.0.0.1:1", one+connect12, "")
		w.limited("10.0.0.1:2", proxyHeader(t, 1, "198.51.100.8:1")+connect12, "")
		c := w.dialFrom("10.0.0.1:3")
		w.say(c, one+connect12, "ERROR\n")
		w.say(c, "", "")
		if n := w.Stats().Rejected[rejectedAddress]; n != 1 {
			t.Errorf("rejected: %v", w.Stats().Rejected)
		}
		w.limited("198.51.100.7:2", connect12, rejectedAddress)
	})
}

func TestConnectionsOfAUserAreBounded(t *testing.T) {
	login := func(user string) string { return "CONNECT\naccept-version:1.2\nlogin:" + user + "\n\n\x00" }
	inBubble(t, Options{MaxConnectionsPerUser: 1}, Transport{}, func(w *world) {
		first := w.limited("192.0.2.1:1", login("ann"), "")
		c := w.dialFrom("192.0.2.2:1")
		if got := w.say(c, login("ann"), "ERROR\n"); !strings.Contains(got, "limits.connections-per-user") || !strings.Contains(got, `"ann"`) {
			t.Errorf("it is told %q", got)
		}
		if n := w.Stats().Rejected[rejectedUser]; n != 1 {
			t.Errorf("rejected: %v", w.Stats().Rejected)
		}
		w.limited("192.0.2.1:2", login("bob"), "")
		w.limited("192.0.2.1:3", connect12, "") // nobody is no user
		w.limited("192.0.2.1:4", connect12, "")
		_ = first.Close()
		synctest.Wait()
		w.limited("192.0.2.1:5", login("ann"), "")
	})
}

func TestConnectionsOfAListenerAreBounded(t *testing.T) {
	inBubble(t, Options{}, Transport{MaxConnections: 1}, func(w *world) {
		other := newPipeListener()
		served := make(chan error, 1)
		go func() { served <- w.ServeTransport(other, Transport{MaxConnections: 1}) }()
		first := w.limited("192.0.2.1:1", connect12, "")
		w.limited("192.0.2.1:2", connect12, rejectedListener)
		w.say(other.dial(), connect12, "CONNECTED\n")
		_ = first.Close()
		synctest.Wait()
		w.limited("192.0.2.1:3", connect12, "")
		_ = w.Close()
		<-served
	})
}

func TestHowManyConnectionsAnAddressOpensASecondIsBounded(t *testing.T) {
	inBubble(t, Options{ConnectionRate: 2}, Transport{}, func(w *world) {
		for range 20 {
			_ = w.limited("192.0.2.1:1", connect12, "").Close()
		}
		w.limited("192.0.2.1:1", connect12, rejectedRate)
		w.limited("192.0.2.2:1", connect12, "")
		<-time.After(time.Second)
		w.limited("192.0.2.1:1", connect12, "")
		w.limited("192.0.2.1:1", connect12, "")
		w.limited("192.0.2.1:1", connect12, rejectedRate)
	})
}

func TestAddressesAreForgotten(t *testing.T) {
	a, o, now := newAdmission(), &Options{ConnectionRate: 1}, time.Unix(0, 0)
	for i := range 2 * maxOrigins {
		at := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		now = now.Add(time.Millisecond)
		if r := a.enter(at, now, o); r != nil {
			t.Fatal(r.err)
		}
		a.leave(at, o)
	}
	if n := len(a.addresses); n > maxOrigins+1 {
		t.Errorf("%d addresses are remembered", n)
	}
	b := newAdmission()
	at := netip.MustParseAddr("192.0.2.1")
	if r := b.enter(at, now, new(Options)); r != nil {
		t.Fatal(r.err)
	}
	if b.leave(at, new(Options)); len(b.addresses) != 0 {
		t.Error("an address without connections is remembered")
	}
}

func TestOneTCPConnectionTooManyFromAnAddressIsToldSo(t *testing.T) {
	r := newReal(t, Options{MaxConnectionsPerAddress: 1})
	r.dial(t, 2)
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	answer := make([]byte, 4096)
	n, _ := nc.Read(answer)
	if !strings.Contains(string(answer[:n]), "limits.connections-per-address") {
		t.Errorf("it is told %q", answer[:n])
	}
}
