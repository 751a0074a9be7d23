package server

import (
	"strconv"

	"footfall/broker"
	"footfall/frames"
	"footfall/schedule"
)

// sendHeaders are the headers of a SEND that mean something to the broker, by class, as they are on the wire. nil
// means missing.
type sendHeaders struct {
	values [droppedHeader][]byte
	kept   int // octets of the spans
	// times are those that say when the message is due and how long it lives, decoded; nil, as for nearly every
	// SEND, when there are none.
	times *schedule.Request
	// forwarded says that the SEND was to a delay queue, and goes on to another destination.
	forwarded bool
	// replyTo is what receivers see as reply-to in place of the sender's; empty for that.
	replyTo string
}

// span is a run of header lines that are passed on.
type span struct{ from, to int }

// send reads a SEND: into the request, or into its transaction.
func (s *session) send(f *frames.Frame) error {
	var h sendHeaders
	if err := s.scan(f.Header, &h); err != nil {
		return err
	}
	// STOMP 1.2 SEND: destination is required.
	if h.values[destinationHeader] == nil {
		return missing(frames.Send, "destination")
	}
	t, err := s.sendTarget(f.Header, h.values[destinationHeader])
	if err != nil {
		return err
	}
	if err := s.rewriteReplyTo(f, &h); err != nil {
		return err
	}
	switch t.role {
	case management:
		if action, ok := f.Header.Get(actionHeader); ok {
			return s.manage(f, &h, action)
		}
	case delayQueue:
		if t, err = s.forward(f, &h, t); err != nil {
			return err
		}
	}
	m, err := s.message(f, &h, t)
	if err != nil {
		return err
	}
	op := broker.Op{Kind: broker.OpSend, To: t.address, Message: m, NoCreate: t.noCreate}
	size := opBytes + messageBytes + len(m.Header.Raw) + len(m.Body) + len(m.ScheduledID) + len(m.DedupID)
	if m.Plan != nil {
		size += planBytes
	}
	if t.parts != nil {
		return s.sendAll(f, &h, t, m, size)
	}
	if id := h.values[transactionHeader]; id != nil {
		if err := s.sendInTransaction(f, id, op, size); err != nil {
			return err
		}
		s.answer(f)
		return nil
	}
	if receipt := h.values[receiptHeader]; receipt != nil {
		op.WantReceipt, op.Receipt = true, string(receipt)
	}
	s.push(op, size)
	return nil
}

// messageBytes is about what a message takes in memory, without header block and body; planBytes is what a
// schedule takes beside it.
const (
	messageBytes = 240
	planBytes    = 1 << 10
)

// scan walks the header block once: it notes what means something and, in s.spans, what is passed on.
func (s *session) scan(block frames.Header, h *sendHeaders) error {
	s.spans = s.spans[:0]
	start := 0
	for name, value, pos := block.Next(0); pos >= 0; name, value, pos = block.Next(pos) {
		c := classify(name)
		// STOMP 1.2 Repeated Header Entries: only the first is the value.
		if c.isRead() && h.values[c] == nil {
			h.values[c] = value
		}
		if c == timeHeader {
			c = h.time(name, block.Decode(value))
		}
		if c.isPassedOn() {
			h.kept += pos - start
			s.keep(start, pos)
		}
		start = pos
	}
	return nil
}

func (s *session) keep(from, to int) {
	if n := len(s.spans); n > 0 && s.spans[n-1].to == from {
		s.spans[n-1].to = to
		return
	}
	s.spans = append(s.spans, span{from, to})
}

// message makes the message that a SEND asks for. It copies header block and body, in one piece of
// memory, except a body that the reader gave away.
func (s *session) message(f *frames.Frame, h *sendHeaders, t *target) (*broker.Message, error) {
	m := &broker.Message{
		Destination:  t.text,
		Priority:     4,
		Persistent:   true,
		HasLength:    f.HasLength,
		HasTimestamp: h.values[timestampHeader] != nil,
	}
	if err := readValues(f, h, m); err != nil {
		return nil, err
	}
	if h.times != nil {
		if err := s.readTimes(h, m); err != nil {
			return nil, err
		}
	}
	size := h.kept
	if !f.Owned {
		size += len(f.Body)
	}
	var memory []byte
	if size > 0 {
		memory = make([]byte, 0, size)
	}
	for _, sp := range s.spans {
		memory = append(memory, f.Header.Raw[sp.from:sp.to]...)
	}
	m.Header = frames.Header{Raw: memory[:h.kept:h.kept], Dialect: f.Header.Dialect, HasCR: f.Header.HasCR}
	if f.Owned {
		m.Body = f.Body
	} else {
		m.Body = append(memory[h.kept:], f.Body...)
	}
	if h.forwarded {
		m.Header = without(m.Header, delayToHeader, schedule.HeaderDeliveryTime.String())
	}
	if h.replyTo != "" {
		m.Header = withReplyTo(m.Header, h.replyTo)
	}
	return m, nil
}

// readValues reads what is no time of delivery. No number and no boolean has an escape in it.
func readValues(f *frames.Frame, h *sendHeaders, m *broker.Message) error {
	var ok bool
	if raw := h.values[priorityHeader]; raw != nil {
		if m.Priority, ok = parsePriority(string(raw)); !ok {
			return badHeader(f.Command, "priority", f.Header.Decode(raw), "a number from 0 to 9 is wanted")
		}
	}
	if raw := h.values[redeliveryLimitHeader]; len(raw) > 0 {
		limit, ok := parseLimit(string(raw))
		if !ok {
			return badLimit(f.Command, "redelivery-limit", f.Header.Decode(raw))
		}
		m.RedeliveryLimit, m.HasRedeliveryLimit = int32(limit), true
	}
	if raw := h.values[persistentHeader]; raw != nil {
		if m.Persistent, ok = parseBool(string(raw)); !ok {
			return badBool(f.Command, "persistent", f.Header.Decode(raw))
		}
	}
	if raw := h.values[groupHeader]; len(raw) > 0 {
		if len(raw) > maxID {
			return tooLong(f.Command, "JMSXGroupID", len(raw))
		}
		m.Group = f.Header.Decode(raw)
		// ActiveMQ: a negative number ends the group. What is no number is a property as others are.
		seq, err := strconv.ParseInt(string(h.values[groupSeqHeader]), 10, 64)
		m.GroupEnd = err == nil && seq < 0
	}
	if raw := h.values[dedupHeader]; len(raw) > 0 {
		if len(raw) > maxID {
			return tooLong(f.Command, "dedup-id", len(raw))
		}
		m.DedupID = f.Header.Decode(raw)
	}
	if raw := h.values[retainHeader]; len(raw) > 0 {
		switch string(raw) {
		case "set":
			m.Retain = broker.RetainSet
		case "remove":
			m.Retain = broker.RetainRemove
		default:
			return badHeader(f.Command, "retain", f.Header.Decode(raw), "set or remove is wanted")
		}
	}
	if raw := h.values[messageIDHeader]; raw != nil {
		if id := f.Header.Decode(raw); shownUserID(id) {
			m.UserID = id
		}
	}
	return nil
}
