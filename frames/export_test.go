package frames

// Memory returns the octets that the Reader holds: its read buffer, and the body that is too
// large for it.
func (r *Reader) Memory() (buffer, own int) { return cap(r.buf), cap(r.own) }
