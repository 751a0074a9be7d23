package frames

import (
	"bytes"
	"strings"
)

// Header is the header block of a frame: zero or more lines "name:value\n", in
// the order and with the octets of the wire, escaped by the rules of Dialect.
// Line ends are a single LF, a 1.0 value is trimmed; nothing else was changed.
// The zero value is an empty block.
type Header struct {
	Raw []byte
	// Dialect is the version by whose rules Raw is escaped; CONNECT, STOMP and
	// CONNECTED are literal and so have V10.
	Dialect Version
	// HasCR says that some value or name holds a carriage return, raw or escaped:
	// the only thing in which 1.1 and 1.2 differ.
	HasCR bool
}

// Next walks the block line by line, without allocation:
//
//	for name, value, pos := h.Next(0); pos >= 0; name, value, pos = h.Next(pos) {
//
// It returns the octets of the line that begins at pos, as on the wire, and where the
// next one begins; at the end of the block next is negative.
func (h Header) Next(pos int) (name, value []byte, next int) {
	if pos >= len(h.Raw) {
		return nil, nil, -1
	}
	rest := h.Raw[pos:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	line := rest[:end]
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return line, nil, pos + end + 1
	}
	return line[:colon], line[colon+1:], pos + end + 1
}

// Len is the number of lines.
func (h Header) Len() int { return bytes.Count(h.Raw, []byte{'\n'}) }

// Get returns the value of a header, decoded, and whether there is one. Names are
// compared exactly.
func (h Header) Get(name string) (value string, ok bool) {
	raw, ok := h.GetRaw(name)
	return h.Decode(raw), ok
}

// GetRaw returns the value of a header as it is on the wire, and whether there is one. The
// name is the decoded one. It does not allocate for names without colons and backslashes.
func (h Header) GetRaw(name string) (value []byte, ok bool) {
	// STOMP 1.2 Repeated Header Entries: only the first is the value.
	if strings.ContainsAny(name, ":\\\r\n") {
		return h.search(name)
	}
	// No escape stands for a character of such a name, so its octets on the wire are its own.
	for rest := h.Raw; len(rest) > len(name); {
		if rest[len(name)] == ':' && string(rest[:len(name)]) == name {
			value = rest[len(name)+1:]
			if end := bytes.IndexByte(value, '\n'); end >= 0 {
				value = value[:end:end]
			}
			return value, true
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		rest = rest[end+1:]
	}
	return nil, false
}

// search is GetRaw for names that may be written in several ways.
func (h Header) search(name string) (value []byte, ok bool) {
	for n, v, pos := h.Next(0); pos >= 0; n, v, pos = h.Next(pos) {
		if h.Decode(n) == name {
			return v, true
		}
	}
	return nil, false
}

// Decode returns octets of a name or value of the block without their escapes. What is no escape of
// the Dialect stays as it is.
func (h Header) Decode(raw []byte) string {
	if h.Dialect == V10 || bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return string(appendUnescaped(make([]byte, 0, len(raw)), h.Dialect, raw))
}
