package node

import (
	"errors"
	"time"

	"footfall/cmd/footfall/internal/config"
)

// Settings returns the list of all settings, bound to o.
func Settings(o *Options) []config.Setting {
	var list []config.Setting
	for _, section := range [][]config.Setting{
		listeners(o), {listenerList(o)}, users(o), storage(o), delivery(o), scheduling(o), destinations(o), limits(o), process(o),
	} {
		list = append(list, section...)
	}
	return list
}

func storage(o *Options) []config.Setting {
	return []config.Setting{
		config.Text(&o.Store.Dir, "data.dir", "./data", "path",
			"Directory of all that is kept. It is made where it is missing, and one process at a time uses it.", path).OnFlag("data"),
		config.Size(&o.Store.CacheBytes, "store.cache-bytes", "16MiB", octets(1<<20, 1<<40),
			"Cache of table blocks."),
		config.Size(&o.Store.MemTableBytes, "store.memtable-bytes", "16MiB", octets(1<<20, 1<<30),
			"How much is kept in memory and in the log before it becomes a table. Four times that much may be replayed at a start."),
		config.Size(&o.Broker.DiskFreeBytes, "store.disk-free", "1GiB", config.Bounds{Min: 1, None: true},
			"The watermark of free disk below which persistent SENDs wait. Consumers go on."),
		config.Switch(&o.Store.AcceptLoss, "store.accept-loss", "false",
			"Start although the store has lost what was once on disk. Set it for one start only."),
	}
}

func delivery(o *Options) []config.Setting {
	return []config.Setting{
		config.Number(&o.Broker.Window, "delivery.window", "1000", config.Bounds{Min: 1, Max: 1_000_000},
			"Unacknowledged deliveries of a subscription that does not say how many it wants."),
		config.Size(&o.Broker.WindowBytes, "delivery.window-bytes", "16MiB", octets(1, 1<<40),
			"Octets of these. One message may exceed it, alone."),
		config.Number(&o.Broker.MaxWindow, "delivery.max-window", "100000", config.Bounds{Min: 1, Max: 10_000_000},
			"The most unacknowledged deliveries of a subscription, whatever window and credit it asks for. One that asks for more gets that."),
		config.Size(&o.Broker.MaxWindowBytes, "delivery.max-window-bytes", "64MiB", octets(1, 1<<40),
			"The most octets of these. One message may exceed it, alone."),
		config.Size(&o.Broker.OutboxBytes, "delivery.outbox-bytes", "1MiB", octets(1, 1<<40),
			"Octets that a connection was given and has not written to its socket. One message may exceed it, alone."),
		config.Size(&o.Broker.LentBytes, "delivery.memory", "128MiB", octets(1<<20, 1<<40),
			"Message octets that all consumers together have, until they acknowledge. From half of it on each has at most an equal share of that half, whatever window it asked for."),
		config.Duration(&o.Broker.UnsubscribeGrace, "delivery.unsubscribe-grace", "1s", span(time.Millisecond, time.Hour),
			"How long a consumer that unsubscribed may still acknowledge what it has."),
		config.Duration(&o.Broker.GroupPatience, "delivery.group-patience", "10s", span(100*time.Millisecond, time.Hour),
			"How long a consumer with a full window may take and acknowledge nothing before message groups of which it has nothing go to others."),
		config.Choice(&o.Sharing, "delivery.durable-sharing", "sharable",
			"Whether a durable subscription may have several consumers at a time, which share its messages, or one.",
			"sharable", "exclusive"),
		config.Duration(&o.Broker.DuplicateWindow, "delivery.duplicate-window", "10m", span(time.Second, 30*24*time.Hour),
			"How long a destination remembers the `dedup-id` of a SEND, so that another one with it is not taken."),
		config.Number(&o.Broker.DuplicateIDs, "delivery.duplicate-ids", "100000", config.Bounds{Min: 1, Max: 10_000_000},
			"How many of them a destination remembers. Beyond it the oldest is forgotten before its time."),
		config.Size(&o.Broker.DuplicateBytes, "delivery.duplicate-memory", "128MiB", octets(1<<20, 1<<40),
			"Memory of all these ids, some 80 octets each, from which on those of destinations that are not in use are left to the disk."),
		config.Choice(&o.TemporarySharing, "delivery.temporary-sharing", "connection",
			"Who takes from a `/temp-queue/` or `/temp-topic/`: the connection whose it is, or all of its user's, for as long as one of them does.",
			"connection", "user"),
		config.List(&o.VirtualTopics, "delivery.virtual-topics", "Consumer.*.{VirtualTopic.>}", "pattern of queues with the topic in braces, or none",
			"Queues that get copies of what is sent to topics: a queue of such a name gets what is sent to the topic in braces.", virtualTopic),
		config.Switch(&o.Broker.VirtualSelectors, "delivery.virtual-selectors", "false",
			"Leave out copies that no consumer of a queue wants, where it has consumers and each has a selector."),
		config.Switch(&o.AutoCreate, "delivery.auto-create", "true",
			"Make a destination at first use. Otherwise SEND and SUBSCRIBE to one that does not exist are refused."),
		config.Switch(&o.ContentSelectors, "delivery.content-selectors", "true",
			"Accept selectors that look into bodies, as XPATH and JSON_VALUE do."),
	}
}

func limits(o *Options) []config.Setting {
	b, s := &o.Broker, &o.Server
	return []config.Setting{
		config.Number(&s.Limits.Command, "limits.command", "32", config.Bounds{Min: 11, Max: 1 << 16},
			"Octets of the first line of a frame."),
		config.Size(&s.Limits.HeaderLine, "limits.header-line", "64KiB", octets(256, 64<<20), "Octets of one header line."),
		config.Number(&s.Limits.Headers, "limits.headers", "1000", config.Bounds{Min: 16, Max: 1 << 20},
			"Header lines of a frame, repeats counted."),
		config.Size(&s.Limits.HeaderBytes, "limits.header-bytes", "256KiB", octets(256, 256<<20), "Octets of all header lines of a frame."),
		config.Size(&s.Limits.Body, "limits.body", "64MiB", octets(1, 1<<30), "Octets of a body."),
		config.Size(&s.Limits.Login, "limits.login", "64KiB", octets(256, 16<<20), "Octets from a client to the end of CONNECT."),
		config.Number(&s.MaxConnections, "limits.connections", "20000", config.Bounds{Min: 1, Max: 1 << 24}, "Open connections. The system has to allow 600 open files more than that (`ulimit -n`); the log says at the start if it does not."),
		config.Number(&s.MaxConnectionsPerAddress, "limits.connections-per-address", "none", config.Bounds{Min: 1, Max: 1 << 24, None: true},
			"Open connections from one address. Of IPv6 it is one network of 64 bits. Behind `proxies` it is that of the client."),
		config.Number(&s.MaxConnectionsPerUser, "limits.connections-per-user", "none", config.Bounds{Min: 1, Max: 1 << 24, None: true}, "Open connections of one user."),
		config.Number(&s.ConnectionRate, "limits.connection-rate", "none", config.Bounds{Min: 1, Max: 1 << 20, None: true},
			"Connections that one address opens a second. Ten times as many may come at once."),
		config.Number(&s.MaxSubscriptions, "limits.subscriptions", "10000", config.Bounds{Min: 1, Max: 1 << 24}, "Live subscriptions of a connection."),
		config.Number(&s.MaxParts, "limits.composite-parts", "32", config.Bounds{Min: 1, Max: 1024}, "Parts of a composite destination."),
		config.Number(&s.MaxWildcardLevels, "limits.wildcard-levels", "32", config.Bounds{Min: 1, Max: 512}, "Levels of a name with wildcards on SUBSCRIBE."),
		config.Number(&b.MaxDestinations, "limits.destinations", "1000000", config.Bounds{Min: 1, Max: 1 << 28}, "Destinations that exist."),
		config.Number(&b.MaxFollowed, "limits.wildcard-queues", "100000", config.Bounds{Min: 1, Max: 1 << 24}, "Queues that the subscriptions of a connection take from by wildcards, counted for each subscription."),
		config.Number(&b.MaxTemporaries, "limits.temporary-destinations", "10000", config.Bounds{Min: 1, Max: 1 << 24}, "Temporary destinations of a connection."),
		config.Size(&b.RetainedBytes, "limits.retained-bytes", "64MiB", octets(1, 1<<40), "Octets that topics keep in memory for new subscribers."),
		config.Number(&b.MaxGroups, "limits.groups", "16384", config.Bounds{Min: 1, Max: 1 << 24},
			"Message groups of one backlog that have a consumer of their own. Beyond it one is forgotten of which nobody has a message."),
		config.Size(&b.Selectors.MaxText, "limits.selector", "16KiB", octets(1, 1<<20), "Octets of a selector."),
		config.Number(&b.Selectors.MaxNodes, "limits.selector-nodes", "2048", config.Bounds{Min: 1, Max: 1 << 20}, "Operators, names and literals of a selector."),
		config.Number(&b.Selectors.MaxDepth, "limits.selector-depth", "64", config.Bounds{Min: 1, Max: 1024}, "How deep the parentheses of a selector may nest."),
		config.Number(&b.Selectors.MaxList, "limits.selector-list", "1024", config.Bounds{Min: 1, Max: 1 << 20}, "Values in an IN list of a selector."),
		config.Size(&b.Selectors.MaxBody, "limits.selector-body", "64KiB", octets(1, 64<<20),
			"Octets of a body that a selector looks into. What it asks of a larger one is NULL."),
		config.Number(&b.Selectors.MaxBodyDepth, "limits.selector-body-depth", "64", config.Bounds{Min: 1, Max: 1024}, "How deep such a body may nest."),
		config.Number(&b.Selectors.MaxBodyNodes, "limits.selector-body-nodes", "10000", config.Bounds{Min: 1, Max: 1 << 24}, "Elements, attributes, texts and values of such a body."),
		config.Number(&b.Selectors.MaxSteps, "limits.selector-steps", "100000", config.Bounds{Min: 1, Max: 1 << 28}, "Nodes that one XPath may visit in one body. What takes more is NULL."),
		config.Number(&s.MaxTransactions, "limits.transactions", "64", config.Bounds{Min: 1, Max: 1 << 20}, "Open transactions of a connection."),
		config.Number(&s.TransactionActions, "limits.transaction-actions", "100000", config.Bounds{Min: 1, Max: 1 << 28},
			"SENDs, ACKs and NACKs of one transaction."),
		config.Size(&s.TransactionBytes, "limits.transaction-bytes", "256MiB", octets(1, 1<<30), "Octets of headers and bodies of one transaction."),
		config.Size(&b.MemoryBytes, "limits.memory", "256MiB", octets(1<<20, 1<<40),
			"The watermark of message octets in memory that no consumer has. Above it backlogs leave memory, then senders wait."),
		config.Number(&b.BacklogMessages, "limits.backlog-messages", "2048", config.Bounds{Min: 16, Max: 1 << 24}, "Messages of one backlog that are in memory."),
		config.Size(&b.BacklogBytes, "limits.backlog-bytes", "2MiB", octets(1<<10, 1<<40), "Octets of these."),
		config.Size(&b.TopicBytes, "limits.topic-bytes", "16MiB", octets(1<<10, 1<<40),
			"Octets in memory for one topic subscriber that does not keep up. Above it the producers of the topic wait."),
		config.Duration(&b.SlowConsumerTimeout, "limits.slow-consumer-timeout", "10s", span(100*time.Millisecond, time.Hour),
			"How long such a subscriber may take nothing before it is disconnected."),
		config.Duration(&b.BlockTimeout, "limits.block-timeout", "30s", span(100*time.Millisecond, time.Hour),
			"How long a SEND waits for memory or disk before it is refused."),
		config.Size(&b.InboxBytes, "limits.inbox-bytes", "32MiB", octets(1<<20, 1<<40), "Octets that wait for the broker. Above it sockets are not read."),
		config.Number(&b.InboxOps, "limits.inbox-operations", "65536", config.Bounds{Min: 1024, Max: 1 << 28}, "Frames that wait for the broker. Above it sockets are not read."),
	}
}

func process(o *Options) []config.Setting {
	return []config.Setting{
		config.Choice(&o.LogLevel, "log.level", "info", "The least important that is logged.", "debug", "info", "warn", "error").OnFlag("log-level"),
		config.Choice(&o.LogFormat, "log.format", "text", "How the log, on standard error, is written.", "text", "json").OnFlag("log-format"),
		config.Duration(&o.ShutdownTimeout, "shutdown.timeout", "30s", span(100*time.Millisecond, time.Hour),
			"How long an orderly end may take before connections are cut. What has a RECEIPT is safe either way."),
		config.Number(&o.GCPercent, "memory.gc-percent", "auto", config.Bounds{Min: 10, Max: 1000, Auto: true},
			"Garbage that may gather before it is collected, in percent of what is in use. `auto` is GOGC where that is set, else 200."),
		config.Size(&o.MemoryLimit, "memory.limit", "auto", config.Bounds{Min: 64 << 20, None: true, Auto: true},
			"Memory above which garbage is collected more often. `auto` is GOMEMLIMIT where that is set, else four fifths of what the container may use, else none."),
	}
}

func span(low, high time.Duration) config.Bounds {
	return config.Bounds{Min: int64(low), Max: int64(high)}
}

func octets(low, high int64) config.Bounds { return config.Bounds{Min: low, Max: high} }

func path(text string) error {
	if text == "" {
		return errors.New("must not be empty")
	}
	return nil
}
