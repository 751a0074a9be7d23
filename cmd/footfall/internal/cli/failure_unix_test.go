//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"footfall/cmd/footfall/internal/cli"
	"go.uber.org/goleak"
)

// childEnv in the environment makes the test's binary a footfall whose files cannot grow
// beyond maxFileSize: a disk that is full for it alone.
const (
	childEnv    = "CLI_TEST_CHILD=1"
	maxFileSize = 2 << 20
)

func TestMain(m *testing.M) {
	if os.Getenv("CLI_TEST_CHILD") == "" {
		goleak.VerifyTestMain(m)
		return
	}
	limit := syscall.Rlimit{Cur: maxFileSize, Max: maxFileSize}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil))
}

func TestAFailedWriteEndsTheProcessWithCode70AndOneLastLine(t *testing.T) {
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "serve", "--data", dir, "--stomp", "127.0.0.1:0", "--admin", "none")
	child.Env = []string{childEnv}
	var stderr bytes.Buffer
	child.Stderr = &stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	banner := bufio.NewReader(out)
	address := ""
	for address == "" {
		line, err := banner.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, &stderr)
		}
		if _, at, ok := strings.Cut(line, "STOMP"); ok {
			address = strings.TrimSpace(at)
		}
	}
	idle, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := io.WriteString(idle, "CONNECT\naccept-version:1.2\nhost:x\n\n\x00"); err != nil {
		t.Fatal(err)
	}
	env := []string{"FOOTFALL_SERVER=" + address}
	stored := 0
	for body := strings.Repeat("x", 100_000); run(t, body, env, "send", "/queue/a").code == 0; stored++ {
		if stored > 10*maxFileSize/len(body) {
			t.Fatal("the files of the store grow beyond their limit")
		}
	}
	said, err := io.ReadAll(idle)
	if err != nil || !strings.Contains(string(said), "ERROR\n") {
		t.Errorf("a client that waits: expected an ERROR; saw %q, %v", said, err)
	}
	_, _ = io.Copy(io.Discard, banner)
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 70 {
		t.Errorf("expected exit code 70; saw %v", err)
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; !regexp.MustCompile(`^footfall: stopping: nothing can be promised any more: (store in \S+: )?store: failed: `).MatchString(last) {
		t.Errorf("the last line: %q", last)
	}
	// What had a receipt is there.
	s := serve(t, dir)
	got := run(t, "", s.env(), "receive", "/queue/a", "--timeout", "200ms").expect(t, 0, "").stdout
	if n := strings.Count(got, "\n"); n < stored {
		t.Errorf("%d messages had a receipt, %d are there", stored, n)
	}
	s.end(t)
}
