package selector

import "slices"

// Index finds the subscribers whose selectors match a message. Programs that ask for one of some values of a property, or that
// it be there, are found by looking that up; others are evaluated, each once however many
// subscribers share it. It is owned by one goroutine. The zero Index is empty.
type Index[T comparable] struct {
	entries []entry[T]
}

type entry[T comparable] struct {
	program    *Program
	subscriber T
}

// Add adds a subscriber. One that is there already with that program is not added again.
func (x *Index[T]) Add(p *Program, subscriber T) {
	e := entry[T]{p, subscriber}
	if !slices.Contains(x.entries, e) {
		x.entries = append(x.entries, e)
	}
}

// Remove removes a subscriber, and tells whether it was there with that program.
func (x *Index[T]) Remove(p *Program, subscriber T) bool {
	i := slices.Index(x.entries, entry[T]{p, subscriber})
	if i < 0 {
		return false
	}
	x.entries = slices.Delete(x.entries, i, i+1)
	return true
}

// Match calls found for each subscriber whose selector is TRUE for m, once for each of its programs, in no order that may be
// relied on. found must not change the index.
func (x *Index[T]) Match(m *Message, found func(T)) {
	for _, e := range x.entries {
		if e.program.Match(m) {
			found(e.subscriber)
		}
	}
}

// Len is the number of subscribers, counted once for each of their programs.
func (x *Index[T]) Len() int { return len(x.entries) }
