package server

import (
	"cmp"
	"strings"

	"footfall/broker"
	"footfall/frames"
)

// The headers that name a durable subscription, on SUBSCRIBE to a topic and on UNSUBSCRIBE, those first that count
// first: of Artemis, of ActiveMQ, and as some clients spell that. They go with client-id on CONNECT.
func durableNames() []string {
	return []string{"durable-subscription-name", "durable-subscriber-name", "activemq.subscriptionName", "activemq.subcriptionName"}
}

// The headers that say that the id is the name of a durable subscription, of RabbitMQ and of Apollo.
func durableSwitches() []string { return []string{"durable", "persistent"} }

// The headers by which consumers of a topic share its messages under a name, after JMS 2.0.
const (
	sharedHeader     = "shared"
	sharedNameHeader = "subscription-name"
)

// durableName returns the durable subscription that a SUBSCRIBE to a topic, or an UNSUBSCRIBE, means, the zero value if it
// means none.
func (s *session) durableName(f *frames.Frame) (broker.SubscriptionName, error) {
	var none broker.SubscriptionName
	for _, header := range durableNames() {
		if name, ok := f.Header.Get(header); ok && name != "" {
			return s.ownName(f, header, name)
		}
	}
	for _, header := range durableSwitches() {
		on, err := boolHeader(f, header)
		if err != nil {
			return none, err
		}
		if !on {
			continue
		}
		if name, ok := f.Header.Get(sharedNameHeader); ok && name != "" {
			return s.ownName(f, sharedNameHeader, name)
		}
		id, ok := f.Header.Get("id")
		if !ok || id == "" {
			return none, refusal(kindHeader, "%s with %s:true and no id header, which is the name of the durable subscription", f.Command, header)
		}
		return s.ownName(f, "id", id)
	}
	return none, nil
}

// sharedName returns the name under which a SUBSCRIBE to a topic, which is not durable, shares its messages.
func (s *session) sharedName(f *frames.Frame) (broker.SubscriptionName, error) {
	on, err := boolHeader(f, sharedHeader)
	if err != nil || !on {
		return broker.SubscriptionName{}, err
	}
	name, ok := f.Header.Get(sharedNameHeader)
	if !ok || name == "" {
		return broker.SubscriptionName{}, refusal(kindHeader, "%s with %s:true and no %s header", f.Command, sharedHeader, sharedNameHeader)
	}
	return s.ownName(f, sharedNameHeader, name)
}

// ownName is a subscription of this session's client-id, or of its user where it gave none.
func (s *session) ownName(f *frames.Frame, header, name string) (broker.SubscriptionName, error) {
	if len(name) > maxID {
		return broker.SubscriptionName{}, tooLong(f.Command, header, len(name))
	}
	return broker.SubscriptionName{Owner: cmp.Or(s.clientID, s.identity.User), Name: s.plainName(name)}, nil
}

// plainName takes away the client-id that stompjms puts before the name with a colon between; null where it has none.
func (s *session) plainName(name string) string {
	rest, ok := strings.CutPrefix(name, cmp.Or(s.clientID, "null")+":")
	if !ok || rest == "" {
		return name
	}
	return rest
}

// ownAddress fills in whose durable subscription /dsub/NAME is: this session's, unless the name has the form OWNER:NAME.
func (s *session) ownAddress(a broker.Address) broker.Address {
	if a.Kind != broker.Durable {
		return a
	}
	name := s.plainName(a.Name)
	if strings.Contains(name, ":") {
		return a
	}
	return broker.SubscriptionName{Owner: cmp.Or(s.clientID, s.identity.User), Name: name}.Address()
}
