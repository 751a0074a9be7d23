package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// quiet are options for a directory that write no mark but at Open and Close.
func quiet(t *testing.T, dir string) Options {
	return Options{Dir: dir, markEvery: time.Hour, Log: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Error(err) }}
}

func mustOpen(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put commits n messages of so many octets, one batch each, from number first on.
func put(t *testing.T, s *Store, first, n, octets int) {
	t.Helper()
	done := make(chan Outcome, n)
	for i := first; i < first+n; i++ {
		b := s.NewBatch()
		body := make([]byte, octets)
		for j := range body {
			body[j] = byte(i*7 + j*13)
		}
		b.PutRef(RefKey{Shard: 1, Backlog: 1, Priority: 4, Seq: Seq(i)}, nil, body)
		s.Submit(b, func(o Outcome) { done <- o })
	}
	for range n {
		if o := <-done; o != Applied {
			t.Fatal(o)
		}
	}
}

// count returns how many messages of put are there, and whether they are the first ones and whole.
func count(s *Store) (int, error) {
	refs, _, err := s.ScanRefs(RefScan{From: RefKey{Shard: 1, Backlog: 1, Priority: 9}, MaxCount: 1 << 30, MaxBytes: 1 << 30})
	for i, r := range refs {
		for j, x := range r.Body {
			if x != byte(i*7+j*13) {
				return 0, fmt.Errorf("message %d has a wrong octet %d", i, j)
			}
		}
		if r.Key.Seq != Seq(i) {
			return 0, fmt.Errorf("message %d is where %d should be", r.Key.Seq, i)
		}
	}
	return len(refs), err
}

func copyDir(t *testing.T, dir string) string {
	t.Helper()
	// A file that is written aside gets its name while others are copied: then once more.
	for {
		to := t.TempDir()
		err := os.CopyFS(to, os.DirFS(dir))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func newest(t *testing.T, dir, suffix string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, dbName, "*"+suffix))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", suffix, dir, err)
	}
	return slices.Max(names)
}

func TestADirectoryThatIsNotAWholeStoreIsRefused(t *testing.T) {
	good := t.TempDir()
	s := mustOpen(t, quiet(t, good))
	put(t, s, 0, 10, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	remove := func(pattern string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			names, _ := filepath.Glob(filepath.Join(dir, pattern))
			if len(names) == 0 {
				t.Fatalf("nothing to remove at %s", pattern)
			}
			for _, name := range names {
				if err := os.RemoveAll(name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	write := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   error
		text   string
	}{
		{"no mark", remove("MARK"), ErrForeign, "MARK is missing"},
		{"no database", remove("db"), ErrForeign, "database db is missing"},
		{"nothing but the database's directory", func(t *testing.T, dir string) { remove("db/*")(t, dir) }, ErrForeign, "no manifest"},
		{"no manifest", remove("db/MANIFEST-*"), nil, "MANIFEST"},
		{"no marker of the manifest", remove("db/marker.manifest.*"), ErrForeign, "no manifest"},
		{"no marker of the format", remove("db/marker.format-version.*"), nil, ""},
		{"no logs and no tables", func(t *testing.T, dir string) { remove("db/*.log")(t, dir); remove("db/*.sst")(t, dir) }, nil, ""},
		{"no logs", remove("db/*.log"), nil, ""},
		{"a mark that is not one", write("MARK", "hello"), ErrCorrupt, "high-water mark"},
		{"other files", func(t *testing.T, dir string) {
			for _, name := range []string{"db", "MARK", "LOCK"} {
				remove(name)(t, dir)
			}
			write("notes.txt", "x")(t, dir)
		}, ErrForeign, "notes.txt"},
		{"a table cut short", func(t *testing.T, dir string) {
			name := newest(t, dir, ".sst")
			if err := os.Truncate(name, 100); err != nil {
				t.Fatal(err)
			}
		}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyDir(t, good)
			c.damage(t, dir)
			before := names(t, dir)
			s, err := Open(quiet(t, dir))
			if err == nil {
				_ = s.Close()
				t.Fatal("it is opened")
			}
			if c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%v", err)
			}
			t.Log(err)
			if after := names(t, dir); after != before {
				t.Errorf("the directory had %s, and has %s", before, after)
			}
			if rep, err := Check(dir); err == nil && rep.OK() {
				t.Error("a check has nothing to say")
			}
		})
	}
}

func names(t *testing.T, dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.Name() != lockName {
			all = append(all, e.Name())
		}
	}
	return strings.Join(all, " ")
}

func TestAnInterruptedCreationIsStartedAnew(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dbNewName + "/000001.log", dbNewName + "/junk", "lost+found/x"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("junk"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := mustOpen(t, quiet(t, dir))
	if e := s.Recovered().Epoch; e != 1 {
		t.Errorf("epoch %d", e)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestASecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, quiet(t, dir))
	if _, err := Open(quiet(t, dir)); !errors.Is(err, ErrLocked) {
		t.Errorf("Open: %v", err)
	}
	if _, err := Check(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("Check: %v", err)
	}
	put(t, s, 0, 1, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, quiet(t, dir))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreOfAnotherVersionIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, quiet(t, dir))
	f := newFormat(1)
	f.version = FormatVersion + 1
	if err := s.db.Set(formatKey(), append(appendFormat(nil, f), "more of it"...), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(quiet(t, dir))
	var version *VersionError
	if !errors.As(err, &version) || version.Found != FormatVersion+1 || version.Supported != FormatVersion {
		t.Error(err)
	}
}

func TestAStoreBehindItsMarkIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, quiet(t, dir))
	put(t, s, 0, 10, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	old := copyDir(t, dir)
	s = mustOpen(t, quiet(t, dir))
	put(t, s, 10, 3, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The older database under the newer mark.
	m, err := os.ReadFile(filepath.Join(dir, markName))
	if err == nil {
		err = os.WriteFile(filepath.Join(old, markName), m, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(quiet(t, old))
	var loss *LossError
	if !errors.As(err, &loss) || len(loss.Missing) != 1 || loss.Missing[1] != 3 || loss.Epoch != 1 || loss.MarkEpoch != 2 {
		t.Fatalf("%v: %+v", err, loss)
	}
	if rep, err := Check(old); err != nil || rep.OK() {
		t.Errorf("Check: %v, %v", rep, err)
	}
	o := quiet(t, old)
	o.AcceptLoss = true
	s = mustOpen(t, o)
	if e := s.Recovered().Epoch; e != 3 {
		t.Errorf("epoch %d after the loss of epoch 2: numbers would be given twice", e)
	}
	if n, err := count(s); n != 10 || err != nil {
		t.Errorf("%d messages, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, quiet(t, old)) // accepted once and for all
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnUncleanEndIsTold(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, quiet(t, dir))
	put(t, s, 0, 10, 100)
	killed := copyDir(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for dir, clean := range map[string]bool{dir: true, killed: false} {
		s := mustOpen(t, quiet(t, dir))
		if got := s.Recovered().Clean; got != clean {
			t.Errorf("clean %t, want %t", got, clean)
		}
		if n, err := count(s); n != 10 || err != nil {
			t.Errorf("%d messages, %v", n, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
