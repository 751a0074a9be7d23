package xpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a text that is no expression.
type Error struct {
	Offset  int // in octets, from 0
	Message string
}

// Error names the position, counted from 1, and what was expected there.
func (e *Error) Error() string { return fmt.Sprintf("XPath at position %d: %s", e.Offset+1, e.Message) }

// Parse reads an expression that nests at most so deep. Errors are of type *[Error].
func Parse(text string, depth int) (*Expr, error) {
	p := &parser{text: text, limit: depth}
	t, err := p.binary(0)
	if err == nil {
		if p.blanks(); p.pos < len(text) {
			err = p.fail("an operator or the end")
		}
	}
	if err != nil {
		return nil, err
	}
	return &Expr{t}, nil
}

// parser is a recursive descent: as it knows whether an operand or an operator comes next, "*" and "and" mean either.
type parser struct {
	text  string
	pos   int
	depth int
	limit int
}

func (p *parser) fail(expected string) error {
	return &Error{p.pos, "expected " + expected}
}

func (p *parser) blanks() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// accept steps past some octets if they are next, after blanks.
func (p *parser) accept(s string) bool {
	p.blanks()
	if !strings.HasPrefix(p.text[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

// take is accept for what must be there.
func (p *parser) take(s string) error {
	if !p.accept(s) {
		return p.fail(strconv.Quote(s))
	}
	return nil
}

// levels are the operators between two operands, loosest first, longer before shorter ones.
var levels = [...][]string{
	{"or"}, {"and"}, {"!=", "="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "div", "mod"},
}

// binary reads operands with operators of a level, or of tighter ones.
func (p *parser) binary(level int) (*tree, error) {
	if level == len(levels) {
		return p.sign()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		word := p.operator(level)
		if word == "" {
			return left, nil
		}
		var right *tree
		right, err = p.binary(level + 1)
		left = &tree{op: binary, word: word, args: []*tree{left, right}}
	}
	return nil, err
}

func (p *parser) operator(level int) string {
	p.blanks()
	for _, word := range levels[level] {
		rest, ok := strings.CutPrefix(p.text[p.pos:], word)
		if !ok || unicode.IsLetter(rune(word[0])) && nameLength(rest, false) > 0 {
			continue
		}
		p.pos += len(word)
		return word
	}
	return ""
}

func (p *parser) sign() (*tree, error) {
	minus := 0
	for p.accept("-") {
		minus++
	}
	t, err := p.union()
	if err != nil || minus == 0 {
		return t, err
	}
	t = &tree{op: negation, args: []*tree{t}}
	if minus%2 == 0 {
		t = &tree{op: negation, args: []*tree{t}}
	}
	return t, nil
}

func (p *parser) union() (*tree, error) {
	left, err := p.path()
	for err == nil && p.accept("|") {
		if !left.isNodes() {
			return nil, p.fail("nodes before |")
		}
		var right *tree
		if right, err = p.path(); err == nil && !right.isNodes() {
			err = p.fail("nodes after |")
		}
		left = &tree{op: binary, word: "|", args: []*tree{left, right}}
	}
	return left, err
}

// nested reads an expression inside of something.
func (p *parser) nested() (*tree, error) {
	if p.depth++; p.depth > p.limit {
		return nil, &Error{p.pos, fmt.Sprintf("the XPath is nested more than %d deep", p.limit)}
	}
	t, err := p.binary(0)
	p.depth--
	return t, err
}

// path reads a path, or another operand with the path that may follow it.
func (p *parser) path() (*tree, error) {
	p.blanks()
	t := &tree{op: path}
	switch rest := p.text[p.pos:]; {
	case strings.HasPrefix(rest, "//"):
		t.isAbsolute = true
	case strings.HasPrefix(rest, "/"):
		p.pos++
		t.isAbsolute = true
		if p.blanks(); !p.atStep() {
			return t, nil
		}
		return t, p.relative(t)
	case p.atStep() && !p.atCall():
		return t, p.relative(t)
	default:
		primary, err := p.primary()
		if err != nil {
			return nil, err
		}
		t.start = primary
		if t.filters, err = p.predicates(); err != nil {
			return nil, err
		}
	}
	if p.blanks(); !strings.HasPrefix(p.text[p.pos:], "/") {
		if len(t.filters) == 0 && t.start != nil {
			return t.start, nil
		}
		return t, t.onNodes(p)
	}
	if err := t.onNodes(p); err != nil {
		return nil, err
	}
	return t, p.more(t)
}

// onNodes fails if what a path begins with is no set of nodes.
func (t *tree) onNodes(p *parser) error {
	if t.start != nil && !t.start.isNodes() {
		return p.fail("nodes before a path or predicate")
	}
	return nil
}

// relative reads steps, of which there must be one.
func (p *parser) relative(t *tree) error {
	if err := p.step(t); err != nil {
		return err
	}
	return p.more(t)
}

// more reads further steps.
func (p *parser) more(t *tree) error {
	for {
		switch {
		case p.accept("//"):
			t.steps = append(t.steps, step{axis: descendantOrSelf})
		case p.accept("/"):
		default:
			return nil
		}
		if err := p.step(t); err != nil {
			return err
		}
	}
}

// atStep tells whether a step begins here; atCall whether it is no step but a function.
func (p *parser) atStep() bool {
	rest := p.text[p.pos:]
	return rest != "" && (rest[0] == '@' || rest[0] == '*' || rest[0] == '.' && !(len(rest) > 1 && isDigit(rest[1])) || nameLength(rest, false) > 0)
}

func (p *parser) atCall() bool {
	rest := p.text[p.pos:]
	n := nameLength(rest, true)
	if n == 0 || !strings.HasPrefix(strings.TrimLeft(rest[n:], " \t\r\n"), "(") {
		return false
	}
	_, isType := nodeTypes[rest[:n]]
	return !isType
}

var nodeTypes = map[string]testKind{"node": anyNode, "text": anyText, "comment": anyComment, "processing-instruction": anyInstruction}

func (p *parser) step(t *tree) error {
	p.blanks()
	if p.accept("..") {
		t.steps = append(t.steps, step{axis: parent})
		return nil
	}
	if p.accept(".") {
		t.steps = append(t.steps, step{axis: self})
		return nil
	}
	s := step{}
	if p.accept("@") {
		s.axis = attributes
	} else if n := nameLength(p.text[p.pos:], true); n > 0 {
		if rest := strings.TrimLeft(p.text[p.pos+n:], " \t\r\n"); strings.HasPrefix(rest, "::") {
			a, ok := axes[p.text[p.pos:p.pos+n]]
			if !ok {
				return p.fail("an axis")
			}
			s.axis = a
			p.pos = len(p.text) - len(rest) + 2
		}
	}
	err := p.test(&s.test)
	if err == nil {
		s.predicates, err = p.predicates()
	}
	t.steps = append(t.steps, s)
	return err
}

func (p *parser) test(t *test) error {
	if p.accept("*") {
		t.kind = anyName
		return nil
	}
	n := nameLength(p.text[p.pos:], false)
	if n == 0 {
		return p.fail("a name, * or a type of node")
	}
	name := p.text[p.pos : p.pos+n]
	p.pos += n
	if strings.HasPrefix(p.text[p.pos:], ":*") {
		p.pos += 2
		*t = test{prefixed, name}
		return nil
	}
	kind, isType := nodeTypes[name]
	if !isType || !p.accept("(") {
		*t = test{named, name}
		return nil
	}
	t.kind = kind
	if p.blanks(); kind == anyInstruction && !strings.HasPrefix(p.text[p.pos:], ")") {
		s, err := p.literal()
		if err != nil {
			return err
		}
		t.name = s
	}
	return p.take(")")
}

func (p *parser) predicates() (list []*tree, err error) {
	for p.accept("[") {
		t, err := p.nested()
		if err == nil {
			err = p.take("]")
		}
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// primary reads a literal, a number, a function or parentheses.
func (p *parser) primary() (*tree, error) {
	rest := p.text[p.pos:]
	switch {
	case rest == "":
		return nil, p.fail("an expression")
	case rest[0] == '(':
		p.pos++
		t, err := p.nested()
		if err == nil {
			err = p.take(")")
		}
		return t, err
	case rest[0] == '\'' || rest[0] == '"':
		s, err := p.literal()
		return &tree{op: literal, text: s}, err
	case isDigit(rest[0]) || rest[0] == '.':
		n := 0
		for n < len(rest) && (isDigit(rest[n]) || rest[n] == '.') {
			n++
		}
		v, err := strconv.ParseFloat(rest[:n], 64)
		if err != nil {
			return nil, p.fail("a number")
		}
		p.pos += n
		return &tree{op: number, value: v}, nil
	case nameLength(rest, true) > 0:
		return p.call()
	}
	return nil, p.fail("an expression")
}

func (p *parser) literal() (string, error) {
	rest := p.text[p.pos:]
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		return "", p.fail("a text")
	}
	end := strings.IndexByte(rest[1:], rest[0])
	if end < 0 {
		return "", p.fail("a text that ends")
	}
	p.pos += end + 2
	return rest[1 : end+1], nil
}

func (p *parser) call() (*tree, error) {
	start := p.pos
	name := p.text[p.pos : p.pos+nameLength(p.text[p.pos:], true)]
	want, ok := functions[name]
	if !ok {
		return nil, p.fail("a function of XPath 1.0")
	}
	p.pos += len(name)
	if err := p.take("("); err != nil {
		return nil, err
	}
	t := &tree{op: call, word: name}
	for !p.accept(")") {
		if len(t.args) > 0 {
			if err := p.take(","); err != nil {
				return nil, err
			}
		}
		arg, err := p.nested()
		if err != nil {
			return nil, err
		}
		t.args = append(t.args, arg)
	}
	if n := len(t.args); n < want.least || n > want.most {
		return nil, &Error{start, fmt.Sprintf("%s() takes another number of arguments", name)}
	}
	switch name {
	case "count", "sum", "name", "local-name":
		if len(t.args) > 0 && !t.args[0].isNodes() {
			return nil, &Error{start, fmt.Sprintf("%s() takes nodes", name)}
		}
	}
	return t, nil
}

// nameLength is how many octets of s are a name; local names have no colon.
func nameLength(s string, local bool) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case unicode.IsLetter(r), r == '_':
		case n > 0 && (unicode.IsDigit(r) || r == '-' || r == '.' || unicode.Is(unicode.M, r) || r == '·'):
		case n > 0 && r == ':' && !local && strings.Count(s[:n], ":") == 0 && nameLength(s[n+1:], true) > 0:
		default:
			return n
		}
		n += size
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
