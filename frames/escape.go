package frames

// unescape returns the octet that a backslash and c stand for in a version.
func unescape(v Version, c byte) (octet byte, ok bool) {
	// STOMP 1.1 Value Encoding: \n, \c and \\. STOMP 1.2 Value Encoding: \r too.
	switch {
	case v == V10:
	case c == 'n':
		return '\n', true
	case c == 'c':
		return ':', true
	case c == '\\':
		return '\\', true
	case c == 'r' && v == V12:
		return '\r', true
	}
	return 0, false
}

// appendUnescaped appends raw without its escapes. What is no escape of the version stays.
func appendUnescaped(dst []byte, v Version, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) {
			if c, ok := unescape(v, raw[i+1]); ok {
				dst = append(dst, c)
				i++
				continue
			}
		}
		dst = append(dst, raw[i])
	}
	return dst
}

// part is one of the two halves of a header line.
type part bool

const (
	inName  part = true
	inValue part = false
)

// lost stands for an octet of a name that a version cannot write. Were it left out,
// a name that is no header of ours could become one, such as content-length.
const lost = '_'

// special says that an octet may not stand for itself in a header of some version.
func special(c byte) bool { return c == '\\' || c == '\n' || c == ':' || c == '\r' }

// appendEscaped appends text as a version writes it.
func appendEscaped[T string | []byte](dst []byte, v Version, in part, text T) []byte {
	plain := 0
	for i := 0; i < len(text); i++ {
		if !special(text[i]) {
			continue
		}
		dst = append(dst, text[plain:i]...)
		dst = appendOctet(dst, v, in, text[i])
		plain = i + 1
	}
	return append(dst, text[plain:]...)
}

// appendOctet appends one octet as a version writes it.
//
// STOMP 1.0 has no escapes, so there is a loss: in a value a line feed becomes a blank and a
// carriage return nothing, lest either begin a new header line; in a name they and a colon
// become underscores.
//
// STOMP 1.1 has no escape for a carriage return, which is data there and stands for itself.
func appendOctet(dst []byte, v Version, in part, c byte) []byte {
	if v == V10 {
		switch {
		case in == inName && (c == '\n' || c == '\r' || c == ':'):
			return append(dst, lost)
		case c == '\n':
			return append(dst, ' ')
		case c == '\r':
			return dst
		}
		return append(dst, c)
	}
	switch {
	case c == '\\':
		return append(dst, '\\', '\\')
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == ':':
		return append(dst, '\\', 'c')
	case c == '\r' && v == V12:
		return append(dst, '\\', 'r')
	}
	return append(dst, c)
}
