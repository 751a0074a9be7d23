package server

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"footfall/broker"
	"footfall/frames"
	"footfall/schedule"
)

// parseLimit reads a limit of redeliveries: 0 or more, or -1 for none. What is above broker.MaxRedeliveryLimit is none.
func parseLimit(text string) (int, bool) {
	if text == "-1" {
		return broker.NoRedeliveryLimit, true
	}
	n, ok := parseCount(text)
	if n > broker.MaxRedeliveryLimit {
		n = broker.NoRedeliveryLimit
	}
	return n, ok
}

func badLimit(c frames.Command, name, value string) error {
	return badHeader(c, name, value, "a number is wanted, 0 or more, or -1 for no limit")
}

// delayHeader reads a header that is a length of time, in milliseconds or with a unit, up to ten years; nil when it is missing
// or empty. Negative ones are 0.
func delayHeader(f *frames.Frame, name string) (*time.Duration, error) {
	text, ok := given(f, name)
	if !ok {
		return nil, nil
	}
	d, err := schedule.ParseDelay(text)
	var bad *schedule.Error
	switch {
	case errors.As(err, &bad):
		return nil, badHeader(f.Command, name, text, "at position "+strconv.Itoa(bad.Offset+1)+" "+bad.Reason)
	case err != nil:
		return nil, badHeader(f.Command, name, text, err.Error())
	}
	d = max(d, 0)
	return &d, nil
}

// given returns the value of a header, if it has one that is not empty.
func given(f *frames.Frame, name string) (text string, ok bool) {
	raw, ok := f.Header.GetRaw(name)
	return f.Header.Decode(raw), ok && len(raw) > 0
}

// readRedelivery reads what a SUBSCRIBE wants of messages that its consumer does not take; nil for nothing.
func readRedelivery(f *frames.Frame) (*broker.Redelivery, error) {
	var r broker.Redelivery
	var errs [5]error
	r.Limit, errs[0] = limitHeader(f, "redelivery-limit", "activemq.maximumRedeliveries")
	r.Delay, errs[1] = delayHeader(f, "redelivery-delay")
	if r.Delay == nil && errs[1] == nil {
		r.Delay, errs[1] = delayHeader(f, "activemq.redeliveryDelay")
		r.First, errs[2] = delayHeader(f, "activemq.initialRedeliveryDelay")
		if r.Delay == nil {
			r.Delay = r.First
		}
	}
	r.MaxDelay, errs[3] = delayHeader(f, "activemq.maximumRedeliveryDelay") // -1 is none, and so is 0
	r.BackOff, r.Multiplier, errs[4] = activeMQBackOff(f)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if r == (broker.Redelivery{}) {
		return nil, nil
	}
	return &r, nil
}

// limitHeader reads the first of some headers that is there.
func limitHeader(f *frames.Frame, names ...string) (*int, error) {
	for _, name := range names {
		text, ok := given(f, name)
		if !ok {
			continue
		}
		n, ok := parseLimit(text)
		if !ok {
			return nil, badLimit(f.Command, name, text)
		}
		return &n, nil
	}
	return nil, nil
}

// activeMQMultiplier is ActiveMQ's factor where a client says nothing about it.
const activeMQMultiplier = 5

// activeMQBackOff reads how a client of ActiveMQ wants delays to grow. A factor of 1 or less is none.
func activeMQBackOff(f *frames.Frame) (broker.BackOff, float64, error) {
	const name = "activemq.backOffMultiplier"
	factor := float64(activeMQMultiplier)
	if text, ok := given(f, name); ok {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return 0, 0, badHeader(f.Command, name, text, "a number is wanted")
		}
		factor = min(max(n, 1), broker.MaxMultiplier)
	}
	on, err := boolHeader(f, "activemq.useExponentialBackOff")
	if err != nil || !on {
		return 0, 0, err
	}
	return broker.BackOffExponential, factor, nil
}

// readNack reads what a NACK asks for beside counting a failure; nil for nothing.
func readNack(f *frames.Frame) (*broker.NackOp, error) {
	var n broker.NackOp
	dead, err := boolHeader(f, "dead-letter")
	if err != nil {
		return nil, err
	}
	requeue, err := boolHeader(f, "requeue")
	if err != nil {
		return nil, err
	}
	_, said := given(f, "requeue")
	if dead && said && requeue {
		return nil, refusal(kindHeader, "%s with requeue:true and dead-letter:true, which contradict each other", f.Command)
	}
	n.Dead = dead || said && !requeue
	if err := readDelay(f, "delay", &n); err != nil {
		return nil, err
	}
	if n.Reason, _ = given(f, "reason"); len(n.Reason) > broker.MaxNackReason {
		n.Reason = strings.Clone(n.Reason[:broker.MaxNackReason])
	}
	if n == (broker.NackOp{}) {
		return nil, nil
	}
	return &n, nil
}

func readDelay(f *frames.Frame, name string, n *broker.NackOp) error {
	d, err := delayHeader(f, name)
	if d != nil {
		n.Delay, n.HasDelay = d.Milliseconds(), true
	}
	return err
}

// readRecover reads what a RECOVER, or a NACK with recover:true, asks for beside; nil for nothing.
func readRecover(f *frames.Frame) (*broker.NackOp, error) {
	var n broker.NackOp
	if err := readDelay(f, "redelivery-delay", &n); err != nil || !n.HasDelay {
		return nil, err
	}
	return &n, nil
}

// readExtend reads how much more time an ACK wants for its delivery, in milliseconds; 0 where it is an ordinary one.
func readExtend(f *frames.Frame) (int64, error) {
	const name = "extend"
	d, err := delayHeader(f, name)
	if err != nil || d == nil {
		return 0, err
	}
	if *d <= 0 {
		text, _ := given(f, name)
		return 0, badHeader(f.Command, name, text, "more than 0 is wanted")
	}
	if _, ok := f.Header.GetRaw("transaction"); ok {
		return 0, refusal(kindTransaction, "ACK with extend in a transaction: it acknowledges nothing")
	}
	return d.Milliseconds(), nil
}
