package server

import (
	"errors"
	"slices"

	"footfall/broker"
	"footfall/frames"
	"footfall/schedule"
)

// delayToHeader names where a SEND to a delay queue goes, in the pattern for JMS providers that have no
// delays. The time is that of schedule.HeaderDeliveryTime.
const delayToHeader = "JMS_DESTINATION"

// time notes a header that says when the message is due or how long it lives, and tells what becomes of it.
func (h *sendHeaders) time(name []byte, value string) class {
	if h.times == nil {
		h.times = new(schedule.Request)
	}
	t, _ := schedule.Lookup(name)
	h.times.Set(t, value)
	// Whether DELIVERY_TIME is a request shows when the destination is known.
	if t.IsRequest() && t != schedule.HeaderDeliveryTime {
		return droppedHeader
	}
	return passedHeader
}

// forward returns where a SEND to a delay queue goes. One that has neither of the two headers is for the queue itself.
func (s *session) forward(f *frames.Frame, h *sendHeaders, queue *target) (*target, error) {
	to, named := f.Header.GetRaw(delayToHeader)
	timed := h.times != nil && h.times.Has(schedule.HeaderDeliveryTime)
	switch {
	case !named && !timed:
		return queue, nil
	case !named:
		return nil, incomplete(queue, delayToHeader)
	case !timed:
		return nil, incomplete(queue, schedule.HeaderDeliveryTime.String())
	}
	h.forwarded = true
	t, err := s.sendTarget(f.Header, to)
	return t, under(delayToHeader, err)
}

func incomplete(queue *target, header string) error {
	return refusal(kindHeader, "SEND to the delay queue %s without %s header", quote(queue.text), header)
}

// without returns a block without the headers of these names. It takes the memory of h.
func without(h frames.Header, names ...string) frames.Header {
	kept, start := h.Raw[:0], 0
	for name, _, pos := h.Next(0); pos >= 0; name, _, pos = h.Next(pos) {
		if !slices.Contains(names, string(name)) {
			kept = append(kept, h.Raw[start:pos]...)
		}
		start = pos
	}
	h.Raw = kept
	return h
}

// readTimes reads when a message is due and how long it lives. A time from now counts from when the broker
// takes the SEND, in a transaction from COMMIT; here it is checked.
func (s *session) readTimes(h *sendHeaders, m *broker.Message) error {
	if !h.forwarded {
		h.times.Drop(schedule.HeaderDeliveryTime)
	}
	plan, err := h.times.Resolve(s.clock(), s.shared.options.Schedule)
	if err != nil {
		return s.badTimes(err)
	}
	life, err := h.times.Lifetime()
	if err != nil {
		return s.badTimes(err)
	}
	switch plan.Kind {
	case schedule.AtOnce:
	case schedule.After:
		m.Delay = plan.Delay
	case schedule.At:
		m.DeliverAt = plan.At
	case schedule.OnSchedule, schedule.Repeating:
		kept := plan
		m.Plan = &kept
	}
	// A chosen name counts for a message that is due at once, too: it takes the place of one that waits.
	m.ScheduledID, m.ChosenID = plan.ID, plan.ID != ""
	m.Expires, m.TTL = life.Expires, life.TTL
	return nil
}

// badTimes is the answer to times that cannot be kept. The errors name header, value and place.
func (s *session) badTimes(err error) error {
	var header *schedule.HeaderError
	var conflict *schedule.ConflictError
	if errors.As(err, &header) || errors.As(err, &conflict) {
		return refusal(kindHeader, "SEND with %s", err)
	}
	s.shared.lines.line("schedule", s.clock(), s.shared.options.Log.Error, "no decision on a schedule", "error", err)
	return err
}
