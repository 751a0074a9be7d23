package broker

import (
	"errors"
	"testing"
	"testing/synctest"
)

// submitting starts a submit in the bubble and tells whether it went through at once.
func submitting(in *inbox, c *Conn, ops, bytes int) (result chan error, waits bool) {
	result = make(chan error, 1)
	go func() { result <- in.submit(c, &Request{Ops: make([]Op, ops), Bytes: bytes}) }()
	synctest.Wait()
	return result, len(result) == 0
}

// works takes everything, and releases it as the loop does when it is worked off.
func works(in *inbox, t *taken) {
	in.take(t, true)
	in.release(t.entries)
}

func TestInboxBoundsOneConnection(t *testing.T) {
	for _, c := range []struct {
		name       string
		ops, bytes int
	}{
		{"operations", connOps, 0},
		{"octets", 1, connBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := newInbox(1<<20, 1<<30)
				conn, other := &Conn{}, &Conn{}
				if _, waits := submitting(in, conn, c.ops, c.bytes); waits {
					t.Fatal("the first request waits")
				}
				second, waits := submitting(in, conn, 1, 1)
				if !waits {
					t.Fatal("the second request does not wait")
				}
				if _, waits := submitting(in, other, 1, 1); waits {
					t.Fatal("another connection waits")
				}
				var took taken
				in.take(&took, true)
				synctest.Wait()
				if len(second) > 0 {
					t.Fatal("it goes on before the first is worked off")
				}
				in.release(took.entries)
				if err := <-second; err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestInboxBoundsAllTogether(t *testing.T) {
	for _, c := range []struct {
		name             string
		maxOps, maxBytes int
	}{
		{"operations", 10, 1 << 30},
		{"octets", 1 << 20, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := newInbox(c.maxOps, c.maxBytes)
				first, second := &Conn{}, &Conn{}
				if _, waits := submitting(in, first, 10, 10); waits {
					t.Fatal("a request waits before an empty inbox")
				}
				// Each may have one request, or a full inbox would let nobody in who could drain it.
				if _, waits := submitting(in, second, 1, 1); waits {
					t.Fatal("the first request of another connection waits")
				}
				result, waits := submitting(in, second, 1, 1)
				if !waits {
					t.Fatal("its second request does not wait")
				}
				works(in, &taken{})
				if err := <-result; err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestInboxKeepsTheOrder(t *testing.T) {
	in := newInbox(10, 10)
	a, b := &Conn{}, &Conn{}
	_ = in.mark(a, entryAttach)
	_ = in.submit(a, &Request{})
	_ = in.mark(b, entryAttach)
	_ = in.submit(b, &Request{})
	_ = in.mark(a, entryDetach)
	var took taken
	in.take(&took, false)
	if len(took.entries) != 0 || !in.waiting() {
		t.Fatal("requests were taken that were not asked for")
	}
	in.take(&took, true)
	want := []inboxEntry{{a, entryAttach, nil}, {a, entryRequest, nil}, {b, entryAttach, nil}, {b, entryRequest, nil}, {a, entryDetach, nil}}
	if len(took.entries) != len(want) {
		t.Fatalf("took %d entries, not %d", len(took.entries), len(want))
	}
	for i, e := range took.entries {
		if e.conn != want[i].conn || e.kind != want[i].kind {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	if in.waiting() || !in.idle() {
		t.Error("something is left")
	}
}

func TestInboxWakesOnce(t *testing.T) {
	in := newInbox(10, 10)
	for range 3 {
		in.run(func() {})
	}
	<-in.wake
	select {
	case <-in.wake:
		t.Fatal("there are two tokens")
	default:
	}
	in.noteWritten(&Conn{}, true)
	<-in.wake
	var took taken
	in.take(&took, false)
	if len(took.events) != 3 || len(took.written) != 1 {
		t.Fatalf("took %d events and %d reports", len(took.events), len(took.written))
	}
}

func TestInboxClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox(1, 1)
		c := &Conn{}
		if err := in.submit(c, &Request{Ops: make([]Op, 1)}); err != nil {
			t.Fatal(err)
		}
		waiting, waits := submitting(in, c, 1, 1)
		if !waits {
			t.Fatal("the inbox has no bound")
		}
		in.close()
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("who waits gets %v", err)
		}
		if err := in.submit(&Conn{}, &Request{}); !errors.Is(err, ErrClosed) {
			t.Errorf("who comes later gets %v", err)
		}
		if err := in.mark(c, entryAttach); !errors.Is(err, ErrClosed) {
			t.Errorf("a new session gets %v", err)
		}
		if err := in.mark(c, entryDetach); err != nil {
			t.Errorf("an old one cannot end: %v", err)
		}
		var took taken
		in.take(&took, true)
		if len(took.entries) != 2 {
			t.Errorf("%d entries are left to be worked off, not 2", len(took.entries))
		}
	})
}
