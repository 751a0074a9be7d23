//go:build linux

package integration

import (
	"testing"

	"footfall/frames"
)

// TestRefusedMessagesSurviveAKill refuses two messages, with a delay and for good, and kills the broker when both are answered: each is in
// one place afterwards, with its count, and the one that waits comes in time.
func TestRefusedMessagesSurviveAKill(t *testing.T) {
	p := start(t, launch{})
	w := session(t, p)
	for _, body := range []string{"later", "never", "behind"} {
		w.must(t, frames.Send, body, "destination", "/queue/q", "redelivery-limit", "3")
	}
	if err := w.send(frames.Subscribe, "", "id", "s", "destination", "/queue/q", "ack", "client-individual"); err != nil {
		t.Fatal(err)
	}
	later, never := w.expect(t, frames.Message), w.expect(t, frames.Message)
	w.expect(t, frames.Message)
	w.must(t, frames.Nack, "", "id", later.get("ack"), "delay", "1500")
	w.must(t, frames.Nack, "", "id", never.get("ack"), "requeue", "false", "reason", "no such customer")
	p.kill()
	requireSoundStore(t, p.launch.dir)
	p = p.again()

	w = session(t, p)
	defer w.close()
	for _, q := range []string{"q", "DLQ.q"} {
		if err := w.send(frames.Subscribe, "", "id", q, "destination", "/queue/"+q, "ack", "client"); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]answer{}
	for range 3 {
		a := w.expect(t, frames.Message)
		got[a.body] = a
	}
	if a := got["later"]; a.get("redelivered") != "true" || a.get("JMSXDeliveryCount") != "1" || a.get("message-id") != later.get("message-id") {
		t.Errorf("the refused message came as %v", a)
	}
	if a := got["never"]; a.get("subscription") != "DLQ.q" || a.get("dead-letter-reason") != "rejected" || a.get("dead-letter-detail") != "no such customer" ||
		a.get("original-destination") != "/queue/q" || a.get("message-id") != never.get("message-id") {
		t.Errorf("the dead letter came as %v", a)
	}
	if a := got["behind"]; a.get("subscription") != "q" {
		t.Errorf("the message behind came as %v", a)
	}
}
