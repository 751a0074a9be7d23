package node

import (
	"errors"
	"strconv"

	"footfall/broker"
	"footfall/cmd/footfall/internal/config"
)

// Quota is what an item of the list of destinations says of how much there may be. Its fields hold what was written, empty for
// nothing.
type Quota struct {
	MaxMessages, MaxBytes, MaxMessageSize, Overflow, SlowConsumer string
}

func (q *Quota) settings() []config.Setting {
	return []config.Setting{
		config.Text(&q.MaxMessages, "max-messages", "", "number, 1 or more, none, or default",
			"How many messages a queue, or each durable subscription of a topic, has at most, with consumers or waiting for one.", orDefault(messages)),
		config.Text(&q.MaxBytes, "max-bytes", "", "size, 1B or more, none, or default",
			"How many octets these have.", orDefault(size)),
		config.Text(&q.MaxMessageSize, "max-message-size", "", "size, 1B or more, none, or default",
			"How many octets of headers and body a message has.", orDefault(size)),
		config.Choice(&q.Overflow, "overflow", "",
			"What happens when there is no room. `block` has senders wait for `limits.block-timeout`, and then refuses; `reject` refuses at once; `drop-oldest` moves the oldest message that nobody has to the error destination.",
			"block", "reject", "drop-oldest", theDefault),
		config.Choice(&q.SlowConsumer, "slow-consumer", "",
			"Of topics: what happens when a subscriber, other than a durable subscription, has more coming than `limits.topic-bytes`. `block` has the topic's producers wait, and disconnects it when it takes nothing for `limits.slow-consumer-timeout`; `drop-oldest` and `drop-newest` keep messages away from it; `disconnect` ends its connection at once.",
			"block", "drop-oldest", "drop-newest", "disconnect", theDefault),
	}
}

func messages(text string) error {
	_, err := parseMessages(text)
	return err
}

// parseMessages reads a number of messages, 0 for without end.
func parseMessages(text string) (int64, error) {
	if text == none {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, errors.New("must be a number, 1 or more, or none")
	}
	return n, nil
}

func size(text string) error {
	_, err := parseSize(text)
	return err
}

// parseSize reads a size, 0 for without end.
func parseSize(text string) (int64, error) {
	if text == none {
		return 0, nil
	}
	n, err := config.ParseSize(text)
	if err == nil && n == 0 {
		err = errors.New("must be more than 0, or none")
	}
	return n, err
}

// apply gives a policy what q, whose values were checked, says.
func (q *Quota) apply(p *broker.Policy) {
	for _, s := range broker.PolicySettings() {
		text := q.text(s)
		switch {
		case text == "":
		case text == theDefault:
			p.Reset = append(p.Reset, s)
		case s == broker.PolicyMaxMessages:
			n, _ := parseMessages(text)
			p.MaxMessages = &n
		case s == broker.PolicyMaxBytes:
			n, _ := parseSize(text)
			p.MaxBytes = &n
		case s == broker.PolicyMaxMessageSize:
			n, _ := parseSize(text)
			p.MaxMessageSize = &n
		case s == broker.PolicyOverflow:
			p.Overflow = map[string]broker.Overflow{
				"block": broker.OverflowBlock, "reject": broker.OverflowReject, "drop-oldest": broker.OverflowDropOldest,
			}[text]
		case s == broker.PolicySlowConsumer:
			p.Slow = map[string]broker.SlowConsumer{
				"block": broker.SlowBlock, "drop-oldest": broker.SlowDropOldest, "drop-newest": broker.SlowDropNewest, "disconnect": broker.SlowDisconnect,
			}[text]
		}
	}
}

// text is what was written for a setting of quotas, empty for others.
func (q *Quota) text(s broker.PolicySetting) string {
	switch s {
	case broker.PolicyMaxMessages:
		return q.MaxMessages
	case broker.PolicyMaxBytes:
		return q.MaxBytes
	case broker.PolicyMaxMessageSize:
		return q.MaxMessageSize
	case broker.PolicyOverflow:
		return q.Overflow
	case broker.PolicySlowConsumer:
		return q.SlowConsumer
	}
	return ""
}
