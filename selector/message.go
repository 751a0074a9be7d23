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
// goroutine; Reset makes it another message without allocating.
type Message struct {
	properties Properties
	slots      []slot // by the place of the property
	generation uint32 // of the slots that are of this message
	content    content
}

// slot is what is known of a property of this message.
type slot struct {
	property   *property
	generation uint32
	known      known
	truth      Truth
	value      Value
	number     Value
}

// known says which readings of a slot were tried.
type known uint8

const (
	asNumber known = 1 << iota
	asBool
)

// Reset makes m the message with these properties; nil is none. What was remembered is forgotten.
func (m *Message) Reset(p Properties) {
	m.properties = p
	m.content.reset()
	if m.generation++; m.generation == 0 { // what was remembered 2^32 messages ago would seem to be of this one
		clear(m.slots)
		m.generation = 1
	}
}

// slot returns what is known of a property. It is valid until the next call.
func (m *Message) slot(p *property) *slot {
	if p.place < len(m.slots) {
		if s := &m.slots[p.place]; s.property == p && s.generation == m.generation {
			return s
		}
	}
	return m.load(p)
}

func (m *Message) load(p *property) *slot {
	for p.place >= len(m.slots) {
		m.slots = append(m.slots, slot{})
	}
	s := &m.slots[p.place]
	*s = slot{property: p, generation: m.generation}
	switch {
	case m.properties == nil:
	case p.source == fromName:
		s.value = m.properties.Property(p.name)
	default:
		s.value = m.content.value(p, m.properties)
	}
	return s
}

// asNumber returns the value as a number, NULL if it is none.
func (s *slot) asNumber() *Value {
	if s.known&asNumber == 0 {
		s.known |= asNumber
		s.number = s.value.asNumber()
	}
	return &s.number
}

// asBool returns the value as a boolean, Unknown if it is none.
func (s *slot) asBool() Truth {
	if s.known&asBool == 0 {
		s.known |= asBool
		s.truth = s.value.asBool()
	}
	return s.truth
}
