package broker

import (
	"slices"
	"strings"
)

// patternTree finds what is filed under the patterns that match a name. Patterns that begin alike share the way so far, and a level
// of the name is looked up where ways part, so that a match costs the levels of the name and the ways that fit them,
// however many patterns there are. Its zero value is empty.
type patternTree[T comparable] struct {
	root  patternNode[T]
	count int    // of values, each as often as it is filed
	step  uint64 // of all matches so far

	active, next []*patternNode[T] // scratch of match
}

// patternNode is where all patterns are that have some levels in common at their beginning.
type patternNode[T comparable] struct {
	values   []T // of the patterns that end here
	literals map[string]*patternNode[T]
	single   *patternNode[T] // behind any one level
	many     *patternNode[T] // behind any number of levels
	isMany   bool            // it is such a node: each further level leads to it, too
	step     uint64          // the last one that led here
}

// add files v under a pattern. It may be filed under several.
func (t *patternTree[T]) add(levels []patternLevel, v T) {
	n := &t.root
	for _, l := range levels {
		n = n.behind(l)
	}
	n.values = append(n.values, v)
	t.count++
}

// behind returns the node that a level leads to, which is made if it is not there.
func (n *patternNode[T]) behind(l patternLevel) *patternNode[T] {
	switch l.kind {
	case levelSingle:
		if n.single == nil {
			n.single = &patternNode[T]{}
		}
		return n.single
	case levelMany:
		if n.many == nil {
			n.many = &patternNode[T]{isMany: true}
		}
		return n.many
	}
	if n.literals == nil {
		n.literals = map[string]*patternNode[T]{}
	}
	to := n.literals[l.text]
	if to == nil {
		to = &patternNode[T]{}
		n.literals[strings.Clone(l.text)] = to
	}
	return to
}

// remove takes out what add filed.
func (t *patternTree[T]) remove(levels []patternLevel, v T) {
	if t.root.remove(levels, v) {
		t.count--
	}
}

// remove tells whether v was there. Nodes that lead nowhere any more go with it.
func (n *patternNode[T]) remove(levels []patternLevel, v T) bool {
	if len(levels) == 0 {
		i := slices.Index(n.values, v)
		if i >= 0 {
			n.values = slices.Delete(n.values, i, i+1)
		}
		return i >= 0
	}
	l := levels[0]
	var to *patternNode[T]
	switch l.kind {
	case levelSingle:
		to = n.single
	case levelMany:
		to = n.many
	default:
		to = n.literals[l.text]
	}
	if to == nil || !to.remove(levels[1:], v) {
		return false
	}
	if len(to.values)+len(to.literals) > 0 || to.single != nil || to.many != nil {
		return true
	}
	switch l.kind {
	case levelSingle:
		n.single = nil
	case levelMany:
		n.many = nil
	default:
		delete(n.literals, l.text)
	}
	return true
}

// match appends to found what is filed under patterns that match a name: what is filed under several of them as often.
func (t *patternTree[T]) match(name string, found []T) []T {
	if t.count == 0 {
		return found
	}
	t.step++
	t.active = t.arrive(t.active[:0], &t.root)
	for more := true; more && len(t.active) > 0; {
		var level string
		level, name, more = strings.Cut(name, ".")
		t.step++
		t.next = t.next[:0]
		for _, n := range t.active {
			if n.isMany {
				t.next = t.arrive(t.next, n)
			}
			if to := n.literals[level]; to != nil {
				t.next = t.arrive(t.next, to)
			}
			if n.single != nil {
				t.next = t.arrive(t.next, n.single)
			}
		}
		t.active, t.next = t.next, t.active
	}
	for _, n := range t.active {
		found = append(found, n.values...)
	}
	return found
}

// arrive adds n, and where no level at all leads from there, to the nodes that this step comes to.
func (t *patternTree[T]) arrive(nodes []*patternNode[T], n *patternNode[T]) []*patternNode[T] {
	if n.step == t.step {
		return nodes
	}
	n.step = t.step
	nodes = append(nodes, n)
	if n.many != nil {
		nodes = t.arrive(nodes, n.many)
	}
	return nodes
}
