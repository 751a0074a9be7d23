package node

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"footfall/cmd/footfall/internal/config"
	"footfall/server"
)

// WebSocket are the settings of listeners for WebSockets. See server.WebSocket.
type WebSocket struct {
	Listen, Paths, Origins []string
	RequireOrigin, Deflate bool
	// MinSilence is as in server.Transport.
	MinSilence time.Duration
}

func listeners(o *Options) []config.Setting {
	return []config.Setting{
		config.List(&o.Stomp, "stomp.listen", "127.0.0.1:61613", "host:port",
			"Addresses that STOMP clients connect to over TCP. An empty host is every interface.", address).OnFlag("stomp"),
		config.Choice(&o.Identity, "stomp.identity", "auto",
			"As whom the broker introduces itself. `auto` is `footfall`, but `apollo` to stompjms, which offers its JMS features to names it knows.",
			identities()...),
		config.Choice(&o.ClientIDs, "stomp.client-ids", "unrestricted",
			"Whether several connections may have the same `client-id` at a time. JMS over STOMP has a connection for each session, all with one.",
			"unrestricted", "restricted"),
		config.List(&o.Server.QueuePrefixes, "stomp.queue-prefixes", "/queue/,/amq/queue/,queue://,jms.queue.", "text",
			"What the destination of a queue may begin with.", prefix),
		config.List(&o.Server.TopicPrefixes, "stomp.topic-prefixes", "/topic/,topic://,jms.topic.,/exchange/amq.topic/", "text",
			"What the destination of a topic may begin with.", prefix),
		config.Switch(&o.Server.RequireSubscriptionID, "stomp.require-subscription-id", "false",
			"Refuse SUBSCRIBE without `id` in STOMP 1.1 and 1.2. Otherwise the destination is the id."),
		config.Duration(&o.Server.ConnectTimeout, "stomp.connect-timeout", "10s", span(100*time.Millisecond, time.Hour),
			"Time from a connection's first moment to CONNECTED."),
		config.Duration(&o.Server.WriteTimeout, "stomp.write-timeout", "30s", span(time.Second, time.Hour),
			"How long a client may take no octet of what is written to it."),
		config.Duration(&o.Server.LingerTimeout, "stomp.linger-timeout", "2s", span(100*time.Millisecond, time.Minute),
			"How long the input of a client is drained after the last frame to it, so that it can read that frame."),
		config.Duration(&o.Server.MinHeartBeat, "stomp.heart-beat-min", "500ms", span(10*time.Millisecond, time.Hour),
			"The shortest interval of heart-beats that is agreed on."),
		config.Factor(&o.Server.HeartBeatTolerance, "stomp.heart-beat-tolerance", "2.5", config.Bounds{Min: 10, Max: 1000},
			"After how many of its intervals of silence a client is taken for dead."),

		config.List(&o.WebSocket.Listen, "websocket.listen", "", "host:port",
			"Addresses that STOMP clients connect to over WebSocket, browsers above all. An empty host is every interface.", address).OnFlag("websocket"),
		config.List(&o.WebSocket.Paths, "websocket.paths", "/,/ws,/stomp,/stomp/websocket", "path",
			"Paths of URLs that are served.", urlPath),
		config.List(&o.WebSocket.Origins, "websocket.origins", "", "scheme://host:port, or *",
			"Origins of the pages that may connect, beside those of the same host. `*` lets any page in that somebody opens.", origin),
		config.Switch(&o.WebSocket.RequireOrigin, "websocket.require-origin", "false",
			"Refuse clients without an Origin header. Browsers always send one, other programs seldom do."),
		config.Switch(&o.WebSocket.Deflate, "websocket.deflate", "false",
			"Accept compressed messages (permessage-deflate). Limits count what was inflated."),
		config.Duration(&o.WebSocket.MinSilence, "websocket.min-silence", "90s", span(100*time.Millisecond, time.Hour),
			"How long a client may at least be silent before it is taken for dead, whatever heart-beats were agreed on. Browsers let pages in the background do something once a minute."),

		config.Text(&o.Admin, "admin.listen", "127.0.0.1:8161", "host:port, or none",
			"Address of health, metrics, inspection and the schedule's management over HTTP. When there are users it asks for a login with a role, see [security](security.md).",
			addressOrNone).OnFlag("admin"),
		config.List(&o.AdminHosts, "admin.hosts", "", "host",
			"Names that may stand in the Host header beside localhost and addresses, where the admin server listens on a loopback address.", nil),
		config.Number(&o.MetricsDestinations, "admin.metrics-destinations", "200", config.Bounds{Min: 1, Max: 1000, None: true},
			"How many destinations, the most active ones, have metrics of their own."),
	}
}

// address accepts host:port; port 0 is one that the system chooses.
func address(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("must be host:port, as in 127.0.0.1:61613 or [::1]:61613")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("must have a port from 0 to 65535, not %q", port)
	} else if strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("must have a port in digits, not %q", port)
	}
	return nil
}

func addressOrNone(text string) error {
	if text == "none" {
		return nil
	}
	return address(text)
}

func prefix(text string) error {
	if text == "" || len(text) > 64 {
		return errors.New("must have 1 to 64 octets")
	}
	return nil
}

func urlPath(text string) error {
	if !strings.HasPrefix(text, "/") || strings.ContainsAny(text, "?#%") {
		return errors.New("must be a path as in /stomp, as it is when it was decoded")
	}
	return nil
}

func origin(text string) error {
	if !server.ValidOrigin(text) {
		return errors.New("must be an origin as in https://app.example or http://localhost:8080, or *")
	}
	return nil
}
