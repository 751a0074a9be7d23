package frames

// Limits bound what a Reader takes, in octets but for Headers. The zero value of each
// field means its default. Each is enforced while reading, and memory grows with what has arrived.
type Limits struct {
	// Command bounds the first line of a frame, without its line end: 32. Setting limits.command.
	Command int
	// HeaderLine bounds one header line, without its LF: 65 536. Setting limits.header-line.
	HeaderLine int
	// Headers bounds the number of header lines of a frame, repeats counted: 1000. Setting limits.headers.
	Headers int
	// HeaderBytes bounds all header lines of a frame with their line ends: 262 144. Setting limits.header-bytes.
	HeaderBytes int
	// Body bounds a body: 67 108 864. Setting limits.body.
	Body int
	// Login bounds all that a client sends to the end of CONNECT, line ends before it
	// included: 65 536. Setting limits.login. A client Reader has no such limit.
	Login int
}

// WithDefaults returns l with a value in each field.
func (l Limits) WithDefaults() Limits {
	def(&l.Command, 32)
	def(&l.HeaderLine, 64<<10)
	def(&l.Headers, 1000)
	def(&l.HeaderBytes, 256<<10)
	def(&l.Body, 64<<20)
	def(&l.Login, 64<<10)
	return l
}

func def(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}
