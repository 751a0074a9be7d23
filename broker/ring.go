package broker

// ring is a double-ended queue. Its zero value is empty.
type ring[T any] struct {
	buf  []T // length is a power of two, or 0
	head int
	n    int
}

func (r *ring[T]) len() int { return r.n }

// at returns the i-th element from the front, 0 <= i < len.
func (r *ring[T]) at(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

func (r *ring[T]) grow() {
	if r.n < len(r.buf) {
		return
	}
	buf := make([]T, max(2, 2*len(r.buf)))
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.buf, r.head = buf, 0
}

func (r *ring[T]) pushBack(v T) {
	r.grow()
	r.n++
	*r.at(r.n - 1) = v
}

func (r *ring[T]) pushFront(v T) {
	r.grow()
	r.head = (r.head - 1) & (len(r.buf) - 1)
	r.n++
	*r.at(0) = v
}

func (r *ring[T]) popFront() T {
	var zero T
	p := r.at(0)
	v := *p
	*p = zero
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	r.shrink()
	return v
}

func (r *ring[T]) popBack() T {
	var zero T
	p := r.at(r.n - 1)
	v := *p
	*p = zero
	r.n--
	r.shrink()
	return v
}

// shrink gives memory back that a burst took.
func (r *ring[T]) shrink() {
	if len(r.buf) < 1024 || r.n > len(r.buf)/8 {
		return
	}
	buf := make([]T, len(r.buf)/4)
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.buf, r.head = buf, 0
}

// insert puts v before the i-th element, moving the shorter side.
func (r *ring[T]) insert(i int, v T) {
	if i < r.n/2 {
		r.pushFront(v)
		for j := range i {
			*r.at(j) = *r.at(j + 1)
		}
	} else {
		r.pushBack(v)
		for j := r.n - 1; j > i; j-- {
			*r.at(j) = *r.at(j - 1)
		}
	}
	*r.at(i) = v
}

// remove takes the i-th element out.
func (r *ring[T]) remove(i int) T {
	v := *r.at(i)
	for j := i; j > 0; j-- {
		*r.at(j) = *r.at(j - 1)
	}
	r.popFront()
	return v
}
