package node_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"footfall/broker"
	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
	"github.com/google/go-cmp/cmp"
)

// fromFile are the options of a file with a text.
func fromFile(t *testing.T, text string) (o node.Options, path string, err error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = config.Load(node.Settings(&o), config.Sources{File: path})
	return o, path, err
}

const example = `
destinations:
  - match: /queue/>
    max-ttl: 7d
    expired: log
  - match: /queue/orders.>
    default-ttl: 1d
    time-to-deliver: 0 0 0 2 * * *; 0 0 0 14 * * *
    schedule-zone: America/New_York
  - {match: /queue/orders.retry, time-to-deliver: 6d, default-ttl: none}
  - match: /queue/orders.fast
    time-to-deliver: none
    max-ttl: none
`

func TestExplainTellsValueAndOrigin(t *testing.T) {
	o, path, err := fromFile(t, example)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{
		"/queue/other": {
			"time-to-deliver: none, default", "default-ttl: none, default",
			"max-ttl: 7d, /queue/> at 4:14", "expired: log, /queue/> at 5:14",
		},
		"/queue/orders": {
			"time-to-deliver: 0 0 0 2 * * *; 0 0 0 14 * * * in America/New_York, /queue/orders.> at 8:22",
			"default-ttl: 1d, /queue/orders.> at 7:18", "max-ttl: 7d, /queue/> at 4:14", "expired: log, /queue/> at 5:14",
		},
		"/queue/orders.retry": {
			"time-to-deliver: 6d, /queue/orders.retry at 10:51", "default-ttl: none, /queue/orders.retry at 10:68",
			"max-ttl: 7d, /queue/> at 4:14", "expired: log, /queue/> at 5:14",
		},
		"/queue/orders.fast": {
			"time-to-deliver: none, /queue/orders.fast at 12:22", "default-ttl: 1d, /queue/orders.> at 7:18",
			"max-ttl: none, /queue/orders.fast at 13:14", "expired: log, /queue/> at 5:14",
		},
		"/topic/orders": {"time-to-deliver: none, default", "default-ttl: none, default", "max-ttl: none, default", "expired: discard, default"},
	}
	for destination, want := range rows {
		settings, warnings, err := o.Explain(destination)
		if err != nil {
			t.Fatal(err)
		}
		var saw []string
		for _, s := range settings {
			line := s.Setting + ": " + s.Value + ", " + string(s.Origin)
			if s.Match != "" {
				line = fmt.Sprintf("%s: %s, %s at %s", s.Setting, s.Value, s.Match, strings.TrimPrefix(string(s.Origin), path+":"))
			}
			saw = append(saw, line)
		}
		if diff := cmp.Diff(want, saw[:len(want)]); diff != "" {
			t.Errorf("%s: %s", destination, diff)
		}
		if len(warnings) != 0 {
			t.Errorf("%s: warnings %q", destination, warnings)
		}
	}
}

func TestExplainWarnsOfTimesThatCannotBeMeantTogether(t *testing.T) {
	rows := []struct{ special, warning string }{
		{"time-to-deliver: 7d", "no message is delivered"},
		{"time-to-deliver: 1d", "a message whose sender says nothing about its expiry is not delivered"},
		{"default-ttl: 8d", "default-ttl is longer than max-ttl"},
		{"time-to-deliver: 1h", ""},
		{"time-to-deliver: 0", ""},
		{"{time-to-deliver: 8d, max-ttl: none, default-ttl: none}", ""},
	}
	for _, row := range rows {
		item := "\n- match: /queue/a.b\n  " + row.special
		if inner, ok := strings.CutPrefix(row.special, "{"); ok {
			item = "\n- {match: /queue/a.b, " + inner
		}
		o, _, err := fromFile(t, "destinations:\n- match: /queue/>\n  max-ttl: 7d\n- match: /queue/a.>\n  default-ttl: 1d"+item+"\n")
		if err != nil {
			t.Fatal(err)
		}
		_, warnings, err := o.Explain("/queue/a.b")
		saw := strings.Join(warnings, "\n")
		if err != nil || !strings.HasPrefix(saw, row.warning) || row.warning == "" && saw != "" {
			t.Errorf("%s: expected %q; saw %q, %v", row.special, row.warning, saw, err)
		}
	}
}

func TestExplainKnowsDestinationsOnly(t *testing.T) {
	var o node.Options
	for _, text := range []string{"", "orders", "/queue/", "/queue/a.*", "/topic/>", "/dsub/x"} {
		if _, _, err := o.Explain(text); err == nil {
			t.Errorf("%q is explained", text)
		}
	}
}

func TestWrongDestinationsAreNamedWithTheirPlace(t *testing.T) {
	rows := []struct{ name, items, want string }{
		{"no list", "{match: /queue/a}", `:1:15: destinations: must be a list of mappings, each with a line "- match: ..."`},
		{"no match", "[{max-ttl: 1h}]", ":1:16: destinations[0]: has no match"},
		{"unknown key", "[{match: /queue/a, max-tl: 1h}]", ":1:34: destinations[0].max-tl: no such setting; did you mean destinations[0].max-ttl?"},
		{"no kind", "[{match: a, max-ttl: 1h}]", `:1:24: destinations[0].match: must begin with /queue/ or /topic/; it is "a"`},
		{"part of a level", "[{match: /queue/a*, max-ttl: 1h}]", `:1:24: destinations[0].match: has the level "a*"`},
		{"nothing said", "[{match: /queue/a}]", ":1:24: destinations[0].match: has no setting beside it"},
		{"no unit", "[{match: /queue/a, max-ttl: 5}]", `:1:43: destinations[0].max-ttl: needs a unit: 5ms, 5s; it is "5"`},
		{"no time to live", "[{match: /queue/a, max-ttl: 0}]", ":1:43: destinations[0].max-ttl: must be more than 0, or none"},
		{"a negative one", "[{match: /queue/a, default-ttl: -1s}]", ":1:47: destinations[0].default-ttl: must not be negative"},
		{"too long", "[{match: /queue/a, max-ttl: 4000d}]", ":1:43: destinations[0].max-ttl: must be a duration as in 90s, 2h30m or 7d: at position 1 longer than ten years"},
		{"no delay", "[{match: /queue/a, time-to-deliver: soon}]", ":1:51: destinations[0].time-to-deliver: must be a duration as in 90s"},
		{"no schedule", "[{match: /queue/a, time-to-deliver: 0 0 0 25 * * *}]", `:1:51: destinations[0].time-to-deliver: must be a duration or a schedule: at position 7 `},
		{"no zone", "[{match: /queue/a, time-to-deliver: 0 0 0 2 * * *, schedule-zone: Mars}]", ":1:81: destinations[0].schedule-zone: must be a time zone as in Europe/Berlin: at position 1 no time zone has this name"},
		{"a zone for nothing", "[{match: /queue/a, time-to-deliver: 5s, schedule-zone: UTC}]", ":1:70: destinations[0].schedule-zone: has no schedule in time-to-deliver beside it"},
		{"no action", "[{match: /queue/a, expired: keep}]", `:1:43: destinations[0].expired: must be one of discard, log, redirect; it is "keep"`},
		{"no limit", "[{match: /queue/a, redelivery-limit: -1}]", ":1:52: destinations[0].redelivery-limit: must be a number from 0 to 65534, or none"},
		{"no back-off", "[{match: /queue/a, redelivery-backoff: slow}]", ":1:54: destinations[0].redelivery-backoff: must be one of none, linear, exponential, default"},
		{"no multiplier", "[{match: /queue/a, redelivery-multiplier: 0.5}]", ":1:57: destinations[0].redelivery-multiplier: must be a number from 1 to 1000"},
		{"no jitter", "[{match: /queue/a, redelivery-jitter: 1e-1}]", ":1:53: destinations[0].redelivery-jitter: must be a number from 0 to 1"},
		{"no redelivery delay", "[{match: /queue/a, redelivery-delay: 5}]", ":1:52: destinations[0].redelivery-delay: needs a unit"},
		{"no error destination", "[{match: /queue/a, error-destination: dead}]", ":1:53: destinations[0].error-destination: must begin with /queue/ or /topic/"},
		{"a wildcard for dead letters", "[{match: /queue/a, error-destination: /queue/d.>}]", ":1:53: destinations[0].error-destination: has a wildcard"},
		{"a delay above the most", "[{match: /queue/a, redelivery-delay: 2h, redelivery-max-delay: 1h}]", ":1:52: destinations[0].redelivery-delay: is longer than redelivery-max-delay"},
		{"no number of messages", "[{match: /queue/a, max-messages: 0}]", ":1:48: destinations[0].max-messages: must be a number, 1 or more, or none"},
		{"a size without a unit", "[{match: /queue/a, max-bytes: 5}]", ":1:45: destinations[0].max-bytes: needs a unit"},
		{"no size of a message", "[{match: /queue/a, max-message-size: 0}]", ":1:52: destinations[0].max-message-size: must be more than 0, or none"},
		{"a slow consumer of a queue", "[{match: /queue/a, slow-consumer: block}]", ":1:49: destinations[0].slow-consumer: is for topics; consumers of a queue hold nobody up"},
		{"no overflow", "[{match: /queue/a, overflow: drop}]", ":1:44: destinations[0].overflow: must be one of block, reject, drop-oldest, default"},
		{"twice", "[{match: /queue/a, expired: log}, {match: /queue/a, max-ttl: 1s}]", `:1:57: destinations[1].match: is the same destination as "/queue/a"; that is at `},
		{"tied", "[{match: /queue/#.a.#, expired: log}, {match: /queue/#.b.#, expired: log}]", `:1:61: destinations[1].match: is as specific as "/queue/#.a.#", some names match both, and both have expired; that is at `},
		{"a default above the most", "[{match: /queue/a, default-ttl: 2h, max-ttl: 1h}]", ":1:47: destinations[0].default-ttl: is longer than max-ttl"},
		{"dead on arrival", "[{match: /queue/a, default-ttl: 2h, time-to-deliver: 2h}]", ":1:68: destinations[0].time-to-deliver: is not shorter than a time to live of 2h0m0s"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, path, err := fromFile(t, "destinations: "+row.items+"\n")
			if err == nil || !strings.HasPrefix(err.Error(), path+row.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("expected %q; saw %v", path+row.want, err)
			}
			if !config.IsUsage(err) {
				t.Errorf("%T", err)
			}
		})
	}
}

func TestTimesOfDestinationsHaveUnits(t *testing.T) {
	for _, text := range []string{"1500ms", "90s", "2h30m", "7d", "PT5M", "P1DT2H", "'90s '", "none"} {
		if _, _, err := fromFile(t, "destinations: [{match: /queue/a, max-ttl: "+text+"}, {match: /queue/b, time-to-deliver: "+text+"}]"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"0", "0s", "'0 0 0 l * * *'"} {
		if _, _, err := fromFile(t, "destinations: [{match: /queue/a, time-to-deliver: "+text+"}]"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestANodeKeepsToItsDestinations(t *testing.T) {
	o := options(t)
	list, _, err := fromFile(t, "destinations: [{match: /queue/slow.>, time-to-deliver: 1h}]\n")
	if err != nil {
		t.Fatal(err)
	}
	o.Destinations = list.Destinations
	n, err := node.Start(o, program())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", n.Stomp()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "CONNECT\naccept-version:1.2\nhost:x\n\n\x00"+
		"SEND\ndestination:/queue/slow.a\nreceipt:1\n\nx\x00SEND\ndestination:/queue/fast.a\nreceipt:2\n\nx\x00DISCONNECT\n\n\x00")
	said, err := io.ReadAll(conn)
	_, receipts, _ := strings.Cut(string(said), "receipt-id:1\n")
	first, second, _ := strings.Cut(receipts, "receipt-id:2\n")
	if err != nil || !strings.Contains(first, "scheduled-id:") || !strings.Contains(first, "deliver-at:") || strings.Contains(second, "deliver-at:") {
		t.Errorf("saw %q, %v", said, err)
	}
	_ = conn.Close()
	end(t, n)
}

// TestTheManualOfDestinationsIsTrue loads what docs/destinations.md shows.
func TestTheManualOfDestinationsIsTrue(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/destinations.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		blocks++
		if _, _, err := fromFile(t, block); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
	}
	if blocks == 0 {
		t.Error("no example")
	}
	for _, s := range broker.PolicySettings() {
		if !strings.Contains(string(text), "\n| `"+s.String()+"` |") {
			t.Errorf("there is no row of %v", s)
		}
	}
}

// TestTheManualOfDestinationsExplainsItsFirstExample compares what config explain is shown to say.
func TestTheManualOfDestinationsExplainsItsFirstExample(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/destinations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := strings.Cut(string(text), "```yaml\n")
	first, rest, _ := strings.Cut(first, "```")
	_, shown, found := strings.Cut(rest, "$ footfall config explain ")
	destination, shown, _ := strings.Cut(shown, " ")
	o, path, err := fromFile(t, first)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	settings, _, err := o.Explain(destination)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		want := []string{s.Setting, s.Value, s.Match, strings.Replace(string(s.Origin), path, "footfall.yaml", 1)}
		if s.Match == "" {
			want[2] = "-"
		}
		if line := strings.Join(want, " "); !strings.Contains(squeezed(shown), line+"\n") {
			t.Errorf("expected %q in\n%s", line, squeezed(shown))
		}
	}
}

// squeezed is a text with one blank in the place of several.
func squeezed(text string) string {
	for strings.Contains(text, "  ") {
		text = strings.ReplaceAll(text, "  ", " ")
	}
	return text
}
