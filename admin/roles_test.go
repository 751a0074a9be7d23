package admin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"footfall/auth"
)

// staff lets in those whose passcode is their login, with the role of that name.
type staff struct {
	auth.Open
	open bool // nobody needs a login
	err  error
	seen auth.Credentials
}

func (s *staff) Authenticate(_ context.Context, c auth.Credentials) (auth.Identity, error) {
	s.seen = c
	role, err := auth.ParseRole(c.Login)
	switch {
	case s.err != nil:
		return auth.Identity{}, s.err
	case s.open && c.Login == "":
		return auth.Identity{Role: auth.Admin}, nil
	case c.Login == "nobody" && c.Passcode == "nobody":
		return auth.Identity{User: c.Login}, nil
	case err != nil || c.Login == "" || c.Passcode != c.Login:
		return auth.Identity{}, auth.ErrLogin
	}
	return auth.Identity{User: c.Login, Role: role}, nil
}

// as sends a request as somebody; empty for without a login.
func as(t *testing.T, s *Server, login, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	if login != "" {
		r.SetBasicAuth(login, login)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// routeRoles are the routes and what each needs, written by hand: what the table under test says must not be what it is held against.
func routeRoles() map[string]auth.Role {
	return map[string]auth.Role{
		"GET /livez":  auth.NoRole,
		"GET /readyz": auth.NoRole,

		"GET /":                          auth.Viewer,
		"GET /metrics":                   auth.Viewer,
		"GET /api/v1/openapi.json":       auth.Viewer,
		"GET /api/v1/overview":           auth.Viewer,
		"GET /api/v1/destinations":       auth.Viewer,
		"GET /api/v1/destinations/show":  auth.Viewer,
		"GET /api/v1/messages":           auth.Viewer,
		"GET /api/v1/connections":        auth.Viewer,
		"GET /api/v1/connections/show":   auth.Viewer,
		"GET /api/v1/consumers":          auth.Viewer,
		"GET /api/v1/subscriptions":      auth.Viewer,
		"GET /api/v1/subscriptions/{id}": auth.Viewer,
		"GET /api/v1/scheduled":          auth.Viewer,
		"GET /api/v1/scheduled/counts":   auth.Viewer,
		"GET /api/v1/scheduled/{id}":     auth.Viewer,
		"GET /api/v1/dlq":                auth.Viewer,
		"GET /api/v1/dlq/messages":       auth.Viewer,

		"POST /api/v1/destinations/pause":  auth.Operator,
		"POST /api/v1/destinations/resume": auth.Operator,
		"POST /api/v1/messages/move":       auth.Operator,
		"POST /api/v1/messages/copy":       auth.Operator,
		"POST /api/v1/connections/close":   auth.Operator,
		"PATCH /api/v1/scheduled/{id}":     auth.Operator,
		"POST /api/v1/scheduled/{id}/run":  auth.Operator,
		"POST /api/v1/dlq/retry":           auth.Operator,

		"POST /api/v1/destinations/make":    auth.Admin,
		"POST /api/v1/destinations/delete":  auth.Admin,
		"POST /api/v1/messages/delete":      auth.Admin,
		"POST /api/v1/dlq/purge":            auth.Admin,
		"DELETE /api/v1/subscriptions/{id}": auth.Admin,
		"DELETE /api/v1/scheduled/{id}":     auth.Admin,
		"POST /api/v1/reload":               auth.Admin,
	}
}

// targetOf is a path of a route. Nothing has the id in it.
func targetOf(route string) (method, path string) {
	method, path, _ = strings.Cut(route, " ")
	return method, strings.Replace(path, "{id}", "x:y", 1)
}

func TestEveryRouteAsksForItsRole(t *testing.T) {
	s := keep(t).Server
	s.opt.Auth = new(staff)
	want := routeRoles()
	for _, r := range s.routes() {
		if _, there := want[r.method+" "+r.path]; !there {
			t.Errorf("nobody has said which role %s %s needs", r.method, r.path)
		}
	}
	logins := []string{"", "nobody", "viewer", "operator", "admin"}
	for route, needed := range want {
		method, path := targetOf(route)
		for level, login := range logins {
			w := as(t, s, login, method, path)
			refused := 0 // what the handler answers is another thing
			switch {
			case needed == auth.NoRole:
			case login == "":
				refused = http.StatusUnauthorized
			case auth.Role(level-1) < needed:
				refused = http.StatusForbidden
			}
			was := 0
			if w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden {
				was = w.Code
			}
			if was != refused {
				t.Errorf("%s by %q: %d %s, want %d", route, login, w.Code, w.Body, refused)
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (challenge != "") != (refused == http.StatusUnauthorized) {
				t.Errorf("%s by %q: challenge %q", route, login, challenge)
			}
		}
	}
}

func TestARouteThatIsNotInTheTableNeedsAnAdmin(t *testing.T) {
	for _, row := range []struct {
		method, pattern string
		want            auth.Role
	}{
		{"GET", "GET /api/v1/overview", auth.Viewer},
		{"HEAD", "GET /api/v1/overview", auth.Viewer},
		{"HEAD", scheduledPrefix, auth.Viewer},
		{"PATCH", scheduledPrefix, auth.Operator},
		{"DELETE", scheduledPrefix, auth.Admin},
		{"PUT", scheduledPrefix, auth.Admin},
		{"GET", "GET /api/v1/new", auth.Admin},
		{"POST", "/api/v1/new/", auth.Admin},
		{"GET", "", auth.Viewer},
	} {
		if got := roleFor(row.method, row.pattern); got != row.want {
			t.Errorf("%s %q: %v", row.method, row.pattern, got)
		}
	}
	f := fake{}
	o := f.options()
	o.Auth = new(staff)
	for _, path := range []string{"/api/v1/nothing", "//api/v1/dlq/purge", "/api/v1/dlq%2Fpurge", "/api/v1/../v1/overview"} {
		if w := as(t, New(o), "", http.MethodGet, path); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestWhoAsksTheAdminServer(t *testing.T) {
	f := fake{}
	o := f.options()
	people := new(staff)
	o.Auth = people
	s := New(o)
	for _, row := range []struct {
		what, header string
		err          error
		status       int
		retry        string
	}{
		{"a wrong passcode", "Basic dmlld2VyOng=", nil, http.StatusUnauthorized, ""},
		{"no Base64", "Basic !", nil, http.StatusUnauthorized, ""},
		{"another scheme", "Bearer dmlld2VyOnZpZXdlcg==", nil, http.StatusUnauthorized, ""},
		{"one who may", "Basic dmlld2VyOnZpZXdlcg==", nil, http.StatusOK, ""},
		{"too many failures", "Basic dmlld2VyOnZpZXdlcg==", auth.ErrThrottled, http.StatusTooManyRequests, "60"},
		{"too many logins", "Basic dmlld2VyOnZpZXdlcg==", fmt.Errorf("x: %w", auth.ErrBusy), http.StatusServiceUnavailable, "5"},
		{"no answer in time", "Basic dmlld2VyOnZpZXdlcg==", context.DeadlineExceeded, http.StatusServiceUnavailable, "5"},
	} {
		people.err = row.err
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", row.header)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != row.status || w.Header().Get("Retry-After") != row.retry {
			t.Errorf("%s: %d, Retry-After %q", row.what, w.Code, w.Header().Get("Retry-After"))
		}
	}
	people.err = nil
	for remote, local := range map[string]bool{"127.0.0.1:5": true, "[::1]:5": true, "[::ffff:127.0.0.1]:5": true, "192.0.2.1:5": false, "": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		s.ServeHTTP(httptest.NewRecorder(), r)
		if people.seen.Local != local || people.seen.Remote != remote {
			t.Errorf("%q: %+v", remote, people.seen)
		}
	}
	people.open = true
	if w := as(t, s, "", http.MethodGet, "/api/v1/overview"); w.Code != http.StatusOK {
		t.Errorf("without users: %d", w.Code)
	}
}

func TestChangesAreLoggedWithWhoAskedForThem(t *testing.T) {
	var log strings.Builder
	f := fake{}
	o := f.options()
	o.Auth, o.Log = new(staff), slog.New(slog.NewTextHandler(&log, nil))
	s := New(o)
	as(t, s, "admin", http.MethodPost, "/api/v1/reload")
	as(t, s, "admin", http.MethodGet, "/api/v1/overview")
	as(t, s, "viewer", http.MethodPost, "/api/v1/reload")
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "user=admin") || !strings.Contains(got, "path=/api/v1/reload") {
		t.Error(got)
	}
	log.Reset()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth("viewer\nadmin", "s3cret")
	s.ServeHTTP(httptest.NewRecorder(), r)
	if got := log.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "s3cret") {
		t.Error(got)
	}
}

func TestNoOtherSiteChangesAnything(t *testing.T) {
	f := fake{}
	o := f.options()
	o.Auth = new(staff)
	s := New(o)
	for route := range routeRoles() {
		method, path := targetOf(route)
		if method == http.MethodGet {
			continue
		}
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			r := httptest.NewRequest(method, path, nil)
			r.SetBasicAuth("admin", "admin")
			r.Header.Set(name, value)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusForbidden {
				t.Errorf("%s with %s: %d", route, name, w.Code)
			}
		}
	}
}
