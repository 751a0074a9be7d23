package selector

// Program is a compiled selector. It is immutable and may be used by several goroutines at once, each
// with a [Message] of its own.
type Program struct {
	normal string
}

// Match tells whether the selector is TRUE for a message. It does not allocate.
func (p *Program) Match(m *Message) bool { return p.Eval(m) == True }

// Eval returns what the selector is for a message.
func (p *Program) Eval(m *Message) Truth { return Unknown }

// String returns the normal form: a selector of the same meaning, written in one way. Equal selectors
// have equal normal forms; it compiles to the program itself.
func (p *Program) String() string { return p.normal }

// NeedsContent tells whether the selector looks into the body.
func (p *Program) NeedsContent() bool { return false }

// Properties returns the names that the selector asks for, each once, in the order of their first use. The caller
// must not change the slice.
func (p *Program) Properties() []string { return nil }
