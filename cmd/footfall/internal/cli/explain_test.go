package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestConfigExplainNamesTheEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	text := "destinations:\n- match: /queue/>\n  max-ttl: 7d\n- match: /queue/a\n  time-to-deliver: 8d\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"FOOTFALL_CONFIG=" + path}
	r := run(t, "", env, "config", "explain", "/queue/a").expect(t, 0, "time-to-deliver")
	var rows []string
	for line := range strings.Lines(r.stdout) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	for _, want := range []string{"time-to-deliver 8d /queue/a " + path + ":5:20", "default-ttl none - default"} {
		if !slices.Contains(rows, want) {
			t.Errorf("no row %q in %q", want, rows)
		}
	}
	if !strings.Contains(r.stderr, "warning: no message is delivered") {
		t.Errorf("no warning: %q", r.stderr)
	}
	run(t, "", env, "config", "explain", "/topic/a", "-o", "json").expect(t, 0, `"warnings": []`)
	run(t, "", env, "config", "explain", "a").expect(t, 2, `destination "a" must begin with /queue/ or /topic/`)
	run(t, "", env, "config", "explain", "/queue/*").expect(t, 2, `destination "/queue/*" has a wildcard`)
	run(t, "", env, "config", "explain").expect(t, 2, "accepts 1 arg")
	run(t, "", append(env, "FOOTFALL_DESTINATIONS=[{}]"), "config", "explain", "/queue/a").expect(t, 2, "destinations[0]: has no match")
	run(t, "", env, "config", "print").expect(t, 0, "destinations[1].time-to-deliver")
	help := run(t, "", nil, "config", "explain", "--help").expect(t, 0, "Examples:").stdout
	if examples, _, _ := strings.Cut(help, "Usage:"); strings.Count(examples, "\n  ") < 2 {
		t.Error(examples)
	}
}
