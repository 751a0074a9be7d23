package selector

import (
	"errors"

	"footfall/selector/internal/jsonpath"
	"footfall/selector/internal/xpath"
)

// path is how something is found in a body; of the two one is set.
type path struct {
	xpath *xpath.Expr
	json  *jsonpath.Path
}

// parsePath reads the path of a property of content.
func parsePath(e *expr, o *Options) (p path, err error) {
	if e.source == fromJSON {
		var bad *jsonpath.Error
		if p.json, err = jsonpath.Parse(e.name); errors.As(err, &bad) {
			err = fail(e.path, "the JSON path is wrong at its position %d: %s", bad.Offset+1, bad.Message)
		}
		return p, err
	}
	var bad *xpath.Error
	if p.xpath, err = xpath.Parse(e.name, o.MaxDepth); errors.As(err, &bad) {
		err = fail(e.path, "the XPath is wrong at its position %d: %s", bad.Offset+1, bad.Message)
	}
	return p, err
}

// content is the body of a message: fetched, and parsed as each of the two languages, at most once.
type content struct {
	known contentKnown
	body  []byte
	xml   *xpath.Document    // nil if it does not parse
	json  *jsonpath.Document // nil if it does not parse
}

// contentKnown says what was tried.
type contentKnown uint8

const (
	theBody contentKnown = 1 << iota
	asXML
	asJSON
)

func (c *content) reset() {
	if c.known != 0 {
		*c = content{}
	}
}

// value returns what a property finds in the body: NULL if the body does not parse, if there is nothing or
// nothing in it, or if it is too dear to find.
func (c *content) value(p *property, m Properties) Value {
	if c.known&theBody == 0 {
		c.known |= theBody
		c.body = m.Body()
	}
	switch {
	case len(c.body) > p.limits.MaxBody || len(c.body) == 0:
		return Value{}
	case p.source == fromJSON:
		return c.jsonValue(p)
	}
	return c.xmlValue(p)
}

func (c *content) jsonValue(p *property) Value {
	if c.known&asJSON == 0 {
		c.known |= asJSON
		c.json, _ = jsonpath.ParseDocument(c.body, jsonpath.Limits{Depth: p.limits.MaxBodyDepth, Nodes: p.limits.MaxBodyNodes})
	}
	if c.json == nil {
		return Value{}
	}
	s, ok := p.path.json.Find(c.json)
	if !ok || s == "" {
		return Value{}
	}
	return Text(s)
}

func (c *content) xmlValue(p *property) Value {
	if c.known&asXML == 0 {
		c.known |= asXML
		c.xml, _ = xpath.ParseDocument(c.body, xpath.Limits{Depth: p.limits.MaxBodyDepth, Nodes: p.limits.MaxBodyNodes})
	}
	if c.xml == nil {
		return Value{}
	}
	r, ok := p.path.xpath.Evaluate(c.xml, p.limits.MaxSteps)
	switch {
	case !ok:
		return Value{}
	case p.source == xpathTest || r.Type == xpath.Boolean:
		return Bool(r.Bool)
	case r.Type == xpath.Number:
		return Double(r.Number)
	case r.Text == "":
		return Value{}
	}
	return Text(r.Text)
}
