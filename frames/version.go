package frames

import "strings"

// Version is a version of the protocol. The zero value is STOMP 1.0.
type Version uint8

// The versions that there are, in rising order.
const (
	V10 Version = iota
	V11
	V12
)

// String returns the version as CONNECT and CONNECTED write it: 1.0, 1.1 or 1.2.
func (v Version) String() string {
	return [...]string{"1.0", "1.1", "1.2"}[v]
}

// Negotiate returns the highest version in accept, the value of accept-version: versions in
// any order between commas, blanks around them ignored, unknown ones passed over. An empty
// accept, which stands for a missing header too, is 1.0. It is false if there is none in common.
func Negotiate(accept string) (Version, bool) {
	// STOMP 1.2 Protocol Negotiation: without accept-version the client speaks 1.0 only.
	if accept == "" {
		return V10, true
	}
	best, found := V10, false
	for len(accept) > 0 {
		var offer string
		offer, accept, _ = strings.Cut(accept, ",")
		offer = strings.Trim(offer, " \t")
		for v := V10; v <= V12; v++ {
			if offer == v.String() {
				// STOMP 1.2 Protocol Negotiation: the highest version that both know, whatever the order.
				best, found = max(best, v), true
			}
		}
	}
	return best, found
}
