package store

// Shards is the number of shards that destinations are spread over, for ever.
const Shards = 64

// Shard is 0 to Shards-1. Every key begins with it, and no batch of one shard
// depends on another's state.
type Shard uint8

// Seq numbers what a shard was ever given: messages, places, destinations. The
// upper 20 bits are the epoch, which rises at every start, the lower 44 a count, so that
// none is given twice and later ones are greater.
type Seq uint64

// SeqBits is the number of bits of the count in a Seq.
const SeqBits = 44

// FirstSeq is the first Seq of an epoch.
func FirstSeq(epoch uint32) Seq { return Seq(epoch) << SeqBits }

// DestinationID and BacklogID are unique in their shard; both are drawn from its Seq.
type (
	DestinationID uint64
	BacklogID     uint64
)

// Priorities is the number of message priorities, 0 to 9, 9 first.
const Priorities = 10

// RefKey is the place of a message in a backlog. The order of keys within a backlog is the order of
// delivery: higher priority first, then lower Seq.
type RefKey struct {
	Shard    Shard
	Backlog  BacklogID
	Priority uint8
	Seq      Seq
}

// DueKey is the place of a message that waits for its time, in milliseconds since the
// epoch. The order of keys is the order of time, then of Seq.
type DueKey struct {
	Shard Shard
	At    int64
	Seq   Seq
}

// Blob names a body that is kept in chunks of its own since it is larger than
// ChunkBytes. The zero value is no blob. It moves with a message from place to place.
type Blob struct {
	Owner  Seq
	Chunks uint32
	Bytes  uint64
}

// ChunkBytes is the size from which on a body is kept in chunks.
const ChunkBytes = 256 << 10

// Attempts counts what happened to a message in its place. Shown is its owner's: the epoch in which it was about to be
// shown to somebody, 0 for none.
type Attempts struct {
	Deliveries, Failures uint32
	Shown                uint32
}

// Destination is a destination that exists: Kind, Name and Properties are its owner's, the name at
// most 64 KiB of any octets, the properties at most 256 KiB.
type Destination struct {
	Shard   Shard
	ID      DestinationID
	Kind    uint8
	Name    string
	Created int64 // milliseconds since the epoch
	// Properties is what its owner wants to know of it beside, empty for nothing.
	Properties string
}

// Backlog is the persisted account of one backlog. Count and Bytes must equal a scan, Head is no greater than the least Seq of a message,
// and what lies below it is none (see Batch.LeaveRef), Seen is its owner's (up to which messages may have been shown).
type Backlog struct {
	Shard       Shard
	ID          BacklogID
	Destination DestinationID
	Bytes       uint64
	Lanes       [Priorities]Lane
}

// Lane is a Backlog's part of one priority.
type Lane struct {
	Count      uint64
	Head, Seen Seq
}

// Schedule is the persisted account of what waits for its time in one shard. Count and Bytes must equal a scan;
// Returning is its owner's: how many of these return to a backlog.
type Schedule struct {
	Shard                   Shard
	Count, Bytes, Returning uint64
}

// Ref is a stored message in its place. Head and Body are the caller's to keep.
type Ref struct {
	Key      RefKey
	Head     []byte
	Body     []byte
	Blob     Blob
	Attempts Attempts
	// Owner names a message that has other places as well; 0 for one that is in this place alone.
	Owner Seq
}

// Due is a stored message that waits for its time.
type Due struct {
	Key  DueKey
	Head []byte
	Body []byte
	Blob Blob
}

// RefScan asks for a page of a backlog, in key order, from the place From on (inclusive).
type RefScan struct {
	// After is the number of the last batch that the page must show, see Submit.
	After uint64
	From  RefKey
	// Heads, per priority: the scan does not look below them, nor below the head marks of the backlog.
	Heads [Priorities]Seq
	// MaxCount and MaxBytes bound the page; it has at least one message if there is one.
	MaxCount, MaxBytes int
}

// RefFilter asks for those messages of a backlog that Want wants, in key order, from the place From on (inclusive).
type RefFilter struct {
	RefScan
	// MaxLooked bounds the messages that are looked at, at least one; MaxCount and MaxBytes those that are returned.
	MaxLooked int
	// Want tells whether a message is wanted, of which body is nil where it lies in a blob. It must keep neither head nor body.
	Want func(at RefKey, head, body []byte, attempts Attempts) (bool, error)
}

// DueScan asks for a page of what waits in one shard, in key order, from From on (inclusive) and due not later than Until.
type DueScan struct {
	After              uint64
	From               DueKey
	Until              int64
	MaxCount, MaxBytes int
}

// Outcome is what became of a batch.
type Outcome uint8

// Applied: the batch is on disk. Rejected: surely nothing of it happened. Unknown:
// it may or may not have happened; nothing may be claimed.
const (
	Applied Outcome = iota + 1
	Rejected
	Unknown
)

// Recovered is what a start needs to know: everything but the messages.
type Recovered struct {
	Epoch        uint32
	Destinations []Destination
	Backlogs     []Backlog
	Schedules    []Schedule
	// HostID is 16 hexadecimal digits, drawn when the store was made. Created is that
	// time, in milliseconds since the epoch.
	HostID  string
	Created int64
	// Clean says that the store was closed in good order before this start, or is new.
	Clean bool
}
