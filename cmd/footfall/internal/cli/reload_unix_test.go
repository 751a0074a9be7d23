//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPoliciesAreReloadedByCommandAndBySignal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const bound = "destinations:\n- {match: /queue/a, max-message-size: 10B}\n"
	write("limits:\n  body: 1MiB\n")
	s := serve(t, t.TempDir(), "--config", file)
	send := func() int {
		return run(t, strings.Repeat("x", 100), s.env(), "send", "/queue/a").code
	}
	if code := send(); code != 0 {
		t.Fatalf("a message without a bound: exit code %d", code)
	}
	reload := func(code int, part string) string {
		t.Helper()
		return run(t, "", nil, "reload", "--admin", s.admin).expect(t, code, part).stdout
	}

	write(bound + "limits:\n  body: 2MiB\n")
	if got := reload(0, ""); got != "reloaded: 1 entries of destinations, 0 of permissions and 0 users count now\nchanged, and in need of a restart: limits.body\n" {
		t.Errorf("saw %q", got)
	}
	if send() == 0 {
		t.Error("the bound does not count after a reload")
	}

	// What is wrong anywhere refuses all of it, with its place.
	write("destinations: []\nlimits:\n  boddy: 1MiB\n")
	reload(2, file+":3:3: limits.boddy: no such setting")
	write("destinations:\n- {match: /queue/a, max-message-size: 1MiB}\n- {match: /queue/b, max-ttl: soon}\n")
	reload(2, file+":3:")
	if send() == 0 {
		t.Error("a reload that was refused changed something")
	}

	write("limits:\n  body: 1MiB\n")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); send() != 0; {
		if time.Now().After(end) {
			t.Fatal("the signal changed nothing")
		}
	}
	s.end(t)
}
