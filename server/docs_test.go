package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"footfall/schedule"
)

// TestTheDocsHaveAllHeadersInTheOrderInWhichTheyCount looks at the tables of docs/headers.md.
func TestTheDocsHaveAllHeadersInTheOrderInWhichTheyCount(t *testing.T) {
	text, err := os.ReadFile("../docs/headers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "## When a message is due\n")
	if !found {
		t.Fatal("there is no section on when a message is due")
	}
	var rows []string
	for line := range strings.Lines(rest) {
		if name, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ = strings.Cut(name, "`")
			if _, ok := schedule.Lookup([]byte(name)); ok {
				rows = append(rows, name)
			}
		}
	}
	var want []string
	for _, h := range schedule.Headers() {
		// These two are of SEND in general.
		if h != schedule.HeaderScheduledID && h != schedule.HeaderScheduleZone {
			want = append(want, h.String())
		}
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the tables have\n%q\nand not\n%q", rows, want)
	}
}

func TestTheDocsNameWhatIsRefused(t *testing.T) {
	text, err := os.ReadFile("../docs/headers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]feature{recoverFeatures()} {
		for _, f := range list {
			if !strings.Contains(string(text), "`"+f.name+"`") && !strings.Contains(string(text), "`"+f.name+":") {
				t.Errorf("docs/headers.md does not name %s", f.name)
			}
		}
	}
}

// TestThePagesOnMigrationKnowTheHeaders compares what docs/migrating-from-*.md say of headers with the program: a header of SEND that
// is passed on is one that classify does not know, one of another frame that is ignored is named nowhere, and all others are read.
func TestThePagesOnMigrationKnowTheHeaders(t *testing.T) {
	pages, err := filepath.Glob("../docs/migrating-from-*.md")
	if err != nil || len(pages) != 4 {
		t.Fatalf("the pages are %q: %v", pages, err)
	}
	read := literals(t)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(text), "\n## Headers\n")
		section, _, _ = strings.Cut(section, "\n## ")
		rows := 0
		for line := range strings.Lines(section) {
			cells := strings.Split(strings.Trim(line, "| \n"), " | ")
			if len(cells) != 3 || cells[0] != strings.ToUpper(cells[0]) {
				continue
			}
			rows++
			for i, name := range strings.Split(cells[1], "`") {
				if i%2 == 0 {
					continue // what is between two names
				}
				unread := strings.HasPrefix(cells[2], "ignored") || strings.HasPrefix(cells[2], "passed on")
				known := read[name]
				if cells[0] == "SEND" {
					known = classify([]byte(name)) != passedHeader
				}
				if known == unread {
					t.Errorf("%s: %s of %s: is read: %v; the page says %q", filepath.Base(page), name, cells[0], known, cells[2])
				}
			}
		}
		if rows < 5 {
			t.Errorf("%s has %d rows of headers", page, rows)
		}
	}
}

// literals are the texts in the sources of this package.
func literals(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if value, err := strconv.Unquote(text.Value); err == nil {
					texts[value] = true
				}
			}
			return true
		})
	}
	return texts
}
