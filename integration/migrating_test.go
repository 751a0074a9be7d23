//go:build linux

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oldBroker is the address of the broker that the pages on migration come from.
const oldBroker = "old.example:61613"

// TestThePagesOnMigrationShowWhatHappens runs the commands of these pages, beside an old broker and with a new one that has the first
// settings that the page shows.
func TestThePagesOnMigrationShowWhatHappens(t *testing.T) {
	pages, err := filepath.Glob("../docs/migrating*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("there are %d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			steps := consoleSteps(t, filepath.Base(page), string(text))
			if len(steps) == 0 {
				t.Fatal("no commands")
			}
			dir := t.TempDir()
			var l launch
			if _, settings, found := strings.Cut(string(text), "```yaml\n"); found {
				settings, _, _ = strings.Cut(settings, "```")
				file := filepath.Join(dir, "footfall.yaml")
				if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
					t.Fatal(err)
				}
				l.args = []string{"--config", file}
			}
			p := start(t, l)
			old := "nobody"
			if strings.Contains(string(text), "$ footfall transfer") {
				old = start(t, launch{}).stomp
			}
			env := append(environment(server(p)...), "PATH="+filepath.Dir(binary(t))+":"+os.Getenv("PATH"))
			for _, s := range steps {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(s.command, oldBroker, old))
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				cancel()
				if err != nil {
					t.Fatalf("line %d: %s: %v\n%s", s.line, s.command, err, out)
				}
				said := strings.ReplaceAll(string(out), old, oldBroker)
				if got, want := lines(strings.Split(said, "\n")), lines(s.expected); !slices.Equal(got, want) {
					t.Errorf("line %d: %s prints\n%s\nnot\n%s", s.line, s.command, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}
