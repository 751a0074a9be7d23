//go:build linux

package integration

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

// dueQueues are the queues of TestKillAcrossDueTimesLosesAndRepeatsNothing, and the one of its repeating job.
const (
	dueQueues = 4
	jobQueue  = "/queue/job"
)

// dueMessage is a message with what became of it.
type dueMessage struct {
	queue int
	due   time.Time
	came  int  // deliveries
	held  bool // delivered to a connection that is gone, and not acknowledged for sure
	done  bool // acknowledged, with a RECEIPT
}

// dueReader takes messages of all queues in one life of the broker, and holds each against what was sent.
type dueReader struct {
	t    *testing.T
	w    *wire
	sent []dueMessage
	job  map[string]int // deliveries of the job by message-id
	// latest is, by queue, the number of the last message that came in this life.
	latest   [dueQueues]int
	asked    map[string]int // ACKs without an answer yet, by their receipt
	takeSome bool           // leave one in ten unacknowledged
	left     int            // messages that are not done
	killed   time.Time      // when the broker before was
}

func readDue(t *testing.T, p *process, sent []dueMessage, job map[string]int) *dueReader {
	r := &dueReader{t: t, w: session(t, p), sent: sent, job: job, asked: map[string]int{}}
	for i := range r.latest {
		r.latest[i] = -1
		r.w.add(frames.Subscribe, "", "id", fmt.Sprint(i), "destination", dueQueue(i), "ack", "client-individual", "prefetch-count", fmt.Sprint(len(sent)))
	}
	r.w.add(frames.Subscribe, "", "id", "job", "destination", jobQueue, "ack", "client-individual")
	if err := r.w.flush(); err != nil {
		t.Fatal(err)
	}
	for i := range sent {
		if !sent[i].done {
			r.left++
		}
	}
	return r
}

func dueQueue(i int) string { return fmt.Sprintf("/queue/due.%d", i) }

// until takes what comes until ok says that it is enough. It is false if the connection ends before that, or nothing comes for too long.
func (r *dueReader) until(ok func() bool) bool {
	for !ok() {
		f, err := r.w.next(5 * time.Millisecond)
		if errors.Is(err, errSilence) || len(r.w.out) > 4096 {
			_ = r.w.flush() // the next read tells that the connection has ended
		}
		switch {
		case errors.Is(err, errSilence):
			continue
		case err != nil:
			if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
				r.t.Errorf("reading: %v", err)
			}
			return false
		}
		switch f.Command {
		case frames.Message:
			r.take(f)
		case frames.Receipt:
			id, _ := f.Header.Get("receipt-id")
			if number, is := r.asked[id]; is && number >= 0 {
				r.sent[number].done = true
				r.left--
			}
			delete(r.asked, id)
		default:
			r.t.Fatalf("there came %s %q", f.Command, f.Header.Raw)
		}
	}
	return true
}

// take looks at a delivery and acknowledges it.
func (r *dueReader) take(f *frames.Frame) {
	now := time.Now()
	ack, _ := f.Header.Get("ack")
	if strings.HasPrefix(string(f.Body), "job") {
		id, _ := f.Header.Get("message-id")
		r.job[id]++
		r.ack(ack, -1)
		return
	}
	var number int
	if _, err := fmt.Sscanf(string(f.Body[:min(8, len(f.Body))]), "%08d", &number); err != nil || number >= len(r.sent) {
		r.t.Fatalf("there came %q", f.Body)
	}
	m := &r.sent[number]
	redelivered, _ := f.Header.Get("redelivered")
	m.came++
	switch {
	case now.Before(m.due):
		r.t.Errorf("message %d came %v early", number, m.due.Sub(now))
	case m.done:
		r.t.Errorf("message %d came again, after the RECEIPT of its ACK", number)
	case m.came > 1 && !m.held:
		r.t.Errorf("message %d came twice, and was not in flight", number)
	case redelivered == "true" && m.came == 1 && !m.due.Before(r.killed):
		// What was due before a kill may have been on its way to a consumer.
		r.t.Errorf("message %d is redelivered, and was not due before a kill", number)
	}
	m.held = false
	if before := r.latest[m.queue]; before >= 0 && (m.due.Before(r.sent[before].due) || m.due.Equal(r.sent[before].due) && number < before) {
		r.t.Errorf("message %d came after message %d", number, before)
	}
	r.latest[m.queue] = number
	if !r.takeSome || number%10 != 0 {
		r.ack(ack, number)
	}
}

func (r *dueReader) ack(id string, number int) {
	r.asked[id] = number
	r.w.add(frames.Ack, "", "id", id, "receipt", id)
}

// lost marks what was in flight when the broker was killed.
func (r *dueReader) lost() {
	r.w.close()
	for i := range r.sent {
		r.sent[i].held = r.sent[i].came > 0 && !r.sent[i].done
	}
}

// TestKillAcrossDueTimesLosesAndRepeatsNothing kills a broker while messages come due, lets others come due while it is down, and starts it again
// before the rest is due: each comes once, in due order and never early, but for those that were in flight without an ACK, which come again.
func TestKillAcrossDueTimesLosesAndRepeatsNothing(t *testing.T) {
	const messages, repeats = 10_000, 30
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 3))
	p := start(t, launch{})
	sent := make([]dueMessage, messages)
	begin := time.Now().Add(4 * time.Second)
	const span = 4 * time.Second
	for i := range sent {
		sent[i] = dueMessage{queue: random.IntN(dueQueues), due: time.UnixMilli(begin.Add(time.Duration(random.Int64N(int64(span)))).UnixMilli())}
	}
	pourTo(t, p, messages, func(i int) []string {
		return []string{"destination", dueQueue(sent[i].queue), "deliver-at", fmt.Sprint(sent[i].due.UnixMilli())}
	})
	session(t, p).must(t, frames.Send, "job", "destination", jobQueue, "AMQ_SCHEDULED_DELAY", "200", "AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", fmt.Sprint(repeats))
	if late := time.Since(begin); late > 0 {
		t.Logf("the last SEND was confirmed %v after the first message was due", late)
	}

	job := map[string]int{}
	first := readDue(t, p, sent, job)
	first.takeSome = true
	third := begin.Add(span / 3)
	first.until(func() bool { return time.Now().After(third) && first.left < messages*9/10 })
	p.kill()
	first.until(func() bool { return false }) // what was on its way
	first.lost()
	killed := time.Now()
	requireSoundStore(t, p.launch.dir)
	down := time.Until(begin.Add(2 * span / 3))
	<-time.After(down)
	p = p.again()
	started := time.Now()

	var before, while, after, flying int
	for i := range sent {
		switch due := sent[i].due; {
		case sent[i].held:
			flying++
		case sent[i].done:
			before++
		case due.Before(started):
			while++
		default:
			after++
		}
	}
	t.Logf("%d were delivered and acknowledged, %d in flight, %d came due in the %v without a broker, %d later", before, flying, while, started.Sub(killed), after)
	if before == 0 || flying == 0 || while == 0 {
		t.Error("this tests nothing: there must be some of each")
	}
	second := readDue(t, p, sent, job)
	second.killed = killed
	end := time.Now().Add(patience)
	if !second.until(func() bool {
		return second.left == 0 && len(job) > repeats && len(second.asked) == 0 || time.Now().After(end)
	}) {
		t.Fatal("the connection ended")
	}
	if second.left > 0 {
		t.Errorf("%d messages never came", second.left)
	}
	if len(job) != repeats+1 {
		t.Errorf("the job made %d deliveries, not %d", len(job), repeats+1)
	}
	second.w.expectSilence(t)
	m := p.metrics()
	if n := m.sum(t, "footfall_messages_ready") + m.sum(t, "footfall_messages_unacked") + m.sum(t, "footfall_messages_scheduled"); n != 0 {
		t.Errorf("%v messages are left", n)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}

// TestDelayedMessagesAreOnTime sends 2000 messages a second, each delayed by the same time, so that as many come due, and looks how
// late they come. What a client sees is looked at: from the time that the broker said it would be to the arrival.
func TestDelayedMessagesAreOnTime(t *testing.T) {
	const rate, delay = 2000, time.Second
	span, most := 2*time.Second, time.Second
	if deep() {
		span, most = 20*time.Second, 20*time.Millisecond
	}
	n := int(span.Seconds() * rate)
	p := start(t, launch{})
	consumer, producer := session(t, p), session(t, p)
	consumer.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/q", "ack", "auto")
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		began := time.Now()
		for sent := 0; sent < n; <-tick.C {
			for goal := min(n, int(time.Since(began).Seconds()*rate)); sent < goal; sent++ {
				producer.add(frames.Send, "x", "destination", "/queue/q", "delay", fmt.Sprint(delay.Milliseconds()))
			}
			if err := producer.flush(); err != nil {
				failed <- err
				return
			}
		}
	}()
	late := make([]time.Duration, 0, n)
	for range n {
		f, err := consumer.next(patience)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := f.Header.Get("deliver-at")
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("deliver-at: %v", err)
		}
		late = append(late, time.Since(time.UnixMilli(at)))
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	slices.Sort(late)
	t.Logf("%d messages: the earliest %v after its time, p50 %v, p99 %v, the latest %v", n, late[0], late[n/2], late[n*99/100], late[n-1])
	if late[0] < 0 {
		t.Errorf("a message came %v early", -late[0])
	}
	if late[n*99/100] > most {
		t.Errorf("one message in a hundred was more than %v late, longer than %v", late[n*99/100], most)
	}
}
