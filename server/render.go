package server

import (
	"bytes"
	"strconv"

	"footfall/broker"
	"footfall/frames"
)

// rendering is what all MESSAGEs of a subscription have in common, as octets on the wire.
type rendering struct {
	head []byte // destination, unless each has its own, and the name of message-id
	tail []byte // the end of that line, subscription, and the beginning of ack
	ack  bool
	own  bool   // each has the destination that its SEND had
	seq  string // the header that has the number of a browsed message, empty for none
}

// newRendering prepares the MESSAGEs of a subscription. Destination, nil where each has its own, and shown, the subscription header or nil
// for none, are octets of the session itself and go back as they are. Conn is the connection's number.
func newRendering(v frames.Version, conn uint64, destination, shown []byte, mode broker.AckMode) rendering {
	// STOMP 1.2 MESSAGE ack: in the client modes only.
	r := rendering{ack: v == frames.V12 && mode != broker.AckAuto, own: destination == nil}
	if !r.own {
		r.head = frames.AppendRawHeader(nil, "destination", destination)
	}
	r.head = append(r.head, "message-id:"...)
	r.tail = append(r.tail, '\n')
	if shown != nil {
		r.tail = frames.AppendRawHeader(r.tail, "subscription", shown)
	}
	if r.ack {
		r.tail = append(r.tail, "ack:"...)
		r.tail = append(strconv.AppendUint(r.tail, conn, 36), '-')
	}
	return r
}

// appendBrowserEnd appends the MESSAGE without a body that ends what a browser is shown, up to its NUL.
func (r *rendering) appendBrowserEnd(dst []byte, out *broker.Output) []byte {
	dst = append(append(dst, "MESSAGE\n"...), r.head...)
	dst = append(dst, "browser-end."...)
	dst = strconv.AppendUint(dst, out.SubNumber, 36)
	tail := r.tail
	if r.ack {
		tail = tail[:bytes.LastIndexByte(tail, '\n')+1] // there is nothing to acknowledge
	}
	return append(append(dst, tail...), "browser:end\n\n\x00"...)
}

// appendMessage appends a MESSAGE for a session of version v up to its header block: our own headers first, each
// once, then the sender's in their order.
func (r *rendering) appendMessage(dst []byte, v frames.Version, out *broker.Output) []byte {
	m := out.Message
	dst = append(dst, "MESSAGE\n"...)
	// STOMP 1.2 content-length: a body that holds NUL needs it. Some clients take its presence for a sign of binary
	// content, so other bodies have it only if SEND had. The first place is for those that search the block for it.
	if m.HasLength || bytes.IndexByte(m.Body, 0) >= 0 {
		dst = append(dst, "content-length:"...)
		dst = append(strconv.AppendInt(dst, int64(len(m.Body)), 10), '\n')
	}
	if r.own {
		dst = frames.AppendHeader(dst, v, "destination", out.Destination)
	}
	dst = append(dst, r.head...)
	if m.UserID != "" && !out.HideUserID {
		dst = append(dst, m.UserID...)
	} else {
		dst = m.ID.AppendTo(dst)
	}
	dst = append(dst, r.tail...)
	if r.ack {
		dst = append(strconv.AppendUint(dst, out.SubNumber, 36), '-')
		dst = append(strconv.AppendUint(dst, out.Number, 36), '\n')
	}
	if out.Redelivered {
		dst = append(dst, "redelivered:true\nJMSXDeliveryCount:"...)
		dst = append(strconv.AppendUint(dst, uint64(out.Deliveries), 10), '\n')
	}
	if out.GroupFirst {
		dst = append(dst, "JMSXGroupFirstForConsumer:true\n"...)
	}
	if !m.HasTimestamp {
		dst = append(dst, "timestamp:"...)
		dst = append(strconv.AppendInt(dst, m.Timestamp, 10), '\n')
	}
	if out.Seq != 0 && r.seq != "" {
		dst = frames.AppendHeader(dst, v, r.seq, strconv.FormatUint(out.Seq, 10))
	}
	if m.DeliverAt != 0 {
		dst = appendTime(dst, m.DeliverAt)
		if m.ScheduledID != "" {
			dst = frames.AppendHeader(dst, v, "scheduledJobId", m.ScheduledID)
		}
	}
	return m.Header.AppendTo(dst, v)
}

func appendTime(dst []byte, at int64) []byte {
	dst = append(dst, "deliver-at:"...)
	return append(strconv.AppendInt(dst, at, 10), '\n')
}

// appendReceipt appends a RECEIPT up to its NUL.
func appendReceipt(dst []byte, v frames.Version, out *broker.Output) []byte {
	dst = append(dst, "RECEIPT\nreceipt-id:"...)
	// STOMP 1.2 RECEIPT: receipt-id is the value of receipt, octet for octet.
	dst = append(append(dst, out.Receipt...), '\n')
	if out.Duplicate {
		dst = append(dst, "duplicate:true\n"...)
	}
	if out.ScheduledID != "" {
		dst = frames.AppendHeader(dst, v, "scheduled-id", out.ScheduledID)
	}
	if out.DeliverAt != 0 {
		dst = appendTime(dst, out.DeliverAt)
	}
	return append(dst, '\n', 0)
}
