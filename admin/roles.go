package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"footfall/auth"
)

// nobody stands in the table of roles for what is answered to all who ask.
const nobody = auth.NoRole

// roles are what a request needs, by method and route as they are registered. A viewer sees, an operator does what deletes nothing, and
// an admin makes what stays and deletes. One that is not here needs auth.Admin: so none is open because somebody forgot it. The permissions
// of destinations are not asked: they are about what goes over STOMP.
var roles = map[string]auth.Role{
	"GET /livez":  nobody,
	"GET /readyz": nobody,

	"GET /{$}":                      auth.Viewer,
	"GET /metrics":                  auth.Viewer,
	"GET /api/v1/openapi.json":      auth.Viewer,
	"GET /api/v1/overview":          auth.Viewer,
	"GET /api/v1/destinations":      auth.Viewer,
	"GET /api/v1/destinations/show": auth.Viewer,
	"GET /api/v1/messages":          auth.Viewer,
	"GET /api/v1/connections":       auth.Viewer,
	"GET /api/v1/connections/show":  auth.Viewer,
	"GET /api/v1/consumers":         auth.Viewer,
	"GET /api/v1/subscriptions":     auth.Viewer,
	"GET " + subscriptionPrefix:     auth.Viewer,
	"GET /api/v1/scheduled":         auth.Viewer,
	"GET /api/v1/scheduled/counts":  auth.Viewer,
	"GET " + scheduledPrefix:        auth.Viewer,
	"GET /api/v1/dlq":               auth.Viewer,
	"GET /api/v1/dlq/messages":      auth.Viewer,

	"POST /api/v1/destinations/pause":  auth.Operator,
	"POST /api/v1/destinations/resume": auth.Operator,
	"POST /api/v1/messages/move":       auth.Operator,
	"POST /api/v1/messages/copy":       auth.Operator,
	"POST /api/v1/connections/close":   auth.Operator,
	"PATCH " + scheduledPrefix:         auth.Operator,
	"POST " + scheduledPrefix:          auth.Operator,
	"POST /api/v1/dlq/retry":           auth.Operator,

	"POST /api/v1/destinations/make":   auth.Admin,
	"POST /api/v1/destinations/delete": auth.Admin,
	"POST /api/v1/messages/delete":     auth.Admin,
	"POST /api/v1/dlq/purge":           auth.Admin,
	"DELETE " + subscriptionPrefix:     auth.Admin,
	"DELETE " + scheduledPrefix:        auth.Admin,
	"POST /api/v1/reload":              auth.Admin,
}

// roleFor is the role that a request needs which the mux answers by that pattern, empty for none.
func roleFor(method, pattern string) auth.Role {
	if pattern == "" || pattern == nothingThere {
		return auth.Viewer // nothing is there, which not everybody has to know
	}
	if method == http.MethodHead {
		method = http.MethodGet // as the mux has it
	}
	for _, route := range [...]string{pattern, method + " " + pattern} { // a pattern may name its method
		if role, ok := roles[route]; ok {
			return role
		}
	}
	return auth.Admin
}

// guarded lets those through to mux who may do what they ask for.
func (s *Server) guarded(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		needed := roleFor(r.Method, pattern)
		if needed == nobody {
			mux.ServeHTTP(w, r)
			return
		}
		id, err := s.authenticate(r)
		switch {
		case err != nil:
			s.refuseLogin(w, r, err)
		case id.Role == auth.NoRole && id.User == "":
			s.refuseLogin(w, r, auth.ErrLogin)
		case id.Role < needed:
			refuse(w, http.StatusForbidden, fmt.Sprintf("this needs the role %s, and user %.300q has %s", needed, id.User, roleText(id.Role)))
		default:
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				s.opt.Log.Info("request to the admin server", "user", id.User, "remote", r.RemoteAddr, "method", r.Method, "path", fmt.Sprintf("%.300s", r.URL.EscapedPath()))
			}
			mux.ServeHTTP(w, r)
		}
	})
}

func roleText(r auth.Role) string {
	if r == auth.NoRole {
		return "none"
	}
	return r.String()
}

// authenticate tells whose a request is.
func (s *Server) authenticate(r *http.Request) (auth.Identity, error) {
	ctx, cancel := context.WithTimeout(r.Context(), loginPatience)
	defer cancel()
	c := auth.Credentials{Remote: r.RemoteAddr}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.Local = at.Addr().Unmap().IsLoopback()
	}
	if r.Header.Get("Authorization") != "" {
		var ok bool
		if c.Login, c.Passcode, ok = r.BasicAuth(); !ok {
			return auth.Identity{}, fmt.Errorf("not HTTP Basic: %w", auth.ErrLogin)
		}
	}
	return s.opt.Auth.Authenticate(ctx, c)
}

// refuseLogin answers a request of somebody who is not known.
func (s *Server) refuseLogin(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, auth.ErrThrottled):
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, "too many logins from this address, or under this name, have failed; wait a minute")
	case errors.Is(err, auth.ErrBusy), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, "too many logins are being looked at; try again")
	default:
		if r.Header.Get("Authorization") != "" {
			login, _, _ := r.BasicAuth()
			s.opt.Log.Info("login to the admin server refused", "login", fmt.Sprintf("%.80s", login), "remote", r.RemoteAddr)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="footfall", charset="UTF-8"`)
		refuse(w, http.StatusUnauthorized, "a login with a role is needed: HTTP Basic, as for STOMP")
	}
}
