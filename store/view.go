package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2"
)

// viewDirectory calls f with what is in the store of a directory. Nothing is changed; the directory is locked meanwhile.
func viewDirectory(dir string, f func(reader, mark) error) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	o := Options{Dir: dir, Log: slog.New(slog.DiscardHandler)}.withDefaults()
	return viewOptions(o, f)
}

func viewOptions(o Options, f func(reader, mark) error) error {
	var failure error
	e := newEvents(o.Log, func(err error) { failure = err })
	err := guard(e, func() error { return view(o, e, f) })
	select {
	case <-e.failed:
		err = errors.Join(failure, err)
	default:
	}
	if err != nil {
		return fmt.Errorf("store in %s: %w", o.Dir, err)
	}
	return nil
}

func view(o Options, e *events, f func(reader, mark) error) (err error) {
	d, err := openDirectory(o.FS, o.Dir, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	exists, err := d.exists()
	if err != nil {
		return err
	}
	if !exists {
		return fmt.Errorf("%w: there is no database %s (%w)", ErrForeign, dbName, fs.ErrNotExist)
	}
	m, err := d.readMark()
	if err != nil {
		return err
	}
	if err := d.checkManifest(m.manifest); err != nil {
		return err
	}
	p := o.pebbleOptions(e)
	p.ReadOnly = true
	db, err := openPebble(d, p, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return viewDB(db, m, f)
}

func viewDB(db *pebble.DB, m mark, f func(reader, mark) error) (err error) {
	snap := snapshot{db.NewSnapshot()}
	defer func() { err = errors.Join(err, snap.Close()) }()
	return f(snap, m)
}

// guard calls f on a goroutine that events.stop may keep, and that may panic, as
// Pebble does where it cannot open a database and cannot tell why. After a failure it returns nil.
func guard(e *events, f func() error) error {
	result := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
			result <- err
		}()
		err = f()
	}()
	select {
	case err := <-result:
		return err
	case <-e.failed:
		return nil
	}
}
