package server

import (
	"log/slog"
	"time"

	"footfall/auth"
	"footfall/frames"
	"footfall/schedule"
)

// Options are the settings of a Server. The zero value of each field means its
// default.
type Options struct {
	// Version is the version of Footfall that CONNECTED tells, of letters, digits and ._+-: "dev".
	Version string
	// HostID names this broker in CONNECTED to stompjms, which makes the names of its
	// temporary destinations of it. Letters, digits and ._+-: "footfall".
	HostID string
	// Auth decides who may log in and what they may do: auth.Open. When what it knows has changed, call Server.Recheck.
	Auth auth.Authorizer
	// Limits bound the frames that are read.
	Limits frames.Limits
	// MaxConnections bounds the connections open at a time: 20 000. One more is told so and closed.
	MaxConnections int
	// MaxConnectionsPerAddress and MaxConnectionsPerUser bound those from one address, of IPv6 from one network of 64 bits, and
	// those of one user: 0 or less for no bound.
	MaxConnectionsPerAddress, MaxConnectionsPerUser int
	// ConnectionRate bounds the connections that one address opens a second, ten times as many at once: 0 or less for no bound.
	ConnectionRate int
	// MaxSubscriptions bounds the live subscriptions of a connection: 10 000.
	MaxSubscriptions int
	// MaxParts bounds the parts of a composite destination: 32.
	MaxParts int
	// MaxWildcardLevels bounds the levels of a name with wildcards: 32.
	MaxWildcardLevels int
	// MaxTransactions bounds the open transactions of a connection: 64.
	MaxTransactions int
	// TransactionActions and TransactionBytes bound what one transaction holds: 100 000
	// SENDs, ACKs and NACKs, and 256 MiB of headers and bodies.
	TransactionActions int
	TransactionBytes   int
	// ConnectTimeout is the time from a connection's first moment to CONNECTED: 10 s.
	ConnectTimeout time.Duration
	// WriteTimeout is how long a client may take no octet of what is written to it: 30 s.
	WriteTimeout time.Duration
	// LingerTimeout is how long the input of a client is read and thrown away after the last
	// frame to it, so that no reset overtakes that frame: 2 s.
	LingerTimeout time.Duration
	// MinHeartBeat is the shortest interval of heart-beats that is agreed on: 500 ms.
	MinHeartBeat time.Duration
	// HeartBeatTolerance is after how many of its intervals of silence a client is dead: 2.5.
	HeartBeatTolerance float64
	// QueuePrefixes and TopicPrefixes are what a destination text may begin with:
	// "/queue/", "/amq/queue/", "queue://", "jms.queue."; and "/topic/", "topic://",
	// "jms.topic.", "/exchange/amq.topic/". The first of each is named in errors.
	QueuePrefixes, TopicPrefixes []string
	// RequireSubscriptionID refuses SUBSCRIBE without id in STOMP 1.1 and 1.2, where else the destination is the id.
	RequireSubscriptionID bool
	// Schedule bounds what senders ask of delays and schedules, see schedule.Options: at most 1000 repeats, 10 ms
	// between them, 5 s between two times that mean the same, and UTC for schedules without a zone. A
	// zone of that name must exist.
	Schedule schedule.Options
	// DelayQueues are the names of the queues that take messages for other destinations and
	// times, in their headers JMS_DESTINATION and DELIVERY_TIME: DELAYED_QUEUE. An empty list
	// that is not nil is none.
	DelayQueues []string
	// NoScheduleManagement refuses commands to ActiveMQ.Scheduler.Management, by which those who have auth.Manage
	// list and take back what is scheduled.
	NoScheduleManagement bool
	// Log is where a server tells what it does: slog.Default().
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	def(&o.Version, "dev")
	def(&o.HostID, "footfall")
	def(&o.MaxConnections, 20_000)
	def(&o.MaxSubscriptions, 10_000)
	def(&o.MaxParts, 32)
	def(&o.MaxWildcardLevels, 32)
	def(&o.MaxTransactions, 64)
	def(&o.TransactionActions, 100_000)
	def(&o.TransactionBytes, 256<<20)
	def(&o.ConnectTimeout, 10*time.Second)
	def(&o.WriteTimeout, 30*time.Second)
	def(&o.LingerTimeout, 2*time.Second)
	def(&o.MinHeartBeat, 500*time.Millisecond)
	def(&o.HeartBeatTolerance, 2.5)
	if o.Auth == nil {
		o.Auth = auth.Open{}
	}
	if o.QueuePrefixes == nil {
		o.QueuePrefixes = []string{"/queue/", "/amq/queue/", "queue://", "jms.queue."}
	}
	if o.TopicPrefixes == nil {
		o.TopicPrefixes = []string{"/topic/", "topic://", "jms.topic.", "/exchange/amq.topic/"}
	}
	if o.Schedule.Zones == nil {
		o.Schedule.Zones = new(schedule.Zones)
	}
	if o.DelayQueues == nil {
		o.DelayQueues = []string{"DELAYED_QUEUE"}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
