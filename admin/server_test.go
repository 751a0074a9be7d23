package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"footfall/broker"
	"footfall/store"
)

func TestLivenessIsTheLoopAndNeverTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := []struct {
			name string
			fake fake
			want int
		}{
			{"all well", fake{}, http.StatusOK},
			{"disk full", fake{stats: broker.Stats{DiskLow: true}, noDisk: true}, http.StatusOK},
			{"store stalled", fake{store: store.Stats{Stalled: true, Failed: true}}, http.StatusOK},
			{"loop stuck", fake{stuck: true}, http.StatusServiceUnavailable},
		}
		for _, row := range rows {
			if got := get(t, New(row.fake.options()), "/livez").Code; got != row.want {
				t.Errorf("%s: expected %d; saw %d", row.name, row.want, got)
			}
		}
	})
}

func TestReadinessSaysWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := []struct {
			name    string
			fake    fake
			unready []string
			code    int
			want    string
		}{
			{"all well", fake{}, nil, 200, `{"ready":true,"reasons":[],"alarms":[]}`},
			{"draining", fake{}, []string{"draining"}, 503, `{"ready":false,"reasons":["draining"],"alarms":[]}`},
			{"store failed", fake{store: store.Stats{Failed: true}}, nil, 503, `{"ready":false,"reasons":["the store failed"],"alarms":[]}`},
			{"loop stuck", fake{stuck: true}, nil, 503, `{"ready":false,"reasons":["the broker's loop does not turn"],"alarms":[]}`},
			{
				"alarms do not fail",
				fake{stats: broker.Stats{DiskLow: true, MemoryHigh: true}, store: store.Stats{Stalled: true}},
				nil, 200,
				`{"ready":true,"reasons":[],"alarms":["free disk is below its watermark","messages in memory are above their watermark","writes wait for the store's background work"]}`,
			},
		}
		for _, row := range rows {
			o := row.fake.options()
			o.Unready = func() []string { return row.unready }
			w := get(t, New(o), "/readyz")
			if got := compact(t, w.Body.Bytes()); w.Code != row.code || got != row.want {
				t.Errorf("%s: expected %d %s; saw %d %s", row.name, row.code, row.want, w.Code, got)
			}
		}
	})
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out.String()
}

func TestOverviewCountsWhatTheBrokerCounts(t *testing.T) {
	f := fake{
		stats: broker.Stats{ReceivedQueue: 3, ReceivedTopic: 4, Delivered: 5, Ready: 6, Unacked: 7, Scheduled: 8, Connections: 9, ScheduledLag: 1500 * time.Millisecond},
		store: store.Stats{DiskBytes: 10},
	}
	o := f.options()
	o.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := `{"version":"1.2.3","started":"2026-01-02T03:04:05Z","readiness":{"ready":true,"reasons":[],"alarms":[]},` +
		`"messages":{"ready":6,"unacked":7,"scheduled":8,"received":7,"delivered":5,"redelivered":0,"acked":0,"nacked":0},` +
		`"connections":9,"subscriptions":0,"destinations":0,"memory_bytes":0,"disk_bytes":10,"disk_free_bytes":1099511627776,"scheduled_lag_seconds":1.5}`
	if got := compact(t, get(t, New(o), "/api/v1/overview").Body.Bytes()); got != want {
		t.Errorf("expected %s\nsaw %s", want, got)
	}
}

func destinations(n int) []broker.DestinationStats {
	list := make([]broker.DestinationStats, n)
	for i := range list {
		list[i] = broker.DestinationStats{Address: broker.Address{Kind: broker.Queue, Name: fmt.Sprintf("q%04d", i)}, Ready: 1, Received: uint64(n - i)}
	}
	return list
}

func TestDestinationsArePaged(t *testing.T) {
	f := fake{list: destinations(250)}
	s := New(f.options())
	rows := []struct {
		query       string
		first, last string
		n           int
	}{
		{"", "q0000", "q0099", 100},
		{"?offset=200", "q0200", "q0249", 50},
		{"?offset=10&limit=2", "q0010", "q0011", 2},
		{"?offset=1000", "", "", 0},
		{"?limit=1000", "q0000", "q0249", 250},
	}
	for _, row := range rows {
		var p page
		if err := json.Unmarshal(get(t, s, "/api/v1/destinations"+row.query).Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Items) != row.n || p.Total != 250 || row.n > 0 && (p.Items[0].Name != row.first || p.Items[row.n-1].Name != row.last) {
			t.Errorf("%s: saw %d of %d", row.query, len(p.Items), p.Total)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?offset=-1", "?offset=x", "?offset=99999999999999999999", "?limit=1&limit=2", "?page=3"} {
		if w := get(t, s, "/api/v1/destinations"+query); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"error"`) {
			t.Errorf("%s: saw %d %s", query, w.Code, w.Body)
		}
	}
}

func TestAStuckLoopIsToldAndNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{stuck: true}
		for _, path := range []string{"/api/v1/overview", "/api/v1/destinations"} {
			start := time.Now()
			if w := get(t, New(f.options()), path); w.Code != http.StatusServiceUnavailable || time.Since(start) > 2*patience {
				t.Errorf("%s: saw %d after %v", path, w.Code, time.Since(start))
			}
		}
	})
}

func TestEveryAnswerForbidsBrowsersToUseIt(t *testing.T) {
	f := fake{}
	s := New(f.options())
	for _, path := range []string{"/", "/livez", "/readyz", "/metrics", "/api/v1/overview", "/nothing"} {
		h := get(t, s, path).Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", path, h)
		}
		for name := range h {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s", path, name)
			}
		}
	}
}

func TestOnlyReadingMethods(t *testing.T) {
	f := fake{}
	s := New(f.options())
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/api/v1/overview", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/overview", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("a POST from another site: %d", w.Code)
	}
}

func TestALoopbackListenerAnswersToItsOwnNamesOnly(t *testing.T) {
	f := fake{}
	o := f.options()
	o.Hosts = []string{"Proxy.example"}
	s := New(o)
	rows := []struct {
		local, host string
		want        int
	}{
		{"127.0.0.1:8161", "localhost:8161", 200},
		{"127.0.0.1:8161", "LOCALHOST", 200},
		{"127.0.0.1:8161", "127.0.0.1:8161", 200},
		{"[::1]:8161", "[::1]:8161", 200},
		{"127.0.0.1:8161", "proxy.example", 200},
		{"127.0.0.1:8161", "evil.example:8161", http.StatusMisdirectedRequest},
		{"[::1]:8161", "localhost.evil.example", http.StatusMisdirectedRequest},
		{"[::ffff:127.0.0.1]:8161", "evil.example", http.StatusMisdirectedRequest},
		{"192.0.2.1:8161", "footfall.example:8161", 200},
	}
	for _, row := range rows {
		addr, err := net.ResolveTCPAddr("tcp", row.local)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, addr), http.MethodGet, "/livez", nil)
		r.Host = row.host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != row.want {
			t.Errorf("%s at %s: expected %d; saw %d", row.host, row.local, row.want, w.Code)
		}
	}
}

func TestServeUntilShutdown(t *testing.T) {
	f := fake{}
	s := New(f.options())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/livez", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || string(text) != "ok\n" {
		t.Errorf("saw %q, %v", text, err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, ErrServerClosed) {
		t.Errorf("saw %v", err)
	}
}
