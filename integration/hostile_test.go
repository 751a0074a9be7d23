//go:build linux

package integration

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"footfall/frames"
)

// bounded is how long a turn of another client may take while others do their worst, on a machine that
// may be busy with other things too.
const bounded = 5 * time.Second

// hostile starts a broker and a client that must not notice anything.
func hostile(t *testing.T, args ...string) (*process, *canary) {
	t.Helper()
	p := start(t, launch{args: args})
	return p, startCanary(t, p)
}

func TestHostileAnnouncedLengthIsNotAllocated(t *testing.T) {
	p, canary := hostile(t)
	before, _ := p.memory()
	var held []*wire
	for _, length := range []string{"2147483648", "67108864", "9223372036854775807", "99999999999999999999"} {
		for range 40 {
			w := session(t, p)
			if err := w.raw([]byte("SEND\ndestination:/queue/q\ncontent-length:" + length + "\n\nx")); err != nil {
				t.Fatal(err)
			}
			held = append(held, w)
		}
	}
	for i, w := range held {
		if i/40 == 1 {
			continue // within the limit: the broker waits for the body
		}
		if failure := w.expectEnd(t); !strings.Contains(failure.get("message"), "content-length") && !strings.Contains(failure.get("message"), "body") {
			t.Fatalf("a length that cannot be was answered with %v", failure)
		}
	}
	if now, _ := p.memory(); now > before+150*mebibyte {
		t.Errorf("the memory went from %d to %d MiB", before/mebibyte, now/mebibyte)
	}
	canary.requireWell(t, bounded)
}

func TestHostileEndlessFramesAreCut(t *testing.T) {
	p, canary := hostile(t)
	chunk := strings.Repeat("v", 64<<10)
	for name, c := range map[string]struct{ begin, again string }{
		"command":     {"", chunk},
		"header line": {"SEND\nk:", chunk},
		"headers":     {"SEND\n", strings.Repeat("k:v\n", 10_000)},
		"body":        {"SEND\ndestination:/queue/q\n\n", strings.Repeat(chunk, 16)},
	} {
		t.Run(name, func(t *testing.T) {
			// After its ERROR the broker reads on for a while, so that a reset does not overtake that.
			w := session(t, p)
			err := w.raw([]byte(c.begin))
			for began := time.Now(); err == nil; {
				err = w.raw([]byte(c.again))
				if time.Since(began) > patience {
					t.Fatal("it was read on and on")
				}
			}
		})
		// Once more with as much as is over the limit, and an eye for the ERROR.
		t.Run(name+" with an ERROR", func(t *testing.T) {
			if name == "body" {
				return // sent above
			}
			w := session(t, p)
			if err := w.raw([]byte(c.begin + strings.Repeat(c.again, 1+(65<<10)/len(c.again)))); err != nil {
				t.Fatal(err)
			}
			if failure := w.expectEnd(t); !strings.Contains(failure.String(), "limits.") {
				t.Errorf("the end came with %v, not an ERROR that names the limit's setting", failure)
			}
		})
	}
	p.requireMemory("endless frames", 400*mebibyte)
	canary.requireWell(t, bounded)
}

func TestHostileGarbageEndsItsConnection(t *testing.T) {
	p, canary := hostile(t)
	source := rand.NewChaCha8([32]byte{3})
	random := make([]byte, 200)
	_, _ = source.Read(random)
	for name, octets := range map[string]string{
		"TLS":         "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("r", 500),
		"HTTP":        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"HTTP attack": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\nCONNECT\naccept-version:1.2\nhost:x\n\n\x00SEND\ndestination:/queue/stolen\n\nm\x00",
		"SSH":         "SSH-2.0-OpenSSH_9.6\r\n",
		"PROXY":       "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
		"random":      "\x80" + string(random) + "\n\n\x00",
		"NULs and LF": strings.Repeat("\n\x00\n", 40_000),
		"SEND first":  "SEND\ndestination:/queue/stolen\n\nm\x00",
	} {
		t.Run(name, func(t *testing.T) {
			w, err := open(p.stomp)
			if err != nil {
				t.Fatal(err)
			}
			defer w.close()
			_ = w.raw([]byte(octets))
			_ = w.nc.SetReadDeadline(time.Now().Add(patience))
			answer, err := io.ReadAll(w.nc)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the connection stays open")
			}
			if len(answer) > 0 && !strings.HasPrefix(string(answer), "ERROR\n") {
				t.Errorf("it was answered with %.100q", answer)
			}
		})
	}
	if strings.Contains(fmt.Sprint(p.metrics()), "stolen") {
		t.Error("a SEND before CONNECT was done")
	}
	canary.requireWell(t, bounded)
}

func TestHostileTricklesEndInTime(t *testing.T) {
	p, canary := hostile(t, "--set", "stomp.connect-timeout=1s", "--log-level", "debug")
	began := time.Now()
	w, err := open(p.stomp)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	// An octet now and then is no reason to wait longer for the rest of CONNECT.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ended := make(chan answer)
	go func() {
		a, _ := w.receive(patience)
		ended <- a
	}()
	for failure := (*answer)(nil); failure == nil; {
		select {
		case a := <-ended:
			failure = &a
			if !strings.Contains(a.get("message"), "CONNECT") {
				t.Errorf("the end came with %v", a)
			}
		case <-tick.C:
			_ = w.raw([]byte("\n"))
		}
		if time.Since(began) > patience {
			t.Fatal("a client that trickles keeps its connection")
		}
	}
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("it took only %v", took)
	}
	await(t, "the log says why", func() bool { return strings.Contains(p.out.text(), "connect_timeout") })
	canary.requireWell(t, bounded)
}

func TestHostileClientsThatNeverReadAreBoundedAndEnded(t *testing.T) {
	p, canary := hostile(t, "--set", "stomp.write-timeout=2s", "--set", "limits.slow-consumer-timeout=2s", "--set", "limits.memory=64MiB")
	before, _ := p.memory()
	body := strings.Repeat("b", 10_000)

	// One asks for all messages of a queue, in each mode, one of a topic, and one for receipts only.
	for i, subscribe := range []string{"/queue/flood ack:auto", "/queue/flood ack:client", "/topic/flood ack:auto", "/topic/flood ack:client"} {
		w := session(t, p)
		destination, ack, _ := strings.Cut(subscribe, " ack:")
		if err := w.send(frames.Subscribe, "", "id", fmt.Sprint(i), "destination", destination, "ack", ack, "prefetch-count", "1000000"); err != nil {
			t.Fatal(err)
		}
	}
	receipts := session(t, p)
	var senders sync.WaitGroup
	senders.Go(func() {
		for i := range 400_000 {
			receipts.add(frames.Send, "", "destination", "/topic/nobody", "receipt", fmt.Sprint(i))
			if i%100 == 99 && receipts.flush() != nil {
				return
			}
		}
	})
	sender := session(t, p)
	for i := range 10_000 {
		sender.add(frames.Send, body, "destination", "/queue/flood")
		sender.add(frames.Send, body, "destination", "/topic/flood")
		if i%20 == 19 {
			if err := sender.flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The sender goes on when the slow subscribers of the topic are gone.
	sender.must(t, frames.Send, "", "destination", "/queue/end")
	await(t, "those that do not read were closed", func() bool {
		return p.metrics().sum(t, "footfall_connections_closed_total", `reason="write_timeout"`) >= 3
	})
	senders.Wait()
	if !strings.Contains(p.out.text(), "write_timeout") {
		t.Error("the log does not say why they were closed")
	}
	now, peak := p.memory()
	t.Logf("memory went from %d to %d MiB, at most %d MiB", before/mebibyte, now/mebibyte, peak/mebibyte)
	if peak > 500*mebibyte {
		t.Errorf("the broker had up to %d MiB of memory", peak/mebibyte)
	}
	canary.requireWell(t, 2*bounded)
}

func TestHostileManyQuickConnectionsLeaveNothing(t *testing.T) {
	p, canary := hostile(t)
	gauges := func() (goroutines, descriptors float64) {
		m := p.metrics()
		return m["go_goroutines"], m["process_open_fds"]
	}
	goroutines, descriptors := gauges()
	const workers, each = 20, 500
	var wg sync.WaitGroup
	began := time.Now()
	failures := make(chan error, workers)
	for i := range workers {
		wg.Go(func() {
			for n := range each {
				if err := quickly(p.stomp, n+i); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
	t.Logf("%d connections in %v", workers*each, time.Since(began))
	await(t, "goroutines and descriptors are as before", func() bool {
		g, d := gauges()
		return g <= goroutines+5 && d <= descriptors+5
	})
	if n := p.metrics().sum(t, "footfall_connections"); n != 1 {
		t.Errorf("%v connections are open, not only that of the other client", n)
	}
	canary.requireWell(t, bounded)
}

// quickly connects and leaves, in one of several manners.
func quickly(addr string, manner int) error {
	switch manner % 4 {
	case 0: // without a word
		w, err := open(addr)
		if err == nil {
			w.close()
		}
		return err
	case 1: // with a reset in the midst of a frame
		w, err := open(addr)
		if err == nil {
			err = w.raw([]byte("CONNECT\naccept-ver"))
			w.reset()
		}
		return err
	case 2: // with a subscription and a reset
		w, err := connect(addr, frames.V12)
		if err == nil {
			err = w.send(frames.Subscribe, "", "id", "1", "destination", "/topic/quick", "ack", "client")
			w.reset()
		}
		return err
	default: // in good order
		w, err := connect(addr, frames.V12)
		if err == nil {
			err = w.do(frames.Disconnect, "")
			w.close()
		}
		return err
	}
}
