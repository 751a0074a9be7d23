package selector

// Match tells whether the selector is TRUE for a message. It allocates nothing but to look into a body.
func (p *Program) Match(m *Message) bool { return p.run(p.steps, m, True) }

// Eval returns what the selector is for a message.
func (p *Program) Eval(m *Message) Truth { return p.eval(p.steps, m) }

// eval finds out which of the three values some steps have. As they hold no NOT, they are TRUE when they are if
// all that is Unknown is taken for FALSE, and not FALSE when they are if it is taken for TRUE.
func (p *Program) eval(steps []step, m *Message) Truth {
	switch {
	case p.run(steps, m, True):
		return True
	case p.run(steps, m, Unknown):
		return Unknown
	default:
		return False
	}
}

// run follows the steps; a condition is met if it is least or more.
func (p *Program) run(steps []step, m *Message, least Truth) bool {
	i := int32(0)
	for i >= 0 {
		s := &steps[i]
		if p.test(s, m) >= least {
			i = s.yes
		} else {
			i = s.no
		}
	}
	return i == accepted
}

func (p *Program) test(s *step, m *Message) Truth {
	switch s.test {
	case testConst:
		return truth(!s.negated)
	case testCompare:
		return p.compare(s, m)
	}
	q := m.slot(p.properties[s.property])
	if s.test == testNull {
		return truth((q.value.kind == null) != s.negated)
	}
	if q.value.kind == null {
		return Unknown
	}
	switch s.test {
	case testText:
		if q.value.kind != text {
			return Unknown
		}
		return truth((q.value.text == p.values[s.argument].text) == (s.relation == equal))
	case testNumber:
		return q.asNumber().compared(s.relation, &p.values[s.argument])
	case testBool:
		t := q.asBool()
		if !p.values[s.argument].bool() {
			t = -t
		}
		return t
	}
	t := Unknown
	switch {
	case s.test == testIn:
		t = p.rare.lists[s.argument].holds(q)
	case q.value.kind == text:
		t = truth(p.rare.patterns[s.argument].matches(q.value.text))
	}
	if s.negated {
		return -t
	}
	return t
}

// compared compares numbers, or is Unknown when one is missing.
func (v *Value) compared(r relation, other *Value) Truth {
	switch {
	case v.kind == integer && other.kind == integer:
		a, b := v.int(), other.int()
		switch {
		case a < b:
			return truth(r&less != 0)
		case a > b:
			return truth(r&greater != 0)
		}
		return truth(r&equal != 0)
	case v.kind == null || other.kind == null:
		return Unknown
	case v.kind <= decimal && other.kind <= decimal:
		return r.holds(compareFractions(v, other))
	}
	return r.holds(compareNumbers(*v, *other))
}

// compare compares any two values. A text of the message is read as what it is compared with; with another text of the message it
// is compared as a number if both are numbers. What cannot be compared is Unknown.
func (p *Program) compare(s *step, m *Message) Truth {
	left, right := &p.rare.terms[s.argument], &p.rare.terms[s.argument+1]
	if s.relation != equal && s.relation != unequal {
		a, b := p.number(left, m), p.number(right, m)
		return a.compared(s.relation, &b)
	}
	a, b := p.value(left, m), p.value(right, m)
	switch {
	case a.kind == null || b.kind == null:
		return Unknown
	case a.kind == boolean || b.kind == boolean:
		return p.compareBools(left, right, m, s.relation)
	case a.kind == text && b.kind == text:
		if a.text == b.text {
			return truth(s.relation == equal)
		}
		if x, y := p.number(left, m), p.number(right, m); x.kind != null && y.kind != null {
			return x.compared(s.relation, &y)
		}
		return truth(s.relation == unequal)
	}
	x, y := p.number(left, m), p.number(right, m)
	return x.compared(s.relation, &y)
}

func (p *Program) compareBools(left, right *term, m *Message, r relation) Truth {
	t := p.bool(left, m) * p.bool(right, m)
	if r == unequal {
		return -t
	}
	return t
}

// value returns a term as it is.
func (p *Program) value(t *term, m *Message) Value {
	switch t.op {
	case opLiteral:
		return p.values[t.number]
	case opProperty:
		return m.slot(p.properties[t.number]).value
	case opArithmetic:
		return p.number(t, m)
	default:
		return fromTruth(p.eval(p.rare.conditions[t.number], m))
	}
}

// number returns a term as a number, NULL if it is none. A text of the selector is none.
func (p *Program) number(t *term, m *Message) Value {
	switch t.op {
	case opLiteral:
		if v := p.values[t.number]; v.isNumber() {
			return v
		}
	case opProperty:
		return *m.slot(p.properties[t.number]).asNumber()
	case opArithmetic:
		v := p.number(&p.rare.terms[t.left], m)
		if t.operator == '~' {
			return opposite(v)
		}
		return calculate(t.operator, v, p.number(&p.rare.terms[t.right], m))
	}
	return Value{}
}

// bool returns a term as a boolean, Unknown if it is none. A text of the selector is none.
func (p *Program) bool(t *term, m *Message) Truth {
	switch t.op {
	case opLiteral:
		if v := p.values[t.number]; v.kind == boolean {
			return truth(v.bool())
		}
	case opProperty:
		return m.slot(p.properties[t.number]).asBool()
	case opCompare:
		return p.eval(p.rare.conditions[t.number], m)
	}
	return Unknown
}
