package auth

import (
	"net/netip"
	"sync"
	"time"
)

// throttle limits how often logins fail: for each key so many at once, and then so many a minute. A key is an address or the
// name that was given, whether there is such a user or not.
type throttle struct {
	mu sync.Mutex
	// until is when all failures of a key are forgotten: a failure adds the time that one takes to be.
	until map[string]time.Time
}

// maxKeys bounds the keys whose failures are remembered. When there are more, those that are closest to be forgotten are.
const maxKeys = 1 << 16

// allows tells whether one more failure is within the limit of burst at once, of which one is forgotten after each interval.
func (t *throttle) allows(key string, now time.Time, burst int, interval time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until[key].Sub(now) <= time.Duration(burst-1)*interval
}

// fail counts a failure.
func (t *throttle) fail(key string, now time.Time, interval time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until == nil {
		t.until = map[string]time.Time{}
	}
	until, known := t.until[key]
	if !known && len(t.until) >= maxKeys {
		t.makeRoom(now, interval)
	}
	if until.Before(now) {
		until = now
	}
	t.until[key] = until.Add(interval)
}

// makeRoom forgets failures: those whose time has come, and if these are not many those of the keys that failed least.
func (t *throttle) makeRoom(now time.Time, interval time.Duration) {
	horizon := now
	for len(t.until) > maxKeys/2 {
		for key, until := range t.until {
			if !until.After(horizon) {
				delete(t.until, key)
			}
		}
		horizon = horizon.Add(interval)
		interval *= 2
	}
}

// addressKey is the key of a peer: its address, of IPv6 the network of 64 bits, which is what one site has.
func addressKey(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "from " + remote
	}
	address := at.Addr().Unmap().WithZone("")
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			return "from " + network.String()
		}
	}
	return "from " + address.String()
}
