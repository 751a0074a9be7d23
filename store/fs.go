package store

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guardedFS is the file system that Pebble gets.
//
// It orders what happens to a directory where Pebble trusts the file system to do so.
// Pebble makes a manifest, then a marker file that names it, then removes the older
// marker, and syncs the directory once after all that; POSIX allows that a crash
// leaves any part of it. So it is synced before a marker is made or removed, which is rare.
//
// And it fails the store in good order where Pebble would panic: when a log or a
// marker cannot be made, a log not be written, a directory not be synced; and, while the
// database is opened, when anything cannot be written.
type guardedFS struct {
	vfs.FS
	stop    func(error) // does not return
	opening *atomic.Bool
	spare   *spare // of logs; nil for none
}

const (
	markerPrefix = "marker."
	logSuffix    = ".log"
)

// Create makes a file; logs and markers for sure.
func (fs guardedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.syncBefore(name)
	if fs.spare != nil && strings.HasSuffix(name, logSuffix) {
		f, ok, err := fs.spare.take(name, category)
		fs.must("create", name, err)
		if ok {
			return guardedFile{File: f, name: name, fs: fs}, nil
		}
	}
	f, err := fs.FS.Create(name, category)
	switch {
	case fs.isMarker(name), strings.HasSuffix(name, logSuffix):
		fs.must("create", name, err)
	case fs.opening.Load():
		fs.must("create", name, err)
		return guardedFile{File: f, name: name, fs: fs, opening: fs.opening}, nil
	case err != nil:
		return nil, retryLater(err)
	default:
		return tableFile{f}, nil
	}
	return guardedFile{File: f, name: name, fs: fs}, nil
}

// Rename renames a file.
func (fs guardedFS) Rename(old, name string) error {
	err := fs.FS.Rename(old, name)
	if fs.opening.Load() {
		fs.must("rename", old, err)
	}
	return err
}

// ReuseForWrite makes a file out of another one, for sure: only logs are made so.
func (fs guardedFS) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(old, name, category)
	fs.must("reuse", name, err)
	return guardedFile{File: f, name: name, fs: fs}, nil
}

// Remove removes a file.
func (fs guardedFS) Remove(name string) error {
	fs.syncBefore(name)
	return fs.FS.Remove(name)
}

// OpenDir opens a directory to be synced.
func (fs guardedFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return guardedFile{File: f, name: name, fs: fs}, nil
}

// Unwrap gives the file system below.
func (fs guardedFS) Unwrap() vfs.FS { return fs.FS }

func (fs guardedFS) isMarker(name string) bool {
	return strings.HasPrefix(fs.PathBase(name), markerPrefix)
}

func (fs guardedFS) syncBefore(name string) {
	if fs.isMarker(name) {
		fs.must("sync", fs.PathDir(name), syncDir(fs.FS, fs.PathDir(name)))
	}
}

func (fs guardedFS) must(what, name string, err error) {
	if err != nil {
		fs.stop(fmt.Errorf("%s %s: %w", what, name, err))
	}
}

// retryPause is how long a table that could not be written holds up the work that is to try it again: Pebble does so at
// once, and on a full disk would burn a core and fill the log.
const retryPause = 200 * time.Millisecond

func retryLater(err error) error {
	if err != nil {
		pause := time.NewTimer(retryPause)
		<-pause.C
	}
	return err
}

// tableFile is a file of messages that is written in the background.
type tableFile struct{ vfs.File }

// Write writes, or fails after a pause.
func (f tableFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, retryLater(err)
}

// Sync syncs, or fails after a pause.
func (f tableFile) Sync() error { return retryLater(f.File.Sync()) }

// guardedFile is a log, a marker or a directory, or a file that was made while the database was opened.
type guardedFile struct {
	vfs.File
	name    string
	fs      guardedFS
	opening *atomic.Bool // if set, errors stop the store only while it is true
}

func (f guardedFile) must(what string, err error) {
	if err != nil && (f.opening == nil || f.opening.Load()) {
		f.fs.must(what, f.name, err)
	}
}

// Write writes for sure.
func (f guardedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.must("write", err)
	return n, err
}

// Sync syncs for sure.
func (f guardedFile) Sync() error {
	err := f.File.Sync()
	f.must("sync", err)
	return err
}

// SyncData syncs for sure.
func (f guardedFile) SyncData() error {
	err := f.File.SyncData()
	f.must("sync", err)
	return err
}

// SyncTo syncs for sure.
func (f guardedFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	f.must("sync", err)
	return full, err
}

// Close closes for sure.
func (f guardedFile) Close() error {
	err := f.File.Close()
	f.must("close", err)
	return err
}
