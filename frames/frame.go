package frames

// Frame is one frame as it was read. Header and Body are views into the
// Reader's memory, valid until the Reader's next method call, except where
// Owned says otherwise.
type Frame struct {
	Command Command
	Header  Header
	Body    []byte
	// HasLength says that the frame had a content-length header.
	HasLength bool
	// Owned says that the Reader has let go of the memory of Body, which is
	// then the caller's to keep. It is so for bodies too large for the read buffer.
	Owned bool
}
