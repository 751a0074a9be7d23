package admin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"footfall/broker"
	"footfall/store"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a broker and a store with numbers of the test's choice.
type fake struct {
	Broker // what is not below is not called
	stats  broker.Stats
	list   []broker.DestinationStats
	stuck  bool // the loop does not turn
	store  store.Stats
	noDisk bool
}

func (f *fake) Stats(ctx context.Context) (broker.Stats, bool) {
	if f.stuck {
		<-ctx.Done()
	}
	return f.stats, !f.stuck
}

func (f *fake) Destinations(ctx context.Context, q broker.DestinationQuery) ([]broker.DestinationStats, int, error) {
	if f.stuck {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	list := f.list[min(q.Offset, len(f.list)):]
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, len(f.list), nil
}

// disk is the fake's side as a store.
type disk struct{ f *fake }

func (d disk) Stats() store.Stats { return d.f.store }

func (d disk) DiskFree() (uint64, error) {
	if d.f.noDisk {
		return 0, errors.New("no disk")
	}
	return 1 << 40, nil
}

func (f *fake) options() Options {
	return Options{Broker: f, Store: disk{f}, Version: "1.2.3", Revision: "abc", Started: time.Now()}
}

func get(t *testing.T, s *Server, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
	return w
}
