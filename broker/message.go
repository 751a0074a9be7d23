package broker

import (
	"math"

	"footfall/frames"
	"footfall/schedule"
	"footfall/store"
)

// Message is one message. Who makes it fills it in and hands it over with a
// SEND; from then on it is immutable but for the fields that the loop stamps
// before anybody else sees it, and it is shared by all who hold it.
type Message struct {
	// Header holds the sender's headers that are passed on, without those that the
	// broker writes itself and those that were a request to it.
	Header frames.Header
	Body   []byte
	// Destination is the destination text of SEND, shown where SUBSCRIBE's does not do; empty
	// when it is the usual form of the address.
	Destination string
	// UserID is the sender's message-id when it begins with "ID:", else empty.
	UserID string
	// DeliverAt is the time before which nobody gets the message, in milliseconds
	// since the epoch; 0 for at once.
	DeliverAt int64
	// Delay is added to the time at which the loop takes the SEND, or its COMMIT,
	// to give DeliverAt, in milliseconds; 0 for none.
	Delay int64
	// Plan takes the place of both for a message that is due by a schedule, or again and again; else it is nil.
	Plan *schedule.Plan
	// ScheduledID is the name of the schedule, made by the loop for a message with a time
	// unless ChosenID says that it is the sender's. A schedule of the same destination with the same
	// chosen name is replaced, also by a message that is due at once.
	ScheduledID string
	ChosenID    bool
	// Expires is when the message is no longer wanted, in milliseconds since the epoch, 0 for never. TTL is
	// the same counted from the time at which the loop takes the SEND, or its COMMIT; 0 for none. The earlier counts.
	Expires, TTL int64
	// Group names the message group, whose messages go to one consumer of a backlog; empty for none. GroupEnd says that it is the last
	// message of that group.
	Group    string
	GroupEnd bool
	// Retain is for topics, see there; queues pay no heed to it.
	Retain Retain
	// Priority is 0 to 9, the higher the sooner.
	Priority uint8
	// Persistent messages are on disk before anybody hears of them.
	Persistent bool
	// RedeliveryLimit, with HasRedeliveryLimit, is the sender's limit, see Redelivery.
	RedeliveryLimit    int32
	HasRedeliveryLimit bool
	// DedupID is the sender's id of this message: another one with the same id is not taken, for a while; empty for none.
	DedupID string
	// HasLength says that SEND had a content-length.
	HasLength bool
	// HasTimestamp says that Header has a timestamp of the sender's.
	HasTimestamp bool

	// Stamped by the loop:

	// ID is unique among all messages of all times.
	ID MessageID
	// Timestamp is when the loop took the message, in milliseconds since the epoch.
	Timestamp int64

	// Owned by the loop:

	blob    store.Blob    // where the body lies when it is too large for a record
	head    uint32        // octets of its record without the body
	job     *schedule.Job // of a message that waits and comes again
	back    *comeback     // of a message that waits to return to its place
	holders int32         // places in memory that hold the message
	lenders int32         // of these, deliveries
	sender  uint64        // the connection that sent it, 0 where that is no longer known
	owner   store.Seq     // names the record that several places share; 0: each place has its own
	doubled bool          // its destination had its DedupID before
	topic   string        // the name of the topic that it was sent to, where Destination does not tell; see origin
	places  uint32        // of that record, if all of them are known here, else 0
	given   uint32        // places that it lost in this round's batch, which are to be given back
}

// overhead is what a message costs in memory beside its octets.
const overhead = 160

// Size is about the memory that the message takes, in octets.
func (m *Message) Size() int64 {
	return int64(len(m.Header.Raw)+len(m.Body)+len(m.UserID)+len(m.ScheduledID)+len(m.Group)+len(m.DedupID)) + overhead
}

// octets is what the message counts in the account of the place where it is stored.
func (m *Message) octets() uint64 { return uint64(m.head) + uint64(len(m.Body)) }

// MessageID identifies a message: the shard that it was sent to, and a number that is
// never given twice in that shard.
type MessageID struct {
	Shard uint8
	Seq   uint64
}

// named tells whether the store knows what waits by its ScheduledID. Other ids say themselves where it waits.
func (m *Message) named() bool { return m.ChosenID || m.job != nil }

// expired tells whether nobody wants the message any more.
func (m *Message) expired(ms int64) bool { return m.Expires != 0 && m.Expires <= ms }

// lives has TTL count from an instant on.
func (m *Message) lives(ms int64) {
	if m.TTL <= 0 {
		return
	}
	at := ms + min(m.TTL, math.MaxInt64-ms)
	if m.Expires == 0 || at < m.Expires {
		m.Expires = at
	}
	m.TTL = 0
}

// firing makes the message that one firing of a job gives to its destination.
func (m *Message) firing(at int64) *Message {
	f := &Message{
		Header: m.Header, Body: m.Body, Destination: m.Destination, UserID: m.UserID, DeliverAt: at,
		ScheduledID: m.ScheduledID, ChosenID: m.ChosenID, Expires: m.Expires, Priority: m.Priority,
		Persistent: m.Persistent, HasLength: m.HasLength, HasTimestamp: m.HasTimestamp, Timestamp: m.Timestamp, TTL: m.TTL, Group: m.Group, GroupEnd: m.GroupEnd, Retain: m.Retain,
		RedeliveryLimit: m.RedeliveryLimit, HasRedeliveryLimit: m.HasRedeliveryLimit,
	}
	f.lives(at)
	return f
}
