package store_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/store"
	"footfall/store/storetest"
)

var update = flag.Bool("update", false, "write testdata anew")

// goldenDir is a store of format version 1 as it was left by a process that was killed,
// goldenState what it holds.
const (
	goldenDir   = "testdata/v1"
	goldenState = "testdata/v1.txt"
)

func TestAStoreOfFormatVersion1IsRead(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	want, err := os.ReadFile(goldenState)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(goldenDir)); err != nil {
		t.Fatal(err)
	}
	if rep, err := store.Check(dir); err != nil || !rep.OK() {
		t.Errorf("check: %v\n%v", err, rep)
	}
	stats, err := store.ReadStats(dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), state(t, s, stats)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if now, err := store.ReadStats(dir, 2); err != nil || stats.FormatVersion != 1 || now.FormatVersion != store.FormatVersion {
		t.Errorf("format version %d was taken over as %d, %v", stats.FormatVersion, now.FormatVersion, err)
	}
}

func state(t *testing.T, s *store.Store, stats store.DirStats) string {
	t.Helper()
	st, _, err := storetest.Read(s)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Recovered()
	lines := []string{
		fmt.Sprintf("epoch %d, host %s, created %d, clean %t", r.Epoch, r.HostID, r.Created, r.Clean),
		fmt.Sprintf("stats %+v", stats),
	}
	for _, k := range slices.Sorted(maps.Keys(st)) {
		lines = append(lines, k+": "+st[k])
	}
	return strings.Join(lines, "\n") + "\n"
}

func writeGolden(t *testing.T) {
	dir := t.TempDir()
	m := storetest.NewModel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2 {
		s, err := store.Open(store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		m.Start(s.Recovered().Epoch)
		done := make(chan store.Outcome)
		for range 40 {
			b := s.NewBatch()
			m.Step(rng, b)
			s.Submit(b, func(o store.Outcome) { done <- o })
			<-done
		}
		if err := os.RemoveAll(goldenDir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(goldenDir, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(copied, os.DirFS(goldenDir)); err != nil {
		t.Fatal(err)
	}
	stats, err := store.ReadStats(copied, 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Dir: copied})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenState, []byte(state(t, s, stats)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
