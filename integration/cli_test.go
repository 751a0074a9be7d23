//go:build linux

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// result is what a command did.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the program as a user does. What it needs to know of the broker is in the environment.
func run(t testing.TB, env []string, stdin string, args ...string) result {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	cmd.Env = environment(env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running %q: %v", args, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// ok is run for commands that must succeed.
func ok(t testing.TB, env []string, stdin string, args ...string) string {
	t.Helper()
	r := run(t, env, stdin, args...)
	if r.code != 0 {
		t.Fatalf("%q ended with exit code %d: %s%s", args, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// reads makes a document of output that must be one, without names that are unknown here.
func reads[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not a document: %v\n%s", err, text)
	}
	return v
}

// server is the environment in which send and receive find a broker.
func server(p *process) []string { return []string{"FOOTFALL_SERVER=" + p.stomp} }

func TestCLISendAndReceive(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	if out := ok(t, env, "", "send", "/queue/q", "from an argument"); !strings.Contains(out, "/queue/q") {
		t.Errorf("send says %q", out)
	}
	ok(t, env, "from standard input\nof two lines\n", "send", "/queue/q", "--header", "color=red", "--header", "size=a=b", "--priority", "9")
	ok(t, env, "", "send", "/queue/q", "many", "--count", "3")
	ok(t, env, "", "send", "/queue/q", "unreceipted", "--receipt=false")

	if out := ok(t, env, "", "receive", "/queue/q", "--count", "1"); !strings.Contains(out, "from standard input\nof two lines\n") {
		t.Errorf("the message of the highest priority is not the first: %q", out)
	}
	out := ok(t, env, "", "receive", "/queue/q", "--count", "5")
	if want := "from an argument\nmany\nmany\nmany\nunreceipted\n"; out != want {
		t.Errorf("receive says %q, want %q", out, want)
	}
}

func TestCLIReceiveTakesWhatItPrintsAndNoMore(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	ok(t, env, "", "send", "/queue/q", "m", "--count", "5")
	for range 4 {
		ok(t, env, "", "receive", "/queue/q", "--count", "1")
	}
	if out := ok(t, env, "", "receive", "/queue/q", "--count", "1", "--headers"); strings.Contains(out, "redelivered") {
		t.Errorf("a message was given to earlier commands too, which did not print it:\n%s", out)
	}
}

func TestCLIReceiveOfManyHeadersAndLines(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	ok(t, env, "a\x00b\xff", "send", "/queue/q", "--header", "k=first", "--header", "k=second")
	type line struct {
		Destination string      `json:"destination"`
		MessageID   string      `json:"message_id"`
		Headers     [][2]string `json:"headers"`
		Body        *string     `json:"body"`
		Base64      *string     `json:"body_base64"`
	}
	out := ok(t, env, "", "receive", "/queue/q", "--count", "1", "-o", "json")
	if strings.Count(out, "\n") != 1 {
		t.Errorf("one message is not one line: %q", out)
	}
	l := reads[line](t, out)
	if l.Destination != "/queue/q" || l.MessageID == "" {
		t.Errorf("the line is %+v", l)
	}
	if i := slices.Index(l.Headers, [2]string{"k", "first"}); i < 0 || l.Headers[i+1] != [2]string{"k", "second"} {
		t.Errorf("the headers are %q", l.Headers)
	}
	if l.Body != nil || l.Base64 == nil || *l.Base64 != "YQBi/w==" {
		t.Errorf("a body that is no text came as %q", out)
	}
}

func TestCLIDelay(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	at := time.Now().Add(1500 * time.Millisecond)
	out := ok(t, env, "", "send", "/queue/q", "delayed", "--delay", "1500ms")
	if !strings.Contains(out, "scheduled") {
		t.Errorf("send says %q", out)
	}
	if got := ok(t, env, "", "receive", "/queue/q", "--count", "1", "--timeout", "30s"); got != "delayed\n" {
		t.Errorf("receive says %q", got)
	}
	if early := time.Until(at); early > 0 {
		t.Errorf("it came %v early", early)
	}
	type sent struct {
		ScheduledIDs []string    `json:"scheduled_ids"`
		DeliverAt    []time.Time `json:"deliver_at"`
	}
	when := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	s := reads[sent](t, ok(t, env, "", "send", "/queue/q", "later", "--deliver-at", when.Format(time.RFC3339Nano), "-o", "json"))
	if len(s.ScheduledIDs) != 1 || len(s.DeliverAt) != 1 || !s.DeliverAt[0].Equal(when) {
		t.Errorf("send says %+v, want a time of %v", s, when)
	}
}

func TestCLIReceiveEndsOnInterrupt(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	cmd := exec.Command(binary(t), "receive", "/queue/q")
	cmd.Env = environment(env...)
	out := newOutput()
	cmd.Stdout, cmd.Stderr = out, out
	if err := startChild(cmd); err != nil {
		t.Fatal(err)
	}
	ok(t, env, "", "send", "/queue/q", "shown")
	await(t, "the message was shown", func() bool { return out.text() == "shown\n" })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v: %s", err, out.text())
	}
	if r := run(t, env, "", "receive", "/queue/q", "--count", "1", "--timeout", "300ms"); r.code != 6 {
		t.Errorf("what was shown was not acknowledged: %+v", r)
	}
}

func TestCLIReceiveSaysThatTheBrokerWent(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(p *process)
		code   int
		reason string
	}{
		{"in order", func(p *process) { p.terminate() }, 1, "shutting down"}, // an ERROR as any other
		{"by a crash", func(p *process) { p.kill() }, 6, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, launch{watched: true})
			cmd := exec.Command(binary(t), "receive", "/queue/q")
			cmd.Env = environment(server(p)...)
			out := newOutput()
			cmd.Stdout, cmd.Stderr = out, out
			if err := startChild(cmd); err != nil {
				t.Fatal(err)
			}
			await(t, "it has subscribed", func() bool { return p.metrics()["footfall_subscriptions"] == 1 })
			c.end(p)
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Errorf("ended with %v, want exit code %d", err, c.code)
			}
			if text := out.text(); !strings.HasPrefix(text, "footfall: ") || strings.Count(text, "\n") != 1 || !strings.Contains(text, c.reason) {
				t.Errorf("it says %q, not a line that tells why", text)
			}
		})
	}
}

func TestCLIExitCodesAndTheirReasons(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	dir := t.TempDir()
	bad, good := filepath.Join(dir, "bad.yaml"), filepath.Join(dir, "good.yaml")
	for path, text := range map[string]string{
		bad:  "data:\n  dir: /srv/footfall\nstomp:\n  lissten: 127.0.0.1:61613\n",
		good: "stomp:\n  listen: 127.0.0.1:61613\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args   string
		code   int
		reason string
	}{
		{"version", 0, ""},
		{"help", 0, ""},
		{"send --help", 0, ""},
		{"sned", 2, "send"},
		{"send", 2, ""},
		{"send /queue/q m --nonsense", 2, "nonsense"},
		{"send /queue/q m --delay banana", 2, "banana"},
		{"send /queue/q m --priority 10", 2, "priority"},
		{"send /nowhere/q m", 1, "/nowhere/q"},
		{"send /queue/q m --server 127.0.0.1:1", 6, "127.0.0.1:1"},
		{"receive /queue/q --count 1 --timeout 100ms", 6, "0 of 1"},
		{"receive /queue/q --timeout 100ms", 0, ""},
		{"receive /queue/q --ack never", 2, "--ack"},
		{"config check " + good, 0, ""},
		{"config check " + bad, 2, bad + ":4:3: stomp.lissten"},
		{"config check " + filepath.Join(dir, "none.yaml"), 3, "none.yaml"},
		{"store check " + p.launch.dir, 5, "another process"},
		{"store stats " + p.launch.dir, 5, "another process"},
		{"store check " + filepath.Join(dir, "none"), 3, "none"},
		{"store check " + dir, 3, "not a store"},
		{"serve --set limits.body=lots", 2, "limits.body"},
		{"serve --config " + bad, 2, bad + ":4:3: stomp.lissten"},
		{"serve --stomp nonsense", 2, "nonsense"},
	} {
		r := run(t, env, "", strings.Fields(c.args)...)
		if r.code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", c.args, r.code, c.code, r.stderr)
		}
		if !strings.Contains(r.stderr, c.reason) {
			t.Errorf("%s: says %q, which does not name %q", c.args, r.stderr, c.reason)
		}
		if c.code == 0 && r.stderr != "" || c.code != 0 && (r.stdout != "" || !strings.HasPrefix(r.stderr, "footfall: ")) {
			t.Errorf("%s: exit code %d with standard output %q and standard error %q", c.args, r.code, r.stdout, r.stderr)
		}
	}
	r := run(t, append(env, "FOOTFALL_STOMP_LISTN=127.0.0.1:0"), "", "serve")
	if r.code != 2 || !strings.Contains(r.stderr, "FOOTFALL_STOMP_LISTEN") {
		t.Errorf("a misspelt variable: %+v", r)
	}
}

func TestCLIConfigPrintTellsValuesAndOrigins(t *testing.T) {
	dir := t.TempDir()
	file, secretless := filepath.Join(dir, "footfall.yaml"), filepath.Join(dir, "level")
	for path, text := range map[string]string{file: "limits:\n  body: 1MiB\nlog:\n  level: warn\n", secretless: "error\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type setting struct{ Name, Value, Origin, Default, Env string }
	env := []string{"FOOTFALL_LIMITS_HEADERS=17", "FOOTFALL_LOG_LEVEL_FILE=" + secretless}
	list := reads[[]setting](t, ok(t, env, "", "config", "print", "--config", file, "--data", "/srv/x", "-o", "json"))
	for name, want := range map[string][2]string{
		"limits.body":    {"1MiB", file + ":2:9"},
		"limits.headers": {"17", "env FOOTFALL_LIMITS_HEADERS"},
		"log.level":      {"error", "env FOOTFALL_LOG_LEVEL_FILE"},
		"data.dir":       {"/srv/x", "flag --data"},
		"stomp.listen":   {"127.0.0.1:61613", "default"},
	} {
		i := slices.IndexFunc(list, func(s setting) bool { return s.Name == name })
		if i < 0 || list[i].Value != want[0] || list[i].Origin != want[1] {
			t.Errorf("%s: want %q, the list is %+v", name, want, list[max(i, 0)])
		}
	}
	if text := ok(t, env, "", "config", "print"); strings.Count(text, "\n") != len(list)+1 {
		t.Errorf("the table has not a line for each of %d settings:\n%s", len(list), text)
	}
}

func TestCLIStoreCheckAndStatsCountWhatIsThere(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	ok(t, env, "", "send", "/queue/large", "0123456789", "--count", "20")
	ok(t, env, "", "send", "/queue/small", "x")
	ok(t, env, "", "send", "/queue/small", "x", "--delay", "1h")
	p.terminate()
	type checked struct {
		OK                                bool
		Problems                          []string
		Destinations, Messages, Scheduled int
	}
	c := reads[checked](t, ok(t, nil, "", "store", "check", p.launch.dir, "-o", "json"))
	if !c.OK || len(c.Problems) > 0 || c.Destinations != 2 || c.Messages != 21 || c.Scheduled != 1 {
		t.Errorf("store check says %+v", c)
	}
	type stats struct {
		Destinations, Scheduled int
		Clean                   bool
		Largest                 []struct {
			Destination string
			Messages    int
		} `json:"largest_destinations"`
	}
	s := reads[stats](t, ok(t, nil, "", "store", "stats", p.launch.dir, "--top", "1", "-o", "json"))
	if !s.Clean || s.Destinations != 2 || s.Scheduled != 1 || len(s.Largest) != 1 || s.Largest[0].Destination != "/queue/large" || s.Largest[0].Messages != 20 {
		t.Errorf("store stats says %+v", s)
	}
	if text := ok(t, nil, "", "store", "stats", p.launch.dir); !strings.Contains(text, "/queue/large") {
		t.Errorf("store stats says %s", text)
	}
}

func TestCLIVersion(t *testing.T) {
	type version struct{ Version, Go, Platform string }
	v := reads[version](t, ok(t, nil, "", "version", "-o", "json"))
	if v.Version == "" || !strings.HasPrefix(v.Go, "go1.") {
		t.Errorf("version is %+v", v)
	}
	if text := ok(t, nil, "", "version"); !strings.Contains(text, v.Version) || strings.Count(text, "\n") != 1 {
		t.Errorf("version says %q", text)
	}
}

// terminal opens a pseudo-terminal: what is written to inner comes out of outer.
func terminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("opening a terminal: %v", err)
	}
	t.Cleanup(func() { _ = outer.Close() })
	var number, unlock uint32
	for request, argument := range map[uintptr]*uint32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, outer.Fd(), request, uintptr(unsafe.Pointer(argument))); errno != 0 {
			t.Fatalf("opening a terminal: %v", errno)
		}
	}
	inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("opening a terminal: %v", err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	return outer, inner
}

func TestCLINothingOfAMessageControlsATerminal(t *testing.T) {
	p := start(t, launch{})
	env := server(p)
	const nasty = "\x1b]0;owned\x07\x1b[2J\u202eevil\x9b31m"
	ok(t, env, "", "send", "/queue/q", "body "+nasty, "--header", "k=value "+nasty)
	outer, inner := terminal(t)
	cmd := exec.Command(binary(t), "receive", "/queue/q", "--count", "1", "--headers")
	cmd.Env = environment(env...)
	cmd.Stdout, cmd.Stderr = inner, inner
	if err := startChild(cmd); err != nil {
		t.Fatal(err)
	}
	_ = inner.Close()
	var seen bytes.Buffer
	_, _ = seen.ReadFrom(outer) // ends with an error when the other side is closed
	if err := cmd.Wait(); err != nil {
		t.Fatalf("receive: %v\n%q", err, seen.String())
	}
	if !strings.Contains(seen.String(), "body ") || !strings.Contains(seen.String(), "value ") {
		t.Errorf("the terminal shows %q", seen.String())
	}
	if strings.ContainsAny(seen.String(), "\x1b\x07\u202e\u009b") {
		t.Errorf("the terminal was given control characters: %q", seen.String())
	}
}
