package server

import (
	"strconv"
	"strings"

	"footfall/broker"
)

// An ack id, the ack header of a MESSAGE, is connection, subscription and number of the
// delivery, in base 36 with hyphens between: 1f-2-9c. A message id has a dot in
// it, see broker.MessageID, and an id that a sender chose begins with ID: and so no two kinds can be taken for each
// other.
const userIDPrefix = "ID:"

// parseBase36 reads what strconv.AppendUint wrote, and nothing else: no sign, no capitals, no
// leading zeros, so that two texts never name one delivery.
func parseBase36(text string) (uint64, bool) {
	if text == "" || len(text) > 1 && text[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(text, 36, 64)
	return n, err == nil
}

// parseAckID reads an ack id of the connection conn.
func parseAckID(conn uint64, text string) (subscription, number uint64, ok bool) {
	c, rest, _ := strings.Cut(text, "-")
	s, n, _ := strings.Cut(rest, "-")
	id, ok1 := parseBase36(c)
	subscription, ok2 := parseBase36(s)
	number, ok3 := parseBase36(n)
	return subscription, number, ok1 && ok2 && ok3 && id == conn
}

// nameDelivery fills in which delivery a client names with text, decoded. Sub narrows ids of messages to
// one subscription.
func nameDelivery(conn uint64, text, sub string) broker.AckOp {
	op := broker.AckOp{Text: text}
	if strings.HasPrefix(text, userIDPrefix) {
		op.UserID, op.Sub = text, sub
		return op
	}
	if id, ok := broker.ParseMessageID(text); ok {
		op.MessageID, op.Sub = id, sub
		return op
	}
	if s, n, ok := parseAckID(conn, text); ok && s > 0 && n > 0 {
		op.SubNumber, op.Number = s, n
		return op
	}
	op.Invalid = text
	return op
}

// shownUserID says whether a message id that a sender chose can be shown to receivers: it begins
// with ID:, is not too long, and holds nothing that a version would have to escape but colons, which
// all accept as they are and some clients do not decode.
func shownUserID(text string) bool {
	return strings.HasPrefix(text, userIDPrefix) && len(text) > len(userIDPrefix) && len(text) <= maxID && !strings.ContainsAny(text, "\\\r\n")
}
