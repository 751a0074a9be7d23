package selector_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"footfall/selector"
)

// TestAMessageIsAskedOnce: however many selectors ask, each property and the body are fetched once.
func TestAMessageIsAskedOnce(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	h := textHeaders("a", "1", "b", "x")
	h.body, h.asked = []byte(`{"a":1}`), map[string]int{}
	var m selector.Message
	m.Reset(h)
	for _, text := range []string{"a = 1 AND a = '1' AND NOT a = TRUE", "a > 0", "b = 'x' OR missing = 1", "missing IS NULL", "JSON_VALUE('$.a') = 1", "XPATH '/a'", "JSON_VALUE('$.a') IN (1, 2)"} {
		p := compile(t, c, text)
		p.Match(&m)
		p.Eval(&m)
	}
	for name, times := range h.asked {
		if times != 1 {
			t.Errorf("%q was asked for %d times", name, times)
		}
	}
	if len(h.asked) != 4 {
		t.Errorf("asked for %v", h.asked)
	}
}

func TestResetForgets(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	p := compile(t, c, "a = 1 AND JSON_VALUE('$.b') = 2")
	var m selector.Message
	if p.Match(&m) {
		t.Error("a message without properties matches")
	}
	for i := range 4 {
		h := textHeaders("a", fmt.Sprint(i%2))
		h.body = fmt.Appendf(nil, `{"b":%d}`, 2*(i%2))
		m.Reset(h)
		if got, want := p.Match(&m), i%2 == 1; got != want {
			t.Errorf("message %d: %v", i, got)
		}
	}
	m.Reset(nil)
	if p.Match(&m) {
		t.Error("a message without properties matches")
	}
}

// TestMatchDoesNotAllocate, on a message as it comes and on one that was looked at.
func TestMatchDoesNotAllocate(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	h := order()
	var m selector.Message
	for _, text := range []string{
		orders, "region LIKE '%_S%' AND type NOT LIKE 'x%'", "price * 2 + 1 > 299.5", "price BETWEEN 100 AND 200.75", "NOT (price = 1 OR region IS NULL)",
		"price > 123456789012345678901234567890", "(price > 1) = (type = 'order')", "region IN ('a','b','c','d','e','f','g','h','i','US')",
	} {
		p := compile(t, c, text)
		if n := testing.AllocsPerRun(100, func() { m.Reset(h); p.Match(&m); p.Eval(&m) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
	var x selector.Index[int]
	for n := range 1000 {
		x.Add(compile(t, c, fmt.Sprintf("type = 't%d' OR h%d IS NOT NULL OR price = %d", n, n, n)), n)
	}
	found := func(int) {}
	if n := testing.AllocsPerRun(100, func() { m.Reset(h); x.Match(&m, found) }); n != 0 {
		t.Errorf("index: %v allocations", n)
	}
}

// TestEqualSelectorsShareAProgram, for as long as one uses it; nothing is kept of selectors that are gone.
func TestEqualSelectorsShareAProgram(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	p := compile(t, c, "a = 'x' AND NOT (b > 2)")
	q := compile(t, c, "  'x'=a and b<=2.0 /* the same */")
	if p != q || c.Len() != 1 {
		t.Errorf("%s and %s are two programs", p, q)
	}
	c.Release(p)
	if c.Len() != 1 || compile(t, c, "a = 'x' AND b <= 2") != q {
		t.Error("the program is gone while it is used")
	}
	c.Release(q)
	if c.Share(q) != q || c.Len() != 1 {
		t.Error("one more user has another program")
	}
	c.Release(q)
	c.Release(q)
	if c.Len() != 0 {
		t.Errorf("%d programs are left", c.Len())
	}
	c.Release(q) // once too often
	if r := compile(t, c, "a = 'x' AND b <= 2"); c.Len() != 1 {
		t.Errorf("%s: %d programs", r, c.Len())
	}
}

// TestPlacesAreUsedAgain: a message stays small however many names there have been, and
// never takes the value of one name for that of another.
func TestPlacesAreUsedAgain(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	h := textHeaders("n1", "1", "n2", "2")
	var m selector.Message
	m.Reset(h)
	p := compile(t, c, "n1 = 1")
	if !p.Match(&m) {
		t.Error("n1 is not 1")
	}
	c.Release(p)
	if p := compile(t, c, "n2 = 2"); !p.Match(&m) { // it has the place of n1
		t.Error("n2 is not 2")
	}
	for i := range 10_000 {
		p := compile(t, c, fmt.Sprintf("x%d = 1 AND (y%d = 1 OR XPATH '/z%d')", i, i, i))
		p.Match(&m)
		c.Release(p)
	}
	if n := m.Size(); n > 8 {
		t.Errorf("a message has %d places", n)
	}
}

func TestProgramTellsWhatItAsksFor(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	p := compile(t, c, `b = 1 AND "content-type" = 'x' OR a > b AND JSON_VALUE('$.c') = 1`)
	if got := p.Properties(); !slices.Equal(got, []string{"b", "content-type", "a"}) {
		t.Errorf("asks for %q", got)
	}
	if !p.NeedsContent() || compile(t, c, "a = 1").NeedsContent() {
		t.Error("who needs content is wrong")
	}
}

// TestProgramsAreShared: several goroutines match one program, each with its message.
func TestProgramsAreShared(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	p := compile(t, c, orders+" AND (XPATH '//a[. = 1]' OR JSON_VALUE('$.a') = 2 OR price LIKE '%_9%')")
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			h := order()
			h.body = []byte("<b><a>1</a></b>")
			if i%2 == 1 {
				h.body = []byte(`{"a":2}`)
			}
			var m selector.Message
			for range 100 {
				if m.Reset(h); !p.Match(&m) {
					t.Error("does not match")
				}
			}
		})
	}
	group.Wait()
}

func TestSpecialDoublesAreNull(t *testing.T) {
	if v := selector.Double(math.NaN()); !v.IsNull() {
		t.Error("NaN is a number")
	}
	if v := selector.Double(math.Inf(1)); v.IsNull() {
		t.Error("infinity is no number")
	}
}
