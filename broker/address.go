package broker

// Kind tells queues from topics.
type Kind uint8

// The kinds of destinations. A queue gives a message to one consumer, a topic to
// all that are subscribed.
const (
	Queue Kind = iota + 1
	Topic
)

// String returns "queue" or "topic".
func (k Kind) String() string {
	if k == Topic {
		return "topic"
	}
	return "queue"
}

// Address names a destination. Names are opaque octets; the broker asks for
// nothing but that they are not empty. /queue/a and /topic/a are two addresses.
type Address struct {
	Kind Kind
	Name string
}

// String returns the address in its usual form, /queue/a or /topic/a.
func (a Address) String() string { return "/" + a.Kind.String() + "/" + a.Name }
