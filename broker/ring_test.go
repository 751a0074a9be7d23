package broker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRingIsASlice holds a ring against a slice, over growing, wrapping and shrinking.
func TestRingIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var model []int
		next := 0
		put := func(f func(v int)) func(*rapid.T) {
			return func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 3, 900}).Draw(t, "times") {
					next++
					f(next)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"pushBack":  put(func(v int) { r.pushBack(v); model = append(model, v) }),
			"pushFront": put(func(v int) { r.pushFront(v); model = slices.Insert(model, 0, v) }),
			"insert": func(t *rapid.T) {
				i := rapid.IntRange(0, len(model)).Draw(t, "at")
				next++
				r.insert(i, next)
				model = slices.Insert(model, i, next)
			},
			"popFront": func(t *rapid.T) {
				for range min(len(model), rapid.SampledFrom([]int{1, 1500}).Draw(t, "times")) {
					if v := r.popFront(); v != model[0] {
						t.Fatalf("popFront gave %d, not %d", v, model[0])
					}
					model = model[1:]
				}
			},
			"popBack": func(t *rapid.T) {
				for range min(len(model), rapid.SampledFrom([]int{1, 1500}).Draw(t, "times")) {
					if v := r.popBack(); v != model[len(model)-1] {
						t.Fatalf("popBack gave %d, not %d", v, model[len(model)-1])
					}
					model = model[:len(model)-1]
				}
			},
			"": func(t *rapid.T) {
				if r.len() != len(model) {
					t.Fatalf("len is %d, not %d", r.len(), len(model))
				}
				for i, v := range model {
					if *r.at(i) != v {
						t.Fatalf("at(%d) is %d, not %d", i, *r.at(i), v)
					}
				}
				if n := len(r.buf); n&(n-1) != 0 {
					t.Fatalf("the buffer has %d places, no power of two", n)
				}
			},
		})
	})
}

func TestRingGivesUpWhatItHeld(t *testing.T) {
	var r ring[*int]
	for range 5000 {
		r.pushBack(new(int))
	}
	grown := len(r.buf)
	for r.len() > 100 {
		r.popFront()
	}
	if len(r.buf) >= grown/4 {
		t.Errorf("100 elements are kept in %d places", len(r.buf))
	}
	for r.len() > 0 {
		r.popBack()
	}
	for i, p := range r.buf {
		if p != nil {
			t.Fatalf("place %d still holds what was taken out", i)
		}
	}
}
