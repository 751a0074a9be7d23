package node_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func program() node.Program {
	return node.Program{
		Version: "1", Log: slog.New(slog.DiscardHandler),
		Getenv: func(string) string { return "set" }, // leaves the collector of the tests alone
	}
}

func options(t *testing.T) node.Options {
	o := defaults(t)
	o.Store.Dir = t.TempDir()
	o.Stomp, o.Admin = []string{"127.0.0.1:0"}, "127.0.0.1:0"
	o.ShutdownTimeout = 5 * time.Second
	return o
}

func end(t *testing.T, n *node.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestEveryListenerServes(t *testing.T) {
	o := options(t)
	o.Stomp = []string{"127.0.0.1:0", "127.0.0.1:0"}
	n, err := node.Start(o, program())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range n.Stomp() {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "CONNECT\naccept-version:1.2\nhost:x\n\n\x00DISCONNECT\n\n\x00")
		said, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(said), "CONNECTED\n") {
			t.Errorf("saw %q, %v", said, err)
		}
		_ = conn.Close()
	}
	end(t, n)
}

func TestAWebSocketListenerServesAsItIsSet(t *testing.T) {
	o := options(t)
	o.WebSocket.Listen, o.WebSocket.Paths, o.WebSocket.Origins = []string{"127.0.0.1:0"}, []string{"/mine"}, []string{"https://app.example"}
	n, err := node.Start(o, program())
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, n)
	at := n.WebSockets()[0].String()
	for _, c := range []struct{ path, origin, status string }{
		{"/mine", "https://app.example", "101"}, {"/mine", "https://other.example", "403"}, {"/stomp", "https://app.example", "404"},
	} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nOrigin: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", c.path, c.origin)
		said := make([]byte, 12)
		if _, err := io.ReadFull(conn, said); err != nil || string(said) != "HTTP/1.1 "+c.status {
			t.Errorf("%+v: saw %q, %v", c, said, err)
		}
		_ = conn.Close()
	}
}

func TestSettingsOfWebSocketsAreChecked(t *testing.T) {
	for name, bad := range map[string][]string{
		"websocket.origins": {"app.example", "https://app.example/path", "null"},
		"websocket.paths":   {"stomp", "/a?b", "/a%2Fb"},
		"websocket.listen":  {"15674"},
	} {
		for _, text := range bad {
			var o node.Options
			_, err := config.Load(node.Settings(&o), config.Sources{Flags: map[string]config.Given{name: {Text: text, At: "flag"}}})
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%s is taken: %v", name, text, err)
			}
		}
	}
}

func TestAFailedStartLeavesNothingOpen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, spoil := range []func(*node.Options){
		func(o *node.Options) { o.Stomp = append(o.Stomp, taken.Addr().String()) },
		func(o *node.Options) { o.Admin = taken.Addr().String() },
	} {
		o := options(t)
		broken := o
		spoil(&broken)
		if n, err := node.Start(broken, program()); err == nil || n != nil || !strings.Contains(err.Error(), ".listen") {
			t.Errorf("expected an error that names the setting; saw %v", err)
		}
		n, err := node.Start(o, program()) // the directory is free again
		if err != nil {
			t.Fatal(err)
		}
		end(t, n)
	}
}

func TestAnOrderlyEndIsNoFailure(t *testing.T) {
	n, err := node.Start(options(t), program())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-n.Failed():
		t.Errorf("failed without cause: %v", err)
	default:
	}
	end(t, n)
	select {
	case err := <-n.Failed():
		t.Errorf("an orderly end is no failure: %v", err)
	default:
	}
}
