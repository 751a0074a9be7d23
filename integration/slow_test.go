//go:build linux

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"footfall/frames"
)

// TestSlowSubscribersCostWhatTheirTopicSays has a subscriber that never reads beside one that does, on a topic of each policy: the one that
// reads gets all, the producer is never held up, and what the other loses is counted.
func TestSlowSubscribersCostWhatTheirTopicSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "footfall.yaml")
	if err := os.WriteFile(file, []byte(`
limits: {topic-bytes: 256KiB}
destinations:
  - {match: /topic/oldest, slow-consumer: drop-oldest}
  - {match: /topic/newest, slow-consumer: drop-newest}
  - {match: /topic/cut, slow-consumer: disconnect}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, launch{args: []string{"--config", file}})
	const messages = 1800
	body := strings.Repeat("x", 8<<10) // all together much more than sockets, outbox and backlog hold
	for topic, metric := range map[string]string{
		"oldest": `footfall_slow_consumer_drops_total{policy="drop_oldest"}`,
		"newest": `footfall_slow_consumer_drops_total{policy="drop_newest"}`,
		"cut":    `footfall_slow_consumers_total{policy="disconnect"}`,
	} {
		slow, fast, producer := session(t, p), session(t, p), session(t, p)
		for _, w := range []*wire{slow, fast} {
			w.must(t, frames.Subscribe, "", "id", "s", "destination", "/topic/"+topic, "ack", "auto")
		}
		for i := range messages {
			producer.must(t, frames.Send, fmt.Sprint(i, " ", body), "destination", "/topic/"+topic)
			if m := fast.expect(t, frames.Message); !strings.HasPrefix(m.body, fmt.Sprint(i, " ")) {
				t.Fatalf("%s: message %d is %.20q", topic, i, m.body)
			}
		}
		if n := p.metrics()[metric]; n == 0 {
			t.Errorf("%s: %s is 0", topic, metric)
		}
		for _, w := range []*wire{slow, fast, producer} {
			w.close()
		}
	}
	if n := p.metrics()["footfall_sends_blocked_total"]; n != 0 {
		t.Errorf("%v SENDs were held up", n)
	}
}
