package store

import (
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// block is the size of the blocks of Pebble's logs.
const block = 32 << 10

// machine is a disk in memory with a store in /data.
type machine struct{ *vfs.MemFS }

func newMachine() machine { return machine{vfs.NewCrashableMem()} }

func (m machine) options() Options {
	return Options{Dir: "/data", FS: m.MemFS, Log: slog.New(slog.DiscardHandler), markEvery: time.Hour, Fatal: func(error) {}}
}

func (m machine) clone() machine {
	return machine{m.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})}
}

// killed makes a store with n messages, each committed by itself, and returns its
// disk from before it was closed, with the mark of Open, and from after, with a mark that
// knows all that was written.
func killed(t *testing.T, n, octets int) (before, after machine) {
	t.Helper()
	m := newMachine()
	s := mustOpen(t, m.options())
	mark := m.read(t, "/data/"+markName)
	for i := range n {
		put(t, s, i, 1, octets)
	}
	before = m.with(t, "/data/"+markName, mark)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return before, m
}

// newest returns the name of the newest file of a kind.
func (m machine) newest(t *testing.T, suffix string) string {
	t.Helper()
	names, err := m.List("/data/" + dbName)
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, suffix) })
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s: %v", suffix, err)
	}
	return "/data/" + dbName + "/" + slices.Max(names)
}

func (m machine) read(t *testing.T, name string) []byte {
	t.Helper()
	f, err := m.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	octets, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return octets
}

// with returns a copy of the disk with another content of a file.
func (m machine) with(t *testing.T, name string, octets []byte) machine {
	t.Helper()
	m = m.clone()
	f, err := m.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(slices.Clone(octets)) // which it may change
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return m
}

// count opens the store and counts its messages.
func (m machine) count(t *testing.T) (n int, err error) {
	t.Helper()
	s, err := Open(m.options())
	if err != nil {
		return 0, err
	}
	n, err = count(s)
	_ = s.Close()
	return n, err
}

// logEnd is where the zeros begin that were only reserved.
func logEnd(octets []byte) int {
	end := len(octets)
	for end > 0 && octets[end-1] == 0 {
		end--
	}
	return end
}

// stride is the step through many cases: all of them when FOOTFALL_CRASH_ROUNDS is set, else some.
func stride(all, some int) int {
	if os.Getenv("FOOTFALL_CRASH_ROUNDS") == "" {
		return some
	}
	return all
}

func TestATornTailLosesWhatWasNotWhole(t *testing.T) {
	m, _ := killed(t, 20, 100)
	name := m.newest(t, logSuffix)
	whole := m.read(t, name)
	end := logEnd(whole)
	saw := map[int]bool{}
	for cut := end; cut > end-250; cut -= stride(1, 3) {
		n, err := m.with(t, name, whole[:cut]).count(t)
		if err != nil || n < 18 || n > 20 {
			t.Fatalf("cut %d octets before the end: %d messages, %v", end-cut, n, err)
		}
		saw[n] = true
	}
	if !saw[20] || !saw[19] {
		t.Errorf("counts seen: %v", saw)
	}
}

func TestALogThatIsShorterThanTheMarkSaysIsRefused(t *testing.T) {
	_, m := killed(t, 20, 100)
	if n, err := m.clone().count(t); n != 20 || err != nil {
		t.Fatalf("undamaged: %d, %v", n, err)
	}
	name := m.newest(t, logSuffix)
	whole := m.read(t, name)
	_, err := m.with(t, name, whole[:logEnd(whole)-60]).count(t)
	var loss *LossError
	if !errors.As(err, &loss) {
		t.Error(err)
	}
}

// The log of a store that was never closed or flushed is all there is. What was
// written last is proved by the mark alone, once that is written.
func TestAFlippedBitInTheFirstLogIsNoticed(t *testing.T) {
	const messages = 300
	before, after := killed(t, messages, 1000)
	for what, m := range map[string]machine{"mark of Open": before, "mark of Close": after} {
		name := m.newest(t, logSuffix)
		whole := m.read(t, name)
		end := logEnd(whole)
		for at := 100; at < end; at += stride(1009, 9001) {
			damaged := slices.Clone(whole)
			damaged[at] ^= 0x10
			n, err := m.with(t, name, damaged).count(t)
			last := at/block >= (end-1)/block
			if err == nil && n != messages && (what == "mark of Close" || !last) {
				t.Errorf("%s, octet %d of %d: opened with %d of %d messages", what, at, end, n, messages)
			}
		}
	}
}

func TestAFlippedBitInATableIsNeverServed(t *testing.T) {
	const messages = 2000
	m := newMachine()
	s := mustOpen(t, m.options())
	put(t, s, 0, messages, 200)
	if err := errors.Join(s.db.Flush(), s.db.Compact(t.Context(), []byte{0}, []byte{0xff}, false), s.Close()); err != nil {
		t.Fatal(err)
	}
	name := m.newest(t, ".sst")
	whole := m.read(t, name)
	flips := 300 / stride(1, 6)
	noticed := 0
	for i := range flips {
		at := len(whole) * i / flips
		damaged := slices.Clone(whole)
		damaged[at] ^= 4
		m := m.with(t, name, damaged)
		failed := make(chan error, 1)
		o := m.options()
		o.Fatal = func(err error) { failed <- err }
		s, err := Open(o)
		if err != nil {
			noticed++
			continue
		}
		n, err := count(s)
		switch {
		case err != nil:
			noticed++
			if fatal := <-failed; !errors.Is(fatal, ErrCorrupt) || !strings.Contains(fatal.Error(), name) {
				t.Errorf("octet %d: failed with %v", at, fatal)
			}
		case n != messages:
			t.Errorf("octet %d: %d of %d messages and no error", at, n, messages)
		}
		if closeErr := s.Close(); (closeErr != nil) != (err != nil) {
			t.Errorf("octet %d: scan: %v, Close: %v", at, err, closeErr)
		}
		if err == nil {
			continue
		}
		var rep Report
		checkErr := viewOptions(m.clone().options().withDefaults(), func(r reader, _ mark) (err error) {
			rep, err = checkAll(r)
			return err
		})
		if checkErr == nil && rep.OK() {
			t.Errorf("octet %d: a check has nothing to say", at)
		}
	}
	if noticed < flips*3/4 {
		t.Errorf("only %d of %d flipped bits made a difference", noticed, flips)
	}
}

func TestTheMarkFollowsWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		s := mustOpen(t, Options{Dir: "/data", FS: fs})
		read := func() uint64 {
			synctest.Wait()
			m, err := readMark(fs, "/data")
			if err != nil || m.epoch != 1 || m.clean {
				t.Fatalf("%+v, %v", m, err)
			}
			return m.seqs[1]
		}
		if n := read(); n != 0 {
			t.Errorf("mark %d after Open", n)
		}
		put(t, s, 0, 1, 10)
		if n := read(); n != 1 {
			t.Errorf("mark %d after the first batch", n)
		}
		put(t, s, 1, 5, 10)
		if n := read(); n != 1 {
			t.Errorf("mark %d is written again at once", n)
		}
		<-time.After(time.Second)
		if n := read(); n != 6 {
			t.Errorf("mark %d a second later", n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if m, err := readMark(fs, "/data"); err != nil || !m.clean || m.seqs[1] != 6 {
			t.Errorf("after Close: %+v, %v", m, err)
		}
	})
}

func TestAMarkThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		var full atomic.Bool
		fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if full.Load() && filepath.Base(op.Path) == markTempName {
				return errorfs.ErrInjected
			}
			return nil
		}))
		s := mustOpen(t, Options{Dir: "/data", FS: fs, Log: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Error(err) }})
		full.Store(true)
		put(t, s, 0, 1, 10)
		synctest.Wait()
		if n := s.Stats().MarkErrors; n != 1 {
			t.Errorf("%d errors", n)
		}
		full.Store(false)
		<-time.After(time.Second)
		synctest.Wait()
		if m, err := readMark(mem, "/data"); err != nil || m.seqs[1] != 1 {
			t.Errorf("%+v, %v", m, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestABatchThatDoesNotFollowIsNeverApplied(t *testing.T) {
	failed := make(chan error, 1)
	o := newMachine().options()
	o.Fatal = func(err error) { failed <- err }
	s := mustOpen(t, o)
	put(t, s, 0, 1, 1)
	s.door.mu.Lock()
	s.door.chain[1].seq++ // as a writer would that lost its place
	s.door.mu.Unlock()
	b := s.NewBatch()
	b.PutSchedule(Schedule{Shard: 1})
	s.Submit(b, func(o Outcome) { t.Errorf("outcome %d", o) })
	if err := <-failed; !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}

func TestATooLargeBatchIsRejectedInItsTurn(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir(), FS: vfs.NewMem()})
	var outcomes []Outcome
	for i := range 3 {
		b := s.NewBatch()
		b.PutSchedule(Schedule{Shard: 1, Count: uint64(i)})
		if i == 1 {
			b.repr = make([]byte, MaxBatchBytes+reprHeader+1) // is never written to, so never there
		}
		s.Submit(b, func(o Outcome) { outcomes = append(outcomes, o) })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(outcomes) != 3 || outcomes[0] != Applied || outcomes[1] != Rejected || outcomes[2] != Applied {
		t.Errorf("outcomes %v", outcomes)
	}
}

func TestPebbleOptionsAreValid(t *testing.T) {
	o := Options{}.withDefaults()
	p := o.pebbleOptions(newEvents(o.Log, func(error) {}))
	p.EnsureDefaults()
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	if p.FormatMajorVersion != pebble.FormatNewest {
		t.Errorf("format %v", p.FormatMajorVersion)
	}
}
