//go:build unix

package node

import (
	"log/slog"
	"syscall"
)

// otherFiles is what the process opens beside connections: 500 tables and some logs of the store, listeners, requests of the admin server.
const otherFiles = 600

// warnOfFiles tells when the system lets the process open fewer files than there may be connections. The Go runtime
// raises the soft limit to the hard one at the start, so it is the hard one that counts.
func warnOfFiles(log *slog.Logger, connections int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		log.Warn("cannot tell how many files may be open", "error", err)
		return
	}
	if message, attrs := tooFewFiles(uint64(limit.Cur), connections); message != "" {
		log.Warn(message, attrs...)
	}
}

// tooFewFiles says what does not fit, in words; nothing if all does.
func tooFewFiles(open uint64, connections int) (message string, attrs []any) {
	if wanted := uint64(connections) + otherFiles; open < wanted {
		return "the limit of open files is too low for limits.connections: connections will be refused before that; raise it, as with LimitNOFILE= of systemd or ulimit -n, or lower the setting",
			[]any{"open-files", open, "wanted", wanted, "connections", connections}
	}
	return "", nil
}
