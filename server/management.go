package server

import (
	"errors"
	"strconv"
	"strings"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
	"footfall/schedule"
)

// ActiveMQ's management of the schedule: a SEND to this name, with a command in this header.
const (
	managementName = "ActiveMQ.Scheduler.Management"
	actionHeader   = "AMQ_SCHEDULER_ACTION"
)

// manage reads a SEND that is a command to the schedule. It is not stored, and has no body that counts.
func (s *session) manage(f *frames.Frame, h *sendHeaders, action string) error {
	if s.shared.options.NoScheduleManagement {
		return refusal(kindDenied, "SEND with %s %s: the schedule is not managed by messages here (schedule.management)", actionHeader, quote(action))
	}
	if id := h.values[transactionHeader]; id != nil {
		return refusal(kindTransaction, "SEND with %s %s in transaction %s: the schedule is managed at once only",
			actionHeader, quote(action), quote(f.Header.Decode(id)))
	}
	if err := s.mayManage(); err != nil {
		return err
	}
	if err := s.refuseLater(h, action); err != nil {
		return err
	}
	op, err := s.command(f, h, action)
	if err != nil {
		return err
	}
	s.add(f, op)
	s.bytes += len(op.Schedule.ID) + len(op.Schedule.ReplyTo.Name)
	return nil
}

// mayManage asks for the rights to command the schedule. They are those to one topic, however the command spelled its name and of whatever
// kind it was: else a rule about the topic could be gone round.
func (s *session) mayManage() error {
	topic := broker.Address{Kind: broker.Topic, Name: managementName}
	for _, action := range [...]auth.Action{auth.Send, auth.Manage} {
		if err := s.authorize(action, topic, topic.String()); err != nil {
			return err
		}
	}
	return nil
}

// refuseLater refuses a command that is to be delayed: there are none.
func (s *session) refuseLater(h *sendHeaders, action string) error {
	if h.times == nil {
		return nil
	}
	h.times.Drop(schedule.HeaderDeliveryTime)
	plan, err := h.times.Resolve(s.clock(), s.shared.options.Schedule)
	if err != nil {
		return s.badTimes(err)
	}
	if plan.Kind != schedule.AtOnce {
		return refusal(kindHeader, "SEND with %s %s and %s: the schedule is managed at once only", actionHeader, quote(action), plan.Header)
	}
	return nil
}

// command reads what is asked of the schedule.
func (s *session) command(f *frames.Frame, h *sendHeaders, action string) (broker.Op, error) {
	op := broker.Op{Schedule: new(broker.ScheduleOp)}
	var err error
	switch action {
	case "REMOVE":
		op.Kind = broker.OpCancel
		if op.Schedule.ID, _ = f.Header.Get("scheduledJobId"); op.Schedule.ID == "" {
			return op, lacks(action, "scheduledJobId")
		}
		return op, nil
	case "REMOVEALL":
		op.Kind = broker.OpCancelAll
	case "BROWSE":
		op.Kind = broker.OpBrowseSchedule
		if op.Schedule.ReplyTo, err = s.replyTo(f, h, action); err != nil {
			return op, err
		}
	default:
		return op, badHeader(f.Command, actionHeader, action, "BROWSE, REMOVE or REMOVEALL is wanted")
	}
	op.Schedule.From, op.Schedule.Until, err = actionSpan(f)
	return op, err
}

func lacks(action, header string) error {
	return refusal(kindHeader, "SEND with %s %s without %s header", actionHeader, quote(action), header)
}

// replyTo returns where the answers to a command go. Who asks must be allowed to send there.
func (s *session) replyTo(f *frames.Frame, h *sendHeaders, action string) (broker.Address, error) {
	raw := h.values[replyToHeader]
	if raw == nil {
		return broker.Address{}, lacks(action, "reply-to")
	}
	t, err := s.sendTarget(f.Header, raw)
	if err != nil {
		return broker.Address{}, under("reply-to", err)
	}
	if t.parts != nil {
		return broker.Address{}, refusal(broker.KindDestination, "reply-to: destination %s is composite", quote(t.text))
	}
	return t.address, nil
}

// actionSpan reads the times of delivery that a command is about. A bound that is missing is none. (ActiveMQ ignores
// one that comes alone, and so REMOVEALL with an end would remove everything.)
func actionSpan(f *frames.Frame) (from, until int64, err error) {
	const first, last = "ACTION_START_TIME", "ACTION_END_TIME"
	if from, err = actionTime(f, first, 0); err != nil {
		return 0, 0, err
	}
	if until, err = actionTime(f, last, schedule.MaxInstant); err != nil {
		return 0, 0, err
	}
	if from > until {
		return 0, 0, refusal(kindHeader, "SEND with %s %d after %s %d", first, from, last, until)
	}
	return from, until, nil
}

// actionTime reads a time in milliseconds since the epoch. Clients that mean no bound write
// the greatest number of their language, so that what is too large is the last time that there is.
func actionTime(f *frames.Frame, name string, missing int64) (int64, error) {
	text, ok := f.Header.Get(name)
	if !ok {
		return missing, nil
	}
	n, err := strconv.ParseInt(strings.Trim(text, " \t"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, badHeader(f.Command, name, text, "a time in milliseconds since the epoch is wanted")
	}
	return min(max(n, 0), schedule.MaxInstant), nil
}
