//go:build linux

package integration

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"footfall/frames"
)

func TestKillDuringRepeatsLosesNoneAndMakesNoneTwice(t *testing.T) {
	const jobs, repeats, period = 40, 14, 100
	p := start(t, launch{})
	w := session(t, p)
	for i := range jobs {
		w.must(t, frames.Send, fmt.Sprint("job ", i), "destination", "/queue/repeated",
			"AMQ_SCHEDULED_DELAY", fmt.Sprint(rand.IntN(period)), "AMQ_SCHEDULED_PERIOD", fmt.Sprint(period+i), "AMQ_SCHEDULED_REPEAT", fmt.Sprint(repeats))
	}
	for range 4 {
		<-time.After(time.Duration(rand.IntN(3*period)) * time.Millisecond)
		p.kill()
		requireSoundStore(t, p.launch.dir)
		p = p.again()
	}
	const all = jobs * (repeats + 1)
	// What is over leaves the schedule.
	await(t, "all deliveries were made", func() bool {
		m := p.metrics()
		return m["footfall_messages_scheduled"] == 0 && m["footfall_messages_ready"] >= all
	})
	w = session(t, p)
	if err := w.send(frames.Subscribe, "", "id", "s", "destination", "/queue/repeated", "ack", "auto"); err != nil {
		t.Fatal(err)
	}
	count, last, ids := map[string]int{}, map[string]int64{}, map[string]bool{}
	for range all {
		m := w.expect(t, frames.Message)
		count[m.body]++
		if id := m.get("message-id"); ids[id] {
			t.Errorf("%s came twice as %s", m.body, id)
		} else {
			ids[id] = true
		}
		due, err := strconv.ParseInt(m.get("deliver-at"), 10, 64)
		if err != nil || due <= last[m.body] {
			t.Errorf("%s is due at %q, after it was due at %d", m.body, m.get("deliver-at"), last[m.body])
		}
		last[m.body] = due
		if m.get("redelivered") != "" {
			t.Errorf("%s is a redelivery", m.body)
		}
	}
	w.expectSilence(t)
	for i := range jobs {
		if n := count[fmt.Sprint("job ", i)]; n != repeats+1 {
			t.Errorf("job %d was delivered %d times, not %d", i, n, repeats+1)
		}
	}
}
