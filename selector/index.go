package selector

import "slices"

// Index finds the subscribers whose selectors match a message. Programs that ask for one of some values of a property, or that
// it be there, alone or with AND, are found by looking that up; others are evaluated, each once however many
// subscribers share it. It is for programs of one [Compiler], is owned by one goroutine, and its zero value is empty.
type Index[T comparable] struct {
	entries map[*Program]*entry[T]
	count   int // of subscribers
	round   uint64

	rest    bucket[T] // entries without a guard
	lookups map[propertyKey]*lookup[T]
	names   []*lookup[T] // those of names
	content []*lookup[T] // those of what is found in bodies
}

// entry is a program and its subscribers.
type entry[T comparable] struct {
	program     *Program
	subscribers []T
	where       map[T]int // in subscribers, when they are many
	places      []place[T]
	round       uint64 // the last call of Match that came upon it
	isFound     bool   // being found is to match
}

// place is where an entry is found: by a key of a step.
type place[T comparable] struct {
	bucket *bucket[T]
	index  int32 // in the bucket
	step   int32
	item   int32 // the number of the key
}

// bucket are entries found together.
type bucket[T comparable] struct {
	entries []*entry[T]
}

// crowd is how many subscribers a program has that are looked up by hash.
const crowd = 16

// Add adds a subscriber. One that is there already with that program is not added again.
func (x *Index[T]) Add(p *Program, subscriber T) {
	e := x.entries[p]
	if e == nil {
		if x.entries == nil {
			x.entries = map[*Program]*entry[T]{}
		}
		e = &entry[T]{program: p, isFound: p.isItsGuard()}
		x.entries[p] = e
		x.place(e)
	}
	if e.find(subscriber) >= 0 {
		return
	}
	e.subscribers = append(e.subscribers, subscriber)
	x.count++
	switch n := len(e.subscribers); {
	case e.where != nil:
		e.where[subscriber] = n - 1
	case n == crowd:
		e.where = make(map[T]int, 2*crowd)
		for i, s := range e.subscribers {
			e.where[s] = i
		}
	}
}

// Remove removes a subscriber, and tells whether it was there with that program.
func (x *Index[T]) Remove(p *Program, subscriber T) bool {
	e := x.entries[p]
	if e == nil {
		return false
	}
	i := e.find(subscriber)
	if i < 0 {
		return false
	}
	x.count--
	last := len(e.subscribers) - 1
	e.subscribers[i] = e.subscribers[last]
	if e.where != nil {
		e.where[e.subscribers[i]] = i
		delete(e.where, subscriber)
	}
	var none T
	e.subscribers[last] = none
	if e.subscribers = e.subscribers[:last]; last == 0 {
		delete(x.entries, p)
		x.unplace(e)
	}
	return true
}

// find returns where a subscriber is, -1 if it is not there.
func (e *entry[T]) find(subscriber T) int {
	if e.where == nil {
		return slices.Index(e.subscribers, subscriber)
	}
	if i, ok := e.where[subscriber]; ok {
		return i
	}
	return -1
}

// Len is the number of subscribers, counted once for each of their programs.
func (x *Index[T]) Len() int { return x.count }

// Programs is the number of distinct programs.
func (x *Index[T]) Programs() int { return len(x.entries) }

// Unguarded is how many distinct programs are evaluated for each message, as there is nothing to find them by.
func (x *Index[T]) Unguarded() int { return len(x.rest.entries) }

// Match calls found for each subscriber whose selector is TRUE for m, once for each of its programs, in no order that may be
// relied on. found must not change the index.
func (x *Index[T]) Match(m *Message, found func(T)) {
	x.round++
	for _, e := range x.rest.entries {
		x.offer(e, m, found)
	}
	for _, l := range x.content {
		x.look(l, m, found)
	}
	if len(x.names) <= few || m.properties == nil {
		for _, l := range x.names {
			x.look(l, m, found)
		}
		return
	}
	for name, next := m.properties.NextName(0); next >= 0; name, next = m.properties.NextName(next) {
		if l := x.lookups[propertyKey{fromName, name}]; l != nil {
			x.look(l, m, found)
		}
	}
}

// few is how many names are looked up in each message, instead of each name of the message in the index.
const few = 8

// look offers a message to what is found by one of its properties.
func (x *Index[T]) look(l *lookup[T], m *Message, found func(T)) {
	s := m.slot(l.property)
	if s.value.kind == null {
		return
	}
	x.offerAll(&l.present, m, found)
	if s.value.kind == text {
		if b := l.texts[s.value.text]; b != nil {
			x.offerAll(b, m, found)
		}
	}
	if len(l.numbers) > 0 {
		s = m.slot(l.property)
		if n := s.asNumber(); n.kind != null {
			if b := l.numbers[n.hash()]; b != nil {
				x.offerAll(b, m, found)
			}
		}
	}
	if len(l.bools[0].entries)+len(l.bools[1].entries) > 0 {
		s = m.slot(l.property)
		if t := s.asBool(); t != Unknown {
			x.offerAll(&l.bools[(t+1)/2], m, found)
		}
	}
}

func (x *Index[T]) offerAll(b *bucket[T], m *Message, found func(T)) {
	for _, e := range b.entries {
		if e.round == x.round {
			continue
		}
		e.round = x.round
		if !e.isFound {
			x.offer(e, m, found)
			continue
		}
		for _, s := range e.subscribers {
			found(s)
		}
	}
}

func (x *Index[T]) offer(e *entry[T], m *Message, found func(T)) {
	if !e.program.Match(m) {
		return
	}
	for _, s := range e.subscribers {
		found(s)
	}
}
