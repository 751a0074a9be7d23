package admin

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"footfall/broker"
)

// fill makes /queue/q with so many messages, a consumer of it that has one, and a durable subscription of /topic/t that has one.
func (k *kept) fill(t *testing.T, n int) {
	t.Helper()
	q, topic := broker.Address{Kind: broker.Queue, Name: "q"}, broker.Address{Kind: broker.Topic, Name: "t"}
	ops := []broker.Op{
		{Kind: broker.OpSubscribe, Subscribe: &broker.SubscribeOp{ID: "d", From: topic, Mode: broker.AckClient, Durable: broker.SubscriptionName{Owner: "o", Name: "d"}}},
		{Kind: broker.OpSubscribe, Subscribe: &broker.SubscribeOp{ID: "s", From: q, Mode: broker.AckClient, Window: 1}},
		{Kind: broker.OpSend, To: topic, Message: text("news", time.Time{})},
	}
	for i := range n {
		ops = append(ops, broker.Op{Kind: broker.OpSend, To: q, Message: text(fmt.Sprint("m", i), time.Time{})})
	}
	if err := k.conn.Submit(&broker.Request{Ops: append(ops, broker.Op{Kind: broker.OpReceipt, WantReceipt: true, Receipt: "f"})}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-k.outs
	}
}

func TestDestinationsAreManagedOverHTTP(t *testing.T) {
	k := keep(t)
	k.fill(t, 3)
	s := k.Server
	answered(t, get(t, s, "/api/v1/destinations?kind=queue&name=q&sort=ready"), 200, `"total": 1`, `"destination": "/queue/q"`, `"ready": 2`)
	answered(t, get(t, s, "/api/v1/destinations?kind=topic"), 200, `"destination": "/topic/t"`)
	answered(t, get(t, s, "/api/v1/destinations/show?destination=/queue/q"), 200, `"paused": []`, `"unacked": 1`, `"kept": true`)
	answered(t, post(t, s, "/api/v1/destinations/make", `{"destination": "/queue/new"}`), 200, `"made": true`)
	answered(t, post(t, s, "/api/v1/destinations/make", `{"destination": "/queue/new"}`), 200, `"made": false`)
	answered(t, post(t, s, "/api/v1/destinations/pause", `{"destination": "/queue/q", "paused": ["production"]}`), 200, `"production"`)
	answered(t, post(t, s, "/api/v1/destinations/pause", `{"destination": "/queue/q", "paused": ["consumption"]}`), 200, `"production"`, `"consumption"`)
	answered(t, get(t, s, "/api/v1/destinations/show?destination=/queue/q"), 200, `"production"`, `"consumption"`)
	answered(t, post(t, s, "/api/v1/destinations/resume", `{"destination": "/queue/q", "paused": ["all"]}`), 200, `"paused": []`)
	answered(t, post(t, s, "/api/v1/destinations/delete", `{"destination": "/queue/q", "if_unused": true}`), 409, `"code": "in_use"`, "1 consumers")
	answered(t, post(t, s, "/api/v1/destinations/delete", `{"destination": "/queue/q", "if_empty": true}`), 409, "3 messages")
	answered(t, post(t, s, "/api/v1/destinations/delete", `{"destination": "/queue/q"}`), 200, `"messages": 3`, `"consumers": 1`)
	answered(t, post(t, s, "/api/v1/destinations/delete", `{"destination": "/queue/q"}`), 404, `"code": "not_found"`)
	answered(t, get(t, s, "/metrics"), 200, "footfall_destinations_deleted_total 1\n")
}

func TestMessagesAreManagedOverHTTP(t *testing.T) {
	k := keep(t)
	k.fill(t, 4)
	s := k.Server
	w := get(t, s, "/api/v1/messages?from=/queue/q&limit=2&body=10")
	answered(t, w, 200, `"body": "m0"`, `"unacked": true`, `"body": "m1"`, `"next": "`, `"name": "a:b"`)
	var p messagePage
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	id := p.Items[1].ID
	answered(t, get(t, s, "/api/v1/messages?from=/dsub/o:d&body=10"), 200, `"body": "news"`)
	answered(t, get(t, s, "/api/v1/messages?from=/queue/q&id="+id+"&body=1"), 200, `"body": "m"`)
	answered(t, post(t, s, "/api/v1/messages/copy", `{"from": "/queue/q", "id": "`+id+`", "to": "/queue/r"}`), 200, `"changed": 1`)
	answered(t, post(t, s, "/api/v1/messages/move", `{"from": "/queue/q", "id": "`+id+`", "to": "/queue/r"}`), 200, `"changed": 1`)
	answered(t, post(t, s, "/api/v1/messages/move", `{"from": "/queue/q", "id": "`+id+`", "to": "/queue/r"}`), 404, "no message")
	answered(t, post(t, s, "/api/v1/messages/delete", `{"from": "/queue/r", "selector": "JMSPriority = 4"}`), 200, `"changed": 2`)
	answered(t, post(t, s, "/api/v1/messages/delete", `{"from": "/queue/q", "all": true}`), 200, `"changed": 2`, `"unacked": 1`)
}

func TestConnectionsAreManagedOverHTTP(t *testing.T) {
	k := keep(t)
	k.fill(t, 1)
	s := k.Server
	answered(t, get(t, s, "/api/v1/connections"), 200, `"id": "1"`, `"subscriptions": 2`, `"unacked": 2`)
	answered(t, get(t, s, "/api/v1/connections/show?id=1"), 200, `"id": "1"`)
	answered(t, get(t, s, "/api/v1/consumers?destination=/queue/q"), 200, `"subscription": "s"`, `"ack": "client"`, `"window": 1`)
	answered(t, get(t, s, "/api/v1/consumers?destination=/dsub/o:d"), 200, `"subscription": "d"`)
	answered(t, post(t, s, "/api/v1/connections/close", `{"id": "1", "reason": "why"}`), 200, `"id": "1"`)
	if o := <-k.outs; o.Kind != broker.OutputError || !strings.Contains(o.Err.Message, "why") {
		t.Errorf("it got %+v", o)
	}
	answered(t, post(t, s, "/api/v1/connections/close", `{"id": "1"}`), 404, `"code": "not_found"`)
}

func TestWrongRequestsNameTheField(t *testing.T) {
	k := keep(t)
	k.fill(t, 1)
	for target, field := range map[string]string{
		"/api/v1/destinations?limit=0": "limit", "/api/v1/destinations?kind=x": "kind", "/api/v1/destinations?limit=1&limit=2": "limit",
		"/api/v1/destinations/show": "destination", "/api/v1/destinations/show?destination=q": "destination",
		"/api/v1/messages": "from", "/api/v1/messages?from=/topic/t": "from", "/api/v1/messages?from=/queue/q&body=65537": "body", "/api/v1/messages?from=/queue/q&selector=x+%3D": "selector",
		"/api/v1/connections?cursor=x": "cursor", "/api/v1/connections/show": "id", "/api/v1/consumers?destination=x": "destination",
	} {
		answered(t, get(t, k.Server, target), 400, `"code": "bad_request"`, `"field": "`+field+`"`)
	}
	for document, field := range map[string]string{
		`destinations/make {"destination": "x"}`: "destination", `destinations/make {"destination": "/queue/x", "if_empty": true}`: "if_unused",
		`destinations/pause {"destination": "/queue/q"}`: "paused", `destinations/pause {"destination": "/queue/q", "paused": ["x"]}`: "paused",
		`destinations/delete {"destination": "/queue/q", "paused": ["all"]}`: "paused",
		`messages/move {"from": "/queue/q", "all": true}`:                    "to", `messages/delete {"from": "/queue/q", "all": true, "to": "/queue/x"}`: "to",
		`messages/delete {"from": "/queue/q"}`: "id", `messages/delete {"from": "/queue/q", "all": true, "selector": "a = 1"}`: "id", `messages/copy {"all": true, "to": "/queue/x"}`: "from",
		`connections/close {"id": "x"}`: "id",
	} {
		path, body, _ := strings.Cut(document, " ")
		answered(t, post(t, k.Server, "/api/v1/"+path, body), 400, `"code": "bad_request"`, `"field": "`+field+`"`)
	}
	answered(t, get(t, k.Server, "/api/v1/nothing"), 404, `"code": "not_found"`)
	w := post(t, k.Server, "/api/v1/destinations", "{}")
	answered(t, w, 405, `"code": "method_not_allowed"`)
	if w.Header().Get("Allow") != "GET" {
		t.Errorf("Allow is %q", w.Header().Get("Allow"))
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/destinations/make", strings.NewReader("{}"))
	w = httptest.NewRecorder()
	k.ServeHTTP(w, r)
	answered(t, w, 415, `"code": "unsupported_media_type"`)
}

// TestTheOpenAPIDocumentIsTrue asks for every operation in the document, and holds each answer against its schema.
func TestTheOpenAPIDocumentIsTrue(t *testing.T) {
	k := keep(t)
	k.bury(t, 2)
	k.fill(t, 3)
	k.send(t, broker.Address{Kind: broker.Queue, Name: "later"}, called(text("x", time.Now().Add(time.Hour)), "n"))
	w := get(t, k.Server, "/api/v1/openapi.json")
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]openOperation
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatal(err, w.Body)
	}
	samples := map[string]struct {
		query, body string
		status      int
	}{
		"GET /api/v1/destinations/show":         {"?destination=/queue/q", "", 200},
		"GET /api/v1/messages":                  {"?from=/queue/q&body=5", "", 200},
		"GET /api/v1/connections/show":          {"?id=1", "", 200},
		"GET /api/v1/dlq/messages":              {"?queue=DLQ.q&body=5", "", 200},
		"POST /api/v1/reload":                   {"", "", 404},
		"POST /api/v1/destinations/make":        {"", `{"destination": "/queue/made"}`, 200},
		"POST /api/v1/destinations/pause":       {"", `{"destination": "/queue/q", "paused": ["all"]}`, 200},
		"POST /api/v1/destinations/resume":      {"", `{"destination": "/queue/q", "paused": ["all"]}`, 200},
		"POST /api/v1/destinations/delete":      {"", `{"destination": "/queue/none"}`, 404},
		"POST /api/v1/messages/copy":            {"", `{"from": "/queue/q", "all": true, "to": "/queue/r"}`, 200},
		"POST /api/v1/messages/move":            {"", `{"from": "/queue/r", "all": true, "to": "/queue/s"}`, 200},
		"POST /api/v1/messages/delete":          {"", `{"from": "/queue/none", "all": true}`, 404},
		"POST /api/v1/connections/close":        {"", `{"id": "77"}`, 404},
		"POST /api/v1/dlq/retry":                {"", `{"queue": "DLQ.q", "all": true, "limit": 1}`, 200},
		"POST /api/v1/dlq/purge":                {"", `{"queue": "none", "all": true}`, 404},
		"GET " + subscriptionPrefix + "{id}":    {"o:d", "", 200},
		"DELETE " + subscriptionPrefix + "{id}": {"o:d", "", 409},
		"GET " + scheduledPrefix + "{id}":       {"n", "", 200},
		"PATCH " + scheduledPrefix + "{id}":     {"n", `{"deliver_at": 4102444800000}`, 200},
		"POST " + scheduledPrefix + "{id}/run":  {"none/run", "", 404},
		"DELETE " + scheduledPrefix + "{id}":    {"none", "", 404},
	}
	listed := map[string]bool{}
	ids := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for method, op := range doc.Paths[path] {
			name := strings.ToUpper(method) + " " + path
			listed[name] = true
			if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" {
				t.Errorf("%s has id %q and summary %q", name, op.OperationID, op.Summary)
			}
			ids[op.OperationID] = true
			sample, ok := samples[name]
			if !ok {
				sample.status = 200
			}
			delete(samples, name)
			target := path + sample.query
			if i := strings.Index(path, "{id}"); i >= 0 {
				target = path[:i] + sample.query
			}
			r := httptest.NewRequestWithContext(t.Context(), strings.ToUpper(method), target, strings.NewReader(sample.body))
			if sample.body != "" {
				r.Header.Set("Content-Type", "application/json")
				var document any
				if err := json.Unmarshal([]byte(sample.body), &document); err != nil {
					t.Fatal(err)
				}
				if err := fits(document, op.RequestBody.Content["application/json"].Schema, doc.Components.Schemas, "the body"); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			w := httptest.NewRecorder()
			k.ServeHTTP(w, r)
			response, described := op.Responses[fmt.Sprint(w.Code)]
			if w.Code != sample.status || !described {
				t.Errorf("%s answers %d, expected %d, of %v: %s", name, w.Code, sample.status, slices.Sorted(maps.Keys(op.Responses)), w.Body)
				continue
			}
			var answer any
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if err := fits(answer, response.Content["application/json"].Schema, doc.Components.Schemas, "the answer"); err != nil {
				t.Errorf("%s: %v in %s", name, err, w.Body)
			}
		}
	}
	if len(samples) > 0 {
		t.Errorf("the document does not have %v", slices.Sorted(maps.Keys(samples)))
	}
	for _, r := range k.routes() {
		if !listed[r.method+" "+r.path] {
			t.Errorf("the document does not have %s %s", r.method, r.path)
		}
	}
}

type openOperation struct {
	OperationID, Summary string
	RequestBody          openContent
	Responses            map[string]openContent
}

type openContent struct {
	Content map[string]struct{ Schema any }
}

// fits tells why a value is not of a schema, of those that the document has.
func fits(value, schema any, all map[string]any, where string) error {
	s, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("%s has no schema", where)
	}
	if ref, ok := s["$ref"].(string); ok {
		return fits(value, all[strings.TrimPrefix(ref, "#/components/schemas/")], all, where)
	}
	kind := "boolean"
	switch v := value.(type) {
	case bool:
	case string:
		kind = "string"
	case float64:
		kind = "number"
		if v == math.Trunc(v) && s["type"] == "integer" {
			kind = "integer"
		}
	case []any:
		kind = "array"
		for i, item := range v {
			if err := fits(item, s["items"], all, fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		kind = "object"
		properties, _ := s["properties"].(map[string]any)
		for name, item := range v {
			of := properties[name]
			if of == nil && s["additionalProperties"] != nil && s["additionalProperties"] != false {
				of = s["additionalProperties"]
			}
			if of == nil && properties == nil {
				continue // any object
			}
			if err := fits(item, of, all, where+"."+name); err != nil {
				return err
			}
		}
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				return fmt.Errorf("%s has no %s", where, name)
			}
		}
	default:
		kind = "null"
	}
	if types, several := s["type"].([]any); several {
		if slices.Contains(types, any(kind)) {
			return nil
		}
	} else if s["type"] == kind {
		return nil
	}
	return fmt.Errorf("%s is of type %s, not %v", where, kind, s["type"])
}
