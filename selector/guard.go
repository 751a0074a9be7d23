package selector

import "slices"

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

func newGuards(list []guard) guards {
	var gs guards
	for _, g := range list {
		gs = append(gs, int32(len(g)))
		gs = append(gs, g...)
	}
	return slices.Clip(gs)
}

// The most that are kept of what a program could be found by.
const (
	maxGuards     = 8
	maxGuardSteps = 64
)

// guardsOf returns what a condition can be found by.
func guardsOf(e *expr, p *Program) []guard {
	switch e.op {
	case opAnd:
		return guardsOfAnd(e, p)
	case opOr:
		return guardsOfOr(e, p)
	}
	s := &p.steps[e.first]
	if s.test == testCompare || s.test == testConst || s.test == testNull && !s.negated {
		return nil
	}
	return []guard{{int32(e.first)}}
}

// guardsOfAnd: each guard of each condition is one of the whole. Those by values are kept first.
func guardsOfAnd(e *expr, p *Program) (list []guard) {
	var weak []guard
	for _, arg := range e.args {
		for _, g := range guardsOf(arg, p) {
			if g.isByValue(p) {
				list = append(list, g)
			} else {
				weak = append(weak, g)
			}
		}
	}
	list = append(list, weak...)
	return list[:min(len(list), maxGuards):min(len(list), maxGuards)]
}

// guardsOfOr: one guard of each condition, all together.
func guardsOfOr(e *expr, p *Program) []guard {
	var all guard
	for _, arg := range e.args {
		list := guardsOf(arg, p)
		if len(list) == 0 {
			return nil
		}
		best := list[0] // by value, if there is such a one
		if all = append(all, best...); len(all) > maxGuardSteps {
			return nil
		}
	}
	return []guard{all}
}

// isByValue tells whether all steps of a guard say which values the property may have.
func (g guard) isByValue(p *Program) bool {
	for _, i := range g {
		if !p.steps[i].isByValue() {
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
