//go:build linux

package integration

import (
	"strings"
	"testing"

	"github.com/go-stomp/stomp/v3"
	"github.com/go-stomp/stomp/v3/frame"
)

// A request is answered to the reply-to that the service sees; when the client has left the answer is dropped, and the service goes on.
func TestGoStompRequestsAndReplies(t *testing.T) {
	p := start(t, launch{watched: true})
	for _, version := range versions() {
		t.Run("STOMP "+string(version), func(t *testing.T) {
			queue := queueOf(t)
			service := gostomp(t, p, version)
			requests := subscribe(t, service, queue, stomp.AckAuto)
			var gone string
			for _, name := range []string{"first", "second"} {
				c := gostomp(t, p, version)
				replies := subscribe(t, c, "/temp-queue/replies", stomp.AckAuto)
				publish(t, c, queue, "ask "+name, "reply-to", "/temp-queue/replies")
				to := get(t, requests, "ask "+name).Header.Get("reply-to")
				if !strings.HasPrefix(to, "/remote-temp-queue/") || to == gone {
					t.Fatalf("the service is to reply to %q, after %q", to, gone)
				}
				publish(t, service, to, "answer "+name)
				if m := get(t, replies, "answer "+name); m.Header.Get(frame.Destination) != "/temp-queue/replies" {
					t.Errorf("the answer has the destination %q", m.Header.Get(frame.Destination))
				}
				leave(t, c)
				gone = to
			}
			publish(t, service, gone, "too late")
			publish(t, service, queue, "still there")
			get(t, requests, "still there")

			stranger := gostomp(t, p, version)
			sub, err := stranger.Subscribe(gone, stomp.AckAuto)
			if err != nil {
				t.Fatal(err)
			}
			if m := <-sub.C; m == nil || m.Err == nil {
				t.Errorf("a stranger takes from %s: %v", gone, m)
			}
		})
	}
}
