package admin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"footfall/broker"
)

// bury makes dead letters of so many messages in /queue/DLQ.q.
func (k *kept) bury(t *testing.T, n int) {
	t.Helper()
	q := broker.Address{Kind: broker.Queue, Name: "q"}
	ops := []broker.Op{{Kind: broker.OpSubscribe, Subscribe: &broker.SubscribeOp{ID: "s", From: q, Mode: broker.AckClient}}}
	for i := range n {
		ops = append(ops, broker.Op{Kind: broker.OpSend, To: q, Message: &broker.Message{Body: fmt.Appendf(nil, "m%d", i), Persistent: true}})
	}
	if err := k.conn.Submit(&broker.Request{Ops: ops}); err != nil {
		t.Fatal(err)
	}
	for range n {
		<-k.outs
	}
	nack := broker.Op{
		Kind: broker.OpNack, Ack: broker.AckOp{SubNumber: 1, Number: uint64(n)}, Nack: &broker.NackOp{Dead: true, Reason: "why"}, WantReceipt: true, Receipt: "n",
	}
	if err := k.conn.Submit(&broker.Request{Ops: []broker.Op{nack, {Kind: broker.OpUnsubscribe, Sub: "s"}}}); err != nil {
		t.Fatal(err)
	}
	<-k.outs
}

func post(t *testing.T, s *Server, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	s.ServeHTTP(w, r)
	return w
}

func answered(t *testing.T, w *httptest.ResponseRecorder, status int, words ...string) {
	t.Helper()
	for _, word := range words {
		if w.Code != status || !strings.Contains(w.Body.String(), word) {
			t.Fatalf("expected %d and %s; saw %d %s", status, word, w.Code, w.Body)
		}
	}
}

func TestDeadLettersAreManagedOverHTTP(t *testing.T) {
	k := keep(t)
	k.bury(t, 5)
	answered(t, get(t, k.Server, "/api/v1/dlq"), 200, `"queue": "DLQ.q"`, `"ready": 5`)
	page := get(t, k.Server, "/api/v1/dlq/messages?queue=DLQ.q&limit=2&body=10")
	answered(t, page, 200, `"origin": "/queue/q"`, `"reason": "rejected"`, `"detail": "why"`, `"body": "m0"`, `"next": "`)
	id := regexp.MustCompile(`"id": "([^"]+)"`).FindStringSubmatch(page.Body.String())[1]
	answered(t, get(t, k.Server, "/api/v1/dlq/messages?queue=DLQ.q&id="+id+"&body=1"), 200, `"body": "m"`)
	answered(t, post(t, k.Server, "/api/v1/dlq/retry", `{"queue": "DLQ.q", "id": "`+id+`"}`), 200, `"changed": 1`)
	answered(t, post(t, k.Server, "/api/v1/dlq/retry", `{"queue": "DLQ.q", "id": "`+id+`"}`), 404, "no dead letter")
	answered(t, post(t, k.Server, "/api/v1/dlq/retry", `{"queue": "DLQ.q", "reason": "rejected", "limit": 1, "to": "/queue/x"}`), 200, `"changed": 1`, `"next": "`)
	answered(t, get(t, k.Server, "/api/v1/dlq/messages?queue=DLQ.q&selector=JMSPriority+%3E+4"), 200, `"items": []`)
	answered(t, post(t, k.Server, "/api/v1/dlq/purge", `{"queue": "DLQ.q", "selector": "JMSPriority > 4"}`), 200, `"changed": 0`)
	answered(t, post(t, k.Server, "/api/v1/dlq/purge", `{"queue": "DLQ.q", "origin": "/queue/q"}`), 200, `"changed": 3`)
	answered(t, post(t, k.Server, "/api/v1/dlq/purge", `{"queue": "DLQ.q", "all": true}`), 200, `"changed": 0`)
	answered(t, get(t, k.Server, "/metrics"), 200, "footfall_dead_letters_retried_total 2\n", `footfall_messages_dead_lettered_total{reason="rejected"} 5`)
}

func TestWrongRequestsAboutDeadLettersAreRefused(t *testing.T) {
	k := keep(t)
	k.bury(t, 1)
	for _, target := range []string{
		"/api/v1/dlq/messages", "/api/v1/dlq/messages?queue=", "/api/v1/dlq/messages?queue=DLQ.q&limit=0", "/api/v1/dlq/messages?queue=DLQ.q&where=x",
		"/api/v1/dlq/messages?queue=DLQ.q&selector=x+%3D", "/api/v1/dlq/messages?queue=DLQ.q&cursor=x", "/api/v1/dlq/messages?queue=DLQ.q&queue=x", "/api/v1/dlq/messages?queue=DLQ.q&body=65537",
	} {
		if w := get(t, k.Server, target); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	answered(t, get(t, k.Server, "/api/v1/dlq/messages?queue=none"), 404, "no queue")
	for _, body := range []string{
		`{}`, `{"queue": "DLQ.q"}`, `{"queue": "DLQ.q", "all": true, "id": "4.1"}`, `{"queue": "DLQ.q", "all": true, "more": 1}`, `{"queue": "DLQ.q", "all": true, "to": "x"}`,
		`{"queue": "DLQ.q", "all": true, "limit": 1001}`, `[]`, `{"queue": "DLQ.q", "all": true} {}`,
	} {
		for _, action := range []string{"retry", "purge"} {
			if w := post(t, k.Server, "/api/v1/dlq/"+action, body); w.Code != http.StatusBadRequest {
				t.Errorf("%s %s: %d %s", action, body, w.Code, w.Body)
			}
		}
	}
	answered(t, post(t, k.Server, "/api/v1/dlq/purge", `{"queue": "none", "all": true}`), 404, "no queue")
	answered(t, get(t, k.Server, "/api/v1/dlq"), 200, `"ready": 1`)
}
