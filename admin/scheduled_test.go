package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"footfall/broker"
	"footfall/frames"
	"footfall/schedule"
	"footfall/store"
)

// kept is a broker with a store in memory, and a session that sends.
type kept struct {
	*Server
	b    *broker.Broker
	conn *broker.Conn
	outs chan broker.Output
}

// Put implements broker.Outbox.
func (k *kept) Put(outputs []broker.Output) {
	for _, o := range outputs {
		k.outs <- o
	}
}

func keep(t *testing.T) *kept {
	t.Helper()
	s := store.NewMemory()
	log := slog.New(slog.DiscardHandler)
	k := &kept{b: broker.New(s, broker.Options{Log: log}), outs: make(chan broker.Output, 100)}
	k.Server = New(Options{Broker: k.b, Store: s, Log: log})
	var err error
	if k.conn, err = k.b.Attach(k, broker.Client{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.b.Close(context.Background()); err != nil {
			t.Error(err)
		}
		_ = s.Close()
	})
	return k
}

// send schedules a message and returns its id.
func (k *kept) send(t *testing.T, to broker.Address, m *broker.Message) string {
	t.Helper()
	op := broker.Op{Kind: broker.OpSend, To: to, Message: m, WantReceipt: true, Receipt: "r"}
	if err := k.conn.Submit(&broker.Request{Ops: []broker.Op{op}}); err != nil {
		t.Fatal(err)
	}
	for o := range k.outs {
		switch o.Kind {
		case broker.OutputReceipt:
			return o.ScheduledID
		case broker.OutputError:
			t.Fatal(o.Err)
		}
	}
	return ""
}

// text makes a persistent message that is due at a time.
func text(body string, due time.Time) *broker.Message {
	return &broker.Message{
		Body: []byte(body), Persistent: true, Priority: 4, DeliverAt: due.UnixMilli(),
		Header: frames.Header{Dialect: frames.V12, Raw: []byte("a\\cb:1\\n2\n")},
	}
}

func called(m *broker.Message, id string) *broker.Message {
	m.ScheduledID, m.ChosenID = id, true
	return m
}

// do asks for something, and demands a status.
func (k *kept) do(t *testing.T, status int, method, target, body string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	w := httptest.NewRecorder()
	k.ServeHTTP(w, r)
	if w.Code != status || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%s %s: expected %d; saw %d %s", method, target, status, w.Code, w.Body)
	}
	return w.Body.String()
}

func read[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

var (
	orders = broker.Address{Kind: broker.Queue, Name: "orders"}
	prices = broker.Address{Kind: broker.Topic, Name: "prices/a b"}
	noon   = time.Date(2100, 6, 1, 12, 0, 0, 0, time.UTC)
)

func TestTheScheduleIsListedInPages(t *testing.T) {
	k := keep(t)
	for i := range 25 {
		k.send(t, orders, text(fmt.Sprint("o", i), noon.Add(time.Duration(i)*time.Minute)))
		k.send(t, prices, text(fmt.Sprint("p", i), noon.Add(time.Duration(i)*time.Minute+time.Second)))
	}
	rows := []struct {
		query string
		first string
		n     int
	}{
		{"?", "o0", 50},
		{"?limit=7", "o0", 50},
		{"?destination=/queue/orders&limit=4", "o0", 25},
		{"?destination=/topic/prices%2Fa+b", "p0", 25},
		{"?destination=/topic/none", "", 0},
		{"?from=2100-06-01T12:20:00Z", "o20", 10},
		{"?until=2100-06-01T12:20:00Z&from=2100-06-01T14:20:00%2B02:00", "o20", 1},
		{fmt.Sprintf("?from=%d&limit=3", noon.Add(1).UnixMilli()), "o0", 50},
		{"?until=5", "", 0},
	}
	for _, row := range rows {
		var items []scheduled
		for cursor := ""; ; {
			p := read[scheduledPage](t, k.do(t, 200, "GET", "/api/v1/scheduled"+row.query+"&body=10"+cursor, ""))
			items = append(items, p.Items...)
			if p.Next == "" {
				break
			}
			cursor = "&cursor=" + p.Next
		}
		if len(items) != row.n || row.n > 0 && *items[0].Body != row.first {
			t.Errorf("%s: saw %d", row.query, len(items))
		}
	}
}

func TestAnIDIsShownWithAllThatIsKnown(t *testing.T) {
	k := keep(t)
	m := called(text("Grüße", noon), "a/b ?#%")
	m.Expires = noon.Add(time.Hour).UnixMilli()
	k.send(t, orders, m)
	id := "/api/v1/scheduled/a%2Fb%20%3F%23%25"
	item := read[scheduledPage](t, k.do(t, 200, "GET", id, "")).Items[0]
	item.Sent = time.Time{}
	want := `{"id":"a/b ?#%","href":"` + id + `","destination":"/queue/orders","deliver_at":"2100-06-01T12:00:00Z","persistent":true,"priority":4,` +
		`"sent":"0001-01-01T00:00:00Z","expires":"2100-06-01T13:00:00Z","headers":[{"name":"a:b","value":"1\n2"}],"body_bytes":7,"body":"Grüße"}`
	if got, err := json.Marshal(item); err != nil || string(got) != want {
		t.Errorf("expected %s\nsaw %s, %v", want, got, err)
	}
	for query, body := range map[string]string{"?body=0": "", "?body=3": "Gr", "?body=4": "Grü", "?body=1000": "Grüße"} {
		got := read[scheduledPage](t, k.do(t, 200, "GET", id+query, "")).Items[0]
		if got.BodyBytes != 7 || (got.Body == nil) != (body == "") || got.Body != nil && *got.Body != body {
			t.Errorf("%s: %+v", query, got)
		}
	}
	k.send(t, orders, called(text("\xff\x00", noon), "octets"))
	if got := read[scheduledPage](t, k.do(t, 200, "GET", "/api/v1/scheduled/octets", "")).Items[0]; got.Body != nil || string(got.Base64) != "\xff\x00" {
		t.Errorf("%+v", got)
	}
	k.do(t, 404, "GET", "/api/v1/scheduled/unknown", "")
}

func TestAJobIsShownWithItsNextTimes(t *testing.T) {
	k := keep(t)
	cron, err := schedule.ParseCron("0 12 1 6 *")
	if err != nil {
		t.Fatal(err)
	}
	m := called(text("x", time.UnixMilli(0)), "job")
	m.Plan = &schedule.Plan{Kind: schedule.Repeating, Repeat: schedule.Repeat{Cron: cron}}
	k.send(t, orders, m)
	got := read[scheduledPage](t, k.do(t, 200, "GET", "/api/v1/scheduled/job", "")).Items[0].Repeat
	if got.Cron != "0 12 1 6 *" || got.Zone != "UTC" || got.Left != -1 || len(got.Next) != 5 || got.Next[1].Sub(got.Next[0]) < 365*24*time.Hour {
		t.Errorf("%+v", got)
	}
}

// TestIDsAreOpaqueSegments follows the href of ids that a path may be taken for, or that are no text.
func TestIDsAreOpaqueSegments(t *testing.T) {
	ids := []string{".", "..", "...", "/", "//", "a/b", "a/../b", "counts ", "run", "%2F", "%", "?x=1", "#", "+", " ", "\xff\xfe", "é", "<script>", strings.Repeat("x", 256)}
	for _, id := range ids {
		k := keep(t)
		k.send(t, orders, called(text("x", noon), id))
		href := read[scheduledPage](t, k.do(t, 200, "GET", "/api/v1/scheduled", "")).Items[0].Href
		k.do(t, 200, "GET", href, "")
		k.do(t, 200, "PATCH", href, `{"deliver_at":"2100-06-02T12:00:00Z"}`)
		k.do(t, 200, "POST", href+"/run", "")
		k.do(t, 404, "POST", href+"/run", "")
		k.send(t, orders, called(text("x", noon), id))
		k.do(t, 200, "DELETE", href, "")
		k.do(t, 404, "DELETE", href, "")
	}
}

func TestAChangeCountsWhatItTouched(t *testing.T) {
	k := keep(t)
	for _, to := range []broker.Address{orders, prices} {
		k.send(t, to, called(text("x", noon), "both"))
	}
	for _, body := range []string{`{"deliver_at":"2100-06-02T14:00:00+02:00"}`, `{"deliver_at":4115620800000}`, `{"deliverAt":"4115620800000"}`} {
		if got := compact(t, []byte(k.do(t, 200, "PATCH", "/api/v1/scheduled/both", body))); got != `{"rescheduled":2}` {
			t.Errorf("%s: %s", body, got)
		}
		for _, item := range read[scheduledPage](t, k.do(t, 200, "GET", "/api/v1/scheduled/both", "")).Items {
			if !item.DeliverAt.Equal(noon.AddDate(0, 0, 1)) {
				t.Errorf("%s: %v", body, item.DeliverAt)
			}
		}
	}
	if got := compact(t, []byte(k.do(t, 200, "POST", "/api/v1/scheduled/both/run", ""))); got != `{"run":2}` {
		t.Error(got)
	}
	stats, ok := k.b.Stats(t.Context())
	if !ok || stats.Ready != 1 || stats.Scheduled != 0 {
		t.Errorf("%+v", stats)
	}
	k.send(t, prices, called(text("x", noon), "one"))
	if got := compact(t, []byte(k.do(t, 200, "DELETE", "/api/v1/scheduled/one", ""))); got != `{"cancelled":1}` {
		t.Error(got)
	}
}

func TestTheScheduleIsCountedOverHTTP(t *testing.T) {
	k := keep(t)
	k.send(t, orders, text("x", time.Now().Add(30*time.Second)))
	k.send(t, orders, text("x", noon))
	want := `{"overdue":{"count":0},"minute":{"count":1},"hour":{"count":0},"day":{"count":0},"later":{"count":1},"total":2}`
	if got := compact(t, []byte(k.do(t, 200, "GET", "/api/v1/scheduled/counts", ""))); got != want {
		t.Errorf("saw %s", got)
	}
}

func TestBadRequestsToTheScheduleAreRefused(t *testing.T) {
	k := keep(t)
	k.send(t, orders, called(text("x", noon), "id"))
	for _, query := range []string{
		"limit=0", "limit=1001", "limit=x", "limit=1&limit=1", "body=-1", "body=65537", "cursor=x", "from=soon", "from=20000&until=10000", "until=99999999999999999",
		"destination=orders", "destination=/queue/", "destination=/temp-queue/x", "id=", "page=1", "from=2026-01-01T00:00:00",
	} {
		k.do(t, 400, "GET", "/api/v1/scheduled?"+query, "")
	}
	k.do(t, 400, "GET", "/api/v1/scheduled/id?id=x", "")
	k.do(t, 400, "GET", "/api/v1/scheduled/id?page=x", "")
	for _, body := range []string{
		`x`, `[]`, `{}`, `null`, `{"deliver_at":null}`, `{"deliver_at":1.5}`, `{"deliver_at":true}`, `{"deliver_at":{}}`, `{"deliver_at":"tomorrow"}`, `{"deliver_at":1e400}`,
		`{"deliver_at":1,"deliverAt":1}`, `{"deliver_at":1,"x":1}`, `{"deliver_at":1}{}`, `{"deliver_at":253402300800000}`,
	} {
		k.do(t, 400, "PATCH", "/api/v1/scheduled/id", body)
	}
	k.do(t, 413, "PATCH", "/api/v1/scheduled/id", `{"deliver_at":1`+strings.Repeat(" ", maxChange)+"}")
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/api/v1/scheduled/id", strings.NewReader(`{"deliver_at":1}`))
	r.Header.Set("Content-Type", "text/plain")
	w := httptest.NewRecorder()
	if k.ServeHTTP(w, r); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("%d", w.Code)
	}
	if n := len(read[scheduledPage](t, k.do(t, 200, "GET", "/api/v1/scheduled", "")).Items); n != 1 {
		t.Errorf("%d are left", n)
	}
}

func TestThePathOfAnIDKnowsItsMethods(t *testing.T) {
	k := keep(t)
	for target, status := range map[string]int{
		"PUT /api/v1/scheduled/id": 405, "POST /api/v1/scheduled/id": 405, "GET /api/v1/scheduled/id/run": 405, "DELETE /api/v1/scheduled/id/run": 405,
		"GET /api/v1/scheduled/": 404, "DELETE /api/v1/scheduled/": 404, "POST /api/v1/scheduled/id/stop": 404, "GET /api/v1/scheduled/id/run/x": 404,
		"DELETE /api/v1/scheduled/counts": 404,
	} {
		method, path, _ := strings.Cut(target, " ")
		k.do(t, status, method, path, "")
	}
}

func TestPagesOfOtherSitesDoNotChangeTheSchedule(t *testing.T) {
	k := keep(t)
	k.send(t, orders, called(text("x", noon), "id"))
	for _, target := range []string{"DELETE /api/v1/scheduled/id", "POST /api/v1/scheduled/id/run", "PATCH /api/v1/scheduled/id"} {
		method, path, _ := strings.Cut(target, " ")
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(`{"deliver_at":1}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set(name, value)
			w := httptest.NewRecorder()
			if k.ServeHTTP(w, r); w.Code != http.StatusForbidden {
				t.Errorf("%s, %s: %d", target, name, w.Code)
			}
		}
	}
	k.do(t, 200, "DELETE", "/api/v1/scheduled/id", "")
}

func TestAClosedBrokerHasNoSchedule(t *testing.T) {
	k := keep(t)
	if err := k.b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{
		"GET /api/v1/scheduled", "GET /api/v1/scheduled/counts", "GET /api/v1/scheduled/id", "DELETE /api/v1/scheduled/id", "POST /api/v1/scheduled/id/run",
	} {
		method, path, _ := strings.Cut(target, " ")
		if got := k.do(t, 503, method, path, ""); !strings.Contains(got, "closed") {
			t.Errorf("%s: %s", target, got)
		}
	}
}

func TestFewRequestsReadTheScheduleAtATime(t *testing.T) {
	k := keep(t)
	for range maxScheduleRequests {
		k.schedule <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	k.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/api/v1/scheduled", nil))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "too many requests") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	<-k.schedule
	k.do(t, 200, "GET", "/api/v1/scheduled", "")
}
