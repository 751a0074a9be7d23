package selector

import "slices"

// Program is a compiled selector. It is immutable and may be used by several goroutines at once, each
// with a [Message] of its own.
//
// It is a list of steps, one for each condition, in the order of the text, that say where to go on when the condition is met and where when it
// is not: AND and OR are no more than that, and NOT has been worked into the conditions.
type Program struct {
	normal     string
	steps      []step
	properties []*property
	values     []Value
	guards     guards
	rare       *rare
	references int // owned by the compiler
}

// rare is what few programs have.
type rare struct {
	lists    []list
	patterns []*pattern
	terms    []term
	// conditions are those that are compared as values, each with steps of its own.
	conditions [][]step
}

// step is one condition.
type step struct {
	test     test
	relation relation
	negated  bool
	property uint32 // of the program
	argument uint32 // the number of a value, list, pattern or term
	yes, no  int32  // the next step, or one of the two ends
}

// The ends of a program.
const (
	accepted int32 = -1 - iota
	refused
)

// test is the kind of a condition.
type test uint8

const (
	testText    test = iota // a property = or <> a text
	testNumber              // a property and a number
	testBool                // a property = a boolean
	testIn                  // a property IN a list
	testLike                // a property LIKE a pattern
	testNull                // a property IS NULL
	testCompare             // any two values: terms argument and argument+1 name them
	testConst               // TRUE or FALSE, in negated
)

// term is a value of a testCompare, made of others.
type term struct {
	op          op     // opLiteral, opProperty, opArithmetic, or opCompare for a condition of any kind
	operator    byte   // of opArithmetic
	number      uint32 // of the value, property or condition
	left, right uint32 // terms
}

// String returns the normal form: a selector of the same meaning, written in one way. Equal selectors
// have equal normal forms, and a normal form is its own. It may be a little longer than what was compiled.
func (p *Program) String() string { return p.normal }

// NeedsContent tells whether the selector looks into the body.
func (p *Program) NeedsContent() bool {
	return slices.ContainsFunc(p.properties, func(q *property) bool { return q.source != fromName })
}

// Properties returns the names that the selector asks for, each once, in the order of their first use.
func (p *Program) Properties() []string {
	var names []string
	for _, q := range p.properties {
		if q.source == fromName {
			names = append(names, q.name)
		}
	}
	return names
}
