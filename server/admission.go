package server

import (
	"net"
	"net/netip"
	"time"

	"footfall/broker"
)

// The reasons why a connection is rejected, for metrics.
const (
	rejectedShutdown    = "shutdown"
	rejectedConnections = "max_connections"      // Options.MaxConnections
	rejectedListener    = "listener_connections" // Transport.MaxConnections
	rejectedAddress     = "address_connections"  // Options.MaxConnectionsPerAddress
	rejectedRate        = "address_rate"         // Options.ConnectionRate
	rejectedUser        = "user_connections"     // Options.MaxConnectionsPerUser
)

// rejection is why a connection is not served.
type rejection struct {
	reason string
	err    *broker.Error
}

// reject makes one that names its limit.
func reject(reason, format string, args ...any) *rejection {
	return &rejection{reason, refusal(broker.KindLimit, format, args...)}
}

// admission counts connections by where they come from and whose they are. It is guarded by the mutex of its Server.
type admission struct {
	addresses map[netip.Addr]*origin
	users     map[string]int
}

// origin is an address from which there are connections, or were a moment ago.
type origin struct {
	open   int
	tokens float64 // connections that it may open at once
	at     time.Time
}

// maxOrigins is the number of addresses from which on those are forgotten that have been idle long enough.
const maxOrigins = 16 << 10

func newAdmission() admission {
	return admission{addresses: make(map[netip.Addr]*origin), users: make(map[string]int)}
}

// addressKey is what counts as one address: of IPv6 the network of one subscriber, as each has very many.
func addressKey(at net.Addr) (netip.Addr, bool) {
	address, ok := addressOf(at)
	if ok && address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().Addr(), true
	}
	return address, ok
}

// enter counts a connection from an address, unless there are too many, or too many a second.
func (a *admission) enter(at netip.Addr, now time.Time, o *Options) *rejection {
	from := a.addresses[at]
	if from == nil {
		if len(a.addresses) >= maxOrigins {
			a.forget(now, o)
		}
		from = &origin{tokens: burst(o), at: now}
		a.addresses[at] = from
	}
	if o.ConnectionRate > 0 {
		from.refill(now, o)
		if from.tokens < 1 {
			return reject(rejectedRate, "more than %d connections a second from %v (limits.connection-rate)", o.ConnectionRate, at)
		}
		from.tokens--
	}
	if o.MaxConnectionsPerAddress > 0 && from.open >= o.MaxConnectionsPerAddress {
		return reject(rejectedAddress, "more than %d connections from %v (limits.connections-per-address)", o.MaxConnectionsPerAddress, at)
	}
	from.open++
	return nil
}

// burst is how many connections may come at once: those of ten seconds, as clients come back together.
func burst(o *Options) float64 { return float64(10 * o.ConnectionRate) }

func (f *origin) refill(now time.Time, o *Options) {
	f.tokens = min(burst(o), f.tokens+now.Sub(f.at).Seconds()*float64(o.ConnectionRate))
	f.at = now
}

// forget forgets addresses without connections of which nothing need be remembered.
func (a *admission) forget(now time.Time, o *Options) {
	for at, from := range a.addresses {
		if from.refill(now, o); from.open == 0 && from.tokens >= burst(o) {
			delete(a.addresses, at)
		}
	}
}

// leave is the end of what enter counted.
func (a *admission) leave(at netip.Addr, o *Options) {
	from := a.addresses[at]
	if from.open--; from.open == 0 && o.ConnectionRate <= 0 {
		delete(a.addresses, at)
	}
}

// login counts a connection of a user, unless there are too many.
func (a *admission) login(user string, o *Options) *rejection {
	if o.MaxConnectionsPerUser > 0 && a.users[user] >= o.MaxConnectionsPerUser {
		return reject(rejectedUser, "more than %d connections of user %s (limits.connections-per-user)", o.MaxConnectionsPerUser, quote(user))
	}
	a.users[user]++
	return nil
}

// logout is the end of what login counted.
func (a *admission) logout(user string) {
	if a.users[user]--; a.users[user] == 0 {
		delete(a.users, user)
	}
}

// enter counts a connection where it comes from: the client's address, also behind a proxy.
func (s *Server) enter(c *conn, at net.Addr) *rejection {
	key, ok := addressKey(at)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.admission.enter(key, c.accepted, &s.shared.options)
	if r == nil {
		c.from, c.entered = key, true
	}
	return r
}

// login counts a connection whose user is known. Those without a name are no user.
func (s *Server) login(c *conn, user string) *rejection {
	if user == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.admission.login(user, &s.shared.options)
	if r == nil {
		c.user = user
	}
	return r
}

// left is the end of a connection's counts. The mutex is held.
func (s *Server) left(c *conn) {
	if c.entered {
		s.admission.leave(c.from, &s.shared.options)
	}
	if c.user != "" {
		s.admission.logout(c.user)
	}
}

// rejected counts and logs a connection that is not served.
func (s *Server) rejected(c *conn, r *rejection) {
	s.counters.rejected.add(r.reason)
	c.line("rejected: "+r.reason, s.shared.options.Log.Info, "connection rejected", "remote", c.session.remote, "transport", c.transport.Name, "reason", r.reason)
}
