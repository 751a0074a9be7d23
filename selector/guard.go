package selector

// guard is a set of steps of which one at least is TRUE when the program is; each says that a property is one of some
// values, or there at all. So the program need be looked at for messages only that have one of these.
type guard []int32

// guards are some of them, each after its length: most programs have one of one step.
type guards []int32

// all visits each guard, with its number.
func (gs guards) all(visit func(i int, g guard)) {
	for i, at := 0, 0; at < len(gs); i++ {
		end := at + 1 + int(gs[at])
		visit(i, guard(gs[at+1:end]))
		at = end
	}
}

// The most that are kept of what a program could be found by.
const (
	maxGuards     = 8
	maxGuardSteps = 64
)

// guardsOf appends what a condition can be found by.
func (g *emitter) guardsOf(e *expr) {
	switch e.op {
	case opAnd:
		g.guardsOfAnd(e)
	case opOr:
		g.guardsOfOr(e)
	default:
		s := &g.steps[e.first]
		if s.test != testCompare && s.test != testConst && (s.test != testNull || s.negated) {
			g.guards = append(g.guards, 1, int32(e.first))
		}
	}
}

// guardsOfAnd: each guard of each condition is one of the whole. Those by values are kept first.
func (g *emitter) guardsOfAnd(e *expr) {
	start := len(g.guards)
	for _, arg := range e.args {
		g.guardsOf(arg)
	}
	g.spare = append(g.spare[:0], g.guards[start:]...)
	g.guards = g.guards[:start]
	kept := 0
	for _, byValue := range [...]bool{true, false} {
		g.spare.all(func(_ int, one guard) {
			if kept < maxGuards && g.isByValue(one) == byValue {
				kept++
				g.guards = append(append(g.guards, int32(len(one))), one...)
			}
		})
	}
}

// guardsOfOr: one guard of each condition, all together: the first, which is by value if there is such a one.
func (g *emitter) guardsOfOr(e *expr) {
	start := len(g.guards)
	g.guards = append(g.guards, 0)
	for _, arg := range e.args {
		end := len(g.guards)
		g.guardsOf(arg)
		if len(g.guards) == end {
			g.guards = g.guards[:start]
			return
		}
		first := g.guards[end+1 : end+1+int(g.guards[end])]
		g.guards = append(g.guards[:end], first...)
		if len(g.guards)-start-1 > maxGuardSteps {
			g.guards = g.guards[:start]
			return
		}
	}
	g.guards[start] = int32(len(g.guards) - start - 1)
}

// isByValue tells whether all steps of a guard say which values the property may have.
func (g *emitter) isByValue(one guard) bool {
	for _, i := range one {
		if !g.steps[i].isByValue() {
			return false
		}
	}
	return true
}

func (s *step) isByValue() bool {
	switch s.test {
	case testText, testNumber:
		return s.relation == equal
	case testIn:
		return !s.negated
	case testBool:
		return true
	default:
		return false
	}
}
