//go:build unix

package cli_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

func TestSystemdIsToldWhenItIsReadyAndWhenItStops(t *testing.T) {
	at := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	_ = socket.SetReadDeadline(time.Now().Add(20 * time.Second))
	next := func(want string) {
		t.Helper()
		said := make([]byte, 100)
		if n, err := socket.Read(said); err != nil || string(said[:n]) != want {
			t.Errorf("systemd was told %q, %v, and not %q", said[:n], err, want)
		}
	}
	s := serveIn(t, t.TempDir(), []string{"NOTIFY_SOCKET=" + at})
	next("READY=1")
	s.end(t)
	next("STOPPING=1")
}
