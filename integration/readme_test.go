//go:build linux

package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// step is a command of the README and what it is said to print.
type step struct {
	line     int
	command  string
	expected []string
}

// readmeSteps returns the commands of the console blocks of the README's first section, in order.
func readmeSteps(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.SplitAfter(string(text), "\n## ")
	if len(sections) < 3 {
		t.Fatal("README.md has no sections")
	}
	return consoleSteps(t, "README.md", sections[0]+sections[1])
}

// consoleSteps returns the commands of the console blocks of a page, in order.
func consoleSteps(t *testing.T, page, text string) []step {
	t.Helper()
	var steps []step
	inside := false
	for i, line := range strings.Split(text, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case isCommand:
			steps = append(steps, step{line: i + 1, command: command})
		case len(steps) == 0:
			t.Fatalf("%s:%d: a console block does not begin with a command", page, i+1)
		default:
			last := &steps[len(steps)-1]
			last.expected = append(last.expected, line)
		}
	}
	return steps
}

// alike writes for each part that differs from run to run what kind of part it is.
func alike(line string) string {
	for _, part := range []struct{ pattern, kind string }{
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`, "TIME"},
		{`127\.0\.0\.1:\d+`, "ADDRESS"},
		{`/\S*/data\b`, "DIRECTORY"},
		{`\b\d+(\.\d+)?(ms|µs|s)\b`, "DURATION"},
		{`\b[0-9a-z]{1,2}(\.[0-9a-z]{6,})+\b`, "ID"},
		{`^Footfall \S+$`, "Footfall VERSION"},
	} {
		line = regexp.MustCompile(part.pattern).ReplaceAllString(line, part.kind)
	}
	return strings.TrimRight(line, " ")
}

// lines are the lines of an output that are not empty, with their kinds of parts.
func lines(output []string) []string {
	var list []string
	for _, line := range output {
		if line = alike(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func TestReadmeShowsWhatHappens(t *testing.T) {
	steps := readmeSteps(t)
	if len(steps) < 4 {
		t.Fatalf("the README has %d commands", len(steps))
	}
	// A directory that looks like that of the README's reader, who has built the program.
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary(t), filepath.Join(dir, "bin", "footfall")); err != nil {
		t.Fatal(err)
	}
	env := environment("FOOTFALL_STOMP_LISTEN=127.0.0.1:0", "FOOTFALL_ADMIN_LISTEN=127.0.0.1:0")
	shell := func(s step) *exec.Cmd {
		cmd := exec.Command("sh", "-c", "exec "+s.command)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	served := false
	for _, s := range steps {
		want := lines(s.expected)
		switch {
		case s.command == "make build":
			if makefile, err := os.ReadFile("../Makefile"); err != nil || !bytes.Contains(makefile, []byte("bin/footfall")) {
				t.Errorf("README.md:%d: the Makefile makes no bin/footfall (%v)", s.line, err)
			}
		case strings.Contains(s.command, "footfall serve") || s.command == "make run":
			if served {
				t.Fatalf("README.md:%d: a second broker", s.line)
			}
			served = true
			out := newOutput()
			serve := s
			if s.command == "make run" { // what it does, with a binary that is built already
				serve.command = "./bin/footfall serve"
			}
			cmd := shell(serve)
			cmd.Stdout, cmd.Stderr = out, out
			if err := startChild(cmd); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
			await(t, "the broker listens", func() bool { return strings.Contains(out.text(), "started in") })
			requireInOrder(t, s, want, lines(strings.Split(out.text(), "\n")))
			env = append(env, "FOOTFALL_SERVER="+stompAddress.FindStringSubmatch(out.text())[1])
		default:
			out, err := shell(s).CombinedOutput()
			if err != nil {
				t.Fatalf("README.md:%d: %s: %v\n%s", s.line, s.command, err, out)
			}
			if got := lines(strings.Split(string(out), "\n")); !slices.Equal(got, want) {
				t.Errorf("README.md:%d: %s prints\n%s\nnot\n%s", s.line, s.command, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	if !served {
		t.Error("the README starts no broker")
	}
}

// requireInOrder demands that all of want are among got, in their order.
func requireInOrder(t *testing.T, s step, want, got []string) {
	t.Helper()
	rest := got
	for _, line := range want {
		i := slices.Index(rest, line)
		if i < 0 {
			t.Errorf("README.md:%d: %s does not print %q; it prints\n%s", s.line, s.command, line, strings.Join(got, "\n"))
			return
		}
		rest = rest[i+1:]
	}
}
