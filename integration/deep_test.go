//go:build linux

package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

// deep tells whether the tests of depth are to be done in full: with FOOTFALL_DEEP=1.
func deep() bool { return os.Getenv("FOOTFALL_DEEP") == "1" }

// pour is pourTo for one queue. Headers may be made for each message.
func pour(t testing.TB, p *process, queue string, messages int, headers func(i int) []string) {
	t.Helper()
	pourTo(t, p, messages, func(i int) []string {
		line := []string{"destination", queue}
		if headers != nil {
			line = append(line, headers(i)...)
		}
		return line
	})
}

// pourTo sends messages of 200 octets, numbered from 0, with the headers that are made for each and a RECEIPT now and then,
// and waits for the last one.
func pourTo(t testing.TB, p *process, messages int, headers func(i int) []string) {
	t.Helper()
	const stride, ahead = 500, 8
	w := session(t, p)
	defer w.close()
	filling := strings.Repeat("f", 192)
	waiting := 0
	for i := range messages {
		line := headers(i)
		if i%stride == stride-1 || i == messages-1 {
			line = append(line, "receipt", fmt.Sprint(i))
			waiting++
		}
		w.add(frames.Send, fmt.Sprintf("%08d", i)+filling, line...)
		if i%stride != stride-1 {
			continue
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		for ; waiting > ahead; waiting-- {
			w.expect(t, frames.Receipt)
		}
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	for ; waiting > 0; waiting-- {
		w.expect(t, frames.Receipt)
	}
}

// drain takes messages from a queue that must be those numbered from first to before end, in order,
// and acknowledges them all with a RECEIPT.
func drain(t testing.TB, p *process, queue string, first, end int) {
	t.Helper()
	w := session(t, p)
	defer w.close()
	w.add(frames.Subscribe, "", "id", "s", "destination", queue, "ack", "client", "prefetch-count", "5000")
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	for i := first; i < end; i++ {
		f, err := w.next(patience)
		if err != nil {
			t.Fatalf("waiting for message %d of %d: %v", i, end, err)
		}
		var number int
		if _, err := fmt.Sscanf(string(f.Body[:min(8, len(f.Body))]), "%08d", &number); f.Command != frames.Message || err != nil || number != i {
			t.Fatalf("waiting for message %d of %d, there came %s %q", i, end, f.Command, f.Body)
		}
		if i%1000 != 999 && i != end-1 {
			continue
		}
		ack, _ := f.Header.Get("ack")
		if i != end-1 {
			err = w.send(frames.Ack, "", "id", ack)
		} else {
			err = w.do(frames.Ack, "", "id", ack)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// requireReadySoon starts a broker that was killed and demands that it is ready within that time.
func requireReadySoon(t *testing.T, p *process, most time.Duration) *process {
	t.Helper()
	began := time.Now()
	p = p.again()
	took := time.Since(began)
	t.Logf("ready %v after a kill", took)
	if took > most {
		t.Errorf("ready only %v after a kill, later than %v", took, most)
	}
	return p
}

func TestDeepBacklogNeitherFillsMemoryNorSlowsTheStart(t *testing.T) {
	// The bound on memory is about what the broker may use with any backlog, so it is nearly the same for a small one.
	messages, memory, ready := 200_000, int64(300*mebibyte), 5*time.Second
	if deep() {
		messages, memory, ready = 3_000_000, 400*mebibyte, 2*time.Second
	}
	p := start(t, launch{})
	began := time.Now()
	pour(t, p, "/queue/deep", messages, nil)
	t.Logf("%d messages in %v", messages, time.Since(began))
	p.requireMemory("filled", memory)
	p.kill()
	p = requireReadySoon(t, p, ready)
	if n := p.metrics()["footfall_messages_ready"]; int(n) != messages {
		t.Errorf("%v messages are ready after a kill, not %d", n, messages)
	}
	began = time.Now()
	drain(t, p, "/queue/deep", 0, messages)
	t.Logf("drained in %v", time.Since(began))
	p.requireMemory("drained", memory)
	if n := p.metrics()["footfall_messages_ready"]; n != 0 {
		t.Errorf("%v messages are left", n)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}

func TestDeepScheduleNeitherFillsMemoryNorSlowsTheStart(t *testing.T) {
	const due, names = 1000, 1000
	messages, memory, started, ready, cancelled := 50_000, int64(300*mebibyte), int64(300*mebibyte), 5*time.Second, time.Second
	if deep() {
		messages, memory, ready, cancelled = 5_000_000, 400*mebibyte, 3*time.Second, 5*time.Millisecond
	}
	p := start(t, launch{})
	// Most are due in hours, and not in the order in which they are sent. Some have names.
	far := time.Now().Add(3 * time.Hour)
	began := time.Now()
	pour(t, p, "/queue/far", messages, func(i int) []string {
		line := []string{"deliver-at", fmt.Sprint(far.Add(time.Duration(i*7919%100_000) * time.Second).UnixMilli())}
		if every := messages / names; i%every == 0 {
			line = append(line, "scheduled-id", fmt.Sprint("name-", i/every))
		}
		return line
	})
	t.Logf("%d messages in %v", messages, time.Since(began))
	// The first ones become due when the broker has been killed and started again.
	at := time.Now().Add(6 * time.Second)
	pour(t, p, "/queue/soon", due, func(i int) []string {
		return []string{"deliver-at", fmt.Sprint(at.Add(time.Duration(i) * time.Millisecond).UnixMilli())}
	})
	p.requireMemory("filled", memory)
	p.kill()
	p = requireReadySoon(t, p, ready)
	if n := p.metrics()["footfall_messages_scheduled"]; int(n) != messages+due && time.Now().Before(at) {
		t.Errorf("%v messages are scheduled after a kill, not %d", n, messages+due)
	}
	p.requireMemory("started", started)
	drain(t, p, "/queue/soon", 0, due)
	requireCancelledSoon(t, p, names, cancelled)
	if n := p.metrics()["footfall_messages_scheduled"]; int(n) != messages-names {
		t.Errorf("%v messages are scheduled, not %d", n, messages-names)
	}
	p.requireMemory("the first delivered, some cancelled", memory)
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}

// requireCancelledSoon cancels what is called name-0 to name-n one after the other, and demands that 99 of 100 are confirmed within that time.
func requireCancelledSoon(t *testing.T, p *process, n int, most time.Duration) {
	t.Helper()
	w := session(t, p)
	defer w.close()
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		w.must(t, frames.Send, "", "destination", "/topic/ActiveMQ.Scheduler.Management", "AMQ_SCHEDULER_ACTION", "REMOVE", "scheduledJobId", fmt.Sprint("name-", i))
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	t.Logf("cancelled by name: p50 %v, p99 %v, at most %v", took[n/2], took[n*99/100], took[n-1])
	if took[n*99/100] > most {
		t.Errorf("of %d cancels one in a hundred took %v, longer than %v", n, took[n*99/100], most)
	}
}
