package frames

import "bytes"

// readBody reads up to the NUL of the frame in progress, which it leaves at pos+length, or at
// pos where the body was moved to memory of its own. It is true when the frame is whole.
func (r *Reader) readBody(end int) bool {
	if !r.begun && !r.beginBody(end) {
		return false
	}
	if r.counted {
		return r.readCounted(end)
	}
	return r.readToNUL(end)
}

// beginBody decides how the body ends.
func (r *Reader) beginBody(end int) bool {
	if !r.command.hasBody() {
		if r.pos == end {
			return false
		}
		if r.buf[r.pos] == 0 {
			// Clients copy the content-length of a MESSAGE into the ACK, so it is nothing to go by here.
			r.begun, r.counted = true, true
			return true
		}
		// STOMP 1.2 Body: other frames must not have one; STOMP 1.0 does not say so.
		if !r.greeted || r.version != V10 {
			return r.fail(KindBody, "NUL comes right after the blank line of "+r.command.String(), "a body on %s", r.command)
		}
	}
	if r.hasLength && !r.parseLength() {
		return false
	}
	r.begun, r.counted = true, r.hasLength
	return true
}

// parseLength reads content-length.
func (r *Reader) parseLength() bool {
	// STOMP 1.2 Header content-length: an octet count. Digits only, for what takes signs
	// and blanks reads more than one thing out of them.
	text := r.buf[r.lengthAt:r.lengthEnd]
	if len(text) == 0 {
		return r.fail(KindLength, "content-length is digits only", "empty content-length on %s", r.command)
	}
	n, over, most := 0, false, r.limits.Body
	for _, c := range text {
		if c < '0' || c > '9' {
			return r.fail(KindLength, "content-length is digits only", "content-length %s on %s is not a number", quote(text), r.command)
		}
		digit := int(c - '0')
		if over = over || n > (most-digit)/10; !over {
			n = n*10 + digit
		}
	}
	if over || n > most {
		return r.failLimit("content-length "+quote(text)+" is a body longer than", " octets", "limits.body", most,
			"on "+r.command.String())
	}
	r.length = n
	return true
}

// readCounted reads a body of length octets and its NUL.
func (r *Reader) readCounted(end int) bool {
	if !r.owns && r.length >= inPlace-(r.pos-r.head) {
		r.owns = true
		r.moveOwn(min(end-r.pos, r.length))
		end = r.end
	}
	nul := r.pos
	if !r.owns {
		nul += r.length
	} else if len(r.own) < r.length {
		return false
	}
	if nul >= end {
		return false
	}
	// STOMP 1.2 Header content-length: NUL ends the frame all the same.
	if r.buf[nul] != 0 {
		return r.fail(KindBody, "a NUL follows the octets that content-length counts", "no NUL after %d octets of body on %s, but %s",
			r.length, r.command, quote(r.buf[nul:nul+1]))
	}
	return true
}

// readToNUL reads a body that ends at the first NUL.
func (r *Reader) readToNUL(end int) bool {
	// STOMP 1.2 Body: without content-length the first NUL ends it.
	i := bytes.IndexByte(r.buf[r.scan:end], 0)
	stop := end
	if i >= 0 {
		stop = r.scan + i
	}
	n := stop - r.pos
	if len(r.own)+n > r.limits.Body {
		return r.failLimit("body longer than", " octets", "limits.body", r.limits.Body, "on "+r.command.String())
	}
	if i < 0 && end-r.head >= inPlace {
		r.owns = true
	}
	if !r.owns {
		r.scan, r.length = stop, n
		return i >= 0
	}
	r.moveOwn(n)
	if i >= 0 {
		r.trimOwn()
	}
	return i >= 0
}

// trimOwn gives back memory that doubling left over.
func (r *Reader) trimOwn() {
	if cap(r.own)-len(r.own) > len(r.own)/4 {
		r.own = bytes.Clone(r.own)
	}
	r.own = r.own[:len(r.own):len(r.own)]
}
