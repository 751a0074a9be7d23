package server

import (
	"strings"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// A SEND may name several destinations with commas between. It is one step of the broker then: each part gets a copy, or
// none does. A SUBSCRIBE that names several takes from all of them. No name has a comma in it.

// isComposite tells whether a destination text names several.
func isComposite(text string) bool { return strings.Contains(text, ",") }

// compositeTarget reads, checks and authorises all parts of the destination of a SEND. One that is named twice counts
// once.
func (s *session) compositeTarget(text string) (*target, error) {
	parts, err := s.parts(text)
	if err != nil {
		return nil, err
	}
	whole := &target{text: text}
	seen := map[broker.Address]bool{}
	for _, part := range parts {
		t, err := s.plainTarget(part)
		if err != nil {
			return nil, inComposite(text, err)
		}
		if t.role != plain {
			return nil, refusal(broker.KindDestination, "destination %s has the part %s, which takes requests and can be no part", quote(text), quote(t.text))
		}
		if !seen[t.address] {
			seen[t.address] = true
			whole.parts = append(whole.parts, t)
		}
	}
	return whole, nil
}

// parts takes a composite destination apart.
func (s *session) parts(text string) ([]string, error) {
	limit := s.shared.options.MaxParts
	if n := strings.Count(text, ",") + 1; n > limit {
		return nil, refusal(broker.KindLimit, "destination %s has %d parts, and %d are the limit (limits.composite-parts)", quote(text), n, limit)
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.Trim(parts[i], " ") // ActiveMQ: blanks around a part are none of its name
	}
	return parts, nil
}

// compositeSources reads, checks and authorises all parts of the destination of a SUBSCRIBE.
func (s *session) compositeSources(f *frames.Frame, text string) ([]broker.Source, error) {
	parts, err := s.parts(text)
	if err != nil {
		return nil, err
	}
	list := make([]broker.Source, len(parts))
	for i, part := range parts {
		from, err := s.source(f, part)
		if err != nil {
			return nil, inComposite(text, err)
		}
		list[i] = broker.Source{Text: part, Address: from, NoCreate: s.mayNotMake(from)}
	}
	return list, nil
}

// inComposite says in which destination a part is refused.
func inComposite(text string, err error) error {
	e := *asError(err)
	e.Message += ", in " + quote(text)
	return &e
}

// plainTarget reads, checks and authorises one destination of a SEND.
func (s *session) plainTarget(text string) (*target, error) {
	address, bad := s.address(text)
	if bad != nil {
		return nil, bad
	}
	if address.Kind != broker.Durable && broker.HasWildcard(address.Name) {
		return nil, refusal(broker.KindDestination, "destination %s of SEND is a wildcard", quote(text))
	}
	if err := s.authorize(auth.Send, address, text); err != nil {
		return nil, err
	}
	return &target{text: text, address: address, role: s.shared.options.roleOf(address), noCreate: s.mayNotMake(address)}, nil
}

// copies makes the SENDs of a message to a composite destination, one for each part. They share header block and body.
func (t *target) copies(m *broker.Message) []broker.Op {
	ops := make([]broker.Op, len(t.parts))
	for i, part := range t.parts {
		own := *m
		own.Destination = part.text
		ops[i] = broker.Op{Kind: broker.OpSend, To: part.address, Message: &own, NoCreate: part.noCreate}
	}
	return ops
}

// sendAll asks for a SEND to a composite destination, of which size is that of the message.
func (s *session) sendAll(f *frames.Frame, h *sendHeaders, t *target, m *broker.Message, size int) error {
	ops := t.copies(m)
	extra := (len(ops) - 1) * (opBytes + messageBytes)
	if id := h.values[transactionHeader]; id != nil {
		for i, op := range ops {
			if i > 0 {
				size = opBytes + messageBytes // header block and body count once
			}
			if err := s.sendInTransaction(f, id, op, size); err != nil {
				return err
			}
		}
		s.answer(f)
		return nil
	}
	op := broker.Op{Kind: broker.OpCommit, Sends: ops}
	op.Receipt, op.WantReceipt = receiptOf(f)
	s.push(op, size+extra)
	return nil
}
