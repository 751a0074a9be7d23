package admin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// How long the broker's loop may take for an answer, and how much a request may be.
const (
	patience       = 2 * time.Second
	diskPatience   = 20 * time.Second // of answers that wait for the disk
	loginPatience  = 10 * time.Second
	headerTimeout  = 5 * time.Second
	maxHeaderBytes = 16 << 10
)

// Server answers over HTTP.
type Server struct {
	opt      Options
	http     http.Server
	schedule chan struct{} // one token for each request to the schedule under way
}

// ErrServerClosed is returned by Serve after Shutdown or Close.
var ErrServerClosed = errors.New("admin: server closed")

// New returns a Server that looks at what o names.
func New(o Options) *Server {
	s := &Server{opt: o.withDefaults(), schedule: make(chan struct{}, maxScheduleRequests)}
	s.http = http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// Serve takes connections from l until Shutdown or Close, and then returns ErrServerClosed.
// It closes l.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ErrServerClosed
}

// Shutdown takes no further connections and waits, at most as long as ctx lives, for
// requests under way to be answered.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// Close ends all connections at once.
func (s *Server) Close() error { return s.http.Close() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.http.Handler.ServeHTTP(w, r) }

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.livez)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", s.metrics())
	s.serveAPI(mux)
	mux.HandleFunc("GET /{$}", s.index)
	return s.secured(http.NewCrossOriginProtection().Handler(s.guarded(mux)))
}

// secured tells browsers to do nothing with an answer but show it to who asked, and
// refuses foreign names on a loopback listener.
func (s *Server) secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if !s.isOurName(r) {
			http.Error(w, "this address is served to localhost only; a name in the Host header needs the setting admin.hosts", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOurName tells whether the Host header may stand where the request came in.
func (s *Server) isOurName(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return true
	}
	if at, err := netip.ParseAddrPort(local.String()); err != nil || !at.Addr().Unmap().IsLoopback() {
		return true
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	_, err := netip.ParseAddr(name)
	return err == nil || name == "localhost" || slices.ContainsFunc(s.opt.Hosts, func(host string) bool { return strings.EqualFold(host, name) })
}

func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("Footfall " + s.opt.Version + "\n\n" +
		"/livez                 does the process work\n" +
		"/readyz                may it be sent work\n" +
		"/metrics               metrics in the format of Prometheus\n" +
		"/api/v1/overview       what the broker holds and did\n" +
		"/api/v1/openapi.json   all that can be asked below /api/v1, as an OpenAPI document\n"))
}

// reply writes v as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // the client is gone, or will see that the document has no end
}
