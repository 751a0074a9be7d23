package selector

// tree makes the nodes of a syntax tree, side by side, and gives their room to the next tree when this one has been
// compiled. Its zero value is ready.
type tree struct {
	nodes []expr
	items []Value // of lists
}

// The room that a tree keeps for the next one; what was larger is left to the garbage collector.
const (
	chunkNodes = 128
	keptItems  = 128
)

// reset forgets the nodes, and with them the text that they are made of. They must not be used any more.
func (t *tree) reset() {
	clear(t.nodes)
	t.nodes = t.nodes[:0]
	if cap(t.items) > keptItems {
		t.items = nil
	}
	clear(t.items)
	t.items = t.items[:0]
}

// add returns a node. Nodes stay where they are.
func (t *tree) add(o op, pos int, args ...*expr) *expr {
	n := len(t.nodes)
	if n == cap(t.nodes) {
		t.nodes, n = make([]expr, 0, chunkNodes), 0
	}
	t.nodes = t.nodes[:n+1]
	e := &t.nodes[n]
	e.op, e.pos = o, pos
	e.args = append(e.pair[:0], args...)
	return e
}

func (t *tree) literal(v Value, pos int) *expr {
	e := t.add(opLiteral, pos)
	e.value = v
	return e
}

func (t *tree) constant(b bool, pos int) *expr { return t.literal(Bool(b), pos) }

func (t *tree) property(name string, pos int) *expr {
	e := t.add(opProperty, pos)
	e.name = name
	return e
}
