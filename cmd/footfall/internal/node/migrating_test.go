package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"footfall/cmd/footfall/internal/node"
)

// TestTheManualsOfMigrationAreTrue loads what docs/migrating*.md show.
func TestTheManualsOfMigrationAreTrue(t *testing.T) {
	pages, err := filepath.Glob(root + "/docs/migrating-from-*.md")
	if err != nil || len(pages) != 4 {
		t.Fatalf("the pages are %q: %v", pages, err)
	}
	names, sections := map[string]bool{}, map[string]bool{}
	for _, s := range node.Settings(new(node.Options)) {
		section, _, _ := strings.Cut(s.Name, ".")
		names[s.Name], sections[section] = true, true
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```yaml\n")[1:]
		if len(blocks) < 2 {
			t.Errorf("%s has %d examples", page, len(blocks))
		}
		for _, block := range blocks {
			block, _, _ = strings.Cut(block, "```")
			o, _, err := fromFile(t, block)
			if err == nil {
				_, err = o.Rules()
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", filepath.Base(page), err, block)
			}
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| ") {
				_, line, _ = strings.Cut(line, " | ") // what the other broker has, is left
			}
			for i, name := range strings.Split(line, "`") {
				name, _, _ = strings.Cut(name, ": ") // with a value
				section, _, dotted := strings.Cut(name, ".")
				if i%2 == 1 && dotted && sections[section] && !names[name] {
					t.Errorf("%s: there is no setting %s", filepath.Base(page), name)
				}
			}
		}
	}
}
