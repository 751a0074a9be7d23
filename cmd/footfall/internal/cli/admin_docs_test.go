package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheExamplesOfAdministrationAreTrue runs the commands of docs/admin.md one after the other, and demands what is written there. ID stands for the first id of a
// message that was shown.
func TestTheExamplesOfAdministrationAreTrue(t *testing.T) {
	t.Setenv("TZ", "UTC")
	const file = "../../../../docs/admin.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, t.TempDir(), "--set", `destinations=[{"match": "/queue/orders", "max-messages": 100000}]`)
	subscribe(t, s, "billing", "invoices", "/topic/invoices") // and stays
	for _, region := range []string{"us", "eu"} {
		run(t, "", s.env(), "send", "/queue/orders", "an order", "--header", "region="+region).expect(t, 0, "")
	}
	env := s.scheduleEnv()
	id := ""
	block := regexp.MustCompile("(?s)```console\n.*?```")
	seen := 0
	got := block.ReplaceAllStringFunc(string(text), func(block string) string {
		out := "```console\n"
		for line := range strings.Lines(block) {
			command, is := strings.CutPrefix(line, "$ footfall ")
			if !is {
				continue
			}
			seen++
			args := argsOf(strings.TrimSpace(strings.Replace(command, " ID", " "+id, 1)))
			result := run(t, "", env, args...).expect(t, 0, "")
			if found := regexp.MustCompile(`\b4\.[0-9a-z]{6,}`).FindString(result.stdout); id == "" {
				id = found
			}
			out += line + result.stdout
		}
		return out + "```"
	})
	s.end(t)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was, is := masked(string(text)), masked(got); was != is || seen < 20 {
		t.Errorf("%s is not what %d commands say; write it anew with: go test ./cmd/footfall/internal/cli -run Examples -update\n%s", file, seen, is)
	}
}

// argsOf parts a line at blanks that are not in quotes.
func argsOf(line string) (args []string) {
	for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		args = append(args, strings.Trim(word, `"`))
	}
	return args
}

// masked leaves out what differs from run to run: ids, times, ports, and the blanks that make columns.
func masked(text string) string {
	for _, pattern := range []string{`\b4\.[0-9a-z]{6,}`, `\d{4}-\d\d-\d\d[T ][0-9:.]+Z`, `\b[0-9a-z]+\.[0-9a-z]{6,}`, `127\.0\.0\.1:\d+`, `timestamp: \d+`} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, "#")
	}
	return regexp.MustCompile(` +`).ReplaceAllString(text, " ")
}
