package selector

import "strings"

// appendExpr appends the normal form of e, in parentheses if it binds no tighter than what it is in.
func appendExpr(b []byte, e *expr, bind int) []byte {
	power := e.power()
	if power <= bind {
		b = append(b, '(')
	}
	switch e.op {
	case opLiteral:
		b = appendLiteral(b, e.value)
	case opProperty:
		b = appendProperty(b, e)
	case opArithmetic:
		b = appendArithmetic(b, e, power)
	case opCompare:
		b = appendCompare(b, e, power)
	case opIn:
		b = appendIn(b, e)
	case opLike:
		b = appendLike(b, e)
	case opNull:
		b = appendExpr(b, e.args[0], bindEquality)
		b = append(b, " IS "...)
		b = appendNot(b, e.negated)
		b = append(b, "NULL"...)
	case opAnd:
		b = appendJunction(b, e, " AND ", power)
	case opOr:
		b = appendJunction(b, e, " OR ", power)
	}
	if power <= bind {
		b = append(b, ')')
	}
	return b
}

// power is how tight the operator of e binds.
func (e *expr) power() int {
	switch e.op {
	case opOr:
		return bindOr
	case opAnd:
		return bindAnd
	case opCompare:
		switch {
		case e.isNotXPath():
			return bindNot
		case e.isXPath():
			return bindSign + 1
		case e.relation == equal || e.relation == unequal:
			return bindEquality
		}
		return bindRelation
	case opNull:
		return bindEquality
	case opIn, opLike:
		return bindRelation
	case opArithmetic:
		switch e.operator {
		case '+', '-':
			return bindSum
		case '*', '/':
			return bindProduct
		}
		return bindSign
	}
	return bindSign + 1
}

// isXPath tells whether e is an XPATH that is to be TRUE, isNotXPath whether it is one that is to be FALSE.
func (e *expr) isXPath() bool {
	return e.op == opCompare && e.args[0].source == xpathTest && e.args[1].isConstant(true)
}

func (e *expr) isNotXPath() bool {
	return e.op == opCompare && e.args[0].source == xpathTest && e.args[1].isConstant(false)
}

func appendNot(b []byte, negated bool) []byte {
	if negated {
		b = append(b, "NOT "...)
	}
	return b
}

func appendLiteral(b []byte, v Value) []byte {
	switch v.kind {
	case text:
		return appendQuoted(b, v.text, "'")
	case boolean:
		return append(b, truth(v.bool()).String()...)
	default:
		return v.appendNumber(b)
	}
}

func appendQuoted(b []byte, s, quote string) []byte {
	b = append(b, quote...)
	b = append(b, strings.ReplaceAll(s, quote, quote+quote)...)
	return append(b, quote...)
}

func appendProperty(b []byte, e *expr) []byte {
	switch e.source {
	case fromXPath:
		b = append(b, "JMS_BEA_SELECT('xpath', "...)
		return append(appendQuoted(b, e.name, "'"), ')')
	case xpathTest:
		return appendQuoted(append(b, "XPATH "...), e.name, "'")
	case fromJSON:
		return append(appendQuoted(append(b, "JSON_VALUE("...), e.name, "'"), ')')
	}
	l := lexer{text: e.name}
	if name := l.name(); name == e.name && keyword(name) == "" {
		return append(b, name...)
	}
	return appendQuoted(b, e.name, `"`)
}

func appendArithmetic(b []byte, e *expr, power int) []byte {
	if e.operator == '~' {
		return appendExpr(append(b, "- "...), e.args[0], power-1)
	}
	b = appendExpr(b, e.args[0], power-1)
	b = append(b, ' ', e.operator, ' ')
	return appendExpr(b, e.args[1], power)
}

func appendCompare(b []byte, e *expr, power int) []byte {
	switch {
	case e.isNotXPath():
		return appendProperty(append(b, "NOT "...), e.args[0])
	case e.isXPath():
		return appendProperty(b, e.args[0])
	}
	b = appendExpr(b, e.args[0], power-1) // operators of one power are read from the left
	b = append(b, ' ')
	b = append(b, e.relation.String()...)
	b = append(b, ' ')
	return appendExpr(b, e.args[1], power)
}

func appendIn(b []byte, e *expr) []byte {
	b = appendExpr(b, e.args[0], bindRelation)
	b = append(b, ' ')
	b = appendNot(b, e.negated)
	for i, v := range e.list {
		if i == 0 {
			b = append(b, "IN ("...)
		} else {
			b = append(b, ", "...)
		}
		b = appendLiteral(b, v)
	}
	return append(b, ')')
}

func appendLike(b []byte, e *expr) []byte {
	b = appendExpr(b, e.args[0], bindRelation)
	b = append(b, ' ')
	b = appendNot(b, e.negated)
	b = appendQuoted(append(b, "LIKE "...), e.pattern, "'")
	if e.escape != "" {
		b = appendQuoted(append(b, " ESCAPE "...), e.escape, "'")
	}
	return b
}

func appendJunction(b []byte, e *expr, operator string, power int) []byte {
	for i, arg := range e.args {
		if i > 0 {
			b = append(b, operator...)
		}
		b = appendExpr(b, arg, power)
	}
	return b
}
