//go:build linux

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// library is a client library of another language. Its programs are in clients, clients/README.md tells what they do.
type library struct {
	// name is that of the documentation.
	name string
	// shown is what the table of README.md and docs/clients.md call it, where that is another name.
	shown string
	// send and receive are its two programs for the examples of the documentation, if there are such.
	send, receive string
	// features is its program that tries the features of the table, shared what follows it and others have too.
	features string
	shared   []string
	// run is the command line that runs a program, where it is after this.
	run []string
	// env are variables that let the language find the library. INSTALLED is where `make clients` installed it.
	env []string
}

var libraries = []library{
	{
		name: "stomp.py", send: "python/send-stomp.py.py", receive: "python/receive-stomp.py.py",
		features: "python/features-stomp.py.py",
		run:      []string{"python3"}, env: []string{"PYTHONPATH=INSTALLED/python/lib", "PYTHONDONTWRITEBYTECODE=1"},
	},
	{
		name: "stomp.py over WebSocket", features: "python/features-stomp.py.py",
		run: []string{"python3"}, env: []string{"PYTHONPATH=INSTALLED/python/lib", "PYTHONDONTWRITEBYTECODE=1", "TRANSPORT=websocket"},
	},
	{name: "@stomp/stompjs", send: "node/send-stompjs.mjs", receive: "node/receive-stompjs.mjs", features: "node/features-stompjs.mjs", shared: []string{"node/stompjs.mjs", "node/features.mjs"}, run: []string{"node"}},
	{name: "stompit", send: "node/send-stompit.mjs", receive: "node/receive-stompit.mjs", features: "node/features-stompit.mjs", shared: []string{"node/features.mjs"}, run: []string{"node"}},
	{name: "@stomp/stompjs in Chromium", features: "node/features-chromium.mjs", shared: []string{"node/stompjs.mjs", "node/features.mjs"}, run: []string{"node"}},
	{name: "@stomp/rx-stomp", features: "node/features-rx-stomp.mjs", shared: []string{"node/features.mjs"}, run: []string{"node"}},
	{name: "webstomp-client", features: "node/features-webstomp.mjs", shared: []string{"node/features.mjs"}, run: []string{"node"}},
	{name: "stompjs 2.3", features: "node/features-stompjs2.mjs", shared: []string{"node/features.mjs"}, run: []string{"node"}},
	{
		name: "JMS by stompjms", send: "java/send-stompjms.java", receive: "java/receive-stompjms.java",
		features: "java/features-stompjms.java", shared: []string{"java/features.java"},
		run: []string{"java", "-XX:TieredStopAtLevel=1"}, env: []string{"CLASSPATH=INSTALLED/java/lib/*"},
	},
	{
		name: "Spring's client", features: "java/features-spring.java", shared: []string{"java/features.java"},
		run: []string{"java", "-XX:TieredStopAtLevel=1"}, env: []string{"CLASSPATH=INSTALLED/java/lib/*"},
	},
	{
		name: "Spring's broker relay", features: "java/features-relay.java", shared: []string{"java/features.java"},
		run: []string{"java", "-XX:TieredStopAtLevel=1"}, env: []string{"CLASSPATH=INSTALLED/java/lib/*"},
	},
	{name: "go-stomp", send: "go/send-go-stomp.txt", receive: "go/receive-go-stomp.txt", features: "go/features-go-stomp.txt", run: []string{"go", "run"}},
	{name: "stomp", shown: "stomp (Ruby)", send: "ruby/send-stomp.rb", receive: "ruby/receive-stomp.rb", features: "ruby/features-stomp.rb", run: []string{"ruby"}},
	{name: "Net::Stomp", features: "perl/features-net-stomp.pl", run: []string{"perl"}},
	{
		name: "the stomp extension of PECL", shown: "stomp (PECL)", send: "php/send-pecl.php", receive: "php/receive-pecl.php", features: "php/features-pecl.php",
		run: []string{"php"},
	},
}

// installed returns where the client libraries are.
func installed(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../.build/clients")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"python", "node", "java"} {
		if _, err := os.Stat(filepath.Join(dir, language, "installed")); err != nil {
			t.Fatalf("the client libraries of %s are not there; make clients installs them (%v)", language, err)
		}
	}
	return dir
}

// program writes a program of the library with an example in its place, and returns its path.
func (l *library) program(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	// Modules of Node are found from where the program is.
	if err := os.Symlink(filepath.Join(installed(t), "node", "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	extension := filepath.Ext(l.send + l.features)
	if extension == ".txt" { // a program of Go in clients would be one of this module
		extension = ".go"
	}
	path := filepath.Join(dir, "program"+extension)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// around is the program that sends, with the example in it.
func (l *library) around(t testing.TB, example string) string {
	t.Helper()
	lines := strings.Split(l.text(t, l.send), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasSuffix(line, " EXAMPLE") })
	if i < 0 {
		t.Fatalf("clients/%s has no line with EXAMPLE", l.send)
	}
	lines[i] = example
	return strings.Join(lines, "\n")
}

func (l *library) text(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("clients", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// do runs a program of that text to its end, with these variables and arguments, and returns what it prints.
func (l *library) do(t testing.TB, text string, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	line := append(append(slices.Clone(l.run), l.program(t, text)), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = environment(env...)
	for _, entry := range l.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(entry, "INSTALLED", installed(t)))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v (make clients installs what is missing)\n%s%s", l.name, err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// taken is a message as the programs that receive print it.
type taken struct {
	Body    string
	Headers map[string]string
}

// receiveAll takes so many messages by the library.
func (l *library) receiveAll(t testing.TB, p *process, destination string, count int) []taken {
	t.Helper()
	host, port := hostPort(t, p)
	var list []taken
	for line := range strings.Lines(l.do(t, l.text(t, l.receive), nil, host, port, destination, fmt.Sprint(count))) {
		list = append(list, reads[taken](t, line))
	}
	return list
}

func hostPort(t testing.TB, p *process) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(p.stomp)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// block is a piece of code of a document.
type block struct {
	// label is the line before it, without its colon.
	label string
	fence string
	code  string
}

// blocks returns the code under a heading of a document.
func blocks(t testing.TB, path, heading string) []block {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", path, heading)
	}
	var list []block
	label, inside := "", false
	for line := range strings.Lines(section) {
		switch fence, is := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case is && !inside:
			inside = true
			list = append(list, block{label: strings.TrimSuffix(label, ":"), fence: fence})
		case is:
			inside = false
		case inside:
			list[len(list)-1].code += line
		case strings.HasPrefix(line, "#"):
			return list
		case strings.TrimSpace(line) != "":
			label = strings.TrimSpace(line)
		}
	}
	return list
}

// due tells when a message is due that was sent at a time.
type due func(sent time.Time) time.Time

func in(d time.Duration) due { return func(sent time.Time) time.Time { return sent.Add(d) } }

func onChristmasEve(sent time.Time) time.Time {
	at := time.Date(sent.UTC().Year(), 12, 24, 18, 0, 0, 0, time.UTC)
	if !at.After(sent) {
		at = at.AddDate(1, 0, 0)
	}
	return at
}

// The examples of the documentation: by body, when each is due.
var languageExamples = map[string]map[string]due{
	"Python, stomp.py":                 {"in 90 seconds": in(90 * time.Second), "at six": atSix},
	"JavaScript, @stomp/stompjs":       {"in 90 seconds": in(90 * time.Second), "every Christmas Eve": onChristmasEve},
	"JavaScript, stompit":              {"in 90 seconds": in(90 * time.Second)},
	"Java, JMS by stompjms":            {"in 90 seconds": in(90 * time.Second), "in two minutes": in(2 * time.Minute)},
	"Go, go-stomp":                     {"in 90 seconds": in(90 * time.Second)},
	"Ruby, stomp":                      {"in 90 seconds": in(90 * time.Second)},
	"PHP, the stomp extension of PECL": {"in 90 seconds": in(90 * time.Second)},
	"The command line":                 {"in 90 seconds": in(90 * time.Second), "at six": atSix, "on weekdays": onWeekdays},
}

func atSix(time.Time) time.Time { return time.Date(2099, 12, 24, 17, 0, 0, 0, time.UTC) }

// onWeekdays is the next nine o'clock of Berlin from Monday to Friday.
func onWeekdays(sent time.Time) time.Time {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	local := sent.In(zone)
	for day := 0; ; day++ {
		at := time.Date(local.Year(), local.Month(), local.Day()+day, 9, 0, 0, 0, zone)
		if at.After(sent) && at.Weekday() != time.Saturday && at.Weekday() != time.Sunday {
			return at
		}
	}
}

func TestExamplesOfTheHeadersWorkInEveryLanguage(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range blocks(t, "../docs/headers.md", "### In your language") {
		want, known := languageExamples[b.label]
		if !known || seen[b.label] {
			t.Errorf("%q is shown, and not tried", b.label)
			continue
		}
		seen[b.label] = true
		t.Run(b.label, func(t *testing.T) {
			p := start(t, launch{})
			began := time.Now()
			l := libraryOf(t, b)
			if l == nil {
				shell(t, p, b.code)
			} else {
				host, port := hostPort(t, p)
				l.do(t, l.around(t, b.code), nil, host, port)
			}
			requireScheduled(t, p, want, began, time.Now())
			if l == nil {
				requireOutput(t, p, want)
				return
			}
			requireTaken(t, l.receiveAll(t, p, "/queue/hello", len(want)), want)
		})
	}
	for label := range languageExamples {
		if !seen[label] {
			t.Errorf("%q is tried, and not shown", label)
		}
	}
}

// libraryOf returns the library of an example, nil for a command line.
func libraryOf(t testing.TB, b block) *library {
	t.Helper()
	if b.fence == "sh" {
		return nil
	}
	_, name, _ := strings.Cut(b.label, ", ")
	i := slices.IndexFunc(libraries, func(l library) bool { return l.name == name })
	if i < 0 {
		t.Fatalf("there is no library %q", name)
	}
	return &libraries[i]
}

// shell runs command lines of the documentation.
func shell(t testing.TB, p *process, commands string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", commands)
	cmd.Env = environment(append(server(p), "PATH="+filepath.Dir(binary(t))+":"+os.Getenv("PATH"))...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// requireScheduled demands that what was sent between two times waits until it is due, and lets it be delivered now.
func requireScheduled(t testing.TB, p *process, want map[string]due, began, ended time.Time) {
	t.Helper()
	type page struct {
		Items []struct {
			ID          string
			Destination string
			Body        string
			DeliverAt   time.Time `json:"deliver_at"`
		}
	}
	status, text, err := p.get("/api/v1/scheduled?body=100")
	if err != nil || status != 200 {
		t.Fatalf("%d %v", status, err)
	}
	items := reads[page](t, text).Items
	if len(items) != len(want) {
		t.Fatalf("%d messages wait, not %d: %s", len(items), len(want), text)
	}
	for _, item := range items {
		at := want[item.Body]
		if at == nil || item.Destination != "/queue/hello" {
			t.Errorf("%q waits for %s", item.Body, item.Destination)
			continue
		}
		// Times are whole milliseconds, rounded up.
		if earliest, latest := at(began), at(ended).Add(time.Millisecond); item.DeliverAt.Before(earliest.Truncate(time.Millisecond)) || item.DeliverAt.After(latest) {
			t.Errorf("%q is due at %v, not between %v and %v", item.Body, item.DeliverAt, earliest, latest)
		}
		ok(t, []string{"FOOTFALL_ADMIN=" + p.admin}, "", "schedule", "run", item.ID)
	}
}

// requireOutput demands that the command line receives what was sent.
func requireOutput(t testing.TB, p *process, want map[string]due) {
	t.Helper()
	out := ok(t, server(p), "", "receive", "/queue/hello", "--count", fmt.Sprint(len(want)))
	got := slices.Sorted(strings.Lines(out))
	if bodies := slices.Sorted(maps.Keys(want)); strings.Join(got, "") != strings.Join(bodies, "\n")+"\n" {
		t.Errorf("received %q, not %q", got, bodies)
	}
}

// requireTaken demands that the messages are those that were sent, as delivered copies.
func requireTaken(t testing.TB, got []taken, want map[string]due) {
	t.Helper()
	var bodies []string
	for _, m := range got {
		bodies = append(bodies, m.Body)
		if m.Headers["scheduledJobId"] == "" {
			t.Errorf("%q tells nothing of its schedule: %v", m.Body, m.Headers)
		}
		for _, name := range []string{"delay", "AMQ_SCHEDULED_DELAY", "AMQ_SCHEDULED_CRON"} {
			if _, has := m.Headers[name]; has {
				t.Errorf("%q would be delayed again by %s", m.Body, name)
			}
		}
	}
	slices.Sort(bodies)
	if expected := slices.Sorted(maps.Keys(want)); !slices.Equal(bodies, expected) {
		t.Errorf("received %q, not %q", bodies, expected)
	}
}

func TestExamplesOfTheIntroductionWork(t *testing.T) {
	programs := 0
	for _, b := range blocks(t, "../README.md", "### From a program") {
		if b.fence == "sh" {
			continue // how to install the library; `make clients` has done so
		}
		programs++
		t.Run(b.label, func(t *testing.T) {
			p := start(t, launch{})
			host, port := hostPort(t, p)
			code := strings.NewReplacer("127.0.0.1", host, "61613", port).Replace(b.code)
			if code == b.code {
				t.Fatalf("the example connects to no 127.0.0.1, 61613")
			}
			began := time.Now()
			libraryOf(t, b).do(t, code, nil)
			out := ok(t, server(p), "", "receive", "/queue/hello", "--count", "1", "-o", "json")
			var m struct{ Body string }
			if err := json.Unmarshal([]byte(out), &m); err != nil || m.Body != "Hello, five seconds later" {
				t.Errorf("received %s (%v)", out, err)
			}
			if took := time.Since(began); took < 5*time.Second {
				t.Errorf("received %v after the sending, too early", took)
			}
		})
	}
	if programs != 2 {
		t.Errorf("the introduction has %d programs, not 2", programs)
	}
}
