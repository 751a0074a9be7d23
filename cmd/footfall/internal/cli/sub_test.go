package cli_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// subscribe makes a durable subscription of a client-id and stays connected until the function is called.
func subscribe(t *testing.T, s *serving, client, name, topic string) (leave func()) {
	t.Helper()
	c, err := net.Dial("tcp", s.stomp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	in := bufio.NewReader(c)
	ask := func(frame, until string) {
		if _, err := io.WriteString(c, frame); err != nil {
			t.Fatal(err)
		}
		for line := ""; line != until+"\n"; {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask("CONNECT\naccept-version:1.2\nclient-id:"+client+"\n\n\x00", "CONNECTED")
	ask("SUBSCRIBE\nid:1\ndestination:"+topic+"\ndurable-subscription-name:"+name+"\nreceipt:s\n\n\x00", "receipt-id:s")
	return func() {
		ask("DISCONNECT\nreceipt:d\n\n\x00", "receipt-id:d")
		_ = c.Close()
	}
}

func TestDurableSubscriptionsAreListedShownAndDeleted(t *testing.T) {
	s := serve(t, t.TempDir())
	env := s.scheduleEnv()
	subscribe(t, s, "billing", "invoices", "/topic/a")()
	subscribe(t, s, "billing", "evil\u202ename", "/topic/b")()
	subscribe(t, s, "shop", "live", "/topic/a") // and stays
	run(t, "", s.env(), "send", "/topic/a", "hello").expect(t, 0, "")

	got := run(t, "", env, "sub", "list").expect(t, 0, "SUBSCRIPTION").stdout
	for _, want := range []string{"billing:invoices", `billing:evil\u202ename`, "shop:live", "/topic/b"} {
		if !strings.Contains(got, want) {
			t.Errorf("expected %s in\n%s", want, got)
		}
	}
	got = run(t, "", env, "sub", "list", "--topic", "/topic/a", "-o", "json").expect(t, 0, `"id": "billing:invoices"`).stdout
	if strings.Contains(got, "/topic/b") {
		t.Errorf("another topic in %s", got)
	}
	run(t, "", env, "sub", "list", "--limit", "1").expect(t, 0, "billing")
	run(t, "", env, "sub", "list", "--topic", "/queue/a").expect(t, 2, "topic must be")
	run(t, "", env, "sub", "show", "billing:invoices").expect(t, 0, "1 messages")
	run(t, "", env, "sub", "show", "shop:live", "-o", "json").expect(t, 0, `"client_id": "shop"`)
	run(t, "", env, "sub", "show", "no:body").expect(t, 3, "there is no durable subscription")
	run(t, "", env, "sub", "show", "nobody").expect(t, 3, "OWNER:NAME")

	run(t, "", env, "sub", "delete", "billing:invoices").expect(t, 2, "--yes")
	run(t, "", env, "sub", "delete", "--dry-run", "billing:invoices").expect(t, 0, "billing:invoices")
	run(t, "", env, "sub", "delete", "--yes", "billing:invoices").expect(t, 0, "deleted billing:invoices\n")
	run(t, "", env, "sub", "delete", "--yes", "billing:invoices").expect(t, 3, "there is no durable subscription")
	run(t, "", env, "sub", "delete", "--yes", "shop:live").expect(t, 1, "has a consumer")
	run(t, "", env, "sub", "delete", "--yes", "--force", "-o", "json", "shop:live").expect(t, 0, `{"id":"shop:live","deleted":true}`)
	s.end(t)
}
