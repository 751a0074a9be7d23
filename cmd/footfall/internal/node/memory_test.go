package node

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestContainerMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"max\n": 0, "": 0, "0": 0, "-1": 0, "536870912\n": 512 << 20,
		"9223372036854771712\n": 0, // how the first version of control groups says max
		"x":                     0,
	} {
		if got := parseContainerMemory(text); got != want {
			t.Errorf("%q: expected %d; saw %d", text, want, got)
		}
	}
}

func TestTheCollectorFollowsSettingsThenGoThenTheContainer(t *testing.T) {
	oldPercent, oldLimit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() { debug.SetGCPercent(oldPercent); debug.SetMemoryLimit(oldLimit) }()
	const container = 1000 << 20
	rows := []struct {
		name      string
		o         Options
		env       map[string]string
		container int64
		percent   int
		limit     int64
	}{
		{"nothing set", Options{}, nil, 0, 200, 1 << 40},
		{"a container", Options{}, nil, container, 200, 800 << 20},
		{"Go's own variables", Options{}, map[string]string{"GOGC": "50", "GOMEMLIMIT": "1GiB"}, container, 50, 1 << 40},
		{"settings before all", Options{GCPercent: 75, MemoryLimit: 99 << 20}, map[string]string{"GOGC": "50", "GOMEMLIMIT": "1GiB"}, container, 75, 99 << 20},
		{"none", Options{MemoryLimit: -1}, nil, container, 200, math.MaxInt64},
	}
	for _, row := range rows {
		debug.SetGCPercent(50) // as the runtime has it from GOGC
		debug.SetMemoryLimit(1 << 40)
		tune(&row.o, func(name string) string { return row.env[name] }, row.container)
		if got := debug.SetGCPercent(100); got != row.percent {
			t.Errorf("%s: expected %d %%; saw %d", row.name, row.percent, got)
		}
		if got := debug.SetMemoryLimit(-1); got != row.limit {
			t.Errorf("%s: expected %d octets; saw %d", row.name, row.limit, got)
		}
	}
}
