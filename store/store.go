package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// logSlack is how much larger than what is kept in memory a log may be.
const logSlack = 1 << 20

// now is the clock of commit metrics, and of the time at which a store was made.
func now() time.Time { return time.Now() }

// Store keeps messages in a directory. Its methods may be called by many goroutines.
type Store struct {
	o      Options
	dir    *directory
	events *events
	db     *pebble.DB
	door   door

	recovered Recovered

	groups  chan *group // applied, to be synced
	spare   sync.Pool   // of groups
	working sync.WaitGroup
	scans   sync.RWMutex // held for reading by who reads, for writing by Close

	opened  atomic.Bool
	closing chan struct{} // closed when no batch comes any more
	closed  func() error

	counters counters

	markMu sync.Mutex
	synced mark
	dirty  chan struct{}
}

// Open opens the store in o.Dir, or makes one where that is missing or empty, and
// raises its epoch. The directory is locked until Close. Errors: ErrLocked,
// ErrForeign, ErrCorrupt, *VersionError, *LossError, each with the directory in its text.
func Open(o Options) (*Store, error) {
	s := &Store{
		o:       o.withDefaults(),
		groups:  make(chan *group, maxUnsynced),
		closing: make(chan struct{}),
		dirty:   make(chan struct{}, 1),
	}
	s.door.init()
	s.spare.New = func() any { return new(group) }
	s.events = newEvents(s.o.Log, s.onFail)
	s.closed = sync.OnceValue(s.close)
	err := guard(s.events, s.open)
	s.opened.Store(true)
	if failure := s.door.err(); failure != nil {
		err = failure
	}
	if err != nil {
		s.abandon()
		return nil, fmt.Errorf("store in %s: %w", o.Dir, err)
	}
	s.working.Add(3)
	go s.applyAll(s.door.chain)
	go s.syncAll()
	go s.keepMark()
	return s, nil
}

// open does all of Open up to the point where batches can come.
func (s *Store) open() (err error) {
	if s.dir, err = openDirectory(s.o.FS, s.o.Dir, true); err != nil {
		return err
	}
	exists, err := s.dir.exists()
	if err != nil {
		return err
	}
	if !exists {
		if err := s.dir.create(s.o, s.events); err != nil {
			return fmt.Errorf("make it: %w", err)
		}
	}
	m, err := s.dir.readMark()
	if err != nil && s.o.AcceptLoss {
		s.o.Log.Error("store: opened without its high-water mark", "dir", s.o.Dir, "err", err.Error())
		m, err = mark{}, nil
	}
	if err != nil {
		return err
	}
	if err := s.dir.checkManifest(m.manifest); err != nil {
		return err
	}
	if s.o.FS == nil {
		s.o.logs = newSpare(vfs.Default, s.dir.join(dbName), s.o.MemTableBytes+logSlack)
	}
	if s.db, err = openPebble(s.dir, s.o.pebbleOptions(s.events), s.events); err != nil {
		return err
	}
	return s.start(m)
}

// start reads what there is, compares it with the mark, and raises the epoch.
func (s *Store) start(m mark) error {
	f, c, err := s.readState()
	if err != nil {
		return err
	}
	if err := m.missing(f, &c); err != nil {
		if !s.o.AcceptLoss {
			return err
		}
		s.o.Log.Error("store: opened although something is missing", "dir", s.o.Dir, "loss", err.Error())
	}
	f.epoch = max(f.epoch, m.epoch) // what was given out in a lost epoch is never given again
	if f, err = f.nextEpoch(); err != nil {
		return err
	}
	if err := s.db.Set(formatKey(), appendFormat(nil, f), pebble.Sync); err != nil {
		return err
	}
	s.synced = markOf(f, &c)
	s.synced.manifest = s.dir.manifest(manifest{})
	if err := writeMark(s.dir.fs, s.dir.path, &s.synced); err != nil {
		return err
	}
	s.recovered.Epoch, s.recovered.Clean = f.epoch, m.clean
	s.door.begin(f.epoch, c)
	return nil
}

func (s *Store) readState() (f format, c chain, err error) {
	snap := snapshot{s.db.NewSnapshot()}
	defer func() { err = errors.Join(err, snap.Close()) }()
	if f, err = readFormat(snap); err != nil {
		return f, c, err
	}
	if c, err = readChain(snap, f.epoch); err != nil {
		return f, c, err
	}
	s.recovered, err = readRecovered(snap, f)
	return f, c, err
}

// abandon lets go of what a failed open holds. After a failure Pebble itself cannot be closed.
func (s *Store) abandon() {
	if s.door.err() == nil && s.db != nil {
		_ = guard(s.events, s.db.Close)
	}
	s.o.logs.close()
	if s.dir != nil {
		_ = s.dir.close()
	}
}

// openPebble opens the database of a directory, and says what is wrong in our own words.
func openPebble(d *directory, p *pebble.Options, e *events) (*pebble.DB, error) {
	e.opening.Store(true)
	defer e.opening.Store(false)
	desc, err := pebble.Peek(d.join(dbName), d.fs)
	if err != nil {
		return nil, err
	}
	if !desc.Exists {
		return nil, fmt.Errorf("%w: the database %s has no manifest", ErrForeign, dbName)
	}
	db, err := pebble.Open(d.join(dbName), p)
	if err != nil {
		return nil, openError(err)
	}
	if s, ok := p.Experimental.CompactionScheduler.(*scheduler); ok {
		s.open()
	}
	if upgraded := desc.FormatMajorVersion != p.FormatMajorVersion; upgraded && !p.ReadOnly {
		if err := db.Flush(); err != nil { // as after creation
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// openError says of an error of Pebble's that a database exists and is not whole.
func openError(err error) error {
	switch info := pebble.ExtractDataCorruptionInfo(err); {
	case info != nil:
		return damaged(*info)
	case errors.Is(err, fs.ErrNotExist):
		// Not wrapped: it is not the store that does not exist.
		return fmt.Errorf("%w: a part of it is missing: %s", ErrCorrupt, oneLine(err))
	case pebble.IsCorruptionError(err), errors.Is(err, pebble.ErrDBNotPristine), errors.Is(err, pebble.ErrDBAlreadyExists):
		return fmt.Errorf("%w: %s", ErrCorrupt, oneLine(err))
	}
	return err
}

// oneLine is the text of an error, of several joined ones the first.
func oneLine(err error) string {
	first, rest, more := strings.Cut(err.Error(), "\n")
	if more {
		first += fmt.Sprintf(" (and %d more)", 1+strings.Count(rest, "\n"))
	}
	return first
}

// Recovered returns what was found at Open. The slices are shared: do not change them.
func (s *Store) Recovered() Recovered { return s.recovered }

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch { return s.door.newBatch() }

// Submit takes a batch over and puts it in line; it never waits for the disk. The
// number returned counts calls: 1, 2, 3. Once the batch is on disk, and all before it
// are, done is called with Applied, by the one goroutine that gives all outcomes, in order. It must
// not block, and may call back into the store for nothing but Submit. A batch of more than MaxBatchBytes, or
// submitted after Close, is Rejected. After a failure there is no outcome.
func (s *Store) Submit(b *Batch, done func(Outcome)) (number uint64) {
	return s.door.submit(b, done, now())
}

// ScanRefs returns a page of a backlog, once the batch q.After is applied. There is more
// if the page's bounds ended it.
func (s *Store) ScanRefs(q RefScan) (refs []Ref, more bool, err error) {
	mustPriority(q.From)
	err = s.read(q.After, func(r reader) error {
		refs, more, err = scanRefs(r, q)
		return err
	})
	return refs, more, err
}

// FilterRefs returns what q wants of a backlog, once the batch q.After is applied. There is more, from next on, if the bounds
// of q ended the search. An error of q.Want is a failure of the store.
func (s *Store) FilterRefs(q RefFilter) (refs []Ref, next RefKey, more bool, err error) {
	mustPriority(q.From)
	err = s.read(q.After, func(r reader) error {
		refs, next, more, err = filterRefs(r, q)
		return err
	})
	return refs, next, more, err
}

// ScanDue returns a page of what waits in a shard, once the batch q.After is applied.
// There is more if the page's bounds ended it.
func (s *Store) ScanDue(q DueScan) (due []Due, more bool, err error) {
	err = s.read(q.After, func(r reader) error {
		due, more, err = scanDue(r, q)
		return err
	})
	return due, more, err
}

// read calls f with what there is once batch after is applied. An error in reading is a failure of the store.
func (s *Store) read(after uint64, f func(reader) error) error {
	if err := s.door.await(after); err != nil {
		return err
	}
	s.scans.RLock()
	defer s.scans.RUnlock()
	if s.db == nil {
		return ErrClosed
	}
	snap := snapshot{s.db.NewSnapshot()}
	if err := errors.Join(f(snap), snap.Close()); err != nil {
		s.events.fail(fmt.Errorf("read: %w", err))
		return fmt.Errorf("store in %s: %w", s.o.Dir, s.door.err())
	}
	return nil
}

// onFail marks the store as failed: whoever waits gets an error, nobody gets an
// outcome any more. A failure before Open has returned is what Open returns.
func (s *Store) onFail(err error) {
	s.door.fail(err)
	if s.opened.Load() {
		s.o.Log.Error("store: failed", "dir", s.o.Dir, "err", err.Error())
		go s.o.Fatal(fmt.Errorf("store in %s: %w", s.o.Dir, s.door.err()))
	}
}

// Close waits until what was submitted is on disk and its outcomes were given, marks
// the store as closed in good order, and lets go of the directory. After a failure
// it returns that, and only lets go.
func (s *Store) Close() error {
	s.door.shut()
	return s.closed()
}

func (s *Store) close() error {
	close(s.closing)
	finished := make(chan error, 1)
	go func() { finished <- s.finish() }()
	var err error
	select {
	case err = <-finished:
	case <-s.events.failed:
	}
	return errors.Join(s.door.err(), err, s.dir.close())
}

// finish waits for all who use the database, closes it and writes the last mark.
func (s *Store) finish() error {
	s.working.Wait()
	s.scans.Lock()
	defer s.scans.Unlock()
	if s.door.err() != nil {
		return nil // Pebble cannot be closed
	}
	db := s.db
	s.db = nil
	s.o.logs.close()
	if err := db.Close(); err != nil {
		return err
	}
	s.synced.clean = true
	s.synced.manifest = s.dir.manifest(s.synced.manifest)
	return writeMark(s.dir.fs, s.dir.path, &s.synced)
}

func markOf(f format, c *chain) mark {
	m := mark{epoch: f.epoch}
	for s := range c {
		m.seqs[s] = c[s].seq
	}
	return m
}
