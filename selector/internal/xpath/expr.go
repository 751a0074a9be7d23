package xpath

// Expr is a parsed expression.
type Expr struct {
	tree *tree
}

// tree is a node of an expression.
type tree struct {
	op    op
	word  string // the operator, or the name of the function
	args  []*tree
	text  string
	value float64

	// Of a path: where it begins, and its steps.
	isAbsolute bool
	start      *tree // nil for the context node
	filters    []*tree
	steps      []step
}

type op uint8

const (
	literal op = iota
	number
	path
	call
	binary // "or", "and", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "div", "mod", "|"
	negation
)

// step is one of a path.
type step struct {
	axis       axis
	test       test
	predicates []*tree
}

// test is what nodes of an axis are wanted.
type test struct {
	kind testKind
	name string // as it is written; of "prefix:*", the prefix
}

type testKind uint8

const (
	anyNode testKind = iota
	anyName
	prefixed
	named
	anyText
	anyComment
	anyInstruction // with a name: of that only
)

type axis uint8

const (
	child axis = iota
	descendant
	descendantOrSelf
	parent
	ancestor
	ancestorOrSelf
	following
	followingSibling
	preceding
	precedingSibling
	attributes
	self
)

var axes = map[string]axis{
	"child": child, "descendant": descendant, "descendant-or-self": descendantOrSelf, "parent": parent, "ancestor": ancestor,
	"ancestor-or-self": ancestorOrSelf, "following": following, "following-sibling": followingSibling, "preceding": preceding,
	"preceding-sibling": precedingSibling, "attribute": attributes, "self": self,
}

// isReverse tells whether positions on an axis are counted from the end of the document.
func (a axis) isReverse() bool {
	return a == ancestor || a == ancestorOrSelf || a == preceding || a == precedingSibling
}

// arity is how many arguments a function takes.
type arity struct{ least, most int }

var functions = map[string]arity{
	"last": {0, 0}, "position": {0, 0}, "count": {1, 1}, "local-name": {0, 1}, "name": {0, 1},
	"string": {0, 1}, "concat": {2, 1 << 20}, "starts-with": {2, 2}, "contains": {2, 2}, "substring-before": {2, 2}, "substring-after": {2, 2},
	"substring": {2, 3}, "string-length": {0, 1}, "normalize-space": {0, 1}, "translate": {3, 3},
	"boolean": {1, 1}, "not": {1, 1}, "true": {0, 0}, "false": {0, 0},
	"number": {0, 1}, "sum": {1, 1}, "floor": {1, 1}, "ceiling": {1, 1}, "round": {1, 1},
}

// isNodes tells whether a tree is a set of nodes.
func (t *tree) isNodes() bool { return t.op == path || t.op == binary && t.word == "|" }
