package store

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// events counts what Pebble tells of itself, and is where it fails.
type events struct {
	log    *slog.Logger
	onFail func(error) // is called once
	once   sync.Once
	failed chan struct{} // closed after onFail came back

	opening atomic.Bool // Pebble is being opened

	stalls, slow, background, misuse atomic.Uint64
	stalled                          atomic.Bool
}

func newEvents(log *slog.Logger, onFail func(error)) *events {
	return &events{log: log, onFail: onFail, failed: make(chan struct{})}
}

// fail reports the first failure.
func (e *events) fail(err error) {
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		err = damaged(*info) // Pebble's own text may not say where
	}
	e.once.Do(func() {
		e.onFail(err)
		close(e.failed)
	})
}

// corrupt reports damage. Pebble's compactions panic at it after they have told, so they never come back from here.
func (e *events) corrupt(info pebble.DataCorruptionInfo) {
	err := damaged(info)
	if inCompaction() {
		e.stop(err)
	}
	e.fail(err)
}

// inCompaction tells whether a compaction or a flush is among the callers.
func inCompaction() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "/internal/compact.") {
			return true
		}
		if !more {
			return false
		}
	}
}

func damaged(info pebble.DataCorruptionInfo) error {
	return fmt.Errorf("%w: file %s: %v", ErrCorrupt, info.Path, info.Details)
}

// stop is fail for Pebble's goroutines where they must not go on. They stay where they are for
// ever: they may hold locks, or run deferred calls that expect others. Nobody waits for them.
func (e *events) stop(err error) {
	e.fail(err)
	select {}
}

// Infof, Errorf and Fatalf make events a pebble.Logger.
func (e *events) Infof(format string, args ...any) {
	e.log.Debug("pebble: " + strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Errorf logs.
func (e *events) Errorf(format string, args ...any) {
	e.log.Error("pebble: " + strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Fatalf does not return: Pebble would go on as if nothing had happened.
func (e *events) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok && pebble.ExtractDataCorruptionInfo(err) != nil {
			e.stop(err)
		}
	}
	e.stop(fmt.Errorf(format, args...))
}

// quietRetries is how many failures of background work in a row are told of once.
const quietRetries = 20

// retried tells that background work failed. Pebble tries it again at once; fs.go sees to a pause.
func (e *events) retried(err error) {
	if pebble.IsCorruptionError(err) {
		e.fail(err)
		return
	}
	if n := e.background.Add(1); n%quietRetries == 1 {
		e.log.Error("store: background work failed, it is tried again", "err", err.Error(), "failures", n)
	}
}

func (e *events) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: e.retried,
		DataCorruption:  e.corrupt,
		DiskSlow: func(info pebble.DiskSlowInfo) {
			e.slow.Add(1)
			e.log.Warn("store: disk is slow", "operation", info.OpType.String(), "file", info.Path, "taking", info.Duration)
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			e.stalls.Add(1)
			e.stalled.Store(true)
			e.log.Warn("store: writes wait for background work", "reason", info.Reason)
		},
		WriteStallEnd: func() {
			e.stalled.Store(false)
			e.log.Warn("store: writes go on")
		},
		PossibleAPIMisuse: func(info pebble.PossibleAPIMisuseInfo) {
			e.misuse.Add(1)
			e.log.Error("store: a message was dropped that was not there once", "kind", info.Kind.String(), "key", fmt.Sprintf("%x", info.UserKey))
		},
	}
}

// maxOpenFiles bounds the table files that are open at a time.
const maxOpenFiles = 500

// pebbleOptions are for queues: most of what is written is deleted soon after and
// never becomes a table; what does is read front to back.
func (o *Options) pebbleOptions(e *events) *pebble.Options {
	p := &pebble.Options{
		FormatMajorVersion:          pebble.FormatNewest, // notices damage in the middle of a log
		ErrorIfNotExists:            true,
		Merger:                      merger(),
		Logger:                      e,
		EventListener:               e.listener(),
		CacheSize:                   o.CacheBytes,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: 4,
		MaxOpenFiles:                maxOpenFiles,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       24,
		LBaseMaxBytes:               64 << 20,
		BytesPerSync:                1 << 20,
		WALBytesPerSync:             1 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
	}
	if o.FS == nil {
		p.FS = guardedFS{vfs.Default, e.stop, &e.opening, o.logs}
		p.Experimental.CompactionScheduler = newScheduler()
		p.WithFSDefaults() // tells of slow operations
	} else {
		p.FS = guardedFS{o.FS, e.stop, &e.opening, nil}
		p.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	}
	for i := range p.Levels {
		p.Levels[i].BlockSize = 32 << 10
		p.Levels[i].IndexBlockSize = 64 << 10
		p.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.SnappyCompression }
		p.TargetFileSizes[i] = min(8<<20<<i, int64(64<<20))
	}
	p.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	return p
}

// snapshot makes a reader of what is in the database at this moment.
type snapshot struct{ *pebble.Snapshot }

func (s snapshot) iter(lower, upper []byte) (iterator, error) {
	return s.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
}
