package server

import (
	"slices"
	"strconv"
	"strings"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// subscribe reads a SUBSCRIBE.
func (s *session) subscribe(f *frames.Frame) error {
	h := f.Header
	raw, ok := h.GetRaw("destination")
	if !ok {
		return missing(f.Command, "destination")
	}
	text := h.Decode(raw)
	op := &broker.SubscribeOp{Text: text}
	froms, err := s.sources(f, text, op)
	if err != nil {
		return err
	}
	key, shown, err := s.subscriptionKey(f, raw)
	if err != nil {
		return err
	}
	op.ID = key
	op.Selector, _ = h.Get("selector")
	if op.Mode, err = ackMode(f); err != nil {
		return err
	}
	if err := rankOptions(f, op); err != nil {
		return err
	}
	if err := s.topicOptions(f, froms, op); err != nil {
		return err
	}
	if op.Window, op.WindowBytes, err = window(f); err != nil {
		return err
	}
	seq, err := s.browserOptions(f, op)
	if err != nil {
		return err
	}
	if op.Redelivery, err = readRedelivery(f); err != nil {
		return err
	}
	timeout, err := delayHeader(f, "ack-timeout")
	if err != nil {
		return err
	}
	if timeout != nil {
		op.AckTimeout = *timeout
	}
	if op.Parts != nil || op.From.Wildcard() {
		raw = nil // each MESSAGE has that of its SEND
	}
	sub := &subscription{text: text, froms: froms, rendering: newRendering(s.version, s.id, raw, shown, op.Mode)}
	sub.seq = seq
	op.Tag = sub
	var replies []broker.Address
	for _, from := range froms {
		if s.isOwn(from) && op.Browse == nil {
			replies = append(replies, from)
			s.endImplicit(from)
		}
	}
	if err := s.register(f.Command, key, sub); err != nil {
		return err
	}
	for _, from := range replies {
		s.takeReplies(from, "")
	}
	s.add(f, broker.Op{Kind: broker.OpSubscribe, Subscribe: op})
	return nil
}

// sources reads, checks and authorises what a SUBSCRIBE names, each destination once.
func (s *session) sources(f *frames.Frame, text string, op *broker.SubscribeOp) (froms []broker.Address, err error) {
	if !isComposite(text) {
		if op.From, err = s.source(f, text); err == nil {
			op.NoCreate = s.mayNotMake(op.From)
		}
		return []broker.Address{op.From}, err
	}
	if op.Parts, err = s.compositeSources(f, text); err != nil {
		return nil, err
	}
	for _, part := range op.Parts {
		if !slices.Contains(froms, part.Address) {
			froms = append(froms, part.Address)
		}
	}
	return froms, nil
}

// source reads, checks and authorises one destination of a SUBSCRIBE.
func (s *session) source(f *frames.Frame, text string) (broker.Address, error) {
	from, bad := s.address(text)
	if bad != nil {
		return from, bad
	}
	if from.Kind != broker.Durable && broker.HasWildcard(from.Name) {
		if err := s.checkWildcard(from, text); err != nil {
			return from, err
		}
	}
	action := auth.Receive
	if browser, err := boolHeader(f, "browser"); err != nil {
		return from, err
	} else if browser {
		action = auth.Browse
	}
	return from, s.authorize(action, from, text)
}

// checkWildcard tells why a SUBSCRIBE to a name with wildcards is refused.
func (s *session) checkWildcard(from broker.Address, text string) error {
	limit := s.shared.options.MaxWildcardLevels
	switch n := strings.Count(from.Name, ".") + 1; {
	case from.IsTemporary():
		return refusal(broker.KindDestination, "destination %s has a wildcard, and is temporary", quote(text))
	case n > limit:
		return refusal(broker.KindLimit, "destination %s has a wildcard and %d levels, and %d are the limit (limits.wildcard-levels)", quote(text), n, limit)
	}
	return nil
}

// rankOptions reads how a consumer stands to others.
func rankOptions(f *frames.Frame, op *broker.SubscribeOp) error {
	for _, name := range [...]string{"exclusive", "activemq.exclusive"} {
		on, err := boolHeader(f, name)
		if err != nil {
			return err
		}
		op.Exclusive = op.Exclusive || on
	}
	for _, name := range [...]string{"x-priority", "activemq.priority", "consumer-priority"} {
		text, ok := f.Header.Get(name)
		if !ok || text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return badHeader(f.Command, name, text, "a number from -2147483648 to 2147483647 is wanted")
		}
		op.Priority = int32(n)
		break
	}
	return nil
}

// topicOptions reads what a SUBSCRIBE asks for of a topic. On a queue it asks for what a queue does anyway.
func (s *session) topicOptions(f *frames.Frame, froms []broker.Address, op *broker.SubscribeOp) (err error) {
	if !slices.ContainsFunc(froms, func(a broker.Address) bool { return a.Kind == broker.Topic }) {
		return nil
	}
	for _, name := range [...]string{"no-local", "activemq.noLocal"} {
		on, err := boolHeader(f, name)
		if err != nil {
			return err
		}
		op.NoLocal = op.NoLocal || on
	}
	if op.Durable, err = s.durableName(f); err != nil {
		return err
	}
	if op.Durable != (broker.SubscriptionName{}) {
		op.NoCreate = slices.ContainsFunc(froms, func(a broker.Address) bool { return !s.may(auth.Create, a) })
		return nil
	}
	op.Shared, err = s.sharedName(f)
	return err
}

// subscriptionKey returns the id of a subscription, decoded, and what its MESSAGEs show as
// subscription, as it goes on the wire, nil for nothing.
func (s *session) subscriptionKey(f *frames.Frame, destination []byte) (key string, shown []byte, err error) {
	if id, ok := f.Header.GetRaw("id"); ok && len(id) > 0 {
		if len(id) > maxID {
			return "", nil, tooLong(f.Command, "id", len(id))
		}
		// STOMP 1.0 MESSAGE: subscription when SUBSCRIBE had an id.
		return f.Header.Decode(id), id, nil
	}
	// STOMP 1.0 SUBSCRIBE: id is optional. Later versions require it, yet some clients send none.
	if s.version == frames.V10 {
		return f.Header.Decode(destination), nil, nil
	}
	if s.shared.options.RequireSubscriptionID {
		return "", nil, missing(f.Command, "id")
	}
	return f.Header.Decode(destination), destination, nil
}

func ackMode(f *frames.Frame) (broker.AckMode, error) {
	raw, ok := f.Header.GetRaw("ack")
	if !ok {
		// STOMP 1.2 SUBSCRIBE ack: the default is auto.
		return broker.AckAuto, nil
	}
	switch string(raw) {
	case "auto":
		return broker.AckAuto, nil
	case "client":
		return broker.AckClient, nil
	case "client-individual":
		return broker.AckIndividual, nil
	}
	return 0, badHeader(f.Command, "ack", f.Header.Decode(raw), "auto, client or client-individual is wanted")
}

// window reads how many messages, and octets of them, may be unacknowledged, from the first
// of these headers that is there; 0 for the default. A client that asks for none pulls one at a time.
func window(f *frames.Frame) (messages int, bytes int64, err error) {
	for _, name := range [...]string{"prefetch-count", "activemq.prefetchSize", "prefetch", "credit", "consumer-window-size"} {
		raw, ok := f.Header.GetRaw(name)
		if !ok || len(raw) == 0 {
			continue
		}
		text := f.Header.Decode(raw)
		switch name {
		case "credit":
			n, octets, err := parseCredit(f.Command, text)
			return max(n, 1), octets, err
		case "consumer-window-size":
			if text == "-1" {
				return 0, 0, nil // Artemis' word for no bound: ours
			}
		}
		n, ok := parseCount(text)
		if !ok {
			return 0, 0, badHeader(f.Command, name, text, "a number is wanted")
		}
		if name == "consumer-window-size" && n > 0 {
			return 0, int64(n), nil
		}
		return max(n, 1), 0, nil
	}
	return 0, 0, nil
}

// parseCredit reads a number of messages and, after a comma, one of octets; 0 octets stand for the default.
func parseCredit(c frames.Command, text string) (messages int, bytes int64, err error) {
	count, octets, two := strings.Cut(text, ",")
	n, ok := parseCount(count)
	b := 0
	if ok && two {
		b, ok = parseCount(octets)
	}
	if !ok {
		return 0, 0, badHeader(c, "credit", text, "a number of messages is wanted, and after a comma one of octets")
	}
	return n, int64(b), nil
}

// unsubscribe reads an UNSUBSCRIBE.
func (s *session) unsubscribe(f *frames.Frame) error {
	durable, err := s.durableName(f)
	if err != nil {
		return err
	}
	isDurable := durable != (broker.SubscriptionName{})
	key, named, err := s.unsubscribeKey(f)
	if err != nil && !isDurable {
		return err
	}
	if isDurable {
		a := durable.Address()
		if err := s.authorize(auth.Delete, a, a.String()); err != nil {
			return err
		}
	}
	if s.subs[key] == nil && !isDurable {
		return refusal(broker.KindUnknownSub, "UNSUBSCRIBE with %s %s, which is no subscription of this connection", named, quote(key))
	}
	s.unregister(key)
	s.add(f, broker.Op{Kind: broker.OpUnsubscribe, Sub: key, Durable: durable})
	return nil
}

// unsubscribeKey returns the key of the subscription that an UNSUBSCRIBE names, and by which header.
func (s *session) unsubscribeKey(f *frames.Frame) (key, named string, err error) {
	if id, ok := f.Header.GetRaw("id"); ok && len(id) > 0 {
		return f.Header.Decode(id), "id", nil
	}
	// STOMP 1.0 UNSUBSCRIBE: by destination or id. Later by id only, which is the destination when SUBSCRIBE had none.
	raw, ok := f.Header.GetRaw("destination")
	if !ok {
		return "", "", missing(f.Command, "id")
	}
	text := f.Header.Decode(raw)
	if s.subs[text] == nil {
		if only, ok := s.only(text); ok {
			return only, "destination", nil
		}
	}
	return text, "destination", nil
}

// only returns the key of the one subscription to a destination text. It is false for none and for several.
func (s *session) only(text string) (key string, ok bool) {
	for k, sub := range s.subs {
		if sub.text == text {
			if ok {
				return "", false
			}
			key, ok = k, true
		}
	}
	return key, ok
}
