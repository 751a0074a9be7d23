package node

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// defaultGCPercent is twice that of Go: what is in use is small next to what passes
// through, so that collecting half as often costs little memory.
const defaultGCPercent = 200

// tune sets the policy of the garbage collector.
func tune(o *Options, getenv func(string) string, containerLimit int64) {
	switch {
	case o.GCPercent > 0:
		debug.SetGCPercent(o.GCPercent)
	case getenv("GOGC") == "":
		debug.SetGCPercent(defaultGCPercent)
	}
	switch {
	case o.MemoryLimit > 0:
		debug.SetMemoryLimit(o.MemoryLimit)
	case o.MemoryLimit < 0:
		debug.SetMemoryLimit(math.MaxInt64)
	case getenv("GOMEMLIMIT") == "" && containerLimit > 0:
		debug.SetMemoryLimit(containerLimit / 5 * 4)
	}
}

// containerMemory is how much memory the container may use, in octets, 0 where there is no such limit.
func containerMemory() int64 {
	// Of the second and the first version of control groups.
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		return parseContainerMemory(string(text))
	}
	return 0
}

func parseContainerMemory(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || n > 1<<46 { // "max", or the first version's number for none
		return 0
	}
	return n
}
