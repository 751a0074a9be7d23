package selector

// emitter makes a program of a tree.
type emitter struct {
	compiler *Compiler
	program  *Program
}

// emit appends the steps of a condition; yes and no are where to go on after it. It returns an error for content that
// makes no sense.
func (g *emitter) emit(e *expr, yes, no int32) error {
	if e.op != opAnd && e.op != opOr {
		return g.leaf(e, yes, no)
	}
	start := int32(len(g.program.steps))
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
	index := len(g.program.steps)
	e.first = index
	s := step{relation: e.relation, negated: e.negated, yes: yes, no: no}
	g.program.steps = append(g.program.steps, s)
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
		r := g.rare()
		s.argument = uint32(len(r.lists))
		r.lists = append(r.lists, newList(e.list))
	case opLike:
		s.test = testLike
		r := g.rare()
		s.argument = uint32(len(r.patterns))
		p, _, err := parsePattern(e.pattern, e.escape, e.pos)
		if err != nil {
			return err
		}
		r.patterns = append(r.patterns, p)
	case opCompare:
		err = g.comparison(&s, e)
	}
	g.program.steps[index] = s
	return err
}

func (g *emitter) rare() *rare {
	if g.program.rare == nil {
		g.program.rare = &rare{}
	}
	return g.program.rare
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
	r := g.rare()
	s.argument = uint32(len(r.terms))
	r.terms = append(r.terms, term{}, term{})
	for i, side := range []*expr{left, right} {
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
	r := g.rare()
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
	outer := g.program.steps
	g.program.steps = nil
	e.measure()
	err := g.emit(e, accepted, refused)
	r := g.rare()
	r.conditions = append(r.conditions, g.program.steps)
	g.program.steps = outer
	return term{op: opCompare, number: uint32(len(r.conditions) - 1)}, err
}

func (g *emitter) value(v Value) uint32 {
	g.program.values = append(g.program.values, v)
	return uint32(len(g.program.values) - 1)
}

// property returns the number of a property in the program.
func (g *emitter) property(e *expr) (uint32, error) {
	for i, q := range g.program.properties {
		if q.name == e.name && q.source == e.source {
			return uint32(i), nil
		}
	}
	q, err := g.compiler.intern(e)
	if err != nil {
		return 0, err
	}
	g.program.properties = append(g.program.properties, q)
	return uint32(len(g.program.properties) - 1), nil
}
