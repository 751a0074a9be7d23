package server

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// WebSocket says what a listener for WebSockets accepts. The zero value of each field means its default.
type WebSocket struct {
	// Paths are the paths of URLs that are served: "/", "/ws", "/stomp" and "/stomp/websocket".
	Paths []string
	// Origins are the origins, as in https://app.example:8443, of pages that may connect beside those of the
	// same host. A single "*" allows all: then any page that a user opens may act as that user.
	Origins []string
	// RequireOrigin refuses clients that send no Origin. Browsers always send one, other programs seldom do.
	RequireOrigin bool
	// Deflate accepts permessage-deflate, without context between messages. Limits count what was inflated.
	Deflate bool
}

func (w WebSocket) withDefaults() WebSocket {
	if w.Paths == nil {
		w.Paths = []string{"/", "/ws", "/stomp", "/stomp/websocket"}
	}
	return w
}

// refuses returns the status, and what to say with it, of a request that does not become a WebSocket; 0 for one that may.
func (w *WebSocket) refuses(r *http.Request, secure bool) (status int, text string) {
	switch {
	case !slices.Contains(w.Paths, r.URL.Path):
		return http.StatusNotFound, "nothing is served here"
	case !w.allows(r.Header.Values("Origin"), r.Host, secure):
		return http.StatusForbidden, "this origin may not connect"
	}
	return 0, ""
}

// allows decides about the Origin of a request for host. RFC 6454: an origin is scheme, host and port.
func (w *WebSocket) allows(origins []string, host string, secure bool) bool {
	if len(origins) == 0 {
		return !w.RequireOrigin
	}
	if len(origins) > 1 {
		return false
	}
	if slices.Contains(w.Origins, "*") {
		return true
	}
	scheme, authority, ok := parseOrigin(origins[0])
	if !ok {
		return false
	}
	for _, allowed := range w.Origins {
		if s, a, ok := parseOrigin(allowed); ok && s == scheme && a == authority {
			return true
		}
	}
	// Behind a proxy that ends TLS the scheme that the browser used is not known, so where there is no TLS both are taken.
	if scheme != "https" && (secure || scheme != "http") {
		return false
	}
	return authority == strings.ToLower(withoutDefaultPort(host, scheme))
}

// parseOrigin takes an origin apart, in lower case and without a port that its scheme implies.
func parseOrigin(text string) (scheme, authority string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return "", "", false
	}
	scheme = strings.ToLower(u.Scheme)
	return scheme, strings.ToLower(withoutDefaultPort(u.Host, scheme)), true
}

// ValidOrigin tells whether a text is an origin as WebSocket.Origins has them.
func ValidOrigin(text string) bool {
	_, _, ok := parseOrigin(text)
	return ok || text == "*"
}

// withoutDefaultPort leaves out the port of host:port if it is that of the scheme.
func withoutDefaultPort(hostPort, scheme string) string {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil || scheme == "http" && port != "80" || scheme == "https" && port != "443" {
		return hostPort
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// subprotocol chooses one of those that were offered: of those that name a version of STOMP the highest,
// else the first, empty for none.
func subprotocol(offers []string) string {
	var names []string
	for _, line := range offers {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.Trim(name, " \t"); name != "" {
				names = append(names, name)
			}
		}
	}
	for _, known := range [...]string{"v12.stomp", "v11.stomp", "v10.stomp"} {
		for _, name := range names {
			if strings.EqualFold(name, known) {
				return name
			}
		}
	}
	if len(names) > 0 {
		return names[0]
	}
	return ""
}
