package node

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"footfall/broker"
	"footfall/cmd/footfall/internal/config"
)

// Redelivery is what an item of the list of destinations says of messages that consumers do not take. Its fields hold what was
// written, empty for nothing.
type Redelivery struct {
	Delay, BackOff, Multiplier, MaxDelay, Jitter, Limit, ErrorDestination, AckTimeout string
}

// theDefault in the place of a value says that there is none, as if no item had the setting.
const theDefault = "default"

func (r *Redelivery) settings() []config.Setting {
	return []config.Setting{
		config.Text(&r.Delay, "redelivery-delay", "", "duration up to ten years, none, or default",
			"How long a message waits that a consumer refused, whatever consumers ask for but in a NACK.", orDefault(delay)),
		config.Choice(&r.BackOff, "redelivery-backoff", "",
			"How that delay grows from failure to failure: not at all, by itself, or by a factor.", "none", "linear", "exponential", theDefault),
		config.Text(&r.Multiplier, "redelivery-multiplier", "", "number, 1.0 to 1000.0, or default",
			"The factor of an exponential back-off, by default 2.", orDefault(multiplier)),
		config.Text(&r.MaxDelay, "redelivery-max-delay", "", "duration up to ten years, none, or default",
			"The greatest delay that a back-off leads to.", orDefault(ttl)),
		config.Text(&r.Jitter, "redelivery-jitter", "", "number, 0.0 to 1.0, or default",
			"By how much of itself a delay is lengthened at most, differently for each message.", orDefault(jitter)),
		config.Text(&r.Limit, "redelivery-limit", "", "number, 0 to 65534, none, or default",
			"After how many failures a message still comes again, whatever senders and consumers ask for. The next one makes it a dead letter.", orDefault(limit)),
		config.Text(&r.ErrorDestination, "error-destination", "", "/queue/NAME or /topic/NAME, none, or default",
			"Where dead letters go; `{name}` stands for the name of the destination. `none` deletes them. The default is `/queue/DLQ.{name}`.",
			orDefault(errorDestination)),
		config.Text(&r.AckTimeout, "ack-timeout", "", "duration up to ten years, none, or default",
			"How long a consumer may keep a message without acknowledging it, whatever it asks for. Then that failed, and the message is taken back.", orDefault(ttl)),
	}
}

func orDefault(valid func(string) error) func(string) error {
	return func(text string) error {
		if text == theDefault {
			return nil
		}
		return valid(text)
	}
}

func delay(text string) error {
	if text == none {
		return nil
	}
	_, err := parseDelay(text)
	return err
}

func multiplier(text string) error {
	_, err := parseFactor(text, 1, broker.MaxMultiplier)
	return err
}

func jitter(text string) error {
	_, err := parseFactor(text, 0, 1)
	return err
}

// parseFactor reads a number in decimal digits.
func parseFactor(text string, low, high float64) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" || n < low || n > high {
		return 0, fmt.Errorf("must be a number from %v to %v, as in 1.5", low, high)
	}
	return n, nil
}

func limit(text string) error {
	_, err := parseLimit(text)
	return err
}

func parseLimit(text string) (int, error) {
	if text == none {
		return broker.NoRedeliveryLimit, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > broker.MaxRedeliveryLimit {
		return 0, fmt.Errorf("must be a number from 0 to %d, or none", broker.MaxRedeliveryLimit)
	}
	return int(n), nil
}

func errorDestination(text string) error {
	_, err := broker.ParseErrorDestination(text)
	return err
}

// apply gives a policy what r, whose values were checked, says.
func (r *Redelivery) apply(p *broker.Policy) {
	for _, s := range broker.PolicySettings() {
		switch text := r.text(s); text {
		case "":
		case theDefault:
			p.Reset = append(p.Reset, s)
		default:
			r.set(p, s, text)
		}
	}
}

func (r *Redelivery) set(p *broker.Policy, s broker.PolicySetting, text string) {
	switch to := &p.Redelivery; s {
	case broker.PolicyRedeliveryDelay:
		var d time.Duration
		if text != none {
			d, _ = parseDelay(text)
		}
		to.Delay = &d
	case broker.PolicyRedeliveryBackOff:
		to.BackOff = map[string]broker.BackOff{
			"none": broker.BackOffNone, "linear": broker.BackOffLinear, "exponential": broker.BackOffExponential,
		}[text]
	case broker.PolicyRedeliveryMultiplier:
		to.Multiplier, _ = parseFactor(text, 1, broker.MaxMultiplier)
	case broker.PolicyRedeliveryMaxDelay:
		d, _ := parseTTL(text)
		to.MaxDelay = &d
	case broker.PolicyRedeliveryJitter:
		n, _ := parseFactor(text, 0, 1)
		to.Jitter = &n
	case broker.PolicyRedeliveryLimit:
		n, _ := parseLimit(text)
		to.Limit = &n
	case broker.PolicyErrorDestination:
		p.ErrorDestination, _ = broker.ParseErrorDestination(text)
	case broker.PolicyAckTimeout:
		d, _ := parseTTL(text)
		p.AckTimeout = &d
	}
}

// text is what was written for a setting of redelivery, empty for others.
func (r *Redelivery) text(s broker.PolicySetting) string {
	switch s {
	case broker.PolicyRedeliveryDelay:
		return r.Delay
	case broker.PolicyRedeliveryBackOff:
		return r.BackOff
	case broker.PolicyRedeliveryMultiplier:
		return r.Multiplier
	case broker.PolicyRedeliveryMaxDelay:
		return r.MaxDelay
	case broker.PolicyRedeliveryJitter:
		return r.Jitter
	case broker.PolicyRedeliveryLimit:
		return r.Limit
	case broker.PolicyErrorDestination:
		return r.ErrorDestination
	case broker.PolicyAckTimeout:
		return r.AckTimeout
	}
	return ""
}
