package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"footfall/cmd/footfall/internal/client"
	"footfall/cmd/footfall/internal/client/clienttest"
	"footfall/frames"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const connected = "CONNECTED\nversion:1.2\n\n\x00\n"

func dial(t *testing.T, address string) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Options{Address: address, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Abort)
	return c
}

func TestLoginIsLiteralAndFramesAreEscaped(t *testing.T) {
	address, heard := clienttest.Peer(t, connected, "")
	c, err := client.Dial(t.Context(), client.Options{Address: address, Login: "a:b", Passcode: `c\d`})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Abort()
	c.Queue(frames.Send, []client.Pair{{Name: "k:1", Value: "a\nb\\"}}, []byte("body"))
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := <-heard
	if want := "CONNECT\naccept-version:1.2\nhost:127.0.0.1\nheart-beat:0,0\nlogin:a:b\npasscode:c\\d"; list[0] != want {
		t.Errorf("expected %q; saw %q", want, list[0])
	}
	if want := "SEND\nk\\c1:a\\nb\\\\\ncontent-length:4\n\nbody"; list[1] != want {
		t.Errorf("expected %q; saw %q", want, list[1])
	}
}

func TestDialErrors(t *testing.T) {
	rows := []struct{ says, want string }{
		{"ERROR\nmessage:go away\n\n\x00", "the broker refused: go away"},
		{"ERROR\n\nno header\n\x00", "the broker refused: no header"},
		{"CONNECTED\nversion:1.1\n\n\x00", `the server speaks STOMP "1.1", not 1.2`},
		{"HTTP/1.1 400 Bad Request\r\n\r\n", "the server does not speak STOMP"},
		{"", "the broker closed the connection"},
	}
	for _, row := range rows {
		address, heard := clienttest.Peer(t, row.says)
		_, err := client.Dial(t.Context(), client.Options{Address: address})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: expected %q; saw %v", row.says, row.want, err)
		}
		<-heard
	}
	if _, err := client.Dial(t.Context(), client.Options{Address: "127.0.0.1:1", Login: "x"}); err == nil {
		t.Error("expected nobody there")
	}
	address, _ := clienttest.Peer(t, connected)
	if _, err := client.Dial(t.Context(), client.Options{Address: address, Login: "a\nb"}); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a login that would be two headers: %v", err)
	}
}

func TestMessagesThatComeBeforeAReceiptAreKept(t *testing.T) {
	address, heard := clienttest.Peer(t, connected,
		"MESSAGE\nmessage-id:1\n\none\x00\n\nRECEIPT\nreceipt-id:other\n\n\x00MESSAGE\nmessage-id:2\n\ntwo\x00RECEIPT\nreceipt-id:r\n\n\x00MESSAGE\nmessage-id:3\n\nthree\x00")
	c := dial(t, address)
	c.Queue(frames.Subscribe, []client.Pair{{Name: "receipt", Value: "r"}}, nil)
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f, err := c.Receipt(t.Context(), "r"); err != nil || f.Get("receipt-id") != "r" || f.Get("none") != "" {
		t.Fatalf("saw %v, %v", f, err)
	}
	for _, want := range []string{"one", "two", "three"} {
		if f, err := c.Read(t.Context()); err != nil || string(f.Body) != want {
			t.Errorf("expected %q; saw %v, %v", want, f, err)
		}
	}
	if _, err := c.Read(t.Context()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("saw %v", err)
	}
	<-heard
}

func TestAReadThatWasEndedByItsContextCanBeTriedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, _ = io.WriteString(conn, connected+"MESSAGE\nmessage-")
			accepted <- conn
		}
	}()
	c := dial(t, l.Addr().String())
	conn := <-accepted
	defer conn.Close()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := c.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("saw %v", err)
		}
		cancel()
	}
	if _, err := io.WriteString(conn, "id:1\n\nbody\x00"); err != nil {
		t.Fatal(err)
	}
	if f, err := c.Read(t.Context()); err != nil || f.Get("message-id") != "1" || string(f.Body) != "body" {
		t.Errorf("saw %v, %v", f, err)
	}
}
