package frames

import "bytes"

// The steps of Next. Each works on what is buffered up to end and is true when the next one can
// begin. What they find does not depend on how the octets were cut into reads.

// skipPadding skips what may be between frames.
func (r *Reader) skipPadding(end int) bool {
	// STOMP 1.2 Augmented BNF: any number of EOLs follows the NUL of a frame. NULs too,
	// since some clients end text with one of their own.
	for r.pos < end {
		switch r.buf[r.pos] {
		case '\n', 0:
			r.pos++
		case '\r':
			if r.pos+1 == end {
				return false
			}
			if r.buf[r.pos+1] != '\n' {
				return r.fail(KindLineEnd, "a carriage return stands before a line feed only",
					"carriage return without line feed between frames")
			}
			r.pos += 2
		default:
			r.stage = inCommand
			r.scan = r.pos
			return true
		}
	}
	return false
}

// readCommand reads the first line of a frame.
func (r *Reader) readCommand(end int) bool {
	i := bytes.IndexByte(r.buf[r.scan:end], '\n')
	stop := end
	if i >= 0 {
		stop = r.scan + i
	}
	line := r.buf[r.pos:stop]
	if !r.checkCommand(line) {
		return false
	}
	if i < 0 {
		r.scan = end
		return false
	}
	// STOMP 1.2 Frames: a line may end in CR LF; STOMP 1.1 Frames: in LF only. The first frame, before
	// SetVersion, may have either, as it does not know yet what will be agreed on.
	r.stripCR = r.version != V11
	if n := len(line); r.stripCR && n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if !r.takeCommand(line) {
		return false
	}
	r.pos, r.scan = stop+1, stop+1
	r.head, r.headEnd = r.pos, r.pos
	r.stage = inHeader
	return true
}

// checkCommand finds what is wrong with the first line as far as it has come.
func (r *Reader) checkCommand(line []byte) bool {
	within := line[:min(len(line), r.limits.Command)]
	for i, c := range within {
		switch {
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		case r.greeted && c != 0:
		case c == '\r' && i+1 == len(line):
		case !r.greeted:
			return r.failGreeting(line[:i+1])
		default:
			return r.fail(KindCommand, "a line feed ends the command", "NUL in the command %s", quote(line[:i+1]))
		}
	}
	if len(line) > r.limits.Command {
		return r.failLimit("command longer than", " octets", "limits.command", r.limits.Command,
			"it begins with "+quote(within))
	}
	return true
}

// takeCommand makes the frame in progress one of the command in line.
func (r *Reader) takeCommand(line []byte) bool {
	c := parseCommand(line)
	if !r.greeted {
		// STOMP 1.2 Connecting: a client begins with CONNECT or STOMP, a server answers
		// with CONNECTED or ERROR.
		first := c == Connect || c == Stomp
		if r.client {
			first = c == Connected || c == Failure
		}
		if !first {
			return r.failGreeting(line)
		}
	}
	switch {
	case c == 0:
		return r.fail(KindCommand, "commands are upper case, and alone in their line", "unknown command %s", quote(line))
	case c.ofServer() && !r.client:
		return r.fail(KindCommand, "servers send it, clients do not", "%s is a command of servers", c)
	case !c.ofServer() && r.client:
		return r.fail(KindCommand, "clients send it, servers do not", "%s is a command of clients", c)
	}
	r.command = c
	if r.greeted && !c.literal() {
		r.dialect = r.version
		r.trim = r.version == V10
	}
	return true
}

func (r *Reader) failGreeting(line []byte) bool {
	want := "CONNECT or STOMP"
	if r.client {
		want = "CONNECTED or ERROR"
	}
	detail := "a connection begins with " + want
	switch {
	case line[0] == 0x16:
		detail = "this looks like TLS, and the port is without"
	case string(line) == "GET " || string(line) == "POST " || string(line) == "HEAD ":
		detail = "this looks like HTTP, and the port speaks STOMP"
	case string(line) == "PROXY ":
		detail = "this looks like the PROXY protocol, which the port does not expect"
	}
	return r.fail(KindGreeting, detail, "first frame must be %s, not %s", want, quote(line))
}
