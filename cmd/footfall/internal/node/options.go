package node

import (
	"context"
	"log/slog"
	"time"

	"footfall/admin"
	"footfall/auth"
	"footfall/broker"
	"footfall/cmd/footfall/internal/config"
	"footfall/server"
	"footfall/store"
)

// Options are all that can be chosen of a Node. [Settings] fills them.
type Options struct {
	// Stomp are the addresses of the TCP listeners, host:port.
	Stomp []string
	// WebSocket are the settings of listeners for WebSockets.
	WebSocket WebSocket
	// Listeners are those of the list.
	Listeners []config.Item[Listener]
	// Identity is as whom the broker introduces itself, of server.Identity.
	Identity string
	// ClientIDs says whether several connections may have one client-id: unrestricted or restricted.
	ClientIDs string
	// Sharing says whether a durable subscription may have several consumers at a time: sharable or exclusive.
	Sharing string
	// VirtualTopics are as broker.ParseVirtualTopic reads them, or the one word "none".
	VirtualTopics []string
	// TemporarySharing says who takes from a temporary destination: connection or user.
	TemporarySharing string
	// Admin is the address of the admin server, "none" for none. AdminHosts and
	// MetricsDestinations are as in admin.Options.
	Admin               string
	AdminHosts          []string
	MetricsDestinations int
	// LogLevel is debug, info, warn or error, LogFormat is text or json.
	LogLevel, LogFormat string
	// ShutdownTimeout is how long an orderly end may take.
	ShutdownTimeout time.Duration
	// GCPercent is that of the garbage collector, 0 for the default of this program. MemoryLimit is its soft
	// limit in octets, -1 for none, 0 for a share of what the container has.
	GCPercent   int
	MemoryLimit int64
	// AutoCreate makes destinations at first use.
	AutoCreate bool
	// ContentSelectors accepts selectors that look into bodies.
	ContentSelectors bool
	// Schedule are the settings of delays and schedules beside those in Server.
	Schedule Schedule
	// Destinations say what is wanted of single destinations.
	Destinations []config.Item[Destination]
	// Users is the path of the file of users, auto or none. Permissions say what they may do.
	Users       string
	Permissions []config.Item[Permission]
	// Auth are the settings of logins.
	Auth auth.Options

	Store  store.Options
	Broker broker.Options
	Server server.Options
}

// Program is what a Node needs to know of the program that it runs in.
type Program struct {
	Version, Revision string
	// Log takes what is told while the node runs.
	Log *slog.Logger
	// Reload is that of admin.Options.
	Reload func(context.Context) (admin.Reloaded, error)
	// Getenv looks up GOGC and GOMEMLIMIT, which count where the settings are auto.
	Getenv func(string) string
}
