//go:build linux

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"footfall/frames"
)

func TestLoadWithoutACrashKeepsEveryPromise(t *testing.T) {
	l := newLedger()
	p := start(t, launch{watched: true})
	work := startLoad(l, p, uint64(time.Now().UnixNano()))
	awaitProgress(t, l, 2000)
	work.stop()
	empty(t, l, p)
	l.report(t)
	t.Logf("%d messages sent, %d deliveries", l.sent, l.seen)
	m := p.metrics()
	if n := m["footfall_connection_panics_total"]; n != 0 {
		t.Errorf("%v connections panicked", n)
	}
	if n := m["footfall_store_misuses_total"]; n != 0 {
		t.Errorf("the store was misused %v times", n)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}

func TestASuspendedProcessGoesOnWhereItWas(t *testing.T) {
	l := newLedger()
	p := start(t, launch{})
	c := session(t, p)
	due := time.Now().Add(1200 * time.Millisecond)
	for i := range 100 {
		c.must(t, frames.Send, fmt.Sprint(i), "destination", "/queue/due", "deliver-at", fmt.Sprint(due.UnixMilli()+int64(i)))
	}
	work := startLoad(l, p, uint64(time.Now().UnixNano()))
	awaitProgress(t, l, 500)
	p.suspend(t, 3*time.Second)
	awaitProgress(t, l, 500)
	work.stop()
	c.must(t, frames.Begin, "", "transaction", "still there")
	c.add(frames.Subscribe, "", "id", "s", "destination", "/queue/due", "ack", "auto")
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if m := c.expect(t, frames.Message); m.body != fmt.Sprint(i) {
			t.Fatalf("what became due meanwhile came out of order: %s at %d", m.body, i)
		}
	}
	c.expectSilence(t)
	c.close()
	empty(t, l, p)
	l.report(t)
}

// suspend stops the process for a time, as a machine does that is paused.
func (p *process) suspend(t *testing.T, d time.Duration) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	<-time.After(d)
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

func TestIdleConnectionsAreCheap(t *testing.T) {
	const connections, each = 800, 60 << 10
	p := start(t, launch{})
	before, _ := p.memory()
	for i := range connections {
		w := session(t, p)
		if err := w.send(frames.Subscribe, "", "id", "s", "destination", fmt.Sprintf("/queue/idle%d", i%10), "ack", "client"); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "all have subscribed", func() bool { return p.metrics()["footfall_subscriptions"] == connections })
	now, _ := p.memory()
	t.Logf("%d KiB of memory for each of %d connections", (now-before)>>10/connections, connections)
	if now-before > connections*each {
		t.Errorf("%d connections cost %d KiB each, more than %d", connections, (now-before)>>10/connections, each>>10)
	}
}

func TestTheLastFrameBeforeAConnectionEndsCounts(t *testing.T) {
	const workers, each = 8, 40
	p := start(t, launch{watched: true})
	var wg sync.WaitGroup
	failures := make(chan error, workers)
	for i := range workers {
		wg.Go(func() {
			for n := range each {
				w, err := connect(p.stomp, frames.Version(n%3))
				if err == nil {
					err = w.send(frames.Send, fmt.Sprint(i, " ", n), "destination", "/queue/last")
					w.close()
				}
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		t.Fatal(err)
	}
	c := session(t, p)
	if err := c.send(frames.Subscribe, "", "id", "s", "destination", "/queue/last", "ack", "auto"); err != nil {
		t.Fatal(err)
	}
	came := map[string]bool{}
	for range workers * each {
		came[c.expect(t, frames.Message).body] = true
	}
	if len(came) != workers*each {
		t.Errorf("there came %d different messages, not %d", len(came), workers*each)
	}
	c.expectSilence(t)
}

func TestBackPressureStopsASenderAndLosesNothing(t *testing.T) {
	// A topic subscriber that reads slowly holds its sender up; nobody is cut off, nothing is left out.
	p := start(t, launch{args: []string{"--set", "limits.topic-bytes=256KiB", "--set", "delivery.outbox-bytes=64KiB"}})
	canary := startCanary(t, p)
	slow := session(t, p)
	slow.must(t, frames.Subscribe, "", "id", "s", "destination", "/topic/t", "ack", "auto")
	const messages = 3000
	body := strings.Repeat("b", 4000)
	var sending sync.WaitGroup
	sender := session(t, p)
	var failed error
	sending.Go(func() {
		for i := range messages {
			if failed = sender.send(frames.Send, fmt.Sprintf("%06d%s", i, body), "destination", "/topic/t"); failed != nil {
				return
			}
		}
		failed = sender.do(frames.Disconnect, "")
	})
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range messages {
		if i%10 == 0 {
			<-tick.C
		}
		if m := slow.expect(t, frames.Message); m.body[:6] != fmt.Sprintf("%06d", i) {
			t.Fatalf("there came %.6s, waiting for %d", m.body, i)
		}
	}
	sending.Wait()
	if failed != nil {
		t.Errorf("the sender: %v", failed)
	}
	canary.requireWell(t, bounded)
}

func TestAdminShowsWhatIsThere(t *testing.T) {
	p := start(t, launch{watched: true})
	c := session(t, p)
	const nasty = "/queue/a\"b\\c{d}=ü"
	for range 3 {
		c.must(t, frames.Send, "m", "destination", nasty)
	}
	c.must(t, frames.Send, "m", "destination", nasty, "delay", "1h")
	m := p.metrics() // parses
	if n := m.sum(t, "footfall_destination_messages_ready", `a\"b\\c{d}=ü`); n != 3 {
		t.Errorf("the metrics have %v messages of %s", n, nasty)
	}
	if n := m["footfall_messages_scheduled"]; n != 1 {
		t.Errorf("%v messages are scheduled", n)
	}
	for path, want := range map[string]string{"/livez": "ok", "/readyz": `"ready": true`, "/api/v1/overview": "version"} {
		if status, body, err := p.get(path); err != nil || status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %v %q", path, status, err, body)
		}
	}
	_, body, err := p.get("/api/v1/destinations")
	var page map[string]any
	if err == nil {
		err = json.Unmarshal([]byte(body), &page)
	}
	if err != nil {
		t.Fatalf("/api/v1/destinations: %v\n%s", err, body)
	}
	if !strings.Contains(fmt.Sprint(page), `a"b\c{d}=ü`) {
		t.Errorf("the destination is not listed: %s", body)
	}
}

func TestReceiptOfRecoverComesBeforeWhatIsDeliveredAgain(t *testing.T) {
	// A client throws away what was on its way when it sent RECOVER, and must know where that ends.
	p := start(t, launch{watched: true})
	for _, recover := range []struct {
		name    string
		command frames.Command
		headers []string
	}{
		{"RECOVER", frames.Recover, []string{"id", "s"}},
		{"NACK with recover", frames.Nack, []string{"recover", "true", "subscription", "s"}},
	} {
		t.Run(recover.name, func(t *testing.T) {
			w := session(t, p)
			queue := queueOf(t)
			const messages = 50
			for i := range messages {
				w.must(t, frames.Send, fmt.Sprint(i), "destination", queue)
			}
			if err := w.send(frames.Subscribe, "", "id", "s", "destination", queue, "ack", "client"); err != nil {
				t.Fatal(err)
			}
			for range messages {
				w.expect(t, frames.Message)
			}
			// Nothing is on its way any more, so the RECEIPT is next.
			if err := w.send(recover.command, "", append(recover.headers, "receipt", "recovered")...); err != nil {
				t.Fatal(err)
			}
			w.expect(t, frames.Receipt)
			for i := range messages {
				if m := w.expect(t, frames.Message); m.body != fmt.Sprint(i) || m.get("redelivered") != "true" {
					t.Fatalf("after the RECEIPT there came %v, waiting for %d, redelivered", m, i)
				}
			}
			w.expectSilence(t)
			w.must(t, frames.Disconnect, "")
		})
	}
}
