package broker

import (
	"strings"

	"footfall/selector"
)

// properties shows a message to selectors: JMS' names for what STOMP has in headers, the headers that the broker
// writes, and all of the sender's, which are text. For one goroutine.
type properties struct {
	m           *Message
	destination string // the usual form of its address
	deliveries  uint32 // earlier ones
	redelivered bool
}

// ownProperties are the names that are not taken from the sender's headers as they are.
var ownProperties = [...]string{
	"JMSPriority", "JMSTimestamp", "JMSMessageID", "JMSCorrelationID", "JMSType", "JMSReplyTo", "JMSDestination", "JMSExpiration",
	"JMSDeliveryMode", "JMSRedelivered", "JMSDeliveryTime", "JMSXDeliveryCount", "JMSXGroupID", "JMSXGroupSeq",
	"message-id", "destination", "timestamp", "redelivered", "expires", "deliver-at", "scheduledJobId",
}

// Property returns the value of a name, of which the first header counts.
func (p *properties) Property(name string) selector.Value {
	m := p.m
	switch name {
	case "JMSPriority":
		return selector.Int(int64(m.Priority))
	case "JMSTimestamp", "timestamp":
		if m.HasTimestamp {
			return p.header("timestamp")
		}
		return selector.Int(m.Timestamp)
	case "JMSMessageID", "message-id":
		if m.UserID != "" {
			return selector.Text(m.UserID)
		}
		return selector.Text(m.ID.String())
	case "JMSCorrelationID":
		return p.header("correlation-id")
	case "JMSType":
		return p.header("type")
	case "JMSReplyTo":
		return p.header("reply-to")
	case "JMSDestination", "destination":
		return selector.Text(p.destination)
	case "JMSExpiration":
		return selector.Int(m.Expires) // JMS: 0 is never
	case "JMSDeliveryMode":
		// The absence of the header is NON_PERSISTENT to JMS clients.
		if persistent, ok := m.Header.Get("persistent"); ok && (persistent == "1" || strings.EqualFold(persistent, "true")) {
			return selector.Text("PERSISTENT")
		}
		return selector.Text("NON_PERSISTENT")
	case "JMSRedelivered":
		return selector.Bool(p.redelivered)
	case "redelivered":
		if !p.redelivered {
			return selector.Value{} // the header is on redeliveries only
		}
		return selector.Bool(true)
	case "JMSDeliveryTime":
		if m.DeliverAt != 0 {
			return selector.Int(m.DeliverAt)
		}
		return p.Property("JMSTimestamp")
	case "JMSXDeliveryCount":
		return selector.Int(int64(p.deliveries) + 1)
	case "JMSXGroupID":
		if v, ok := m.Header.Get("JMSXGroupID"); ok {
			return selector.Text(v)
		}
		return p.header("message_group")
	case "expires":
		if m.Expires == 0 {
			return selector.Value{}
		}
		return selector.Int(m.Expires)
	case "deliver-at":
		if m.DeliverAt == 0 {
			return selector.Value{}
		}
		return selector.Int(m.DeliverAt)
	case "scheduledJobId":
		if m.DeliverAt == 0 {
			return selector.Value{}
		}
		return selector.Text(m.ScheduledID)
	}
	return p.header(name)
}

func (p *properties) header(name string) selector.Value {
	if v, ok := p.m.Header.Get(name); ok {
		return selector.Text(v)
	}
	return selector.Value{}
}

// NextName walks over the names that have values.
func (p *properties) NextName(pos int) (name string, next int) {
	if pos < len(ownProperties) {
		return ownProperties[pos], pos + 1
	}
	h := p.m.Header
	raw, _, next := h.Next(pos - len(ownProperties))
	if next < 0 {
		return "", -1
	}
	return h.Decode(raw), next + len(ownProperties)
}

// Body returns the body.
func (p *properties) Body() []byte { return p.m.Body }
