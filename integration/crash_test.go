//go:build linux

package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"footfall/frames"
)

// rounds counts the crashes of a test: as many as FOOTFALL_CRASH_ROUNDS says, or a few. A
// round of a process takes as long as thousands of those of a simulated disk, whose number comes from the same
// variable, so a test ends sooner when it has used its share of the time limit.
func rounds(t *testing.T) func(yield func(round int) bool) {
	t.Helper()
	most := 5
	if text := os.Getenv("FOOTFALL_CRASH_ROUNDS"); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil || most < 1 {
			t.Fatalf("FOOTFALL_CRASH_ROUNDS is %q; a number from 1 is wanted", text)
		}
	}
	end, limited := t.Deadline()
	share := time.Until(end) / 4
	return func(yield func(int) bool) {
		began := time.Now()
		for round := range most {
			if limited && time.Since(began) > share {
				t.Logf("ended after %d rounds, as much of the time limit is used up", round)
				return
			}
			if !yield(round) {
				return
			}
		}
	}
}

func TestKillUnderLoadKeepsEveryPromise(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	l := newLedger()
	p := start(t, launch{args: someSettings(random)})
	for round := range rounds(t) {
		work := startLoad(l, p, seed+uint64(round)*100)
		awaitProgress(t, l, 300)
		<-time.After(time.Duration(random.Int64N(int64(time.Second))))
		work.lost(func() {
			if random.IntN(4) == 0 {
				// In the midst of an orderly end.
				p.signal(syscall.SIGTERM)
				<-time.After(time.Duration(random.IntN(300)) * time.Millisecond)
			}
			p.kill()
		})
		requireSoundStore(t, p.launch.dir)
		for random.IntN(3) == 0 {
			p = killedWhileStarting(p, random)
		}
		p = start(t, launch{dir: p.launch.dir, args: someSettings(random)})
		if random.IntN(2) == 0 {
			empty(t, l, p)
		}
		l.report(t)
		if t.Failed() {
			t.Fatalf("round %d broke a promise", round)
		}
	}
	empty(t, l, p)
	l.report(t)
	if code := p.terminate(); code != 0 {
		t.Errorf("the broker ended with exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
	t.Logf("%d messages sent, %d RECEIPTs for them, %d deliveries", l.sent, l.kept, l.seen)
}

// someSettings are none, or such that little is in memory and much goes on in the background.
func someSettings(random *rand.Rand) []string {
	switch random.IntN(3) {
	case 0:
		return []string{"--set", "store.memtable-bytes=1MiB", "--set", "store.cache-bytes=1MiB"}
	case 1:
		return []string{"--set", "limits.backlog-messages=16", "--set", "limits.backlog-bytes=1KiB", "--set", "delivery.outbox-bytes=4KiB"}
	}
	return nil
}

// awaitProgress waits until the load has got so many more RECEIPTs.
func awaitProgress(t testing.TB, l *ledger, more int) {
	t.Helper()
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.kept
	}
	before := count()
	await(t, fmt.Sprintf("%d messages had a RECEIPT", more), func() bool { return count() >= before+more })
}

// killedWhileStarting starts a broker and kills it before, or soon after, it is ready.
func killedWhileStarting(p *process, random *rand.Rand) *process {
	p.t.Helper()
	next := spawn(p.t, p.launch)
	select {
	case <-time.After(time.Duration(random.IntN(150)) * time.Millisecond):
	case <-next.gone:
	}
	if next.ended() {
		p.t.Fatalf("the broker ended while it started: %v; it said:\n%s", next.err, next.out.tail(30))
	}
	next.kill()
	return next
}

func TestKillWhileAStoreIsMadeLeavesOneOrNone(t *testing.T) {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for range rounds(t) {
		p := spawn(t, launch{})
		select {
		case <-time.After(time.Duration(random.IntN(60_000)) * time.Microsecond):
		case <-p.gone:
			t.Fatalf("the broker ended while it started: %v; it said:\n%s", p.err, p.out.tail(30))
		}
		p.kill()
		p = killedWhileStarting(p, random).again()
		w := session(t, p)
		w.must(t, frames.Send, "m", "destination", "/queue/q")
		p.kill()
		requireSoundStore(t, p.launch.dir)
	}
}

// requireSoundStore demands that the data directory of a broker that does not run has nothing to find fault with.
func requireSoundStore(t testing.TB, dir string) {
	t.Helper()
	requireSound(t, launch{dir: dir})
}

// requireSound is requireSoundStore for a broker that was started in a special place.
func requireSound(t testing.TB, l launch) {
	t.Helper()
	line := append(append([]string{}, l.wrap...), binary(t), "store", "check", l.dir)
	check := exec.Command(line[0], line[1:]...)
	check.Env = environment()
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("store check: %v\n%s", err, out)
	}
}

// empty takes all that is in the queues, until nothing is anywhere, and settles the ledger.
// Nobody else may be at work.
func empty(t testing.TB, l *ledger, p *process) {
	t.Helper()
	await(t, "all sessions are over", func() bool { return p.metrics().sum(t, "footfall_sessions") == 0 })
	c := &client{load: &load{l: l}, name: fmt.Sprintf("empty%d", l.life), wire: session(t, p)}
	order := newSequence(l, true)
	for i, queue := range allQueues() {
		c.wire.add(frames.Subscribe, "", "id", fmt.Sprint(i), "destination", queue, "ack", "client-individual")
	}
	last := time.Now()
	for {
		d, err := c.take(order)
		if err != nil {
			t.Fatalf("emptying the queues: %v", err)
		}
		if d.e != nil {
			c.settle(false, d, d.e)
			last = time.Now()
			continue
		}
		if len(c.pending) > 0 || len(c.wire.out) > 0 {
			continue
		}
		m := p.metrics()
		if m.sum(t, "footfall_messages_ready")+m.sum(t, "footfall_messages_unacked")+m.sum(t, "footfall_messages_scheduled") == 0 {
			break
		}
		if time.Since(last) > patience {
			t.Fatalf("nothing comes, but ready are %v, unacknowledged %v, scheduled %v",
				m["footfall_messages_ready"], m["footfall_messages_unacked"], m["footfall_messages_scheduled"])
		}
	}
	if err := c.wire.do(frames.Disconnect, ""); err != nil {
		t.Fatal(errors.Join(errors.New("leaving the empty queues"), err))
	}
	c.wire.close()
	l.settle()
}
