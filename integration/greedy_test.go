package integration

import (
	"fmt"
	"strings"
	"testing"

	"footfall/frames"
)

// TestGreedyConsumersHoldUpNobody: consumers that ask for all there is and never acknowledge take memory from nobody.
func TestGreedyConsumersHoldUpNobody(t *testing.T) {
	p := start(t, launch{args: []string{
		"--set", "limits.memory=4MiB", "--set", "delivery.memory=4MiB", "--set", "limits.block-timeout=1s",
	}})
	sender := session(t, p)
	body := strings.Repeat("x", 100_000)
	send := func(queue string, messages int) {
		for range messages {
			sender.must(t, frames.Send, body, "destination", queue)
		}
	}
	const greedy, each = 4, 30
	for i := range greedy {
		queue := fmt.Sprint("/queue/greedy", i)
		send(queue, each)
		c := session(t, p)
		c.must(t, frames.Subscribe, "", "id", "s", "destination", queue, "ack", "client-individual", "prefetch-count", "1000000")
	}
	await(t, "the greedy ones get no more than their share", func() bool { return p.metrics()["footfall_consumers_starved"] == greedy })
	if n := p.metrics()["footfall_message_memory_bytes"]; n > 8<<20+greedy*200_000 {
		t.Errorf("%v octets of messages are in memory", n)
	}
	send("/queue/other", 20)
	c := session(t, p)
	c.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/other", "ack", "client-individual")
	for range 20 {
		m := c.expect(t, frames.Message)
		if err := c.send(frames.Ack, "", "id", m.get("ack")); err != nil {
			t.Fatal(err)
		}
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}
