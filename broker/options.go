package broker

import (
	"context"
	"log/slog"
	"time"

	"footfall/selector"
)

// Options are the settings of a Broker. The zero value of each field means its
// default, a negative number none where the comment allows it.
type Options struct {
	// Window is the default number of unacknowledged deliveries of a subscription in the
	// client modes: 1000. WindowBytes bounds their octets: 16 MiB.
	Window      int
	WindowBytes int64
	// MaxWindow and MaxWindowBytes bound what a subscription may ask for, credit included: 100 000, 64 MiB. What asks for more gets that,
	// and so do the two above.
	MaxWindow      int
	MaxWindowBytes int64
	// OutboxBytes bounds what a connection was given and has not written to its socket: 1 MiB. One
	// message may exceed it, alone.
	OutboxBytes int64
	// TopicBytes bounds what is kept in memory for one topic subscriber that does not keep up: 16 MiB.
	// Above it the producers of the topic wait.
	TopicBytes int64
	// SlowConsumerTimeout is how long a topic subscriber above TopicBytes may hold its
	// producers up before it is disconnected: 10 s.
	SlowConsumerTimeout time.Duration
	// BlockTimeout is how long a SEND waits for disk or memory to come below its
	// watermark before it is refused: 30 s.
	BlockTimeout time.Duration
	// UnsubscribeGrace is how long deliveries stay with a consumer that unsubscribed: 1 s.
	UnsubscribeGrace time.Duration
	// BacklogMessages and BacklogBytes bound the part of one backlog that is in memory: 2048, 2 MiB.
	BacklogMessages int
	BacklogBytes    int64
	// MemoryBytes is the watermark of message octets in memory, of all backlogs
	// together: 256 MiB. Above it backlogs leave memory, then senders wait. What consumers have does not count here.
	MemoryBytes int64
	// LentBytes bounds the message octets that are with consumers: 128 MiB. While they have more than half of it, a
	// consumer that has its equal share of that half gets nothing more. It may always have one message, and 16 KiB.
	LentBytes int64
	// DiskFreeBytes is the watermark of free disk below which persistent SENDs wait: 1 GiB.
	// Negative: none. It is clear again at 1.25 times that.
	DiskFreeBytes int64
	// DiskFree tells the octets free for the store; nil: not watched. It is asked every second.
	DiskFree func() (free uint64, err error)
	// Reclaim gives back disk that dropped messages still take; nil: there is no way. While there is too little disk it is called
	// again and again, one call at a time, and ends when its context does.
	Reclaim func(context.Context) error
	// NoAutoCreate refuses SEND and SUBSCRIBE to a destination that does not exist.
	NoAutoCreate bool
	// Policies are what the operator wants of single destinations; nil for nothing.
	Policies *Policies
	// ExclusiveDurables refuses a second consumer of a durable subscription at a time; else they share its messages.
	ExclusiveDurables bool
	// DuplicateWindow is how long the ids of messages are remembered at a destination, so that another one with the same id is not taken:
	// 10 minutes. DuplicateIDs is how many of them at least are, if they are not older: 100 000.
	DuplicateWindow time.Duration
	DuplicateIDs    int
	// DuplicateBytes is the memory of such ids from which on those of destinations leave memory that are not in use, and are read
	// again when they are: 128 MiB.
	DuplicateBytes int64
	// RetainedBytes bounds what topics keep in memory for new subscribers: 64 MiB.
	RetainedBytes int64
	// MaxGroups bounds the message groups of one backlog that have a consumer of their own: 16 384. Beyond it one is
	// forgotten of which no consumer has a message.
	MaxGroups int
	// GroupPatience is how long a consumer may take and acknowledge nothing, with a full window, before groups of which it has no message go to
	// others: 10 s.
	GroupPatience time.Duration
	// Selectors are the limits of selectors.
	Selectors selector.Options
	// MaxDestinations bounds the destinations that exist: 1 000 000.
	MaxDestinations int
	// VirtualTopics are the topics of which queues get copies: Consumer.*.{VirtualTopic.>}, as with ActiveMQ. An empty list that is not nil is none.
	VirtualTopics []VirtualTopic
	// VirtualSelectors has a queue get no copy of what none of its consumers wants, where it has some and each has a selector.
	VirtualSelectors bool
	// MaxFollowed bounds the queues that the subscriptions of a connection take from by wildcards, each counted for each of them: 100 000.
	MaxFollowed int
	// MaxTemporaries bounds the temporary destinations of a connection: 10 000.
	MaxTemporaries int
	// SharedTemporaries lets other connections of its owner's user take from a temporary destination, which then stays for as long as one
	// of them does; else only the owner can, unless its address says otherwise.
	SharedTemporaries bool
	// TransactionActions and TransactionBytes bound what is settled with one open transaction: 100 000, 256 MiB.
	TransactionActions int
	TransactionBytes   int64
	// InboxBytes and InboxOps bound what waits for the loop: 32 MiB, 65 536. A session
	// that submits to a full inbox waits, and does not read its socket.
	InboxBytes int
	InboxOps   int
	// Fatal is called once with what the broker cannot go on after, such as a store that
	// cannot be read. It should end the process; nothing is delivered afterwards. The default panics.
	Fatal func(error)
	// Log is where the broker tells what it does: slog.Default().
	Log *slog.Logger

	fewLeave int // see leave.go
}

func (o Options) withDefaults() Options {
	def(&o.Window, 1000)
	def(&o.WindowBytes, 16<<20)
	def(&o.MaxWindow, 100_000)
	def(&o.MaxWindowBytes, 64<<20)
	def(&o.OutboxBytes, 1<<20)
	def(&o.TopicBytes, 16<<20)
	def(&o.SlowConsumerTimeout, 10*time.Second)
	def(&o.BlockTimeout, 30*time.Second)
	def(&o.UnsubscribeGrace, time.Second)
	def(&o.BacklogMessages, 2048)
	def(&o.BacklogBytes, 2<<20)
	def(&o.MemoryBytes, 256<<20)
	def(&o.LentBytes, 128<<20)
	def(&o.DiskFreeBytes, 1<<30)
	def(&o.DuplicateWindow, 10*time.Minute)
	def(&o.DuplicateIDs, 100_000)
	def(&o.DuplicateBytes, 128<<20)
	def(&o.MaxGroups, 16_384)
	def(&o.RetainedBytes, 64<<20)
	def(&o.GroupPatience, 10*time.Second)
	def(&o.MaxDestinations, 1_000_000)
	def(&o.MaxFollowed, 100_000)
	def(&o.MaxTemporaries, 10_000)
	def(&o.TransactionActions, 100_000)
	def(&o.TransactionBytes, 256<<20)
	def(&o.InboxBytes, 32<<20)
	def(&o.InboxOps, 65_536)
	if o.VirtualTopics == nil {
		v, _ := ParseVirtualTopic("Consumer.*.{VirtualTopic.>}")
		o.VirtualTopics = []VirtualTopic{v}
	}
	if o.Fatal == nil {
		o.Fatal = func(err error) { panic(err) }
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
