package xpath

import (
	"math"
	"slices"
	"strings"
)

// Result is what an expression is for a document: one of four types.
type Result struct {
	Type   Type
	Bool   bool    // also what the others are as a boolean
	Number float64 // may be NaN or infinite
	Text   string  // of nodes: the text of the first in document order, "" when there are none
}

// Type is the type of a Result.
type Type uint8

// The types of XPath 1.0.
const (
	Nodes Type = iota
	Boolean
	Number
	Text
)

// Evaluate evaluates an expression with the root as its context. It gives up, with ok being false, when that takes more than so many
// steps: nodes that are visited and, by the dozen, octets of text that are read or made.
func (x *Expr) Evaluate(d *Document, steps int) (r Result, ok bool) {
	e := &evaluator{document: d, steps: steps}
	v := e.value(x.tree, context{node: 0, position: 1, size: 1})
	r = Result{Type: v.kind, Bool: v.bool}
	switch v.kind {
	case Nodes:
		r.Bool = len(v.nodes) > 0
		if r.Bool {
			r.Text = e.text(v.nodes[0])
		}
	case Number:
		r.Number, r.Bool = v.number, v.asBool()
	case Text:
		r.Text, r.Bool = v.text, v.text != ""
	}
	return r, e.steps >= 0
}

type evaluator struct {
	document *Document
	steps    int // that are left; below 0 what is found has no meaning any more
}

// spend takes from the budget, and tells whether there is any left.
func (e *evaluator) spend(n int) bool {
	e.steps -= n
	return e.steps >= 0
}

// text returns the string-value of a node.
func (e *evaluator) text(i int32) string {
	n := &e.document.nodes[i]
	if !e.spend(1 + int(max(0, n.end-i))) {
		return ""
	}
	s := e.document.text(i)
	e.spend(len(s) / octets)
	return s
}

// octets is how many octets of text are as dear as a node.
const octets = 12

type context struct {
	node           int32
	position, size int
}

// value is a value of an expression.
type value struct {
	kind   Type
	nodes  []int32 // in document order, each once
	bool   bool
	number float64
	text   string
}

func boolValue(b bool) value      { return value{kind: Boolean, bool: b} }
func numberValue(f float64) value { return value{kind: Number, number: f} }
func textValue(s string) value    { return value{kind: Text, text: s} }

func (e *evaluator) value(t *tree, c context) value {
	if !e.spend(1) {
		return value{}
	}
	switch t.op {
	case literal:
		return textValue(t.text)
	case number:
		return numberValue(t.value)
	case path:
		return value{nodes: e.path(t, c)}
	case call:
		return e.call(t, c)
	case negation:
		return numberValue(-e.number(e.value(t.args[0], c)))
	}
	return e.binary(t, c)
}

func (e *evaluator) binary(t *tree, c context) value {
	left := e.value(t.args[0], c)
	switch t.word {
	case "or":
		return boolValue(left.asBool() || e.value(t.args[1], c).asBool())
	case "and":
		return boolValue(left.asBool() && e.value(t.args[1], c).asBool())
	}
	right := e.value(t.args[1], c)
	switch t.word {
	case "|":
		return value{nodes: e.ordered(slices.Concat(left.nodes, right.nodes))}
	case "=", "!=", "<", ">", "<=", ">=":
		return boolValue(e.compare(t.word, left, right))
	}
	x, y := e.number(left), e.number(right)
	switch t.word {
	case "+":
		return numberValue(x + y)
	case "-":
		return numberValue(x - y)
	case "*":
		return numberValue(x * y)
	case "div":
		return numberValue(x / y)
	default:
		return numberValue(math.Mod(x, y))
	}
}

// ordered brings nodes into document order, each once.
func (e *evaluator) ordered(nodes []int32) []int32 {
	if !e.spend(len(nodes)) {
		return nil
	}
	if !slices.IsSorted(nodes) {
		slices.Sort(nodes)
	}
	return slices.Compact(nodes)
}

// compare follows XPath 1.0, 3.4: of nodes, some node must compare.
func (e *evaluator) compare(word string, a, b value) bool {
	if a.kind == Nodes && b.kind == Boolean || a.kind == Boolean && b.kind == Nodes {
		return e.compareTwo(word, boolValue(a.asBool()), boolValue(b.asBool()))
	}
	if a.kind == Nodes {
		for _, i := range a.nodes {
			if e.compare(word, textValue(e.text(i)), b) {
				return true
			}
			if e.steps < 0 {
				return false
			}
		}
		return false
	}
	if b.kind == Nodes {
		for _, i := range b.nodes {
			if e.compareTwo(word, a, textValue(e.text(i))) {
				return true
			}
			if e.steps < 0 {
				return false
			}
		}
		return false
	}
	return e.compareTwo(word, a, b)
}

// compareTwo compares what is not nodes.
func (e *evaluator) compareTwo(word string, a, b value) bool {
	if word == "=" || word == "!=" {
		var same bool
		switch {
		case a.kind == Boolean || b.kind == Boolean:
			same = a.asBool() == b.asBool()
		case a.kind == Number || b.kind == Number:
			same = e.number(a) == e.number(b)
		default:
			same = a.text == b.text
		}
		return same == (word == "=")
	}
	x, y := e.number(a), e.number(b)
	switch word {
	case "<":
		return x < y
	case ">":
		return x > y
	case "<=":
		return x <= y
	default:
		return x >= y
	}
}

// path returns the nodes that a path leads to.
func (e *evaluator) path(t *tree, c context) []int32 {
	nodes := []int32{c.node}
	switch {
	case t.isAbsolute:
		nodes[0] = 0
	case t.start != nil:
		nodes = e.filter(e.value(t.start, c).nodes, t.filters)
	}
	for i := range t.steps {
		s := &t.steps[i]
		var next []int32
		for _, n := range nodes {
			if e.steps < 0 {
				return nil
			}
			found := e.filter(e.walk(s, n), s.predicates)
			if s.axis.isReverse() {
				slices.Reverse(found)
			}
			next = append(next, found...)
		}
		nodes = e.ordered(next)
	}
	return nodes
}

// filter keeps the nodes for which all predicates hold; positions are those in the list.
func (e *evaluator) filter(nodes []int32, predicates []*tree) []int32 {
	for _, p := range predicates {
		kept := make([]int32, 0, len(nodes))
		for i, n := range nodes {
			if e.steps < 0 {
				return nil
			}
			v := e.value(p, context{node: n, position: i + 1, size: len(nodes)})
			if v.kind == Number && v.number == float64(i+1) || v.kind != Number && v.asBool() {
				kept = append(kept, n)
			}
		}
		nodes = kept
	}
	return nodes
}

// walk returns the nodes of an axis that pass the test of a step, in the order of the axis.
func (e *evaluator) walk(s *step, from int32) (found []int32) {
	nodes := e.document.nodes
	visit := func(i int32) bool {
		if e.passes(s, &nodes[i]) {
			found = append(found, i)
		}
		return e.spend(1)
	}
	switch s.axis {
	case self:
		visit(from)
	case child, attributes:
		for i := from + 1; i < nodes[from].end && visit(i); i = nodes[i].end {
		}
	case descendant, descendantOrSelf:
		if s.axis == descendantOrSelf && !visit(from) {
			return nil
		}
		for i := from + 1; i < nodes[from].end && visit(i); i++ {
		}
	case parent:
		if p := nodes[from].parent; p >= 0 {
			visit(p)
		}
	case ancestor, ancestorOrSelf:
		i := from
		if s.axis == ancestor {
			i = nodes[from].parent
		}
		for ; i >= 0 && visit(i); i = nodes[i].parent {
		}
	case following:
		i := nodes[from].end
		if nodes[from].kind == attribute {
			i = from + 1
		}
		for ; int(i) < len(nodes) && visit(i); i++ {
		}
	case followingSibling:
		if p := nodes[from].parent; p >= 0 && nodes[from].kind != attribute {
			for i := nodes[from].end; i < nodes[p].end && visit(i); i = nodes[i].end {
			}
		}
	case preceding:
		for i := from - 1; i > 0; i-- {
			if isAncestor := nodes[i].end > from; !isAncestor && !visit(i) || !e.spend(1) {
				break
			}
		}
	case precedingSibling:
		if p := nodes[from].parent; p >= 0 && nodes[from].kind != attribute {
			for i := p + 1; i < from && visit(i); i = nodes[i].end {
			}
			slices.Reverse(found)
		}
	}
	return found
}

// passes tells whether a node passes the test of a step. But for two axes, attributes are on none.
func (e *evaluator) passes(s *step, n *node) bool {
	principal := element
	switch s.axis {
	case attributes:
		if principal = attribute; n.kind != attribute {
			return false
		}
	case self, descendantOrSelf, ancestorOrSelf, parent, ancestor:
	default:
		if n.kind == attribute {
			return false
		}
	}
	switch s.test.kind {
	case anyNode:
		return n.kind != attribute || s.axis == attributes || s.axis == self || s.axis == ancestorOrSelf || s.axis == descendantOrSelf
	case anyName:
		return n.kind == principal
	case prefixed:
		return n.kind == principal && len(n.name) > len(s.test.name) && n.name[len(s.test.name)] == ':' && strings.HasPrefix(n.name, s.test.name)
	case named:
		return n.kind == principal && n.name == s.test.name
	case anyText:
		return n.kind == textNode
	case anyComment:
		return n.kind == comment
	default:
		return n.kind == instruction && (s.test.name == "" || s.test.name == n.name)
	}
}
