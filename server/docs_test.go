package server

import (
	"os"
	"slices"
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
