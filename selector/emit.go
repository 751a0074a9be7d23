package selector

import "slices"

// emitter makes programs of trees, one after another. It has room for the parts of one, which are copied when it is
// known how many they are: there are many programs, and they stay.
type emitter struct {
	compiler   *Compiler
	steps      []step
	properties []*property
	values     []Value
	guards     guards
	spare      guards // for what guards are put in order of
	rare       *rare
}

// keptSteps is how many steps a program may have whose room is kept for the next one.
const keptSteps = 64

// program fills in p from the root of its tree. Also when there is an error p has the properties that are to be dropped.
func (g *emitter) program(p *Program, root *expr, c *Compiler) error {
	g.compiler = c
	root.measure()
	err := g.emit(root, accepted, refused)
	p.properties = exact(g.properties)
	if err == nil {
		p.steps, p.values, p.rare = exact(g.steps), exact(g.values), g.rare
		g.guardsOf(root)
		p.guards = exact(g.guards)
	}
	g.reset()
	return err
}

// exact returns a copy of its own length, that holds on to nothing of the original.
func exact[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return append(make([]T, 0, len(s)), s...)
}

// reset makes the emitter ready for another program. Nothing of this one is held on to.
func (g *emitter) reset() {
	if cap(g.steps) > keptSteps {
		*g = emitter{}
		return
	}
	clear(g.properties)
	clear(g.values)
	g.steps, g.properties, g.values, g.guards, g.rare = g.steps[:0], g.properties[:0], g.values[:0], g.guards[:0], nil
}

// emit appends the steps of a condition; yes and no are where to go on after it. It returns an error for content that
// makes no sense.
func (g *emitter) emit(e *expr, yes, no int32) error {
	if e.op != opAnd && e.op != opOr {
		return g.leaf(e, yes, no)
	}
	start := int32(len(g.steps))
	e.first = int(start)
	for i, arg := range e.args {
		onYes, onNo := yes, no
		start += int32(arg.leaves)
		if i < len(e.args)-1 {
			if e.op == opAnd {
				onYes = start
			} else {
				onNo = start
			}
		}
		if err := g.emit(arg, onYes, onNo); err != nil {
			return err
		}
	}
	return nil
}

// measure counts the steps of each condition.
func (e *expr) measure() int {
	e.leaves = 1
	if e.op == opAnd || e.op == opOr {
		e.leaves = 0
		for _, arg := range e.args {
			e.leaves += arg.measure()
		}
	}
	return e.leaves
}

func (g *emitter) leaf(e *expr, yes, no int32) (err error) {
	index := len(g.steps)
	e.first = index
	s := step{relation: e.relation, negated: e.negated, yes: yes, no: no}
	g.steps = append(g.steps, s)
	if e.op != opLiteral && e.args[0].op == opProperty {
		if s.property, err = g.property(e.args[0]); err != nil {
			return err
		}
	}
	switch e.op {
	case opLiteral:
		s.test, s.negated = testConst, !e.value.bool()
	case opNull:
		s.test = testNull
	case opIn:
		s.test = testIn
		r := g.unusual()
		s.argument = uint32(len(r.lists))
		r.lists = append(r.lists, newList(e.list))
	case opLike:
		s.test = testLike
		r := g.unusual()
		s.argument = uint32(len(r.patterns))
		p, _, err := parsePattern(e.pattern, e.escape, e.pos)
		if err != nil {
			return err
		}
		r.patterns = append(r.patterns, p)
	case opCompare:
		err = g.comparison(&s, e)
	}
	g.steps[index] = s
	return err
}

func (g *emitter) unusual() *rare {
	if g.rare == nil {
		g.rare = &rare{}
	}
	return g.rare
}

func (g *emitter) comparison(s *step, e *expr) (err error) {
	left, right := e.args[0], e.args[1]
	if left.op == opProperty && right.op == opLiteral {
		switch {
		case right.value.kind == text:
			s.test = testText
		case right.value.kind == boolean:
			s.test = testBool
		default:
			s.test = testNumber
		}
		s.argument = g.value(right.value)
		return nil
	}
	s.test = testCompare
	r := g.unusual()
	s.argument = uint32(len(r.terms))
	r.terms = append(r.terms, term{}, term{})
	for i, side := range e.args {
		t, err := g.term(side)
		if err != nil {
			return err
		}
		r.terms[int(s.argument)+i] = t
	}
	return nil
}

// term emits what a value is made of.
func (g *emitter) term(e *expr) (t term, err error) {
	r := g.unusual()
	switch {
	case e.op == opLiteral:
		return term{op: opLiteral, number: g.value(e.value)}, nil
	case e.op == opProperty:
		number, err := g.property(e)
		return term{op: opProperty, number: number}, err
	case e.op == opArithmetic:
		t := term{op: opArithmetic, operator: e.operator}
		for i, arg := range e.args {
			inner, err := g.term(arg)
			if err != nil {
				return t, err
			}
			r.terms = append(r.terms, inner)
			if i == 0 {
				t.left = uint32(len(r.terms) - 1)
			} else {
				t.right = uint32(len(r.terms) - 1)
			}
		}
		return t, nil
	}
	return g.condition(e)
}

// condition emits a condition that is a value, as steps of its own.
func (g *emitter) condition(e *expr) (term, error) {
	outer := g.steps
	g.steps = nil
	e.measure()
	err := g.emit(e, accepted, refused)
	r := g.unusual()
	r.conditions = append(r.conditions, g.steps)
	g.steps = outer
	return term{op: opCompare, number: uint32(len(r.conditions) - 1)}, err
}

func (g *emitter) value(v Value) uint32 {
	g.values = append(g.values, v)
	return uint32(len(g.values) - 1)
}

// property returns the number of a property in the program.
func (g *emitter) property(e *expr) (uint32, error) {
	q, err := g.compiler.intern(e)
	if err != nil {
		return 0, err
	}
	if i := slices.Index(g.properties, q); i >= 0 {
		return uint32(i), nil
	}
	q.references++
	g.properties = append(g.properties, q)
	return uint32(len(g.properties) - 1), nil
}
