package store

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// spareName is a file of zeros beside the database's, to be the next log.
const spareName = "spare"

// spare keeps a log file ready whose blocks were written before. To sync what is written into such a file the
// file system need not change its own records, which takes about half the time. Pebble uses its old
// logs again for the same reason, but has none after a start.
type spare struct {
	fs   vfs.FS
	path string
	size int64

	mu    sync.Mutex
	ready bool
	work  sync.WaitGroup
}

// newSpare sees to it that there is a spare log of the database in dir. It is only a help: where one cannot be
// made there is none.
func newSpare(fs vfs.FS, dir string, size int64) *spare {
	s := &spare{fs: fs, path: fs.PathJoin(dir, spareName), size: size}
	if info, err := fs.Stat(s.path); err == nil && info.Size() == size {
		s.ready = true
		return s
	}
	s.make()
	return s
}

// take makes the spare log the file name, and another one in the background. It is false if there was none.
func (s *spare) take(name string, category vfs.DiskWriteCategory) (f vfs.File, ok bool, err error) {
	s.mu.Lock()
	ready := s.ready
	s.ready = false
	s.mu.Unlock()
	if ready {
		f, err = s.fs.ReuseForWrite(s.path, name, category)
	}
	s.work.Go(s.make)
	return f, ready, err
}

// make writes a file of zeros. It has its name when it is whole.
func (s *spare) make() {
	unfinished := s.path + ".new"
	if err := s.write(unfinished); err != nil {
		_ = s.fs.Remove(unfinished)
		return
	}
	if s.fs.Rename(unfinished, s.path) != nil {
		return
	}
	s.mu.Lock()
	s.ready = true
	s.mu.Unlock()
}

func (s *spare) write(name string) error {
	f, err := s.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	zeros := make([]byte, 256<<10)
	for left := s.size; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = f.Write(zeros[:min(left, int64(len(zeros)))])
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// close waits for work in the background.
func (s *spare) close() {
	if s != nil {
		s.work.Wait()
	}
}
