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
	source   source   // of a property
	value    Value    // of a literal, FALSE and TRUE among them
	name     string   // of a property: its name, or its path in the body
	path     int      // where the path is in the text
	list     []Value  // of opIn
	pattern  string   // of opLike
	escape   string   // of opLike
	leaves   int      // of a condition: how many steps it takes

	first int // of a condition that was emitted: its first step

	pair [2]*expr // room for args: most operators have no more
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

// condition returns e as a condition: a name by itself is one, as if "= TRUE" followed.
func (t *tree) condition(e *expr) (*expr, error) {
	switch c := e.class(); {
	case e.op == opProperty:
		return t.compare(equal, e, t.constant(true, e.pos)), nil
	case c != conditionClass:
		return nil, fail(e.pos, "expected a condition, found %s alone", c)
	}
	return e, nil
}

// not returns NOT e, for a condition, by the laws of three-valued logic. e itself may become that: a condition has one
// place in a tree.
func (t *tree) not(e *expr) *expr {
	switch e.op {
	case opLiteral:
		e.value = Bool(!e.value.bool())
	case opCompare:
		return t.compare(e.relation.not(), e.args[0], e.args[1])
	case opAnd, opOr:
		e.op = opAnd + opOr - e.op
		for i, arg := range e.args {
			e.args[i] = t.not(arg)
		}
	default:
		e.negated = !e.negated
	}
	return e
}

// junction returns the AND or OR of conditions, without those that say nothing. TRUE and FALSE are the only constants
// that may go: what is Unknown makes a difference. left itself may become the junction.
func (t *tree) junction(o op, left, right *expr) *expr {
	neutral, absorbing := o == opAnd, o != opAnd
	switch {
	case left.isConstant(absorbing), right.isConstant(neutral):
		return left
	case right.isConstant(absorbing), left.isConstant(neutral):
		return right
	}
	e := left
	if left.op != o {
		e = t.add(o, left.pos, left)
	}
	if right.op == o {
		e.args = append(e.args, right.args...)
	} else {
		e.args = append(e.args, right)
	}
	return e
}

// compare returns the comparison of two values, with a constant on the right, or its result if both are constant.
func (t *tree) compare(r relation, left, right *expr) *expr {
	if left.op == opLiteral && right.op != opLiteral {
		left, right, r = right, left, r.flip()
	}
	if left.op == opLiteral && right.op == opLiteral {
		if result := compareLiterals(r, left.value, right.value); result != Unknown {
			return t.constant(result == True, left.pos)
		}
	}
	if right.op == opLiteral && right.value.kind == decimal && right.value.isWhole() {
		right = t.literal(Int(right.value.int()), right.pos)
	}
	if right.op == opLiteral && right.value.kind == boolean {
		if r == unequal {
			r, right = equal, t.constant(!right.value.bool(), right.pos)
		}
		if left.class() == conditionClass && left.op != opProperty && left.op != opLiteral {
			if right.value.bool() {
				return left
			}
			return t.not(left)
		}
	}
	e := t.add(opCompare, left.pos, left, right)
	e.relation = r
	return e
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
func (t *tree) arithmetic(operator byte, left, right *expr) *expr {
	if left.op == opLiteral && right.op == opLiteral {
		if v := calculate(operator, left.value, right.value); v.isNumber() && v.kind != double {
			return t.literal(v, left.pos)
		}
	}
	e := t.add(opArithmetic, left.pos, left, right)
	e.operator = operator
	return e
}

// negative returns a value with its sign changed; pos is that of the sign.
func (t *tree) negative(arg *expr, pos int) *expr {
	if arg.op == opLiteral {
		if v := normalized(opposite(arg.value)); v.kind != double {
			return t.literal(v, pos)
		}
	}
	e := t.add(opArithmetic, pos, arg)
	e.operator = '~'
	return e
}

// normalized returns a wide number as a whole number if it is one: of 9223372036854775808 only the opposite is.
func normalized(v Value) Value {
	if v.kind == wide {
		return Number(string(v.appendNumber(nil)))
	}
	return v
}

// in returns the condition that a property is one of some values, in one order and each once.
func (t *tree) in(property *expr, list []Value, negated bool) *expr {
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
		return t.compare(r, property, t.literal(list[0], property.pos))
	}
	e := t.add(opIn, property.pos, property)
	e.list, e.negated = list, negated
	return e
}
