package selector

import "slices"

// expr is a node of the syntax tree. The tree is in negation normal form: NOT is not a node but is worked into the
// conditions below it, by the laws of three-valued logic, so that AND and OR are over conditions only.
type expr struct {
	op   op
	pos  int // where it begins in the text
	args []*expr

	relation relation // of a comparison
	negated  bool     // of opIn, opLike, opNull
	operator byte     // of arithmetic: + - * /, and ~ for a sign
	value    Value    // of a literal, FALSE and TRUE among them
	source   source   // of a property
	name     string   // of a property: its name, or its path in the body
	path     int      // where the path is in the text
	list     []Value  // of opIn
	pattern  string   // of opLike
	escape   string   // of opLike
	leaves   int      // of a condition: how many steps it takes

	first int // of a condition that was emitted: its first step
}

// op is what a node does.
type op uint8

const (
	opLiteral op = iota
	opProperty
	opArithmetic
	opCompare
	opIn
	opLike
	opNull
	opAnd
	opOr
)

// source is where the value of a property comes from.
type source uint8

const (
	fromName  source = iota // from the caller, by name
	fromXPath               // what an XPath finds in the body
	xpathTest               // whether it finds something
	fromJSON                // what a JSON path finds in the body
)

// class is what is known of the type of an expression before a message is seen.
type class uint8

const (
	anyClass class = iota
	numberClass
	textClass
	conditionClass
)

// String names the class, for an error.
func (c class) String() string {
	return [...]string{"a name", "a number", "a text", "a condition"}[c]
}

func (e *expr) class() class {
	switch e.op {
	case opProperty:
		if e.source == xpathTest {
			return conditionClass
		}
		return anyClass
	case opArithmetic:
		return numberClass
	case opLiteral:
		switch {
		case e.value.kind == boolean:
			return conditionClass
		case e.value.isNumber():
			return numberClass
		}
		return textClass
	}
	return conditionClass
}

// isConstant tells whether e is the condition TRUE or FALSE.
func (e *expr) isConstant(b bool) bool {
	return e.op == opLiteral && e.value.kind == boolean && e.value.bool() == b
}

func constant(b bool, pos int) *expr { return &expr{op: opLiteral, value: Bool(b), pos: pos} }

// condition returns e as a condition: a name by itself is one, as if "= TRUE" followed.
func (e *expr) condition() (*expr, error) {
	switch c := e.class(); {
	case e.op == opProperty:
		return compare(equal, e, constant(true, e.pos)), nil
	case c != conditionClass:
		return nil, fail(e.pos, "expected a condition, found %s alone", c)
	}
	return e, nil
}

// not returns NOT e, for a condition, by the laws of three-valued logic.
func (e *expr) not() *expr {
	n := *e
	switch e.op {
	case opLiteral:
		n.value = Bool(!e.value.bool())
	case opCompare:
		return compare(e.relation.not(), e.args[0], e.args[1])
	case opAnd, opOr:
		n.op = opAnd + opOr - e.op
		n.args = make([]*expr, len(e.args))
		for i, arg := range e.args {
			n.args[i] = arg.not()
		}
	default:
		n.negated = !e.negated
	}
	return &n
}

// junction returns the AND or OR of conditions, without those that say nothing. TRUE and FALSE are the only constants
// that may go: what is Unknown makes a difference.
func junction(o op, left, right *expr) *expr {
	neutral, absorbing := o == opAnd, o != opAnd
	switch {
	case left.isConstant(absorbing), right.isConstant(neutral):
		return left
	case right.isConstant(absorbing), left.isConstant(neutral):
		return right
	}
	e := &expr{op: o, pos: left.pos}
	for _, side := range []*expr{left, right} {
		if side.op == o {
			e.args = append(e.args, side.args...)
		} else {
			e.args = append(e.args, side)
		}
	}
	return e
}

// compare returns the comparison of two values, with a constant on the right, or its result if both are constant.
func compare(r relation, left, right *expr) *expr {
	if left.op == opLiteral && right.op != opLiteral {
		left, right, r = right, left, r.flip()
	}
	if left.op == opLiteral && right.op == opLiteral {
		if t := compareLiterals(r, left.value, right.value); t != Unknown {
			return constant(t == True, left.pos)
		}
	}
	if right.op == opLiteral && right.value.isWhole() {
		right = &expr{op: opLiteral, pos: right.pos, value: Int(right.value.int())}
	}
	if right.op == opLiteral && right.value.kind == boolean {
		if r == unequal {
			r, right = equal, constant(!right.value.bool(), right.pos)
		}
		if left.class() == conditionClass && left.op != opProperty && left.op != opLiteral {
			if right.value.bool() {
				return left
			}
			return left.not()
		}
	}
	return &expr{op: opCompare, pos: left.pos, relation: r, args: []*expr{left, right}}
}

// compareLiterals compares constants. Those of different types cannot be compared.
func compareLiterals(r relation, a, b Value) Truth {
	switch {
	case a.isNumber() && b.isNumber():
		return r.holds(compareNumbers(a, b))
	case a.kind != b.kind:
		return Unknown
	case a.kind == text:
		return truth((a.text == b.text) == (r == equal))
	default:
		return truth((a.bits == b.bits) == (r == equal))
	}
}

// arithmetic returns the application of an operator, or its result if that is constant and exact.
func arithmetic(operator byte, left, right *expr) *expr {
	if left.op == opLiteral && right.op == opLiteral {
		if v := calculate(operator, left.value, right.value); v.isNumber() && v.kind != double {
			return &expr{op: opLiteral, pos: left.pos, value: v}
		}
	}
	return &expr{op: opArithmetic, pos: left.pos, operator: operator, args: []*expr{left, right}}
}

// negative returns a value with its sign changed.
func negative(e *expr, pos int) *expr {
	if e.op == opLiteral {
		if v := normalized(opposite(e.value)); v.kind != double {
			return &expr{op: opLiteral, pos: pos, value: v}
		}
	}
	return &expr{op: opArithmetic, pos: pos, operator: '~', args: []*expr{e}}
}

// normalized returns a wide number as a whole number if it is one: of 9223372036854775808 only the opposite is.
func normalized(v Value) Value {
	if v.kind == wide {
		return Number(string(v.appendNumber(nil)))
	}
	return v
}

// in returns the condition that a property is one of some values, in one order and each once.
func in(property *expr, list []Value, negated bool) *expr {
	for i, v := range list {
		if v.isWhole() {
			list[i] = Int(v.int())
		}
	}
	slices.SortFunc(list, compareItems)
	list = slices.CompactFunc(list, func(a, b Value) bool { return compareItems(a, b) == 0 })
	if len(list) == 1 {
		r := equal
		if negated {
			r = unequal
		}
		return compare(r, property, &expr{op: opLiteral, pos: property.pos, value: list[0]})
	}
	return &expr{op: opIn, pos: property.pos, args: []*expr{property}, list: list, negated: negated}
}
