package admin

import (
	"context"
	"log/slog"
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/store"
)

// Broker is the queue engine as it is looked at and managed; see broker.Broker. Each method waits for
// the loop, at most as long as ctx lives. Those that return a bool return false when it did not turn.
type Broker interface {
	Stats(ctx context.Context) (broker.Stats, bool)
	Destinations(ctx context.Context, q broker.DestinationQuery) (list []broker.DestinationStats, total int, err error)
	LookAt(ctx context.Context, a broker.Address) (broker.DestinationDetail, error)
	CreateDestination(ctx context.Context, a broker.Address) (made bool, err error)
	DeleteDestination(ctx context.Context, a broker.Address, when broker.Deletion) (broker.Deleted, error)
	PauseDestination(ctx context.Context, a broker.Address, set, clear broker.Pause) (broker.Pause, error)

	Messages(ctx context.Context, q broker.MessageQuery) (list []broker.QueuedMessage, next string, err error)
	MoveMessages(ctx context.Context, q broker.MessageQuery, to broker.Address) (broker.MessagesChanged, error)
	CopyMessages(ctx context.Context, q broker.MessageQuery, to broker.Address) (broker.MessagesChanged, error)
	DeleteMessages(ctx context.Context, q broker.MessageQuery) (broker.MessagesChanged, error)

	Connections(ctx context.Context, q broker.PageQuery) (list []broker.ConnectionStats, next uint64, err error)
	Connection(ctx context.Context, id uint64) (broker.ConnectionStats, error)
	CloseConnection(ctx context.Context, id uint64, reason string) (broker.ConnectionStats, error)
	Consumers(ctx context.Context, of *broker.Address, q broker.PageQuery) (list []broker.LiveConsumer, next uint64, err error)

	Scheduled(ctx context.Context, q broker.ScheduledQuery) (list []broker.ScheduledMessage, next string, err error)
	ScheduledCounts(ctx context.Context) (broker.ScheduledCounts, error)
	CancelScheduled(ctx context.Context, id string) (int, error)
	RunScheduled(ctx context.Context, id string) (int, error)
	Reschedule(ctx context.Context, id string, at int64) (int, error)

	DeadQueues(ctx context.Context) ([]broker.DestinationStats, error)
	DeadLetters(ctx context.Context, q broker.DeadQuery) (list []broker.DeadLetter, next string, err error)
	RetryDead(ctx context.Context, q broker.DeadQuery, to *broker.Address) (broker.DeadChanged, error)
	PurgeDead(ctx context.Context, q broker.DeadQuery) (broker.DeadChanged, error)

	Durables(ctx context.Context, q broker.DurableQuery) (list []broker.DurableStats, next string, err error)
	Durable(ctx context.Context, name broker.SubscriptionName) (s broker.DurableStats, ok bool, err error)
	DeleteDurable(ctx context.Context, name broker.SubscriptionName, force bool) (deleted bool, err error)
}

// Store is the store as it is looked at.
type Store interface {
	Stats() store.Stats
	DiskFree() (uint64, error)
}

// Options are what a Server looks at, and its settings. Broker and Store must be set; the zero value of the
// other fields means their default.
type Options struct {
	Broker Broker
	Store  Store
	// Auth tells who somebody is and which role they have: auth.Open, by which everybody is an admin.
	Auth auth.Authorizer
	// Traffic tells what was counted on connections: nothing.
	Traffic func() Traffic
	// Commits are the histograms of the store's commits: none.
	Commits *Commits
	// Unready tells why the process is not to be sent work, in a few words each, empty when it
	// is: never.
	Unready func() []string
	// Reload reads the settings again: it cannot be done. An error is about the settings, and leaves all as it was.
	Reload func(context.Context) (Reloaded, error)
	// Explain tells what the settings say of a destination: nothing.
	Explain func(broker.Address) ([]PolicyValue, error)
	// Version and Revision are those of the program, Started is when it began.
	Version, Revision string
	Started           time.Time
	// Hosts are names that may stand in the Host header beside localhost and addresses, on a
	// loopback listener: none. Other names are refused there, so that no page in a browser
	// reads what is served by having its own name point to the listener.
	Hosts []string
	// MetricsDestinations is how many destinations, the most active ones, have metrics of their own: 200,
	// at most MaxMetricsDestinations. Negative: none.
	MetricsDestinations int
	// Log is where it tells what it does: slog.Default().
	Log *slog.Logger
}

// MaxMetricsDestinations bounds Options.MetricsDestinations: with that many the
// metrics of destinations are less than 10 000 series.
const MaxMetricsDestinations = 1000

func (o Options) withDefaults() Options {
	if o.Auth == nil {
		o.Auth = auth.Open{}
	}
	if o.Traffic == nil {
		o.Traffic = func() Traffic { return Traffic{} }
	}
	if o.Commits == nil {
		o.Commits = NewCommits()
	}
	if o.Unready == nil {
		o.Unready = func() []string { return nil }
	}
	if o.MetricsDestinations == 0 {
		o.MetricsDestinations = 200
	}
	o.MetricsDestinations = min(max(o.MetricsDestinations, 0), MaxMetricsDestinations)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Traffic is what was counted on connections since the start, and how many are open. The keys
// of the maps become label values: they come from short fixed lists, never from clients.
type Traffic struct {
	// Open are the connections by transport and STOMP version.
	Open map[Link]int
	// Opened counts by transport, Closed and Rejected by reason.
	Opened, Closed, Rejected map[string]uint64
	// FramesReceived and FramesSent count by command.
	FramesReceived, FramesSent map[string]uint64
	// BytesReceived and BytesSent count octets by transport.
	BytesReceived, BytesSent map[string]uint64
	// ProtocolErrors counts by kind, Logins by result, Denied by action.
	ProtocolErrors, Logins, Denied map[string]uint64
	// Panics counts connections that ended by a fault of the program.
	Panics uint64
	// LogLinesLeftOut counts lines about connections that were not logged, as others of their kind were in the same second.
	LogLinesLeftOut uint64
	// CertificateExpiry is when the certificates of listeners expire, in seconds since 1970, by the listener's address.
	CertificateExpiry map[string]int64
	// CertificateReloads counts by result: "ok" or "failed".
	CertificateReloads map[string]uint64
}

// Link is a kind of connection.
type Link struct {
	Transport, Version string
}
