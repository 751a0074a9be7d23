package broker

// Kind tells queues from topics.
type Kind uint8

// The kinds of destinations. A queue gives a message to one consumer, a topic to
// all that are subscribed.
const (
	Queue Kind = iota + 1
	Topic
	// Durable is the kind of durable subscriptions, which are addresses too: what is sent to one goes to nobody else. The
	// name is what SubscriptionName.String returns.
	Durable
)

// String returns "queue", "topic" or "dsub".
func (k Kind) String() string {
	switch k {
	case Topic:
		return "topic"
	case Durable:
		return "dsub"
	}
	return "queue"
}

// Address names a destination. Names are opaque octets; the broker asks for
// nothing but that they are not empty. /queue/a and /topic/a are two addresses.
type Address struct {
	Kind Kind
	Name string
	// Owner is the session with which a temporary destination is gone.
	Owner Owner
}

// String returns the address in its usual form, /queue/a, /topic/a or /dsub/a; of a temporary one /temp-queue/OWNER.a.
func (a Address) String() string { return "/" + a.Form() + "/" + a.ownerText() + a.Name }
