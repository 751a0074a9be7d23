package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A store's directory holds the database db, the mark MARK and the lock LOCK. A new
// one is built under another name and moved to its place when it is whole and on disk, so
// that a directory with a db is a store, whatever happened while it was made.
const (
	lockName  = "LOCK"
	dbName    = "db"
	dbNewName = "db.new"
)

// directory is a store's directory, with its lock held.
type directory struct {
	fs   vfs.FS
	path string
	lock io.Closer
}

func (d *directory) join(name string) string { return d.fs.PathJoin(d.path, name) }

func (d *directory) close() error { return d.lock.Close() }

// openDirectory makes the directory where asked to, and takes its lock.
func openDirectory(fs vfs.FS, path string, make bool) (*directory, error) {
	if fs == nil {
		fs = vfs.Default
	}
	if path == "" {
		return nil, errors.New("no directory given")
	}
	if make {
		if err := fs.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		if err := syncDir(fs, fs.PathDir(path)); err != nil {
			return nil, err
		}
	} else if _, err := fs.Stat(path); err != nil {
		return nil, err
	}
	d := &directory{fs: fs, path: path}
	lock, err := fs.Lock(d.join(lockName))
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrLocked, err)
	}
	d.lock = lock
	return d, nil
}

// exists tells whether the directory is a store (true), or may become one (false).
// Anything else is an error: nothing is ever made beside files of another kind.
func (d *directory) exists() (bool, error) {
	names, err := d.fs.List(d.path)
	if err != nil {
		return false, err
	}
	if slices.Contains(names, dbName) {
		return true, nil
	}
	for _, name := range names {
		switch name {
		case lockName, dbNewName, markTempName, "lost+found":
		case markName:
			m, err := readMark(d.fs, d.path)
			if err != nil {
				return false, err
			}
			if m.epoch != 0 {
				return false, fmt.Errorf("%w: there is a high-water mark, but the database %s is missing", ErrForeign, dbName)
			}
		default:
			return false, fmt.Errorf("%w, and not empty: there is %s", ErrForeign, strings.TrimSuffix(name, "/"))
		}
	}
	return false, nil
}

// create makes an empty store of epoch 0.
func (d *directory) create(o Options, e *events) error {
	if err := d.fs.RemoveAll(d.join(dbNewName)); err != nil {
		return err
	}
	p := o.pebbleOptions(e)
	p.ErrorIfNotExists, p.ErrorIfExists = false, true
	e.opening.Store(true)
	defer e.opening.Store(false)
	db, err := pebble.Open(d.join(dbNewName), p)
	if err != nil {
		return err
	}
	f := newFormat(now().UnixMilli())
	err = db.Set(formatKey(), appendFormat(nil, f), pebble.Sync)
	if err == nil {
		err = db.Flush() // Pebble does not notice damage in the first log of a database before that
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := writeMark(d.fs, d.path, &mark{clean: true}); err != nil {
		return err
	}
	if err := d.fs.Rename(d.join(dbNewName), d.join(dbName)); err != nil {
		return err
	}
	return syncDir(d.fs, d.path)
}

// readMark returns the mark, which a store must have.
func (d *directory) readMark() (mark, error) {
	m, err := readMark(d.fs, d.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: its high-water mark %s is missing", ErrForeign, markName)
	}
	return m, err
}
