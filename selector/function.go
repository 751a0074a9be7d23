package selector

// The names that look into bodies. They are reserved only where what follows makes a function of them.
const (
	nameXPath  = "XPATH"
	nameXQuery = "XQUERY"
	nameBEA    = "JMS_BEA_SELECT"
	nameJSON   = "JSON_VALUE"
)

// isContent tells whether the next token, a name, begins something that looks into the body.
func (p *parser) isContent() bool {
	name := p.token.text
	next := p.lexer
	switch {
	case isFold(name, nameXPath), isFold(name, nameXQuery):
		t, err := next.next()
		return err == nil && t.kind == aText
	case isFold(name, nameBEA), isFold(name, nameJSON):
		t, err := next.next()
		return err == nil && t.is("(")
	}
	return false
}

// content reads XPATH 'path', JMS_BEA_SELECT('xpath', 'path') or JSON_VALUE('path').
func (p *parser) content() (*expr, error) {
	name := p.token
	if p.options.NoContent {
		return nil, fail(name.start, "%s: looking into bodies is switched off", name.text)
	}
	if isFold(name.text, nameXQuery) {
		return nil, fail(name.start, "expected %s: XQuery is not supported", nameXPath)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	e := p.tree.property("", name.start)
	e.source = xpathTest
	if isFold(name.text, nameXPath) {
		return e, p.pathOf(e)
	}
	if err := p.take("("); err != nil {
		return nil, err
	}
	e.source = fromJSON
	if isFold(name.text, nameBEA) {
		e.source = fromXPath
		if p.token.kind != aText || !isFold(p.token.text, "xpath") {
			return nil, p.expected("'xpath'")
		}
		err := p.advance()
		if err == nil {
			err = p.take(",")
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.pathOf(e); err != nil {
		return nil, err
	}
	return e, p.take(")")
}

// pathOf reads the path of e.
func (p *parser) pathOf(e *expr) error {
	if p.token.kind != aText {
		return p.expected("a path, as a text")
	}
	e.path, e.name = p.token.start, p.token.text
	return p.advance()
}
