package frames

import (
	"bytes"
	"strconv"
)

// AppendCommand appends the first line of a frame.
func AppendCommand(dst []byte, c Command) []byte {
	return append(append(dst, c.String()...), '\n')
}

// AppendHeader appends one header line, escaped as the version asks for. The name is not empty.
// What 1.0 cannot say is lost: in the value a line feed becomes a blank and a carriage return
// nothing, in the name they and a colon become underscores.
func AppendHeader(dst []byte, v Version, name, value string) []byte {
	dst = append(appendEscaped(dst, v, inName, name), ':')
	return append(appendEscaped(dst, v, inValue, value), '\n')
}

// AppendRawHeader appends one header line with octets that are escaped already.
func AppendRawHeader(dst []byte, name string, value []byte) []byte {
	dst = append(append(dst, name...), ':')
	return append(append(dst, value...), '\n')
}

// AppendTo appends the block as a session of version to reads it. It is a plain copy
// where that reads the same: within a version, between 1.1 and 1.2 unless HasCR, and
// between 1.0 and the others where nothing is escaped or would have to be. Otherwise each line is
// written anew, at these losses:
//
//   - 1.2 to 1.1, which has no escape for a carriage return: it is dropped in a value and becomes an
//     underscore in a name;
//   - 1.1 and 1.2 to 1.0: in a value a line feed becomes a blank and a carriage return is
//     dropped, in a name they and a colon become underscores.
func (h Header) AppendTo(dst []byte, to Version) []byte {
	if h.readsTheSame(to) {
		return append(dst, h.Raw...)
	}
	return h.convert(dst, to)
}

func (h Header) readsTheSame(to Version) bool {
	switch {
	case h.Dialect == to:
		return true
	case h.HasCR:
		return false
	case h.Dialect != V10 && to != V10:
		return true
	case bytes.IndexByte(h.Raw, '\\') >= 0:
		return false
	case to == V10:
		return true
	}
	// Each line has one colon, unless there are some in values, which are to be escaped.
	return bytes.Count(h.Raw, []byte{':'}) == h.Len()
}

func (h Header) convert(dst []byte, to Version) []byte {
	for name, value, pos := h.Next(0); pos >= 0; name, value, pos = h.Next(pos) {
		dst = append(h.convertPart(dst, to, inName, name), ':')
		dst = append(h.convertPart(dst, to, inValue, value), '\n')
	}
	return dst
}

func (h Header) convertPart(dst []byte, to Version, in part, raw []byte) []byte {
	switch {
	case h.Dialect == V10:
		return appendEscaped(dst, to, in, raw)
	case to == V10:
		return appendLiteral(dst, h.Dialect, in, raw)
	case to == V12:
		return appendCREscaped(dst, raw)
	default:
		return appendWithoutCR(dst, in, raw)
	}
}

// appendLiteral appends what raw, of a version with escapes, says, as 1.0 writes it.
func appendLiteral(dst []byte, from Version, in part, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' && i+1 < len(raw) {
			if octet, ok := unescape(from, raw[i+1]); ok {
				c = octet
				i++
			}
		}
		dst = appendOctet(dst, V10, in, c)
	}
	return dst
}

// appendCREscaped appends raw of 1.1 for 1.2: nothing but carriage returns is touched, so
// that a raw colon stays raw.
func appendCREscaped(dst, raw []byte) []byte {
	for _, c := range raw {
		if c == '\r' {
			dst = append(dst, '\\', 'r')
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// appendWithoutCR appends raw of 1.2 for 1.1: nothing but carriage returns is touched.
func appendWithoutCR(dst []byte, in part, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] != '\\' || i+1 == len(raw):
			dst = append(dst, raw[i])
			continue
		case raw[i+1] != 'r':
			dst = append(dst, raw[i], raw[i+1])
		case in == inName:
			dst = append(dst, lost)
		}
		i++
	}
	return dst
}

// AppendBody appends the end of a frame: the blank line, the body, and NUL.
func AppendBody(dst, body []byte) []byte {
	dst = append(append(dst, '\n'), body...)
	return append(dst, 0)
}

// AppendFrame appends a whole frame for a session of version v, to its NUL. A body
// that holds NUL gets a content-length if the frame has none.
func AppendFrame(dst []byte, v Version, f *Frame) []byte {
	if f.Command.literal() {
		v = V10
	}
	dst = AppendCommand(dst, f.Command)
	// STOMP 1.2 Header content-length: a body that holds NUL needs one.
	if bytes.IndexByte(f.Body, 0) >= 0 {
		if _, ok := f.Header.GetRaw(contentLength); !ok {
			dst = append(dst, contentLength+":"...)
			dst = append(strconv.AppendInt(dst, int64(len(f.Body)), 10), '\n')
		}
	}
	dst = f.Header.AppendTo(dst, v)
	return AppendBody(dst, f.Body)
}
