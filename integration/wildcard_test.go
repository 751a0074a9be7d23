//go:build linux

package integration

import (
	"strings"
	"testing"

	"github.com/go-stomp/stomp/v3"
	"github.com/go-stomp/stomp/v3/frame"
)

// One subscription takes from several destinations: by wildcards, by name, and from queues that are made later; what goes to a virtual topic waits in
// its queues.
func TestGoStompSubscribesToSeveralDestinations(t *testing.T) {
	p := start(t, launch{watched: true})
	for _, version := range versions() {
		t.Run("STOMP "+string(version), func(t *testing.T) {
			base := strings.TrimPrefix(queueOf(t), "/queue/")
			sender, c := gostomp(t, p, version), gostomp(t, p, version)
			sub := subscribe(t, c, "/topic/"+base+".#,/queue/"+base+".*,/queue/"+base, stomp.AckClient)
			settleSubscription(t, c)
			var last *stomp.Message
			for _, to := range []string{"/topic/" + base, "/topic/" + base + ".a.b", "/queue/" + base + ".late", "/queue/" + base, "jms.queue." + base} {
				publish(t, sender, to, "to "+to)
				if last = get(t, sub, "to "+to); last.Header.Get(frame.Destination) != to {
					t.Errorf("what was sent to %s has the destination %s", to, last.Header.Get(frame.Destination))
				}
			}
			if err := c.Ack(last); err != nil {
				t.Fatal(err)
			}
			leave(t, c)
			for _, queue := range []string{"/queue/" + base, "/queue/" + base + ".late"} {
				again := gostomp(t, p, version)
				empty := subscribe(t, again, queue, stomp.AckAuto)
				publish(t, sender, queue, "behind it")
				get(t, empty, "behind it")
				leave(t, again)
			}

			topic := "VirtualTopic." + base
			for _, name := range []string{"A", "B"} {
				c := gostomp(t, p, version)
				subscribe(t, c, "/queue/Consumer."+name+"."+topic, stomp.AckAuto)
				settleSubscription(t, c)
				leave(t, c)
			}
			publish(t, sender, "/topic/"+topic, "for all")
			both := gostomp(t, p, version)
			sub = subscribe(t, both, "/queue/Consumer.*."+topic, stomp.AckAuto)
			from := map[string]bool{}
			for range 2 {
				from[get(t, sub, "for all").Header.Get(frame.Destination)] = true
			}
			if len(from) != 2 {
				t.Errorf("the copies came from %v", from)
			}
		})
	}
}

// settleSubscription has the broker know all that c asked for.
func settleSubscription(t *testing.T, c *stomp.Conn) {
	t.Helper()
	publish(t, c, "/topic/"+strings.TrimPrefix(queueOf(t), "/queue/")+"/nobody", "x")
}
