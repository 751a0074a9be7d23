package admin

import (
	"strings"
	"testing"

	"footfall/broker"
)

// subscribe makes a durable subscription of the session.
func (k *kept) subscribe(t *testing.T, key, topic string, name broker.SubscriptionName) {
	t.Helper()
	k.submit(t, broker.Op{Kind: broker.OpSubscribe, Subscribe: &broker.SubscribeOp{ID: key, Text: topic, From: broker.Address{Kind: broker.Topic, Name: topic}, Durable: name, Mode: broker.AckIndividual}})
}

// submit carries out an operation and waits for its receipt.
func (k *kept) submit(t *testing.T, op broker.Op) {
	t.Helper()
	op.WantReceipt, op.Receipt = true, "r"
	if err := k.conn.Submit(&broker.Request{Ops: []broker.Op{op}}); err != nil {
		t.Fatal(err)
	}
	for o := range k.outs {
		if o.Kind == broker.OutputReceipt {
			return
		}
	}
}

func TestDurableSubscriptionsOverHTTP(t *testing.T) {
	k := keep(t)
	for _, n := range []broker.SubscriptionName{{Owner: "c", Name: "a"}, {Owner: "c", Name: "b"}, {Owner: "d:x", Name: "sl/a sh"}} {
		k.subscribe(t, n.String(), "t", n)
	}
	k.submit(t, broker.Op{Kind: broker.OpUnsubscribe, Sub: "c:a"})
	k.submit(t, broker.Op{Kind: broker.OpUnsubscribe, Sub: "d%3Ax:sl/a sh"})
	k.submit(t, broker.Op{Kind: broker.OpSend, To: broker.Address{Kind: broker.Topic, Name: "t"}, Message: &broker.Message{Body: []byte("m"), Persistent: true}})

	page := read[subscriptionPage](t, k.do(t, 200, "GET", "/api/v1/subscriptions?limit=2", ""))
	if len(page.Items) != 2 || page.Next != "c:b" {
		t.Fatalf("%+v", page)
	}
	if a, b := page.Items[0], page.Items[1]; a.Ready != 1 || len(a.Consumers) != 0 || a.Topic != "/topic/t" || b.Unacked != 1 || len(b.Consumers) != 1 || b.Consumers[0].Unacked != 1 {
		t.Errorf("%+v", page.Items)
	}
	page = read[subscriptionPage](t, k.do(t, 200, "GET", "/api/v1/subscriptions?cursor=c:b&topic=/topic/t", ""))
	if len(page.Items) != 1 || page.Next != "" {
		t.Fatalf("%+v", page)
	}
	last := page.Items[0]
	for _, c := range []struct {
		method, path string
		code         int
		want         string
	}{
		{"GET", last.Href, 200, `"name": "sl/a sh"`},
		{"GET", "/api/v1/subscriptions?topic=/topic/other", 200, `"items": []`},
		{"GET", "/api/v1/subscriptions?topic=/queue/t", 400, "topic must be"},
		{"GET", "/api/v1/subscriptions?limit=1001", 400, "limit"},
		{"GET", "/api/v1/subscriptions?colour=red", 400, "no such parameter"},
		{"GET", "/api/v1/subscriptions/c:none", 404, "no durable subscription"},
		{"GET", "/api/v1/subscriptions/nobody", 404, "OWNER:NAME"},
		{"PUT", "/api/v1/subscriptions/c:a", 405, "method"},
		{"DELETE", "/api/v1/subscriptions/c:b", 409, "has a consumer"},
		{"DELETE", "/api/v1/subscriptions/c:b?force=maybe", 400, "force"},
		{"DELETE", last.Href, 200, `"deleted": true`},
		{"DELETE", last.Href, 404, "no durable subscription"},
		{"DELETE", "/api/v1/subscriptions/c:b?force=true", 200, `"deleted": true`},
		{"GET", "/api/v1/subscriptions/c:b", 404, "no durable subscription"},
	} {
		if body := k.do(t, c.code, c.method, c.path, ""); !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %s does not say %s", c.method, c.path, body, c.want)
		}
	}
	for o := range k.outs { // whose subscription was taken away is told so
		if o.Kind == broker.OutputError {
			if !strings.Contains(o.Err.Message, `"c:b" was deleted by an operator`) {
				t.Errorf("told %q", o.Err.Message)
			}
			return
		}
	}
}
