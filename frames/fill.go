package frames

const (
	// minBuffer and maxBuffer bound the read buffer; header lines may make it
	// greater for a while, as Limits allow.
	minBuffer = 1 << 10
	maxBuffer = 64 << 10
	// minRead is the least room for a Read.
	minRead = 512
	// inPlace is the size of frames up to which the body stays in the read buffer.
	inPlace = maxBuffer - minRead
	// smallReads is the number of Reads in a row that used little of the
	// buffer, after which it is halved.
	smallReads = 16
)

// Fill reads from the source once, and waits for that as long as it takes. Any octet, also a
// part of a frame, is a sign of life for the caller. Errors of the source come back as they are; one that
// came with octets is kept for the next Fill.
func (r *Reader) Fill() error {
	if r.srcErr != nil {
		return r.srcErr
	}
	var n int
	if r.owns && r.counted && len(r.own) < r.length {
		n = r.readOwn()
	} else {
		n = r.readBuffer()
	}
	if n > 0 {
		return nil
	}
	return r.srcErr
}

// readOwn reads into the body in progress, and never beyond its end.
func (r *Reader) readOwn() (n int) {
	r.growOwn(len(r.own) + 1)
	n, r.srcErr = r.src.Read(r.own[len(r.own):cap(r.own)])
	r.own = r.own[:len(r.own)+n]
	return n
}

// readBuffer reads into the read buffer.
func (r *Reader) readBuffer() (n int) {
	r.makeRoom()
	room := r.buf[r.end:]
	n, r.srcErr = r.src.Read(room)
	r.end += n
	r.full = n == len(room)
	r.small++
	if n >= len(r.buf)/8 {
		r.small = 0
	}
	return n
}

// makeRoom sees to it that there is room behind end, and that the size of the buffer
// suits what has been coming.
func (r *Reader) makeRoom() {
	base := r.pos
	if r.stage > inCommand {
		base = r.head
	}
	kept := r.end - base
	size := max(len(r.buf), minBuffer)
	switch {
	case size-kept < minRead:
		size *= 2
	case size > maxBuffer && kept <= maxBuffer/2:
		size = maxBuffer
	case r.full && size < maxBuffer:
		size *= 2
	case r.small >= smallReads && size > minBuffer && kept <= size/4:
		size /= 2
		r.small = 0
	}
	switch {
	case size != len(r.buf):
		grown := make([]byte, size)
		copy(grown, r.buf[base:r.end])
		r.buf = grown
		r.shift(base)
	case base > 0 && (kept == 0 || len(r.buf)-r.end < len(r.buf)/2):
		copy(r.buf, r.buf[base:r.end])
		r.shift(base)
	}
}

// shift tells all positions that buf lost its first n octets.
func (r *Reader) shift(n int) {
	r.pos -= n
	r.end -= n
	r.scan -= n
	if !r.greeted && !r.client {
		r.loginEnd -= n
	}
	if r.stage > inCommand {
		r.head -= n
		r.headEnd -= n
		r.lengthAt -= n
		r.lengthEnd -= n
	}
}

// growOwn makes room for a body of n octets: for twice as many, but no more than it
// can become.
func (r *Reader) growOwn(n int) {
	if n <= cap(r.own) {
		return
	}
	most := r.limits.Body
	if r.counted {
		most = r.length
	}
	grown := make([]byte, len(r.own), min(max(2*n, minBuffer), most))
	copy(grown, r.own)
	r.own = grown
}

// moveOwn moves n octets from pos to the body's own memory, and closes the gap they leave.
func (r *Reader) moveOwn(n int) {
	r.growOwn(len(r.own) + n)
	r.own = append(r.own, r.buf[r.pos:r.pos+n]...)
	r.end = r.pos + copy(r.buf[r.pos:], r.buf[r.pos+n:r.end])
	r.scan = r.pos
}
