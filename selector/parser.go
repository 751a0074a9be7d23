package selector

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The binding powers of operators, loosest first.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindEquality
	bindRelation
	bindSum
	bindProduct
	bindSign
)

// parser is a Pratt parser: an expression is read up to an operator that binds no tighter than the one before it.
type parser struct {
	lexer   lexer
	token   token // the next one
	options *Options
	tree    *tree
	nodes   int
	depth   int
}

// The prefixes that Artemis has for STOMP, for what is always so here.
var prefixes = [...]string{"convert_string_expressions:", "hyphenated_props:"}

// parse returns the root of the tree of a selector: a condition.
func parse(text string, o *Options, t *tree) (*expr, error) {
	if len(text) > o.MaxText {
		return nil, fail(o.MaxText, "the selector is longer than %d octets", o.MaxText)
	}
	if !utf8.ValidString(text) {
		return nil, fail(invalidAt(text), "expected UTF-8")
	}
	p := &parser{lexer: lexer{text: text}, options: o, tree: t}
	p.skipPrefixes()
	if err := p.advance(); err != nil {
		return nil, err
	}
	e, err := p.conditionOf(0)
	if err != nil {
		return nil, err
	}
	if p.token.kind != atEnd {
		return nil, p.expected("an operator or the end")
	}
	return e, nil
}

func invalidAt(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return len(text)
}

func (p *parser) skipPrefixes() {
	for skipped := true; skipped; {
		skipped = false
		for _, prefix := range prefixes {
			if rest := strings.TrimLeft(p.lexer.text[p.lexer.pos:], " "); strings.HasPrefix(rest, prefix) {
				p.lexer.pos = len(p.lexer.text) - len(rest) + len(prefix)
				skipped = true
			}
		}
	}
}

func (p *parser) advance() (err error) {
	p.token, err = p.lexer.next()
	return err
}

// expected fails at the next token.
func (p *parser) expected(what string) error {
	return fail(p.token.start, "expected %s, found %s", what, p.token)
}

// take steps past a word, which must be next.
func (p *parser) take(word string) error {
	if !p.token.is(word) {
		return p.expected(shown(word))
	}
	return p.advance()
}

// accept steps past a word if it is next.
func (p *parser) accept(word string) (bool, error) {
	if !p.token.is(word) {
		return false, nil
	}
	return true, p.advance()
}

// count accounts for a node.
func (p *parser) count(pos int) error {
	if p.nodes++; p.nodes > p.options.MaxNodes {
		return fail(pos, "the selector has more than %d operators, names and literals", p.options.MaxNodes)
	}
	return nil
}

// nested reads what is inside something, whose place is pos.
func (p *parser) nested(pos, bind int) (*expr, error) {
	if p.depth++; p.depth > p.options.MaxDepth {
		return nil, fail(pos, "the selector is nested more than %d deep", p.options.MaxDepth)
	}
	e, err := p.expression(bind)
	p.depth--
	return e, err
}

func (p *parser) conditionOf(bind int) (*expr, error) {
	e, err := p.expression(bind)
	if err != nil {
		return nil, err
	}
	return p.tree.condition(e)
}

// numberOf reads what may be a number; where says after what, for an error.
func (p *parser) numberOf(bind int, where, operator string) (*expr, error) {
	e, err := p.expression(bind)
	if err != nil {
		return nil, err
	}
	return e, e.mustBeNumber(where, operator)
}

// mustBeNumber fails unless e is a number or may turn out to be one.
func (e *expr) mustBeNumber(where, operator string) error {
	if c := e.class(); c != numberClass && c != anyClass {
		return fail(e.pos, "expected a number %s %s, found %s", where, operator, c)
	}
	return nil
}

// mustBeName fails unless e has a value of each message.
func (e *expr) mustBeName(operator string) error {
	if c := e.class(); c != anyClass {
		return fail(e.pos, "expected a name before %s, found %s", operator, c)
	}
	return nil
}

// expression reads operands and the operators between them that bind tighter than bind.
func (p *parser) expression(bind int) (*expr, error) {
	left, err := p.operand()
	for err == nil {
		power := p.power()
		if power <= bind {
			return left, nil
		}
		if err = p.count(p.token.start); err == nil {
			left, err = p.infix(left, power)
		}
	}
	return nil, err
}

// power is how tight the next token binds as an operator between two operands; 0 if it is none.
func (p *parser) power() int {
	if p.token.kind != aWord {
		return 0
	}
	switch p.token.text {
	case "OR":
		return bindOr
	case "AND":
		return bindAnd
	case "=", "<>", "IS":
		return bindEquality
	case "<", ">", "<=", ">=", "NOT", "IN", "LIKE", "BETWEEN":
		return bindRelation
	case "+", "-":
		return bindSum
	case "*", "/":
		return bindProduct
	default:
		return 0
	}
}

// operand reads what an operator stands before, after or between.
func (p *parser) operand() (*expr, error) {
	t := p.token
	if err := p.count(t.start); err != nil {
		return nil, err
	}
	if t.kind == aName && p.isContent() {
		return p.content()
	}
	switch {
	case t.kind == aName, t.kind == aQuoted:
		return p.tree.property(t.text, t.start), p.advance()
	case t.kind == aNumber:
		return p.tree.literal(t.value, t.start), p.advance()
	case t.kind == aText:
		return p.tree.literal(Text(t.text), t.start), p.advance()
	case t.is("TRUE"), t.is("FALSE"):
		return p.tree.constant(t.text == "TRUE", t.start), p.advance()
	case t.is("("), t.is("NOT"), t.is("-"), t.is("+"):
		return p.prefix(t)
	case t.is("NULL"):
		return nil, fail(t.start, "expected a value, found NULL: a name is compared with it by IS NULL")
	}
	return nil, p.expected("a name, a value or a condition")
}

// prefix reads a parenthesis, NOT or a sign with its operand.
func (p *parser) prefix(t token) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	bind := bindSign
	switch t.text {
	case "(":
		bind = 0
	case "NOT":
		bind = bindNot
	}
	e, err := p.nested(t.start, bind)
	if err != nil {
		return nil, err
	}
	switch t.text {
	case "(":
		return e, p.take(")")
	case "NOT":
		if e, err = p.tree.condition(e); err != nil {
			return nil, err
		}
		return p.tree.not(e), nil
	}
	if err := e.mustBeNumber("after", "the sign"); err != nil {
		return nil, err
	}
	if t.text == "-" {
		return p.tree.negative(e, t.start), nil
	}
	if e.op == opProperty { // + makes a number of it
		return p.tree.arithmetic('+', e, p.tree.literal(Int(0), t.start)), nil
	}
	return e, nil
}

// infix reads an operator and what is to the right of it.
func (p *parser) infix(left *expr, power int) (*expr, error) {
	t := p.token
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch t.text {
	case "AND", "OR":
		return p.junction(t, left, power)
	case "IS":
		return p.isNull(left)
	case "NOT", "IN", "LIKE", "BETWEEN":
		return p.predicate(t, left)
	case "=", "<>":
		return p.equality(t, left)
	}
	if err := left.mustBeNumber("before", t.text); err != nil {
		return nil, err
	}
	right, err := p.numberOf(power, "after", t.text)
	switch {
	case err != nil:
		return nil, err
	case power == bindRelation:
		return p.tree.compare(relationOf(t.text), left, right), nil
	}
	return p.tree.arithmetic(t.text[0], left, right), nil
}

func (p *parser) junction(t token, left *expr, power int) (*expr, error) {
	left, err := p.tree.condition(left)
	if err != nil {
		return nil, err
	}
	right, err := p.conditionOf(power)
	if err != nil {
		return nil, err
	}
	if t.text == "AND" {
		return p.tree.junction(opAnd, left, right), nil
	}
	return p.tree.junction(opOr, left, right), nil
}

func (p *parser) equality(t token, left *expr) (*expr, error) {
	right, err := p.expression(bindEquality)
	if err != nil {
		return nil, err
	}
	return p.tree.compare(relationOf(t.text), left, right), nil
}

func relationOf(operator string) (r relation) {
	for i := range operator {
		switch operator[i] {
		case '<':
			r |= less
		case '=':
			r |= equal
		case '>':
			r |= greater
		}
	}
	return r
}

func (p *parser) isNull(left *expr) (*expr, error) {
	negated, err := p.accept("NOT")
	if err == nil {
		err = p.take("NULL")
	}
	if err == nil {
		err = left.mustBeName("IS NULL")
	}
	e := p.tree.add(opNull, left.pos, left)
	e.negated = negated
	return e, err
}

// predicate reads [NOT] IN, LIKE or BETWEEN.
func (p *parser) predicate(t token, left *expr) (*expr, error) {
	negated := t.is("NOT")
	if negated {
		t = p.token
		if !t.is("IN") && !t.is("LIKE") && !t.is("BETWEEN") {
			return nil, p.expected("IN, LIKE or BETWEEN after NOT")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if t.is("BETWEEN") {
		return p.between(left, negated)
	}
	if err := left.mustBeName(t.text); err != nil {
		return nil, err
	}
	if t.is("IN") {
		return p.in(left, negated)
	}
	return p.like(left, negated)
}

func (p *parser) between(left *expr, negated bool) (*expr, error) {
	err := left.mustBeNumber("before", "BETWEEN")
	if err != nil {
		return nil, err
	}
	low, err := p.numberOf(bindRelation, "after", "BETWEEN")
	if err == nil {
		err = p.take("AND")
	}
	if err != nil {
		return nil, err
	}
	high, err := p.numberOf(bindRelation, "after AND of", "BETWEEN")
	if err == nil {
		err = p.count(left.pos)
	}
	if err != nil {
		return nil, err
	}
	e := p.tree.junction(opAnd, p.tree.compare(greater|equal, left, low), p.tree.compare(less|equal, left, high))
	if negated {
		return p.tree.not(e), nil
	}
	return e, nil
}

func (p *parser) in(left *expr, negated bool) (*expr, error) {
	if err := p.take("("); err != nil {
		return nil, err
	}
	start := len(p.tree.items)
	for {
		if len(p.tree.items)-start == p.options.MaxList {
			return nil, fail(p.token.start, "the list has more than %d values", p.options.MaxList)
		}
		v, err := p.item()
		if err != nil {
			return nil, err
		}
		p.tree.items = append(p.tree.items, v)
		more, err := p.accept(",")
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return p.tree.in(left, slices.Clip(p.tree.items[start:]), negated), p.take(")")
}

// item reads a text or a number, which may have a sign.
func (p *parser) item() (Value, error) {
	isNegative := p.token.is("-")
	hasSign := isNegative || p.token.is("+")
	if hasSign {
		if err := p.advance(); err != nil {
			return Value{}, err
		}
	}
	t := p.token
	if t.kind != aNumber && (t.kind != aText || hasSign) {
		return Value{}, p.expected("a text or a number in the list")
	}
	v := t.value
	if t.kind == aText {
		v = Text(t.text)
	}
	if isNegative {
		v = normalized(opposite(v))
	}
	return v, p.advance()
}

func (p *parser) like(left *expr, negated bool) (*expr, error) {
	pattern := p.token
	if pattern.kind != aText {
		return nil, p.expected("a text after LIKE")
	}
	err := p.advance()
	hasEscape := err == nil && p.token.is("ESCAPE")
	escape := ""
	if hasEscape {
		if err = p.advance(); err == nil && (p.token.kind != aText || utf8.RuneCountInString(p.token.text) != 1) {
			err = p.expected("a text of one character after ESCAPE")
		}
		if escape = p.token.text; err == nil {
			err = p.advance()
		}
	}
	if err != nil {
		return nil, err
	}
	return p.tree.like(left, pattern, escape, negated)
}
