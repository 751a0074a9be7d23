package store

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options are the settings of a Store on disk. The zero value of each field but Dir
// means its default.
type Options struct {
	// Dir is the directory, made where it is missing. It must be empty or a store.
	Dir string
	// Fatal is called once, on a goroutine of its own, when a write, sync or read
	// failed: what is in memory and what is on disk may differ, and the only way on is to end the process
	// and to open the store again. Default: one line to standard error and exit code 70.
	Fatal func(error)
	// AcceptLoss opens a store although its high-water mark says that something is missing.
	AcceptLoss bool
	// Log is where the store tells what it does: slog.Default().
	Log *slog.Logger
	// OnCommit hears of every group of batches that went to disk together. It is called by
	// the goroutine that gives outcomes, before these, and must not block.
	OnCommit func(Commit)
	// CacheBytes bounds the cache of table blocks: 16 MiB.
	CacheBytes int64
	// MemTableBytes is how much is kept in memory, and in the log, before it becomes a
	// table: 16 MiB. Up to four times that much is replayed at a start.
	MemTableBytes int64
	// FS is the file system: nil for that of the operating system. With one set there are no
	// tickers, so that the store can live in a synctest bubble.
	FS vfs.FS

	// logs is the spare log; nil for none.
	logs *spare
	// markEvery is the least time between two writes of the high-water mark: 1 s.
	markEvery time.Duration
}

// Commit is what one group of batches cost.
type Commit struct {
	Batches, Ops, Bytes int
	// Queued is how long the first of them waited to be taken up, Synced how long they
	// then took to be on disk.
	Queued, Synced time.Duration
}

// ExitCode is the exit code of the process after a failure, by default: 70, EX_SOFTWARE of sysexits.h.
const ExitCode = 70

func (o Options) withDefaults() Options {
	if o.Fatal == nil {
		o.Fatal = func(err error) {
			fmt.Fprintf(os.Stderr, "footfall: %v; stopping, as nothing can be promised any more\n", err)
			os.Exit(ExitCode)
		}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.OnCommit == nil {
		o.OnCommit = func(Commit) {}
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 16 << 20
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = 16 << 20
	}
	if o.markEvery == 0 {
		o.markEvery = time.Second
	}
	return o
}
