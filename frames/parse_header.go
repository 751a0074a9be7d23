package frames

import "bytes"

const contentLength = "content-length"

// readHeader reads header lines up to the blank line.
func (r *Reader) readHeader(end int) bool {
	for {
		i := bytes.IndexByte(r.buf[r.scan:end], '\n')
		stop := end
		if i >= 0 {
			stop = r.scan + i
		}
		n := stop - r.pos
		blank := n == 0 || n == 1 && r.buf[r.pos] == '\r' && r.stripCR
		if !blank && !r.checkLine(stop) {
			return false
		}
		r.scan = stop
		if i < 0 {
			return false
		}
		r.scan++
		if blank {
			r.pos = r.scan
			return r.endHeader()
		}
		if !r.takeLine(stop) {
			return false
		}
		r.headOctets += n + 1
		r.pos = r.scan
	}
}

// checkLine finds what is wrong with the line from pos to stop, also when it is not whole:
// NUL, or too long, whichever comes first.
func (r *Reader) checkLine(stop int) bool {
	// The length of a line that is one too many, by itself or with the lines before and its LF.
	excess := min(r.limits.HeaderLine+1, r.limits.HeaderBytes-r.headOctets)
	within := min(stop, max(r.scan, r.pos+excess-1))
	// STOMP 1.2 Augmented BNF: NUL ends a frame and is in no header.
	if i := bytes.IndexByte(r.buf[r.scan:within], 0); i >= 0 {
		return r.fail(KindHeader, "a blank line ends the header lines", "NUL in %s%s",
			r.where(r.lines+1), r.show(r.buf[r.pos:r.scan+i+1]))
	}
	switch {
	case stop-r.pos < excess:
		return true
	case excess == r.limits.HeaderLine+1:
		return r.failLimit("header line longer than", " octets", "limits.header-line", r.limits.HeaderLine,
			r.where(r.lines+1)+r.show(r.buf[r.pos:within]))
	}
	return r.failLimit("header lines of more than", " octets", "limits.header-bytes", r.limits.HeaderBytes,
		r.where(r.lines+1)+r.show(r.buf[r.pos:within]))
}

// takeLine adds the line from pos to stop to the block, normalized.
func (r *Reader) takeLine(stop int) bool {
	line := r.buf[r.pos:stop]
	// STOMP 1.2 Frames: the CR before the LF is part of the line end.
	if r.stripCR && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	colon := bytes.IndexByte(line, ':')
	switch {
	case r.lines == r.limits.Headers:
		return r.failLimit("more than", " header lines", "limits.headers", r.limits.Headers,
			r.where(r.lines+1)+r.show(line))
	case colon < 0:
		return r.fail(KindHeader, "a header line is name:value", "no colon in %s%s", r.where(r.lines+1), r.show(line))
	case colon == 0:
		return r.fail(KindHeader, "a header line is name:value", "empty name in %s%s", r.where(r.lines+1), r.show(line))
	}
	r.lines++
	begin, to := r.headEnd, r.headEnd
	value := line[colon+1:]
	if r.trim {
		// STOMP 1.0 Frames: its examples have blanks around values, which mean nothing.
		value = trimBlanks(value)
	}
	if to == r.pos && len(value) == len(line)-colon-1 {
		to += len(line)
	} else {
		to += copy(r.buf[to:], line[:colon+1])
		to += copy(r.buf[to:], value)
	}
	r.buf[to] = '\n'
	r.headEnd = to + 1
	// STOMP 1.2 Repeated Header Entries: the first counts.
	if !r.hasLength && colon == len(contentLength) && string(r.buf[begin:begin+colon]) == contentLength {
		r.hasLength = true
		r.lengthAt, r.lengthEnd = begin+colon+1, to
	}
	return true
}

func trimBlanks(value []byte) []byte {
	for len(value) > 0 && blank(value[0]) {
		value = value[1:]
	}
	for len(value) > 0 && blank(value[len(value)-1]) {
		value = value[:len(value)-1]
	}
	return value
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// endHeader checks the block as a whole, after the blank line.
func (r *Reader) endHeader() bool {
	block := r.buf[r.head:r.headEnd]
	if i := bytes.IndexByte(block, '\r'); i >= 0 {
		// STOMP 1.2 Augmented BNF: no CR in a header but at the line's end or escaped. In
		// STOMP 1.0 and 1.1 it is an octet like any other.
		if r.dialect == V12 {
			number, line := lineAt(block, i)
			return r.fail(KindHeader, "1.2 writes a carriage return as \\r", "carriage return in %s%s", r.where(number), r.show(line))
		}
		r.hasCR = true
	}
	if r.dialect != V10 && !r.checkEscapes(block) {
		return false
	}
	r.scan = r.pos
	r.stage = inBody
	return true
}

// checkEscapes finds escapes that the dialect does not have, in names and values.
func (r *Reader) checkEscapes(block []byte) bool {
	for i := 0; ; i += 2 {
		next := bytes.IndexByte(block[i:], '\\')
		if next < 0 {
			return true
		}
		i += next
		// The octet after a backslash that ends its line is the LF, which is in no escape.
		octet, ok := unescape(r.dialect, block[i+1])
		if !ok {
			// STOMP 1.2 Value Encoding: undefined escape sequences are a fatal protocol error.
			number, line := lineAt(block, i)
			knows := `1.2 knows \\ \c \n \r`
			if r.dialect == V11 {
				knows = `1.1 knows \\ \c \n`
			}
			escape := bytes.TrimSuffix(block[i:i+2], []byte{'\n'})
			return r.fail(KindEscape, knows, "undefined escape %s in %s%s", quote(escape), r.where(number), r.show(line))
		}
		if octet == '\r' {
			r.hasCR = true
		}
	}
}

// lineAt returns the line of block that holds the octet at i, and its number from 1.
func lineAt(block []byte, i int) (number int, line []byte) {
	begin := bytes.LastIndexByte(block[:i], '\n') + 1
	end := i + bytes.IndexByte(block[i:], '\n')
	return bytes.Count(block[:begin], []byte{'\n'}) + 1, block[begin:end]
}
