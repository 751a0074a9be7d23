//go:build linux

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// features are what each client is asked to do, in the order of the table. clients/README.md tells what each means.
var features = []string{
	"1.0", "1.1", "1.2", "send", "auto", "client", "individual", "nack", "commit", "abort", "receipt", "beats", "missed",
	"selector", "durable", "delay", "reply", "binary", "error", "reconnect",
}

// outcome is what a client's program says of a feature: pass, fail or none, and why.
type outcome struct{ verdict, reason string }

func (o outcome) cell() string {
	switch o.verdict {
	case "pass":
		return "✓"
	case "none":
		return "–"
	default:
		return "✗"
	}
}

// clientsOf are the libraries with a program that tries the features.
func clientsOf() []*library {
	var list []*library
	for i := range libraries {
		if libraries[i].features != "" {
			list = append(list, &libraries[i])
		}
	}
	return list
}

// title is how the table and docs/clients.md name a library.
func (l *library) title() string {
	if l.shown != "" {
		return l.shown
	}
	return l.name
}

// ports are the addresses that a client's program connects to, as variables of its environment.
func ports(t testing.TB, p *process) []string {
	t.Helper()
	_, tcp := hostPort(t, p)
	ws := webSocketPort(t, p)
	return []string{
		"HOST=127.0.0.1",
		"STOMP=" + tcp, "STOMP_SILENT=" + startRelay(t, tcp, silent), "STOMP_CUT=" + startRelay(t, tcp, severed),
		"WEBSOCKET=" + ws, "WEBSOCKET_SILENT=" + startRelay(t, ws, silent), "WEBSOCKET_CUT=" + startRelay(t, ws, severed),
	}
}

var webSocketAddress = regexp.MustCompile(`ws://127\.0\.0\.1:([1-9]\d*)`)

func webSocketPort(t testing.TB, p *process) string {
	t.Helper()
	found := webSocketAddress.FindStringSubmatch(p.out.text())
	if found == nil {
		t.Fatalf("the broker tells of no WebSocket address:\n%s", p.out.text())
	}
	return found[1]
}

// forClients is a broker with all that the clients need: a WebSocket, on which silence counts as it does over TCP, and
// which pages of any origin may use.
func forClients(t testing.TB) *process {
	t.Helper()
	return start(t, launch{
		args: []string{"--websocket", "127.0.0.1:0"},
		env:  []string{"FOOTFALL_WEBSOCKET_MIN_SILENCE=100ms", "FOOTFALL_WEBSOCKET_ORIGINS=*"},
	})
}

// try runs the program that tries the features of a library.
func (l *library) try(t testing.TB) map[string]outcome {
	t.Helper()
	text := l.text(t, l.features)
	for _, name := range l.shared {
		text += l.text(t, name)
	}
	lines := l.do(t, text, ports(t, forClients(t)))
	found := map[string]outcome{}
	for line := range strings.Lines(lines) {
		verdict, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		feature, reason, _ := strings.Cut(rest, " ")
		if !slices.Contains([]string{"pass", "fail", "none"}, verdict) || !slices.Contains(features, feature) {
			t.Errorf("the program says what is no result: %q", line)
			continue
		}
		if _, twice := found[feature]; twice {
			t.Errorf("%s has two results", feature)
		}
		found[feature] = outcome{verdict, reason}
	}
	return found
}

func TestClientsDoWhatTheTableShows(t *testing.T) {
	shown := table(t)
	var mu sync.Mutex
	rows := map[string][]string{}
	t.Cleanup(func() { keep(t, rows) })
	for _, l := range clientsOf() {
		t.Run(l.title(), func(t *testing.T) {
			t.Parallel()
			found := l.try(t)
			notes := section(t, "../docs/clients.md", "## "+l.title())
			var row []string
			for i, feature := range features {
				o, has := found[feature]
				row = append(row, o.cell())
				switch was := cellOf(shown[l.title()], i); {
				case !has:
					t.Errorf("%s: no result", feature)
				case o.verdict == "fail":
					t.Errorf("%s: %s", feature, o.reason)
				case o.verdict == "none" && !strings.Contains(notes, "\n- "+feature+": "+o.reason+"\n"):
					t.Errorf("docs/clients.md does not have the line %q", "- "+feature+": "+o.reason)
				case was != o.cell() && !updating():
					t.Errorf("%s: README.md shows %q, and it is %q; FOOTFALL_UPDATE=1 writes what is", feature, was, o.cell())
				}
			}
			mu.Lock()
			defer mu.Unlock()
			rows[l.title()] = row
		})
	}
}

func TestTheTableHasEveryClientAndFeature(t *testing.T) {
	shown := table(t)
	for _, l := range clientsOf() {
		if row := shown[l.title()]; len(row) != len(features) {
			t.Errorf("README.md shows %d features of %s, not %d", len(row), l.title(), len(features))
		}
		delete(shown, l.title())
	}
	for name, row := range shown {
		if name != "Client" {
			t.Errorf("README.md shows %s, which nothing tries", name)
		} else if !slices.Equal(row, features) {
			t.Errorf("README.md names the features %v, not %v", row, features)
		}
	}
	explained := section(t, "clients/README.md", "## Features")
	for _, feature := range features {
		if !strings.Contains(explained, "\n| `"+feature+"` |") {
			t.Errorf("clients/README.md does not tell what %q means", feature)
		}
	}
}

// tableHeading is where README.md has the table.
const tableHeading = "## Clients"

// table returns the cells of README.md's table by client.
func table(t testing.TB) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for line := range strings.Lines(section(t, "../README.md", tableHeading)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows[cells[0]] = cells[1:]
	}
	return rows
}

func cellOf(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

// section returns what a document has under a heading, to the next one of its rank.
func section(t testing.TB, path, heading string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Errorf("%s has no %q", path, heading)
		return ""
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return "\n" + body + "\n"
}

// updating tells that README.md is to show what is, instead of being compared with it.
func updating() bool { return os.Getenv("FOOTFALL_UPDATE") != "" }

// keep writes the table of those that were tried, with what README.md shows of the others, where `make integration`
// prints it, and into README.md if that is to be updated.
func keep(t testing.TB, rows map[string][]string) {
	t.Helper()
	shown := table(t)
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(append([]string{"Client"}, features...)...)
	line(slices.Repeat([]string{"---"}, len(features)+1)...)
	for _, l := range clientsOf() {
		row := rows[l.title()]
		if row == nil {
			row = shown[l.title()]
		}
		line(append([]string{l.title()}, row...)...)
	}
	if err := os.WriteFile(filepath.Join(installed(t), "table.md"), []byte(b.String()), 0o600); err != nil {
		t.Error(err)
	}
	if !updating() {
		return
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), "\n"+tableHeading+"\n")
	if !found {
		t.Fatalf("README.md has no %q", tableHeading)
	}
	start := strings.Index(after, "\n| Client |") + 1
	end := start + strings.Index(after[start:]+"\n\n", "\n\n") + 1
	after = after[:start] + b.String() + after[end:]
	if err := os.WriteFile("../README.md", []byte(before+"\n"+tableHeading+"\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheLinesOfEveryClientWork(t *testing.T) {
	for _, l := range clientsOf() {
		t.Run(l.title(), func(t *testing.T) {
			t.Parallel()
			list := blocks(t, "../docs/clients.md", "## "+l.title())
			if len(list) != 1 {
				t.Fatalf("docs/clients.md has %d programs for it, not 1", len(list))
			}
			p := forClients(t)
			_, port := hostPort(t, p)
			code := strings.NewReplacer("61613", port, "15674", webSocketPort(t, p)).Replace(list[0].code)
			if code == list[0].code {
				t.Fatal("the program connects to no port 61613 or 15674")
			}
			if out := l.do(t, code, nil); !strings.Contains(out, "Hello") {
				t.Errorf("it prints %q", out)
			}
		})
	}
}
