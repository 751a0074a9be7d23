package store_test

import (
	"testing"
	"testing/synctest"

	"footfall/store"
	"footfall/store/storetest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Opener {
		var m *store.Memory
		return func() (storetest.Store, error) {
			if m == nil {
				m = store.NewMemory()
			} else {
				m = m.Reopen()
			}
			return m, nil
		}
	})
}

func TestStoreKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		d := storetest.NewDisk(t)
		return func() (storetest.Store, error) { return d.Open() }
	})
}

func TestStoreInADirectoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		dir := t.TempDir()
		return func() (storetest.Store, error) {
			return store.Open(store.Options{Dir: dir, Fatal: func(err error) { t.Error(err) }})
		}
	})
}

func TestStoreWithSmallMemtablesKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		d := storetest.NewDisk(t)
		return func() (storetest.Store, error) {
			return d.OpenWith(store.Options{MemTableBytes: 64 << 10, CacheBytes: 64 << 10})
		}
	})
}

func TestStoreLivesInASynctestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := storetest.NewDisk(t)
		s, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		applied := false
		b := s.NewBatch()
		b.PutSchedule(store.Schedule{Shard: 1, Count: 1})
		s.Submit(b, func(store.Outcome) { applied = true })
		synctest.Wait()
		if !applied {
			t.Fatal("no outcome when everything is at rest")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
