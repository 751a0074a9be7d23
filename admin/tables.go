package admin

import (
	"footfall/broker"
	"footfall/store"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// metric is a number that is read off S.
type metric[S any] struct {
	name, help string
	kind       prometheus.ValueType
	// label is "name=value", empty for none. Metrics of one name stand next to each other.
	label string
	value func(*S) float64
}

// brokerMetrics are read off broker.Stats.
func brokerMetrics() []metric[broker.Stats] {
	type s = broker.Stats
	return []metric[s]{
		{"messages_received_total", "Messages taken from senders.", counter, "kind=queue", func(s *s) float64 { return float64(s.ReceivedQueue) }},
		{"messages_received_total", "Messages taken from senders.", counter, "kind=topic", func(s *s) float64 { return float64(s.ReceivedTopic) }},
		{"messages_delivered_total", "Messages given to consumers, redeliveries included.", counter, "", func(s *s) float64 { return float64(s.Delivered) }},
		{"messages_redelivered_total", "Messages given to consumers that had been given out before.", counter, "", func(s *s) float64 { return float64(s.Redelivered) }},
		{"messages_acked_total", "Deliveries acknowledged.", counter, "", func(s *s) float64 { return float64(s.Acked) }},
		{"messages_nacked_total", "Deliveries refused by NACK.", counter, "", func(s *s) float64 { return float64(s.Nacked) }},
		{"messages_browsed_total", "Messages shown to browsers, which take nothing.", counter, "", func(s *s) float64 { return float64(s.Browsed) }},
		{"messages_recovered_total", "Deliveries put back by RECOVER.", counter, "", func(s *s) float64 { return float64(s.Recovered) }},
		{"messages_returned_total", "Deliveries given back by a connection or subscription that ended.", counter, "", func(s *s) float64 { return float64(s.Returned) }},
		{"messages_expired_total", "Messages that were no longer wanted before somebody took them.", counter, "", func(s *s) float64 { return float64(s.Expired) }},
		{"messages_dropped_total", "Messages that nobody gets.", counter, "reason=no_subscriber", func(s *s) float64 { return float64(s.DroppedNoSubscriber) }},
		{"messages_dropped_total", "Messages that nobody gets.", counter, "reason=no_owner", func(s *s) float64 { return float64(s.DroppedNoOwner) }},
		{"messages_dropped_total", "Messages that nobody gets.", counter, "reason=no_error_destination", func(s *s) float64 { return float64(s.DeadDeleted) }},
		{"messages_dead_lettered_total", "Messages moved to an error destination, by why they died.", counter, "reason=redelivery_limit", func(s *s) float64 { return float64(s.DeadLettered[broker.DeathLimit]) }},
		{"messages_dead_lettered_total", "Messages moved to an error destination, by why they died.", counter, "reason=rejected", func(s *s) float64 { return float64(s.DeadLettered[broker.DeathRejected]) }},
		{"messages_dead_lettered_total", "Messages moved to an error destination, by why they died.", counter, "reason=expired", func(s *s) float64 { return float64(s.DeadLettered[broker.DeathExpired]) }},
		{"messages_dead_lettered_total", "Messages moved to an error destination, by why they died.", counter, "reason=overflow", func(s *s) float64 { return float64(s.DeadLettered[broker.DeathOverflow]) }},
		{"messages_dead_kept_total", "Failures beyond the limit of messages that stay where they are, as there is no other place for them.", counter, "", func(s *s) float64 { return float64(s.DeadKept) }},
		{"dead_letters_retried_total", "Dead letters sent back by an operator.", counter, "", func(s *s) float64 { return float64(s.DeadRetried) }},
		{"ack_timeouts_total", "Deliveries taken back as they were not acknowledged in time.", counter, "", func(s *s) float64 { return float64(s.AckTimeouts) }},
		{"duplicates_total", "SENDs that were not taken, as their destination was sent their dedup-id before.", counter, "", func(s *s) float64 { return float64(s.Duplicates) }},
		{"duplicate_reads_total", "Times that the dedup-ids of a destination were read into memory.", counter, "", func(s *s) float64 { return float64(s.DuplicateReads) }},
		{"duplicate_ids", "dedup-ids in memory.", gauge, "", func(s *s) float64 { return float64(s.DuplicateIDs) }},
		{"destinations_deleted_total", "Queues and topics deleted by operators.", counter, "", func(s *s) float64 { return float64(s.DestinationsDeleted) }},
		{"connections_ended_total", "Connections ended by operators.", counter, "", func(s *s) float64 { return float64(s.ConnectionsClosed) }},
		{"stale_acks_total", "ACK and NACK frames of deliveries that were no longer pending.", counter, "", func(s *s) float64 { return float64(s.StaleAcks) }},
		{"sends_blocked_total", "SENDs that had to wait for memory, disk or a slow consumer.", counter, "", func(s *s) float64 { return float64(s.Blocked) }},
		{"sends_refused_total", "SENDs that waited and were refused in the end.", counter, "", func(s *s) float64 { return float64(s.Refused) }},
		{"sends_over_quota_total", "SENDs and COMMITs refused for a quota of a destination, at once or after a wait.", counter, "", func(s *s) float64 { return float64(s.OverQuota) }},
		{"slow_consumers_total", "Topic subscribers disconnected as they did not keep up.", counter, "policy=block", func(s *s) float64 { return float64(s.SlowConsumers) }},
		{"slow_consumers_total", "Topic subscribers disconnected as they did not keep up.", counter, "policy=disconnect", func(s *s) float64 { return float64(s.SlowCutOff) }},
		{"slow_consumer_drops_total", "Messages that topic subscribers did not get as they did not keep up.", counter, "policy=drop_oldest", func(s *s) float64 { return float64(s.SlowDroppedOldest) }},
		{"slow_consumer_drops_total", "Messages that topic subscribers did not get as they did not keep up.", counter, "policy=drop_newest", func(s *s) float64 { return float64(s.SlowDroppedNewest) }},
		{"scheduled_fired_total", "Delayed messages that took their place.", counter, "", func(s *s) float64 { return float64(s.Fired) }},
		{"scheduled_cancelled_total", "Delayed messages that were taken back before their time, or replaced.", counter, "", func(s *s) float64 { return float64(s.Cancelled) }},
		{"scheduled_lag_seconds", "How late the oldest message is that is due and not yet in its place.", gauge, "", func(s *s) float64 { return s.ScheduledLag.Seconds() }},
		{"messages_ready", "Messages that wait for a consumer.", gauge, "", func(s *s) float64 { return float64(s.Ready) }},
		{"messages_unacked", "Messages that are with a consumer and not acknowledged.", gauge, "", func(s *s) float64 { return float64(s.Unacked) }},
		{"messages_scheduled", "Messages that wait for their time.", gauge, "", func(s *s) float64 { return float64(s.Scheduled) }},
		{"messages_returning", "Messages that wait for their redelivery.", gauge, "", func(s *s) float64 { return float64(s.Returning) }},
		{"consumers_starved", "Consumers that get nothing more until they acknowledge, as they have their share of delivery.memory.", gauge, "", func(s *s) float64 { return float64(s.Starved) }},
		{"lent_memory_bytes", "Octets of messages in memory that are with consumers and not acknowledged.", gauge, "", func(s *s) float64 { return float64(s.LentBytes) }},
		{"retained_memory_bytes", "Octets of messages that topics keep for new subscribers.", gauge, "", func(s *s) float64 { return float64(s.RetainedBytes) }},
		{"message_memory_bytes", "Octets of messages in memory.", gauge, "", func(s *s) float64 { return float64(s.MemoryBytes) }},
		{"sessions", "Sessions that the broker knows.", gauge, "", func(s *s) float64 { return float64(s.Connections) }},
		{"subscriptions", "Live subscriptions.", gauge, "", func(s *s) float64 { return float64(s.Subscriptions) }},
		{"durable_subscriptions", "Durable subscriptions that exist.", gauge, "", func(s *s) float64 { return float64(s.Durables) }},
		{"unknown_durables_total", "UNSUBSCRIBE frames of durable subscriptions that did not exist.", counter, "", func(s *s) float64 { return float64(s.UnknownDurables) }},
		{"selectors", "Distinct selectors of live subscriptions.", gauge, "", func(s *s) float64 { return float64(s.Selectors) }},
		{"selector_searches_total", "Searches of deep backlogs for what a selector wants.", counter, "", func(s *s) float64 { return float64(s.Searches) }},
		{"selector_searched_total", "Messages looked at in these searches.", counter, "", func(s *s) float64 { return float64(s.Searched) }},
		{"destinations", "Queues, topics and durable subscriptions that exist.", gauge, "", func(s *s) float64 { return float64(s.Destinations) }},
		{"destinations_paused", "Queues and topics of which an operator paused production or consumption.", gauge, "", func(s *s) float64 { return float64(s.Paused) }},
		{"broker_rounds_total", "Turns of the broker's loop.", counter, "", func(s *s) float64 { return float64(s.Rounds) }},
		{"broker_batches_total", "Batches of changes that the broker gave to the store.", counter, "", func(s *s) float64 { return float64(s.Batches) }},
	}
}

// storeMetrics are read off store.Stats.
func storeMetrics() []metric[store.Stats] {
	type s = store.Stats
	return []metric[s]{
		{"store_batches_total", "Batches of changes on disk.", counter, "", func(s *s) float64 { return float64(s.Batches) }},
		{"store_syncs_total", "Groups of batches that were written and synced together.", counter, "", func(s *s) float64 { return float64(s.Syncs) }},
		{"store_changes_total", "Single changes on disk.", counter, "", func(s *s) float64 { return float64(s.Ops) }},
		{"store_changes_bytes_total", "Octets of keys and values of these changes.", counter, "", func(s *s) float64 { return float64(s.Bytes) }},
		{"store_bytes", "Octets of all files of the store.", gauge, "", func(s *s) float64 { return float64(s.DiskBytes) }},
		{"store_wal_bytes", "Octets of the write-ahead log that a start would replay.", gauge, "", func(s *s) float64 { return float64(s.WALBytes) }},
		{"store_wal_written_bytes_total", "Octets written to the write-ahead log.", counter, "", func(s *s) float64 { return float64(s.WALBytesWritten) }},
		{"store_table_bytes", "Octets of tables.", gauge, "", func(s *s) float64 { return float64(s.TableBytes) }},
		{"store_tables", "Tables.", gauge, "", func(s *s) float64 { return float64(s.Tables) }},
		{"store_memtable_bytes", "Octets of memory for what is not in a table yet.", gauge, "", func(s *s) float64 { return float64(s.MemTableBytes) }},
		{"store_cache_bytes", "Octets of the cache of table blocks.", gauge, "", func(s *s) float64 { return float64(s.CacheBytes) }},
		{"store_cache_requests_total", "Look-ups in the cache of table blocks.", counter, "result=hit", func(s *s) float64 { return float64(s.CacheHits) }},
		{"store_cache_requests_total", "Look-ups in the cache of table blocks.", counter, "result=miss", func(s *s) float64 { return float64(s.CacheMisses) }},
		{"store_flushed_bytes_total", "Octets written to tables from memory.", counter, "", func(s *s) float64 { return float64(s.FlushedBytes) }},
		{"store_compacted_bytes_total", "Octets written to tables from tables.", counter, "", func(s *s) float64 { return float64(s.CompactedBytes) }},
		{"store_compaction_debt_bytes", "Octets that have to be compacted until the store is in good shape.", gauge, "", func(s *s) float64 { return float64(s.CompactionDebt) }},
		{"store_compactions_total", "Compactions.", counter, "", func(s *s) float64 { return float64(s.Compactions) }},
		{"store_compactions_running", "Compactions under way.", gauge, "", func(s *s) float64 { return float64(s.CompactionsRunning) }},
		{"store_read_amplification", "Tables that a read may have to look at.", gauge, "", func(s *s) float64 { return float64(s.ReadAmplification) }},
		{"store_l0_sublevels", "Sublevels of level 0; many of them slow writes down.", gauge, "", func(s *s) float64 { return float64(s.L0Sublevels) }},
		{"store_write_stalls_total", "Times that writes waited for background work.", counter, "", func(s *s) float64 { return float64(s.Stalls) }},
		{"store_slow_disk_total", "Operations of the disk that took unusually long.", counter, "", func(s *s) float64 { return float64(s.DiskSlow) }},
		{"store_background_errors_total", "Errors of background work, which is tried again.", counter, "", func(s *s) float64 { return float64(s.BackgroundErrors) }},
		{"store_mark_errors_total", "Times that the high-water mark, which finds lost data out, could not be written.", counter, "", func(s *s) float64 { return float64(s.MarkErrors) }},
		{"store_misuses_total", "Faults of the program in its use of the store; always 0.", counter, "", func(s *s) float64 { return float64(s.Misuses) }},
		{"store_failed", "1 after a failed write or sync, when the process is about to end.", gauge, "", func(s *s) float64 { return truth(s.Failed) }},
	}
}

// counts is one metric of Traffic: a map from label values to counts.
type counts struct {
	name, help, label string
	of                func(*Traffic) map[string]uint64
}

// trafficMetrics are read off Traffic, beside connections and panics.
func trafficMetrics() []counts {
	return []counts{
		{"connections_opened_total", "Connections accepted.", "transport", func(t *Traffic) map[string]uint64 { return t.Opened }},
		{"connections_closed_total", "Connections that ended.", "reason", func(t *Traffic) map[string]uint64 { return t.Closed }},
		{"connections_rejected_total", "Connections refused.", "reason", func(t *Traffic) map[string]uint64 { return t.Rejected }},
		{"frames_received_total", "Frames from clients.", "command", func(t *Traffic) map[string]uint64 { return t.FramesReceived }},
		{"frames_sent_total", "Frames to clients.", "command", func(t *Traffic) map[string]uint64 { return t.FramesSent }},
		{"received_bytes_total", "Octets from clients.", "transport", func(t *Traffic) map[string]uint64 { return t.BytesReceived }},
		{"sent_bytes_total", "Octets to clients.", "transport", func(t *Traffic) map[string]uint64 { return t.BytesSent }},
		{"protocol_errors_total", "ERROR frames to clients.", "kind", func(t *Traffic) map[string]uint64 { return t.ProtocolErrors }},
		{"certificate_reloads_total", "Times that certificates were read again, by what came of it.", "result", func(t *Traffic) map[string]uint64 { return t.CertificateReloads }},
		{"auth_attempts_total", "Logins.", "result", func(t *Traffic) map[string]uint64 { return t.Logins }},
		{"auth_refusals_total", "What users asked for and may not do.", "action", func(t *Traffic) map[string]uint64 { return t.Denied }},
	}
}

// destinationMetric is one number of each destination.
type destinationMetric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*broker.DestinationStats) float64
}

func destinationMetrics() []destinationMetric {
	type s = broker.DestinationStats
	return []destinationMetric{
		{"destination_messages_ready", "Messages of the destination that wait for a consumer.", gauge, func(s *s) float64 { return float64(s.Ready) }},
		{"destination_messages_unacked", "Messages of the destination that are with a consumer.", gauge, func(s *s) float64 { return float64(s.Unacked) }},
		{"destination_message_bytes", "Octets of the destination's messages.", gauge, func(s *s) float64 { return float64(s.Bytes) }},
		{"destination_consumers", "Consumers of the destination.", gauge, func(s *s) float64 { return float64(s.Consumers) }},
		{"destination_messages_received_total", "Messages sent to the destination.", counter, func(s *s) float64 { return float64(s.Received) }},
		{"destination_messages_delivered_total", "Messages of the destination given to consumers.", counter, func(s *s) float64 { return float64(s.Delivered) }},
		{"destination_messages_acked_total", "Deliveries of the destination acknowledged.", counter, func(s *s) float64 { return float64(s.Acked) }},
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
