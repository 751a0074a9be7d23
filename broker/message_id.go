package broker

import (
	"strconv"
	"strings"
)

// String returns the id as clients see it, such as "1f.2k3b9": shard and number
// in base 36, of letters that no dialect has to escape.
func (id MessageID) String() string { return string(id.AppendTo(nil)) }

// AppendTo appends the text of String to dst.
func (id MessageID) AppendTo(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(id.Shard), 36)
	dst = append(dst, '.')
	return strconv.AppendUint(dst, id.Seq, 36)
}

// ParseMessageID reads what String wrote. Only the text that String would write is
// accepted, so that two texts never name one message.
func ParseMessageID(text string) (MessageID, bool) {
	shard, seq, ok := strings.Cut(text, ".")
	if !ok {
		return MessageID{}, false
	}
	s, err := strconv.ParseUint(shard, 36, 8)
	if err != nil {
		return MessageID{}, false
	}
	n, err := strconv.ParseUint(seq, 36, 64)
	if err != nil {
		return MessageID{}, false
	}
	id := MessageID{Shard: uint8(s), Seq: n}
	return id, id.String() == text
}
