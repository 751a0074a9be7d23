package jsonpath

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Limits bound what of a document is kept: how deep objects and arrays nest, and how many values there are, names
// among them.
type Limits struct {
	Depth, Nodes int
}

// Document is a parsed document. It refers to the octets that it was read from.
type Document struct {
	body  []byte
	nodes []node
}

// node is a value, or the name of a member, whose value is then the next node.
type node struct {
	start, end int32 // in the body
	next       int32 // the first node behind it
}

// Error is a text that is no JSON within the limits.
type Error struct {
	Offset  int // in octets, from 0
	Message string
}

// Error names the position, counted from 1, and what was expected there.
func (e *Error) Error() string { return fmt.Sprintf("JSON at position %d: %s", e.Offset+1, e.Message) }

// ParseDocument reads a document in UTF-8, as RFC 8259 has it. Errors are of type *[Error].
func ParseDocument(body []byte, limits Limits) (*Document, error) {
	p := &parser{body: body, limits: limits}
	if !utf8.Valid(body) {
		return nil, p.fail("expected UTF-8")
	}
	p.blanks()
	if err := p.value(0); err != nil {
		return nil, err
	}
	if p.blanks(); p.pos < len(body) {
		return nil, p.fail("expected the end")
	}
	return &Document{body, p.nodes}, nil
}

type parser struct {
	body   []byte
	pos    int
	nodes  []node
	limits Limits
}

func (p *parser) fail(message string) error { return &Error{p.pos, message} }

func (p *parser) peek() byte {
	if p.pos < len(p.body) {
		return p.body[p.pos]
	}
	return 0
}

func (p *parser) blanks() {
	for p.pos < len(p.body) {
		switch p.body[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// accept steps past an octet, and the blanks behind it, if it is next.
func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.pos++
	p.blanks()
	return true
}

// value reads a value and notes it.
func (p *parser) value(depth int) (err error) {
	if len(p.nodes) >= p.limits.Nodes {
		return p.fail(fmt.Sprintf("more than %d values", p.limits.Nodes))
	}
	i := len(p.nodes)
	p.nodes = append(p.nodes, node{start: int32(p.pos)})
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth == p.limits.Depth {
			return p.fail(fmt.Sprintf("nested more than %d deep", p.limits.Depth))
		}
		p.accept(c)
		err = p.members(c == '{', depth+1)
	case c == '"':
		err = p.text()
	case c == '-' || c >= '0' && c <= '9':
		err = p.number()
	default:
		err = p.word()
	}
	p.nodes[i].end, p.nodes[i].next = int32(p.pos), int32(len(p.nodes))
	return err
}

// members reads what is in an object or array, and its end.
func (p *parser) members(isObject bool, depth int) error {
	end := byte(']')
	if isObject {
		end = '}'
	}
	if p.peek() == end {
		p.pos++
		return nil
	}
	for {
		if isObject {
			if err := p.name(depth); err != nil {
				return err
			}
		}
		if err := p.value(depth); err != nil {
			return err
		}
		p.blanks()
		if p.peek() == end {
			p.pos++
			return nil
		}
		if !p.accept(',') {
			return p.fail(fmt.Sprintf("expected , or %c", end))
		}
	}
}

func (p *parser) name(depth int) error {
	if p.peek() != '"' {
		return p.fail("expected a name")
	}
	if err := p.value(depth); err != nil {
		return err
	}
	if p.blanks(); !p.accept(':') {
		return p.fail("expected :")
	}
	return nil
}

func (p *parser) text() error {
	for p.pos++; p.pos < len(p.body); p.pos++ {
		switch c := p.body[p.pos]; {
		case c == '"':
			p.pos++
			return nil
		case c < ' ':
			return p.fail("expected no control character in a text")
		case c == '\\':
			if err := p.escape(); err != nil {
				return err
			}
		}
	}
	return p.fail("expected the end of the text")
}

// escape reads an escape but for its last octet.
func (p *parser) escape() error {
	p.pos++
	switch p.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			p.pos++
			if c := p.peek() | 0x20; !isDigit(p.peek()) && (c < 'a' || c > 'f') {
				return p.fail("expected four hexadecimal digits")
			}
		}
		return nil
	}
	return p.fail("expected an escape of JSON")
}

func (p *parser) number() error {
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if err := p.digits(); err != nil {
		return err
	}
	if p.peek() == '.' {
		p.pos++
		if err := p.digits(); err != nil {
			return err
		}
	}
	if p.peek()|0x20 == 'e' {
		if p.pos++; p.peek() == '-' || p.peek() == '+' {
			p.pos++
		}
		return p.digits()
	}
	return nil
}

func (p *parser) digits() error {
	if !isDigit(p.peek()) {
		return p.fail("expected a digit")
	}
	for isDigit(p.peek()) {
		p.pos++
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (p *parser) word() error {
	for _, word := range [...]string{"null", "true", "false"} {
		if end := p.pos + len(word); end <= len(p.body) && string(p.body[p.pos:end]) == word {
			p.pos = end
			return nil
		}
	}
	return p.fail("expected a value")
}

// text returns a text without quotes and escapes.
func (d *Document) text(i int32) string {
	n := d.nodes[i]
	raw := d.body[n.start:n.end]
	for _, c := range raw {
		if c == '\\' {
			var s string
			_ = json.Unmarshal(raw, &s) // the parser has seen that it is a text
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}
