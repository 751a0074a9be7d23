//go:build linux

package integration

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"footfall/frames"
)

func TestTerminateUnderLoadIsOrderly(t *testing.T) {
	l := newLedger()
	p := start(t, launch{watched: true})
	work := startLoad(l, p, uint64(time.Now().UnixNano()))
	awaitProgress(t, l, 1000)

	// A client of its own, to see the end as clients see it.
	c := session(t, p)
	c.must(t, frames.Subscribe, "", "id", "s", "destination", "/topic/quiet", "ack", "client")

	began := time.Now()
	work.lost(func() {
		if code := p.terminate(); code != 0 {
			t.Errorf("exit code %d; it said:\n%s", code, p.out.tail(20))
		}
	})
	t.Logf("ended within %v", time.Since(began))
	failure := c.expectEnd(t)
	if !strings.Contains(failure.get("message"), "shutting down") {
		t.Errorf("the last frame to a client was %v, not an ERROR that says that the broker is shutting down", failure)
	}
	if !strings.Contains(p.out.tail(3), "stopped in good order") {
		t.Errorf("the last lines are not of an orderly end:\n%s", p.out.tail(3))
	}
	requireSoundStore(t, p.launch.dir)
	p = p.again()
	empty(t, l, p)
	l.report(t)
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := start(t, launch{watched: true, args: []string{"--set", "shutdown.timeout=1h", "--set", "stomp.linger-timeout=1m"}})
	// A client that leaves its ERROR unread, and the connection open, holds an orderly end up.
	c := session(t, p)
	c.must(t, frames.Send, "kept", "destination", "/queue/q")
	p.signal(os.Interrupt)
	await(t, "the end began", func() bool { return strings.Contains(p.out.text(), "a second signal ends this at once") })
	select {
	case <-p.gone:
		t.Fatalf("the broker did not wait for its client: %v", p.err)
	case <-time.After(200 * time.Millisecond):
	}
	p.signal(syscall.SIGTERM)
	if code := p.awaitExit(patience); code == 0 {
		t.Error("an end at once has exit code 0, as if it had been orderly")
	}
	p = start(t, launch{dir: p.launch.dir})
	c = session(t, p)
	c.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/q", "ack", "client")
	if m := c.expect(t, frames.Message); m.body != "kept" {
		t.Errorf("there came %v", m)
	}
}

func TestShutdownTimeoutCutsConnectionsThatHoldItUp(t *testing.T) {
	p := start(t, launch{watched: true, args: []string{"--set", "shutdown.timeout=500ms", "--set", "stomp.linger-timeout=1m"}})
	session(t, p)
	began := time.Now()
	p.terminate()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v, with a timeout of 500ms", took)
	}
	requireSoundStore(t, p.launch.dir)
}

func TestStartSaysWhatItRecovered(t *testing.T) {
	p := start(t, launch{watched: true})
	c := session(t, p)
	for i := range 3 {
		c.must(t, frames.Send, fmt.Sprint(i), "destination", "/queue/q")
	}
	c.must(t, frames.Send, "later", "destination", "/queue/q", "delay", "1h")
	c.close()
	if code := p.terminate(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	p = p.again()
	if text := p.out.text(); !strings.Contains(text, "3 messages") || !strings.Contains(text, "1 scheduled") {
		t.Errorf("the banner does not tell of 3 messages and 1 scheduled:\n%s", text)
	}
}

func TestTerminateHandsNothingOn(t *testing.T) {
	p := start(t, launch{})
	const messages, idle = 20, 8
	busy := session(t, p)
	for i := range messages {
		busy.must(t, frames.Send, fmt.Sprint(i), "destination", "/queue/q")
	}
	subscribe := func(c *wire) {
		c.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/q", "ack", "client-individual")
	}
	subscribe(busy)
	for range messages {
		busy.expect(t, frames.Message)
	}
	var others []*wire
	for range idle {
		c := session(t, p)
		subscribe(c)
		others = append(others, c)
	}
	began := time.Now()
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	t.Logf("ended within %v", time.Since(began))
	for _, c := range others {
		c.expect(t, frames.Failure)
	}
	p = p.again()
	c := session(t, p)
	subscribe(c)
	for range messages {
		if m := c.expect(t, frames.Message); m.get("JMSXDeliveryCount") != "1" {
			t.Fatalf("a message delivered once before has JMSXDeliveryCount %q", m.get("JMSXDeliveryCount"))
		}
	}
}
