package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"footfall/cmd/footfall/internal/cli"
	"footfall/cmd/footfall/internal/client/clienttest"
)

// carried is a line of receive -o json.
type carried struct {
	MessageID string `json:"message_id"`
	Headers   [][2]string
	Body      *string
	Base64    []byte `json:"body_base64"`
}

// take receives n messages.
func take(t *testing.T, s *serving, destination, n string) []carried {
	t.Helper()
	out := run(t, "", s.env(), "receive", destination, "--count", n, "--timeout", "5s", "-o", "json").expect(t, 0, "").stdout
	var list []carried
	for line := range strings.Lines(out) {
		var c carried
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// empty demands that nothing waits.
func empty(t *testing.T, s *serving, destination string) {
	t.Helper()
	run(t, "", s.env(), "receive", destination, "--count", "1", "--timeout", "50ms").expect(t, 6, "0 of 1 messages")
}

func TestATransferKeepsWhatAMessageIs(t *testing.T) {
	old, s := serve(t, t.TempDir()), serve(t, t.TempDir())
	run(t, "", old.env(), "send", "/queue/a", "first", "--header", "color=red", "--header", "a b=c:d\\e", "--header", "message-id=ID:x-1", "--header", "JMSXGroupID=g",
		"--header", "expires=0", "--header", "color=blue", "--header", "reply-to=/queue/answers").expect(t, 0, "confirmed")
	run(t, "bin\x00\xff", old.env(), "send", "/queue/a", "--persistent=false", "--header", "reply-to=/temp-queue/x").expect(t, 0, "confirmed")
	run(t, "", old.env(), "send", "/queue/a", "late", "--delay", "1ms").expect(t, 0, "scheduled")
	run(t, "", old.env(), "receive", "/queue/a", "--header", "browser=true", "--ack", "auto", "--count", "4").expect(t, 0, "late") // all is there

	run(t, "", s.env(), "transfer", "/queue/a", "/queue/b", "--from", old.stomp, "--timeout", "100ms").
		expect(t, 0, "moved 3 messages from /queue/a at "+old.stomp+" to /queue/b\n")
	empty(t, old, "/queue/a")
	got := take(t, s, "/queue/b", "3")
	for _, h := range [][2]string{{"color", "red"}, {"color", "blue"}, {"a b", "c:d\\e"}, {"message-id", "ID:x-1"}, {"JMSXGroupID", "g"}, {"expires", "0"}, {"reply-to", "/queue/answers"}} {
		if !slices.Contains(got[0].Headers, h) {
			t.Errorf("%q is not in %q", h, got[0].Headers)
		}
	}
	if got[0].Body == nil || *got[0].Body != "first" || string(got[1].Base64) != "bin\x00\xff" || got[2].Body == nil || *got[2].Body != "late" {
		t.Errorf("saw %+v", got)
	}
	if !slices.Contains(got[1].Headers, [2]string{"persistent", "false"}) || slices.ContainsFunc(got[1].Headers, func(h [2]string) bool { return h[0] == "reply-to" }) {
		t.Errorf("saw %q", got[1].Headers)
	}
	for _, c := range got {
		for _, h := range c.Headers {
			if h[0] == "redelivered" || h[0] == "deliver-at" || h[0] == "scheduledJobId" {
				t.Errorf("%s: %s", h[0], h[1])
			}
		}
	}
	old.end(t)
	s.end(t)
}

func TestATransferOfManyKeepsTheirOrder(t *testing.T) {
	old, s := serve(t, t.TempDir()), serve(t, t.TempDir())
	for _, body := range []string{"a", "b", "c"} {
		run(t, "", old.env(), "send", "/queue/a", body, "--count", "70").expect(t, 0, "confirmed")
	}
	run(t, "", s.env(), "transfer", "/queue/a", "--from", old.stomp, "--timeout", "100ms", "-o", "json").expect(t, 0, `"messages": 210`)
	got := run(t, "", s.env(), "receive", "/queue/a", "--count", "210", "--timeout", "5s").expect(t, 0, "").stdout
	if want := strings.Repeat("a\n", 70) + strings.Repeat("b\n", 70) + strings.Repeat("c\n", 70); got != want {
		t.Errorf("saw %q", got)
	}
	old.end(t)
	s.end(t)
}

// TestWhatIsRefusedStaysWhereItWas has a message in the middle of a batch that the new broker does not take.
func TestWhatIsRefusedStaysWhereItWas(t *testing.T) {
	old := serve(t, t.TempDir())
	s := serve(t, t.TempDir(), "--set", `destinations=[{"match": "/queue/a", "max-message-size": "1KiB"}]`)
	for _, body := range []string{"small", strings.Repeat("x", 2000), "behind"} {
		run(t, "", old.env(), "send", "/queue/a", body).expect(t, 0, "confirmed")
	}
	r := run(t, "", s.env(), "transfer", "/queue/a", "--from", old.stomp, "--timeout", "100ms").expect(t, 1, "the broker refused: ")
	if !strings.Contains(r.stdout, "moved 1 message ") {
		t.Errorf("saw %q", r.stdout)
	}
	if got := take(t, s, "/queue/a", "1"); *got[0].Body != "small" {
		t.Errorf("saw %+v", got)
	}
	empty(t, s, "/queue/a")
	if got := take(t, old, "/queue/a", "2"); len(*got[0].Body) != 2000 || *got[1].Body != "behind" {
		t.Errorf("what was not taken is not where it was, in order: %+v", got)
	}
	empty(t, old, "/queue/a")
	old.end(t)
	s.end(t)
}

func TestATransferTakesWhatItIsAskedFor(t *testing.T) {
	old, s := serve(t, t.TempDir()), serve(t, t.TempDir())
	for _, color := range []string{"red", "blue"} {
		run(t, "", old.env(), "send", "/queue/a", color, "--header", "color="+color).expect(t, 0, "confirmed")
	}
	run(t, "", s.env(), "transfer", "/queue/a", "--from", old.stomp, "--timeout", "100ms", "--selector", "color = 'blue'").expect(t, 0, "moved 1 message ")
	if got := take(t, old, "/queue/a", "1"); *got[0].Body != "red" {
		t.Errorf("saw %+v", got)
	}
	run(t, "", s.env(), "transfer", "/queue/a").expect(t, 2, "flag --from")
	run(t, "", s.env(), "transfer", "/queue/a", "--from", old.stomp, "--timeout", "0s").expect(t, 2, "flag --timeout")
	run(t, "", s.env(), "transfer", "/queue/a", "--from", old.stomp, "--header", "x").expect(t, 2, "flag --header")
	run(t, "", s.env(), "transfer", "/queue/a", "--from", "127.0.0.1:1").expect(t, 6, "cannot connect to 127.0.0.1:1")
	run(t, "", s.env(), "transfer", "/x/a", "--from", old.stomp).expect(t, 1, "the broker refused: ")
	old.end(t)
	s.end(t)
}

func TestATransferSpeaksToOtherBrokers(t *testing.T) {
	passcode := filepath.Join(t.TempDir(), "passcode")
	if err := os.WriteFile(passcode, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]struct{ flags, env []string }{
		"file":        {flags: []string{"--from-passcode-file", passcode}},
		"environment": {env: []string{"FOOTFALL_FROM_PASSCODE=secret"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, t.TempDir())
			address, heard := clienttest.Peer(t,
				"CONNECTED\nversion:1.2\nserver:RabbitMQ/4.2.0\nheart-beat:0,0\n\n\x00\n",
				"MESSAGE\nsubscription:0\ndestination:/amq/queue/a\nmessage-id:T_0@@session-x@@1\nredelivered:true\nack:T_0@@session-x@@1\n"+
					"x-delay:-5000\nreply-to:/reply-queue/stomp.x\npersistent:true\ntimestamp:1700000000\nx-first-death-queue:b\ncontent-length:2\n\nhi\x00\n",
				"", "RECEIPT\nreceipt-id:goodbye\n\n\x00\n")
			args := []string{"transfer", "/amq/queue/a", "/queue/a", "--from", address, "--from-host", "/shop", "--from-login", "me", "--header", "x-priority=9", "--timeout", "50ms"}
			run(t, "", append(s.env(), from.env...), append(args, from.flags...)...).expect(t, 0, "moved 1 message ")
			want := []string{
				"CONNECT\naccept-version:1.2\nhost:/shop\nheart-beat:0,0\nlogin:me\npasscode:secret",
				"SUBSCRIBE\nid:0\ndestination:/amq/queue/a\nack:client-individual\nprefetch-count:100\nx-priority:9",
				"ACK\nid:T_0@@session-x@@1",
				"DISCONNECT\nreceipt:goodbye",
			}
			if got := <-heard; !slices.Equal(got, want) {
				t.Errorf("the other broker was told\n%q, not\n%q", got, want)
			}
			got := take(t, s, "/queue/a", "1")
			var names []string
			for _, h := range got[0].Headers {
				names = append(names, h[0])
			}
			// No delay that is over, no reply to nobody, nothing that only the broker may say.
			if want := []string{"content-length", "destination", "message-id", "subscription", "ack", "persistent", "timestamp", "old-x-first-death-queue"}; !slices.Equal(names, want) || got[0].MessageID == "T_0@@session-x@@1" {
				t.Errorf("saw %q", got[0].Headers)
			}
			s.end(t)
		})
	}
}

// TestATransferThatIsInterruptedFinishesWhatItBegan interrupts one that waits.
func TestATransferThatIsInterruptedFinishesWhatItBegan(t *testing.T) {
	old, s := serve(t, t.TempDir()), serve(t, t.TempDir())
	run(t, "", old.env(), "send", "/queue/a", "x").expect(t, 0, "confirmed")
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	done := make(chan int, 1)
	go func() {
		done <- cli.Run(ctx, []string{"transfer", "/queue/a", "--from", old.stomp, "--timeout", "1m"}, strings.NewReader(""), &out, io.Discard, s.env())
	}()
	take(t, s, "/queue/a", "1") // it was moved, and the transfer waits for more
	cancel()
	if code := <-done; code != 0 || !strings.HasPrefix(out.String(), "moved 1 message ") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
	empty(t, old, "/queue/a")
	empty(t, s, "/queue/a")
	old.end(t)
	s.end(t)
}
