//go:build linux

package integration

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// mebibyte makes sizes readable.
const mebibyte = 1 << 20

// memory returns the octets of memory that the process has now, and the most it ever had.
func (p *process) memory() (now, peak int64) {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatalf("reading the memory of the broker: %v", err)
	}
	read := func(name string) int64 {
		_, rest, _ := strings.Cut(string(text), name+":")
		line, _, _ := strings.Cut(rest, "\n")
		kibibytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
		if err != nil {
			p.t.Fatalf("reading %s of the broker: %v", name, err)
		}
		return kibibytes << 10
	}
	return read("VmRSS"), read("VmHWM")
}

// requireMemory demands that the process never had more than that many octets.
func (p *process) requireMemory(what string, most int64) {
	p.t.Helper()
	now, peak := p.memory()
	p.t.Logf("%s: %d MiB of memory, at most %d MiB", what, now/mebibyte, peak/mebibyte)
	if peak > most {
		p.t.Errorf("%s: the broker had %d MiB of memory, more than %d MiB", what, peak/mebibyte, most/mebibyte)
	}
}

// metrics is one scrape: values by series, as name{label="value",...}.
type metrics map[string]float64

func (p *process) metrics() metrics {
	p.t.Helper()
	status, text, err := p.get("/metrics")
	if err != nil || status != http.StatusOK {
		p.t.Fatalf("/metrics: status %d, error %v", status, err)
	}
	m, err := parseMetrics(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func parseMetrics(text string) (metrics, error) {
	m := metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 {
			return nil, fmt.Errorf("not a metric: %q", line)
		}
		value, err := strconv.ParseFloat(line[cut+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("not a metric: %q", line)
		}
		m[line[:cut]] = value
	}
	return m, nil
}

// sum adds up the series of a name that have all of the labels.
func (m metrics) sum(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	total, found := 0.0, false
	for series, value := range m {
		base, rest, _ := strings.Cut(series, "{")
		if base != name {
			continue
		}
		found = true
		has := true
		for _, label := range labels {
			has = has && strings.Contains(rest, label)
		}
		if has {
			total += value
		}
	}
	if !found {
		t.Fatalf("there is no metric %s", name)
	}
	return total
}
