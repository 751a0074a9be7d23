package selector

import "math"

// lookup finds entries by a property.
type lookup[T comparable] struct {
	property *property
	index    int // in its list
	texts    map[string]*bucket[T]
	numbers  map[uint64]*bucket[T] // by Value.hash
	bools    [2]bucket[T]          // by FALSE and TRUE
	present  bucket[T]             // for any value
	places   int                   // how many there are in all of these
}

// key is what an entry is found by in a lookup. One of no type is found by any value.
type key struct {
	kind kind // null, text, integer for any number, or boolean
	text string
	bits uint64
}

// hash returns the same for numbers that compare as equal.
func (v *Value) hash() uint64 {
	if v.kind == integer {
		return math.Float64bits(float64(v.int()))
	}
	return math.Float64bits(v.float() + 0) // -0 becomes 0
}

func keyOf(v Value) key {
	switch {
	case v.kind == text:
		return key{kind: text, text: v.text}
	case v.isNumber():
		return key{kind: integer, bits: v.hash()}
	default:
		return key{kind: boolean, bits: v.bits}
	}
}

// keys is how many keys a step of a program can be found by.
func (p *Program) keys(s *step) int {
	if s.test == testIn && s.isByValue() {
		l := &p.rare.lists[s.argument]
		return len(l.texts) + len(l.numbers)
	}
	return 1
}

// key returns one of the keys of a step.
func (p *Program) key(s *step, i int) key {
	switch {
	case !s.isByValue():
		return key{}
	case s.test == testIn:
		l := &p.rare.lists[s.argument]
		if i < len(l.texts) {
			return key{kind: text, text: l.texts[i]}
		}
		return keyOf(l.numbers[i-len(l.texts)])
	default:
		return keyOf(p.values[s.argument])
	}
}

// isItsGuard tells whether a program says no more than its guard, and that exactly. Numbers are found by a hash.
func (p *Program) isItsGuard() bool {
	if len(p.steps) != 1 || len(p.guards) == 0 {
		return false
	}
	s := &p.steps[0]
	return s.test == testNull || s.test == testBool || s.test == testText && s.relation == equal ||
		s.test == testIn && !s.negated && len(p.rare.lists[s.argument].numbers) == 0
}

// bucket returns where a key is, or nil.
func (l *lookup[T]) bucket(k key) *bucket[T] {
	switch k.kind {
	case null:
		return &l.present
	case text:
		return l.texts[k.text]
	case boolean:
		return &l.bools[k.bits]
	default:
		return l.numbers[k.bits]
	}
}

// makeBucket returns where a key is, which is made if it is not there.
func (l *lookup[T]) makeBucket(k key) *bucket[T] {
	b := l.bucket(k)
	if b != nil {
		return b
	}
	b = &bucket[T]{}
	if k.kind == text {
		if l.texts == nil {
			l.texts = map[string]*bucket[T]{}
		}
		l.texts[k.text] = b
		return b
	}
	if l.numbers == nil {
		l.numbers = map[uint64]*bucket[T]{}
	}
	l.numbers[k.bits] = b
	return b
}

// drop removes an empty bucket.
func (l *lookup[T]) drop(k key) {
	switch k.kind {
	case text:
		delete(l.texts, k.text)
	case integer:
		delete(l.numbers, k.bits)
	}
}

// place puts an entry where it will be found: by the guard that has the fewest others in the same places.
func (x *Index[T]) place(e *entry[T]) {
	p := e.program
	var best guard
	least := 0
	p.guards.all(func(i int, g guard) {
		if cost := x.cost(p, g); i == 0 || cost < least {
			best, least = g, cost
		}
	})
	if best == nil {
		e.put(&x.rest, -1, 0)
		return
	}
	for _, number := range best {
		s := &p.steps[number]
		l := x.lookup(p.properties[s.property])
		for i := range p.keys(s) {
			e.put(l.makeBucket(p.key(s, i)), number, i)
			l.places++
		}
	}
}

// presence is how many times more often a property is thought to be there at all than to have a certain value.
const presence = 64

// cost is how many entries a message would come upon in the places of a guard.
func (x *Index[T]) cost(p *Program, g guard) (cost int) {
	for _, number := range g {
		s := &p.steps[number]
		l := x.lookups[p.properties[s.property].propertyKey]
		for i := range p.keys(s) {
			k := p.key(s, i)
			others := 0
			if l != nil {
				if b := l.bucket(k); b != nil {
					others = len(b.entries)
				}
			}
			if k.kind == null {
				others = others*presence + presence
			}
			cost += others
		}
	}
	return cost
}

// lookup returns the lookup of a property, which is made if it is not there.
func (x *Index[T]) lookup(q *property) *lookup[T] {
	l := x.lookups[q.propertyKey]
	if l != nil {
		return l
	}
	if x.lookups == nil {
		x.lookups = map[propertyKey]*lookup[T]{}
	}
	list := x.listOf(q)
	l = &lookup[T]{property: q, index: len(*list)}
	*list = append(*list, l)
	x.lookups[q.propertyKey] = l
	return l
}

// listOf returns the list that has the lookup of a property.
func (x *Index[T]) listOf(q *property) *[]*lookup[T] {
	if q.source == fromName {
		return &x.names
	}
	return &x.content
}

// forget removes a lookup that finds nothing any more.
func (x *Index[T]) forget(l *lookup[T]) {
	delete(x.lookups, l.property.propertyKey)
	list := x.listOf(l.property)
	last := len(*list) - 1
	(*list)[l.index] = (*list)[last]
	(*list)[l.index].index = l.index
	(*list)[last] = nil
	*list = (*list)[:last]
}

// put adds a place to an entry; step is -1 for one among the rest.
func (e *entry[T]) put(b *bucket[T], step int32, item int) {
	e.places = append(e.places, place[T]{bucket: b, index: int32(len(b.entries)), step: step, item: int32(item)})
	b.entries = append(b.entries, e)
}

// unplace takes an entry away from all of its places.
func (x *Index[T]) unplace(e *entry[T]) {
	p := e.program
	for i := range e.places {
		at := e.places[i]
		left := at.bucket.remove(at.index)
		if at.step < 0 {
			continue
		}
		s := &p.steps[at.step]
		l := x.lookups[p.properties[s.property].propertyKey]
		if left == 0 {
			l.drop(p.key(s, int(at.item)))
		}
		if l.places--; l.places == 0 {
			x.forget(l)
		}
	}
	e.places = nil
}

// remove takes the entry at an index out of a bucket, and returns how many are left. The last one takes its place.
func (b *bucket[T]) remove(index int32) int {
	last := len(b.entries) - 1
	moved := b.entries[last]
	b.entries[index] = moved
	b.entries[last] = nil
	b.entries = b.entries[:last]
	for i := range moved.places {
		if p := &moved.places[i]; p.bucket == b && int(p.index) == last {
			p.index = index
			break
		}
	}
	return last
}
