package storetest

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"footfall/store"
)

// Dir is the directory of the store on every Disk.
const Dir = "/data"

// Disk is a disk in memory that keeps apart what was synced and what was not. It may
// be used by many goroutines.
type Disk struct {
	tb  testing.TB
	mem *vfs.MemFS
	fs  vfs.FS

	mu       sync.Mutex
	writes   int   // operations that write, since FailNth
	failAt   int   // the operation that fails; 0: none
	failOn   bool  // and all after it
	failWith error // as this
	failed   bool
	opened   []*store.Store
	fatal    chan error

	syncing sync.RWMutex // held for reading while onSync runs
	onSync  func()
}

// NewDisk returns an empty disk with 1 TiB of free space. Its stores are closed when the test ends.
func NewDisk(tb testing.TB) *Disk { return newDisk(tb, vfs.NewCrashableMem()) }

func newDisk(tb testing.TB, mem *vfs.MemFS) *Disk {
	d := &Disk{tb: tb, mem: mem, fatal: make(chan error, 16)}
	d.fs = errorfs.Wrap(mem, errorfs.InjectorFunc(d.inject))
	d.SetFree(1 << 40)
	tb.Cleanup(d.Discard)
	return d
}

// Discard closes what is open on the disk and frees its memory, which else happens
// at the end of the test. The disk must not be used any more.
func (d *Disk) Discard() {
	d.FailNth(0)
	d.OnSync(nil)
	d.mu.Lock()
	opened := d.opened
	d.opened = nil
	d.mu.Unlock()
	for _, s := range opened {
		_ = s.Close() // again, mostly
	}
	d.mem, d.fs = nil, nil
}

// Open opens the store on the disk.
func (d *Disk) Open() (*store.Store, error) { return d.OpenWith(store.Options{}) }

// OpenWith is Open with options. Dir and FS are set, and Fatal and Log where they are
// not: a failure then goes to Fatal's channel.
func (d *Disk) OpenWith(o store.Options) (*store.Store, error) {
	o.Dir, o.FS = Dir, d.fs
	if o.Fatal == nil {
		o.Fatal = func(err error) { d.fatal <- err }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s, err := store.Open(o)
	if err == nil {
		d.mu.Lock()
		d.opened = append(d.opened, s)
		d.mu.Unlock()
	}
	return s, err
}

// Fatal gives what stores opened without an Options.Fatal of their own failed with.
func (d *Disk) Fatal() <-chan error { return d.fatal }

// Crash returns a disk as a machine finds it that lost its power now: with everything that
// was synced, and that share of what was not, in percent, block by block, drawn by the
// seed. The stores on d go on, but nothing of what they do is on the new disk.
func (d *Disk) Crash(percent int, seed uint64) *Disk {
	return newDisk(d.tb, d.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: percent,
		RNG:                 rand.New(rand.NewPCG(seed, 0)),
	}))
}

// FailNth makes the n-th operation from now on that writes, syncs, renames or removes
// fail with EIO, and no other. 0 takes that back.
func (d *Disk) FailNth(n int) { d.fail(n, false, syscall.EIO) }

// FailFrom is FailNth for that operation and all after it.
func (d *Disk) FailFrom(n int) { d.fail(n, true, syscall.EIO) }

// Fill makes all operations that write fail with ENOSPC; FailNth(0) empties the disk again.
func (d *Disk) Fill() { d.fail(1, true, syscall.ENOSPC) }

func (d *Disk) fail(n int, on bool, with error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes, d.failAt, d.failOn, d.failWith, d.failed = 0, n, on, with, false
}

// Failed tells whether an operation was made to fail since FailNth or FailFrom.
func (d *Disk) Failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// OnSync calls f before every sync of a file or directory from now on, on the
// goroutine that syncs. nil ends that, and waits for calls that are going on. f may call Crash, but not OnSync.
func (d *Disk) OnSync(f func()) {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	d.onSync = f
}

// SetFree sets the free space that the disk tells of. It does not fill up by itself.
func (d *Disk) SetFree(octets uint64) {
	d.mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: octets, TotalBytes: 1 << 41, UsedBytes: 1<<41 - min(octets, 1<<41)})
}

func (d *Disk) inject(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		d.syncing.RLock()
		if d.onSync != nil {
			d.onSync()
		}
		d.syncing.RUnlock()
	case errorfs.OpLock, errorfs.OpFileClose:
		return nil
	}
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failAt == 0 {
		return nil
	}
	d.writes++
	if d.writes == d.failAt || d.failOn && d.writes > d.failAt {
		d.failed = true
		return d.failWith
	}
	return nil
}
