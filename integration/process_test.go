//go:build linux

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen. It is generous, as it only
// passes when something is broken.
const patience = 30 * time.Second

// TestMain removes what was built. A program is built when the first test asks for it.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, p := range []*program{&released, &watched} {
		if p.dir != "" {
			_ = os.RemoveAll(p.dir)
		}
	}
	os.Exit(code)
}

// program is the program, built once.
type program struct {
	flags, env []string
	once       sync.Once
	dir        string
	err        error
}

// released is the program as it is released. watched looks for data races; it is used where speed and
// memory do not matter, and only when the tests look for races too, so that most of it is built already.
var (
	released = program{flags: []string{"-trimpath"}, env: []string{"CGO_ENABLED=0"}}
	watched  = program{flags: []string{"-race"}}
)

// path returns the path of the program.
func (p *program) path(t testing.TB) string {
	t.Helper()
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "footfall-integration-"); p.err != nil {
			return
		}
		build := exec.Command("go", append(append([]string{"build"}, p.flags...), "-o", p.dir, "../cmd/footfall")...)
		build.Env = append(os.Environ(), p.env...)
		if out, err := build.CombinedOutput(); err != nil {
			p.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if p.err != nil {
		t.Fatalf("building the program: %v", p.err)
	}
	return filepath.Join(p.dir, "footfall")
}

// binary returns the path of the program as it is released.
func binary(t testing.TB) string {
	t.Helper()
	return released.path(t)
}

// environment is that of the tests, without what would be settings of the program.
func environment(more ...string) []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "FOOTFALL_") {
			env = append(env, entry)
		}
	}
	return append(env, more...)
}

// launch says how a broker is started.
type launch struct {
	// dir is its data directory; empty for a fresh one.
	dir string
	// args are further arguments of serve, env further variables.
	args, env []string
	// wrap is a command line that runs the program, such as a shell with a limit; empty for none.
	wrap []string
	// watched says that the test wants data races found, where the tests are built to do so.
	watched bool
}

func (l *launch) binary(t testing.TB) string {
	t.Helper()
	if l.watched && raced {
		return watched.path(t)
	}
	return released.path(t)
}

// process is a broker that runs, or ran.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	out *output
	// launch is how it was started, with dir filled in.
	launch launch

	// stomp and admin are the addresses it listens on, once it is ready.
	stomp, admin string

	asked bool // it was asked to end

	gone chan struct{} // closed when it has ended
	err  error         // what Wait said, after gone
}

// start starts a broker and waits until it is ready.
func start(t testing.TB, l launch) *process {
	t.Helper()
	p := spawn(t, l)
	p.awaitReady()
	return p
}

// spawn starts a broker and does not wait for anything. The test's end ends it.
func spawn(t testing.TB, l launch) *process {
	t.Helper()
	if l.dir == "" {
		l.dir = filepath.Join(t.TempDir(), "data")
	}
	line := append(append([]string{}, l.wrap...), l.binary(t), "serve", "--data", l.dir, "--stomp", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	line = append(line, l.args...)
	p := &process{t: t, launch: l, out: newOutput(), gone: make(chan struct{})}
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Env = environment(l.env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := startChild(p.cmd); err != nil {
		t.Fatalf("starting %q: %v", line, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.gone)
	}()
	t.Cleanup(func() {
		asked := p.asked // of those that the test ended, only what went wrong matters
		p.kill()
		text := p.out.text()
		if strings.Contains(text, "DATA RACE") {
			t.Error("the broker has a data race")
		}
		if t.Failed() && (!asked || strings.Contains(text, "level=ERROR") || strings.Contains(text, "level=WARN")) {
			t.Logf("what the broker %d said:\n%s", p.cmd.Process.Pid, p.out.tail(60))
		}
	})
	return p
}

// startChild starts a command that ends with this process, however that ends.
func startChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	spawner.once.Do(func() { go spawner.run() })
	spawner.requests <- func() { result <- cmd.Start() }
	return <-result
}

// spawner starts all children from one thread that lives as long as this process, since
// the death signal of a child comes with the end of the thread that started it.
var spawner = spawning{requests: make(chan func())}

type spawning struct {
	once     sync.Once
	requests chan func()
}

func (s *spawning) run() {
	runtime.LockOSThread()
	for f := range s.requests {
		f()
	}
}

var (
	stompAddress = regexp.MustCompile(`(?im)^.*\bstomp\b.*?(127\.0\.0\.1:[1-9]\d*)`)
	adminAddress = regexp.MustCompile(`http://(127\.0\.0\.1:[1-9]\d*)`)
)

// awaitReady waits until the process has told its addresses and says that it is ready.
func (p *process) awaitReady() {
	p.t.Helper()
	if !p.comesUp(patience) {
		p.t.Fatalf("the broker did not become ready (%s); it said:\n%s", p.state(), p.out.tail(60))
	}
}

// comesUp is false if the process ends, or is not ready in time.
func (p *process) comesUp(within time.Duration) bool {
	return poll(within, func() bool {
		text := p.out.text()
		stomp, admin := stompAddress.FindStringSubmatch(text), adminAddress.FindStringSubmatch(text)
		if stomp == nil || admin == nil {
			return p.ended()
		}
		p.stomp, p.admin = stomp[1], admin[1]
		status, _, err := p.get("/readyz")
		return err == nil && status == http.StatusOK || p.ended()
	}) && !p.ended()
}

func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

func (p *process) state() string {
	if p.ended() {
		return fmt.Sprintf("ended: %v", p.err)
	}
	return "still running"
}

// get asks the admin server.
func (p *process) get(path string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.admin+path, nil)
	if err != nil {
		return 0, "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// kill ends the process as a crash does, and waits for its end.
func (p *process) kill() {
	p.asked = true
	_ = p.cmd.Process.Kill()
	<-p.gone
}

// terminate asks for an orderly end and returns the exit code.
func (p *process) terminate() int {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	return p.awaitExit(patience)
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	p.asked = true
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatalf("signalling the broker: %v", err)
	}
}

// awaitExit waits for the end and returns the exit code.
func (p *process) awaitExit(within time.Duration) int {
	p.t.Helper()
	select {
	case <-p.gone:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		p.t.Fatalf("the broker did not end within %v; it said:\n%s", within, p.out.tail(60))
		return 0
	}
}

// again starts a broker on the data of one that has ended.
func (p *process) again() *process {
	p.t.Helper()
	return start(p.t, p.launch)
}

// output is what a process said.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func newOutput() *output { return &output{} }

// Write keeps the last mebibytes.
func (o *output) Write(p []byte) (int, error) {
	const most = 4 << 20
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() > most {
		o.buf.Next(most / 2)
	}
	return o.buf.Write(p)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) tail(lines int) string {
	all := strings.Split(strings.TrimRight(o.text(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// poll asks ok again and again until it is true, or the time is over.
func poll(within time.Duration, ok func() bool) bool {
	deadline := time.After(within)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			return ok()
		}
	}
	return true
}

// await waits until ok is true, and ends the test when it does not become so.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !poll(patience, ok) {
		t.Fatalf("waited %v in vain until %s", patience, what)
	}
}
