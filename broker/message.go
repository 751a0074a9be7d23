package broker

import (
	"footfall/frames"
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
	// ScheduledID is the name of the schedule, chosen by the sender, or made by the
	// loop for a message with a time.
	ScheduledID string
	// Priority is 0 to 9, the higher the sooner.
	Priority uint8
	// Persistent messages are on disk before anybody hears of them.
	Persistent bool
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

	blob    store.Blob // where the body lies when it is too large for a record
	head    uint32     // octets of its record without the body
	holders int32      // places in memory that hold the message
}

// overhead is what a message costs in memory beside its octets.
const overhead = 160

// Size is about the memory that the message takes, in octets.
func (m *Message) Size() int64 {
	return int64(len(m.Header.Raw)+len(m.Body)+len(m.UserID)+len(m.ScheduledID)) + overhead
}

// octets is what the message counts in the account of the place where it is stored.
func (m *Message) octets() uint64 { return uint64(m.head) + uint64(len(m.Body)) }

// MessageID identifies a message: the shard that it was sent to, and a number that is
// never given twice in that shard.
type MessageID struct {
	Shard uint8
	Seq   uint64
}
