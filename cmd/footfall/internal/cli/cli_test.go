package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"footfall/cmd/footfall/internal/cli"
	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
)

// ran is what a run of the command line left.
type ran struct {
	code           int
	stdout, stderr string
}

// run runs the command line to its end.
func run(t testing.TB, stdin string, env []string, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, env)
	return ran{code, stdout.String(), stderr.String()}
}

// expect demands an exit code and a part of what was printed, on standard output for code 0, else on standard error.
func (r ran) expect(t *testing.T, code int, part string) ran {
	t.Helper()
	text := r.stdout
	if code != 0 {
		text = r.stderr
	}
	if r.code != code || !strings.Contains(text, part) {
		t.Errorf("expected exit code %d and %q; saw %d\n%s%s", code, part, r.code, r.stdout, r.stderr)
	}
	return r
}

// serving is a broker that was started from the command line.
type serving struct {
	stomp, admin string
	dir          string
	stop         context.CancelFunc
	ended        chan ran
}

// env lets the other commands find the broker.
func (s *serving) env() []string { return []string{"FOOTFALL_SERVER=" + s.stomp} }

// serve starts a broker on dir and waits until it says where it is.
func serve(t *testing.T, dir string, args ...string) *serving {
	t.Helper()
	return serveIn(t, dir, nil, args...)
}

// serveIn is serve with an environment.
func serveIn(t *testing.T, dir string, env []string, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{dir: dir, stop: cancel, ended: make(chan ran, 1)}
	out, in := io.Pipe()
	var stderr bytes.Buffer
	go func() {
		all := append([]string{"serve", "--data", dir, "--stomp", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
		code := cli.Run(ctx, all, strings.NewReader(""), in, &stderr, env)
		_ = in.CloseWithError(io.EOF)
		s.ended <- ran{code, "", stderr.String()}
	}()
	var banner strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(banner.String(), "receive") {
		n, err := out.Read(buffer)
		banner.Write(buffer[:n])
		if err != nil {
			t.Fatalf("no banner: %q %+v", banner.String(), <-s.ended)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s.stomp = find(t, banner.String(), `STOMP +(\S+)`)
	s.admin = find(t, banner.String(), `admin +(http://\S+)`)
	t.Cleanup(func() { cancel() })
	return s
}

// end stops the broker in good order.
func (s *serving) end(t *testing.T) ran {
	t.Helper()
	s.stop()
	r := <-s.ended
	if r.code != 0 {
		t.Errorf("expected an end in good order; saw %+v", r)
	}
	return r
}

func find(t *testing.T, text, pattern string) string {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("expected %s in %q", pattern, text)
	}
	return match[1]
}

func TestAMessageIsSentKeptOverARestartAndReceived(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, dir)
	run(t, "", s.env(), "send", "/queue/a", "first").expect(t, 0, "sent 1 message to /queue/a, confirmed\n")
	run(t, "from stdin", s.env(), "send", "/queue/a", "--header", "k=v", "--priority", "9").expect(t, 0, "confirmed")
	s.end(t)

	s = serve(t, dir)
	got := run(t, "", s.env(), "receive", "/queue/a", "--count", "2", "--headers").expect(t, 0, "k: v\n").stdout
	if strings.Index(got, "from stdin") > strings.Index(got, "first") {
		t.Errorf("expected the higher priority first; saw %q", got)
	}
	run(t, "unwanted", s.env(), "send", "/queue/a", "--header", "k=1").expect(t, 0, "")
	run(t, "wanted", s.env(), "send", "/queue/a", "--header", "k=2").expect(t, 0, "")
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1", "--selector", "k > 1").expect(t, 0, "wanted\n")
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1").expect(t, 0, "unwanted\n")
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1", "--timeout", "50ms").
		expect(t, 6, "0 of 1 messages came, and none more for 50ms")
	s.end(t)
}

func TestADelayedMessageIsNotEarly(t *testing.T) {
	s := serve(t, t.TempDir())
	before := time.Now()
	sent := run(t, "", s.env(), "send", "/queue/a", "later", "--delay", "300ms", "-o", "json").expect(t, 0, `"scheduled_ids"`)
	var result struct {
		Confirmed bool
		Due       []time.Time `json:"deliver_at"`
	}
	if err := json.Unmarshal([]byte(sent.stdout), &result); err != nil || !result.Confirmed || len(result.Due) != 1 {
		t.Fatalf("%v %s", err, sent.stdout)
	}
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1").expect(t, 0, "later\n")
	if took := time.Since(before); took < 300*time.Millisecond {
		t.Errorf("received after %v", took)
	}
	run(t, "", s.env(), "send", "/queue/a", "past", "--deliver-at", "2001-01-01T00:00:00Z").expect(t, 0, "confirmed")
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1").expect(t, 0, "past\n")
	s.end(t)
}

func TestReceiveAsJSONLines(t *testing.T) {
	s := serve(t, t.TempDir())
	run(t, "text \x1b[31m", s.env(), "send", "/queue/a").expect(t, 0, "confirmed")
	run(t, "bin\x00\xff", s.env(), "send", "/queue/a").expect(t, 0, "confirmed")
	lines := strings.Split(run(t, "", s.env(), "receive", "/queue/a", "--count", "2", "-o", "json").expect(t, 0, "").stdout, "\n")
	if len(lines) != 3 || strings.Contains(lines[0], "\x1b") {
		t.Fatalf("expected two lines of JSON; saw %q", lines)
	}
	var text, binary struct {
		Destination, Body string
		Base64            []byte `json:"body_base64"`
	}
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &text), json.Unmarshal([]byte(lines[1]), &binary)); err != nil {
		t.Fatal(err)
	}
	if text.Destination != "/queue/a" || text.Body != "text \x1b[31m" || string(binary.Base64) != "bin\x00\xff" {
		t.Errorf("saw %q", lines)
	}
	s.end(t)
}

func TestManyMessagesArriveOnceAndInOrder(t *testing.T) {
	s := serve(t, t.TempDir())
	run(t, "", s.env(), "send", "/queue/a", "x", "--count", "2500").expect(t, 0, "sent 2500 messages")
	for _, ack := range []string{"client-individual", "client"} {
		got := run(t, "", s.env(), "receive", "/queue/a", "--count", "1250", "--ack", ack).expect(t, 0, "").stdout
		if got != strings.Repeat("x\n", 1250) {
			t.Errorf("%s: saw %d octets", ack, len(got))
		}
	}
	run(t, "", s.env(), "receive", "/queue/a", "--timeout", "50ms").expect(t, 0, "")
	s.end(t)
}

func TestReceiveTakesNoMoreThanItPrints(t *testing.T) {
	s := serve(t, t.TempDir())
	run(t, "", s.env(), "send", "/queue/a", "x", "--count", "200").expect(t, 0, "confirmed")
	for _, ack := range []string{"client-individual", "client"} {
		for _, count := range []string{"1", "2", "19", "20", "21", "37"} {
			got := run(t, "", s.env(), "receive", "/queue/a", "--headers", "--ack", ack, "--count", count).expect(t, 0, "").stdout
			if strings.Contains(got, "redelivered") {
				t.Fatalf("%s, %s: one was given out before and not printed:\n%s", ack, count, got)
			}
		}
	}
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1", "--timeout", "50ms").expect(t, 6, "0 of 1 messages")
	s.end(t)
}

// writerFunc is a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestReceiveThatIsInterruptedAcknowledgesWhatItPrinted(t *testing.T) {
	s := serve(t, t.TempDir())
	for _, count := range []string{"0", "5"} {
		ctx, cancel := context.WithCancel(t.Context())
		run(t, "", s.env(), "send", "/queue/a", "x").expect(t, 0, "confirmed")
		out := writerFunc(func(p []byte) (int, error) {
			cancel() // after the message came, before it is acknowledged
			return len(p), nil
		})
		if code := cli.Run(ctx, []string{"receive", "/queue/a", "--count", count}, strings.NewReader(""), out, io.Discard, s.env()); code != 0 {
			t.Errorf("count %s: exit code %d", count, code)
		}
		run(t, "", s.env(), "receive", "/queue/a", "--timeout", "50ms", "--count", "1").expect(t, 6, "0 of 1")
	}
	s.end(t)
}

func TestReceiveThatWaitsEndsWhenItIsInterrupted(t *testing.T) {
	s := serve(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if code := cli.Run(ctx, []string{"receive", "/queue/a"}, strings.NewReader(""), io.Discard, io.Discard, s.env()); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.end(t)
}

func TestWhatTheBrokerRefusesIsTold(t *testing.T) {
	s := serve(t, t.TempDir(), "--set", "limits.body=100B")
	run(t, "", s.env(), "send", "/nope/x", "y").expect(t, 1, "footfall: the broker refused: destination \"/nope/x\"")
	run(t, strings.Repeat("x", 101), s.env(), "send", "/queue/a").expect(t, 1, "limits.body")
	run(t, "", s.env(), "receive", "/nope/x").expect(t, 1, "the broker refused")
	s.end(t)
}

func TestWrongUseIsExitCode2(t *testing.T) {
	rows := []struct {
		want string
		args []string
	}{
		{`there is no command "sned" in footfall; did you mean send?`, []string{"sned"}},
		{`there is no command "chek" in footfall store`, []string{"store", "chek"}},
		{"unknown flag: --bad", []string{"serve", "--bad"}},
		{"arg", []string{"send"}},
		{"arg", []string{"receive", "a", "b"}},
		{"must be text or json", []string{"version", "-o", "xml"}},
		{`flag --delay: "soon" at position 1: expected a number`, []string{"send", "/queue/a", "x", "--delay", "soon"}},
		{"flag --deliver-at: ", []string{"send", "/queue/a", "x", "--deliver-at", "tomorrow"}},
		{"only one of them", []string{"send", "/queue/a", "x", "--deliver-at", "1", "--delay", "1"}},
		{"flag --priority", []string{"send", "/queue/a", "x", "--priority", "10"}},
		{"flag --count", []string{"send", "/queue/a", "x", "--count", "0"}},
		{"flag --header", []string{"send", "/queue/a", "x", "--header", "novalue"}},
		{"receipt is set by this command", []string{"send", "/queue/a", "x", "--header", "receipt=1"}},
		{"flag --ack", []string{"receive", "/queue/a", "--ack", "maybe"}},
		{"flag --timeout", []string{"receive", "/queue/a", "--timeout", "-1s"}},
		{"flag --stomp: stomp.listen: must be host:port", []string{"serve", "--stomp", "nowhere"}},
		{"flag --set: limits.boddy: no such setting; did you mean limits.body?", []string{"serve", "--set", "limits.boddy=1KiB"}},
		{"expected NAME=VALUE", []string{"serve", "--set", "x"}},
		{"log.level is set twice", []string{"serve", "--log-level", "info", "--set", "log.level=info"}},
	}
	for _, row := range rows {
		run(t, "", nil, row.args...).expect(t, 2, row.want)
	}
}

func TestABrokerThatIsNotThereIsExitCode6(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"FOOTFALL_SERVER=" + l.Addr().String()}
	// It accepts, and says nothing.
	run(t, "", env, "send", "/queue/a", "x", "--connect-timeout", "50ms").expect(t, 6, "cannot connect to 127.0.0.1:")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, "", env, "send", "/queue/a", "x").expect(t, 6, "connection refused")
	run(t, "", env, "receive", "/queue/a").expect(t, 6, "connection refused")
}

func TestADirectoryInUseIsExitCode5(t *testing.T) {
	s := serve(t, t.TempDir())
	run(t, "", nil, "serve", "--data", s.dir, "--stomp", "127.0.0.1:0", "--admin", "none").expect(t, 5, "another process uses")
	run(t, "", nil, "store", "check", s.dir).expect(t, 5, "another process uses")
	run(t, "", nil, "serve", "--data", t.TempDir(), "--stomp", s.stomp, "--admin", "none").expect(t, 5, "address already in use")
	s.end(t)
}

func TestAnAddressThatIsNotOursIsExitCode1(t *testing.T) {
	run(t, "", nil, "serve", "--data", t.TempDir(), "--stomp", "192.0.2.1:0", "--admin", "none").expect(t, 1, "stomp.listen: listen tcp 192.0.2.1:0")
}

func TestStoreCheckAndStats(t *testing.T) {
	s := serve(t, t.TempDir())
	run(t, "", s.env(), "send", "/queue/a", "x", "--count", "3").expect(t, 0, "confirmed")
	run(t, "", s.env(), "send", "/queue/a", "x", "--delay", "1h").expect(t, 0, "scheduled as ")
	s.end(t)
	run(t, "", nil, "store", "check", s.dir).expect(t, 0, "3 messages, 1 due")
	run(t, "", nil, "store", "check", s.dir, "-o", "json").expect(t, 0, `"ok": true`)
	run(t, "", nil, "store", "stats", s.dir).expect(t, 0, "/queue/a")
	run(t, "", nil, "store", "stats", s.dir, "-o", "json").expect(t, 0, `"scheduled": 1`)
	run(t, "", nil, "store", "check", filepath.Join(s.dir, "none")).expect(t, 3, "there is no directory")
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "letter.txt"), []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "", nil, "store", "stats", foreign).expect(t, 3, "not a store")
	run(t, "", nil, "serve", "--data", foreign, "--stomp", "127.0.0.1:0", "--admin", "none").expect(t, 3, "not a store")
}

func TestConfigPrintTellsValueAndOrigin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(path, []byte("log:\n  level: warn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"FOOTFALL_CONFIG=" + path, "FOOTFALL_LIMITS_BODY=1MiB", "FOOTFALL_SERVER=x", "FOOTFALL_LOGIN=x", "FOOTFALL_PASSCODE=x"}
	got := run(t, "", env, "config", "print", "--data", "elsewhere", "--set", "limits.headers=20").expect(t, 0, "SETTING").stdout
	for _, want := range []string{
		`data\.dir +elsewhere +flag --data`, `limits\.headers +20 +flag --set`, `limits\.body +1MiB +env FOOTFALL_LIMITS_BODY`,
		`log\.level +warn +\S+f\.yaml:2:10`, `log\.format +text +default`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(got) {
			t.Errorf("expected %s in\n%s", want, got)
		}
	}
	run(t, "", env, "config", "print", "-o", "json").expect(t, 0, `"env": "FOOTFALL_DATA_DIR"`)
	run(t, "", append(env, "FOOTFALL_DATADIR=x"), "config", "print").expect(t, 2, "did you mean FOOTFALL_DATA_DIR?")
}

func TestConfigCheckNamesLineAndColumn(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	err := errors.Join(os.WriteFile(good, []byte("data:\n  dir: x\n"), 0o600), os.WriteFile(bad, []byte("data:\n  dri: x\nlog: 5\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	run(t, "", nil, "config", "check", good).expect(t, 0, "good.yaml: ok")
	r := run(t, "", nil, "config", "check", bad).expect(t, 2, "bad.yaml:2:3: data.dri: no such setting; did you mean data.dir?")
	r.expect(t, 2, "bad.yaml:3:6: log: must be a section")
	run(t, "", nil, "config", "check", filepath.Join(dir, "none.yaml")).expect(t, 3, "no such file")
}

func TestHelpHasTwoExamplesFirst(t *testing.T) {
	for _, command := range []string{"", "serve", "send", "receive", "config", "config print", "config check", "store", "store check", "store stats", "version"} {
		text := run(t, "", nil, append(strings.Fields(command), "--help")...).expect(t, 0, "Examples:").stdout
		examples, _, _ := strings.Cut(text, "Usage:")
		if strings.Count(examples, "\n  ") < 2 {
			t.Errorf("%s: %s", command, examples)
		}
	}
}

func TestVersion(t *testing.T) {
	run(t, "", nil, "version").expect(t, 0, "footfall ")
	run(t, "", nil, "version", "-o", "json").expect(t, 0, `"platform": "`)
}

func TestServeAsJSONLogsWhereItIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := []string{"serve", "--data", t.TempDir(), "--stomp", "127.0.0.1:0", "--admin", "none", "--log-format", "json", "--set", "limits.connections=100"}
		ended <- cli.Run(ctx, args, strings.NewReader(""), in, in, nil)
		_ = in.Close()
	}()
	var record struct {
		Msg   string
		Stomp []string
	}
	if err := json.NewDecoder(out).Decode(&record); err != nil || record.Msg != "started" || len(record.Stomp) != 1 {
		t.Errorf("%v %+v", err, record)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAdminIsServed(t *testing.T) {
	s := serve(t, t.TempDir())
	run(t, "", s.env(), "send", "/queue/a", "x").expect(t, 0, "confirmed")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string][]string{
		"/livez": {"ok"}, "/readyz": {`"ready": true`}, "/api/v1/overview": {`"received": 1`}, "/api/v1/destinations": {`"/queue/a"`},
		"/metrics": {
			"footfall_messages_received_total{kind=\"queue\"} 1\n", "footfall_connections_opened_total{transport=\"tcp\"} 1\n",
			"footfall_frames_received_total{command=\"SEND\"} 1\n", "footfall_auth_attempts_total{result=\"ok\"} 1\n",
			"footfall_destination_messages_ready{destination=\"/queue/a\",kind=\"queue\"} 1\n", "footfall_ready 1\n",
		},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.admin+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		for _, part := range want {
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), part) {
				t.Errorf("%s: expected %q; saw %d, %v, %s", path, part, resp.StatusCode, err, text)
			}
		}
	}
	s.end(t)
}

func TestAClientThatStaysIsToldAndCutInTime(t *testing.T) {
	s := serve(t, t.TempDir(), "--set", "shutdown.timeout=2s")
	conn, err := net.Dial("tcp", s.stomp)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "CONNECT\naccept-version:1.2\nhost:x\n\n\x00"); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	if _, err := conn.Read(buffer); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	s.stop()
	said, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(said), "ERROR") {
		t.Errorf("expected an ERROR; saw %q, %v", said, err)
	}
	r := <-s.ended
	if took := time.Since(before); r.code != 0 || took > 4*time.Second {
		t.Errorf("expected an end in good order; saw %+v after %v", r, took)
	}
}

var update = flag.Bool("update", false, "write the reference in docs/configuration.md and the examples in docs/admin.md anew")

// manual is where the reference of settings stands.
const manual = "../../../../docs/configuration.md"

func TestTheManualListsEverySetting(t *testing.T) {
	const begin, end = "<!-- settings -->\n", "<!-- end of settings -->\n"
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	var o node.Options
	table := config.Manual(node.Settings(&o))
	before, rest, found := strings.Cut(string(text), begin)
	old, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatal("docs/configuration.md has lost its marks")
	}
	if old == table {
		return
	}
	if *update {
		if err := os.WriteFile(manual, fmt.Appendf(nil, "%s%s%s%s%s", before, begin, table, end, after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/configuration.md is not what the settings are; write it anew with: go test ./cmd/footfall/internal/cli -update")
}
