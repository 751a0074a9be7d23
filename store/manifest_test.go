package store

import (
	"errors"
	"os"
	"testing"
)

// Pebble takes damage in the list of its tables for the end of the list.
func TestDamageInTheListOfTablesIsFound(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, quiet(t, dir))
	for i := range 8 {
		put(t, s, 100*i, 100*(i+1), 100)
		if err := s.db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list := s.dir.manifestPath(s.dir.manifestNumber())
	whole, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{len(whole) / 3, len(whole) / 2, len(whole) - 3} {
		damaged := copyDir(t, dir)
		octets := append([]byte(nil), whole...)
		octets[at] ^= 0x40
		copied := &directory{fs: s.dir.fs, path: damaged}
		if err := os.WriteFile(copied.manifestPath(copied.manifestNumber()), octets, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(quiet(t, damaged)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("octet %d of %d changed: %v", at, len(whole), err)
			if err == nil {
				_ = s.Close()
			}
		}
		if _, err := Check(damaged); !errors.Is(err, ErrCorrupt) {
			t.Errorf("octet %d of %d changed: Check: %v", at, len(whole), err)
		}
	}
	s = mustOpen(t, quiet(t, dir)) // the whole one
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
