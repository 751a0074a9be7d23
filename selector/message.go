package selector

// Properties is what selectors ask of a message. It is called by the goroutine that matches, and must not change until
// the [Message] is reset.
type Properties interface {
	// Property returns the value of a name; names are case-sensitive. The zero Value says that there is none. A Message asks
	// at most once for each name.
	Property(name string) Value
	// NextName walks over the names that have values: it returns one, and where to go on, from 0; next is negative at the
	// end, and the name then has no meaning. It may name one more than once, and names without a
	// value, but must leave out none whose Property is not NULL. An [Index] that knows more names than a message has looks up these.
	NextName(pos int) (name string, next int)
	// Body returns the content, or nil. A Message asks at most once, and only for a selector that NeedsContent.
	Body() []byte
}

// Message is a message as selectors see it. It remembers what it was asked: each property is fetched once and
// read as a number once, and the body is parsed once. A zero Message has no properties. It is owned by one
// goroutine, and is for programs of one [Compiler]; Reset makes it another message without allocating.
type Message struct {
	properties Properties
}

// Reset makes m the message with these properties; nil is none. What was remembered is forgotten.
func (m *Message) Reset(p Properties) { m.properties = p }
