package selector_test

import (
	"fmt"
	"strings"
	"testing"

	"footfall/selector"
)

// TestCompilerForgets: what one compiler was given before, right or wrong, short or long, makes no difference to what it makes of
// a text, for it uses the same room for all.
func TestCompilerForgets(t *testing.T) {
	long := strings.Repeat("n IN ('a', 'b', 1) AND (n LIKE '%x' OR n > 2) AND ", 40) + "n = 1"
	texts := []string{
		long, "a = 1", "a IN ('x', 'y', 2) OR b IN (3, 4) OR c IN ('z', 'w')", "(a = 1) <> (b IS NULL)", "a = 1 AND XPATH '('", "a = 1 AND", "a IN (1, 2",
		"NOT (a = 1 OR NOT (b BETWEEN 1 AND 2 AND c))", "a * 2 + b > 3 AND a LIKE 'x%'", "x LIKE '!' ESCAPE '!'", "a", orders, "'", "a = 1 AND (a = 1 OR (a = 2 AND b = 3 AND c = 4 AND d = 5))",
	}
	h := textHeaders("a", "1", "b", "3", "c", "true", "n", "x", "type", "order")
	used := selector.NewCompiler(selector.Options{})
	for _, before := range texts {
		for _, text := range texts {
			if p, err := used.Compile(before); err == nil {
				defer used.Release(p)
			}
			got, want := told(used, text, h), told(selector.NewCompiler(selector.Options{}), text, h)
			if got != want {
				t.Errorf("%.60s after %.60s: %s, want %s", text, before, got, want)
			}
		}
	}
}

// told is all that can be seen of a selector.
func told(c *selector.Compiler, text string, h *headers) string {
	p, err := c.Compile(text)
	if err != nil {
		return err.Error()
	}
	defer c.Release(p)
	var m selector.Message
	m.Reset(h)
	var x selector.Index[int]
	x.Add(p, 1)
	found := 0
	x.Match(&m, func(int) { found++ })
	return fmt.Sprintf("%s is %v, found %d, guarded %v, asks for %q", p, p.Eval(&m), found, x.Unguarded() == 0, p.Properties())
}

// TestProgramsOutliveOtherTexts: a program is its own after the compiler used its room for others.
func TestProgramsOutliveOtherTexts(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	var programs []*selector.Program
	for n := range 50 {
		programs = append(programs, compile(t, c, fmt.Sprintf("a IN ('x%d', 'y%d', %d) AND (b = 'b%d' OR b * 2 = %d) AND c LIKE 'c%d%%' AND d%d IS NULL", n, n, n, n, n, n, n)))
	}
	for n, p := range programs {
		for other := range programs {
			var m selector.Message
			m.Reset(textHeaders("a", fmt.Sprintf("y%d", other), "b", fmt.Sprintf("b%d", other), "c", fmt.Sprintf("c%d-", other)))
			if p.Match(&m) != (n == other) {
				t.Fatalf("%s matches what is for %d", p, other)
			}
		}
	}
}

// TestCompileAllocatesWhatStays of a selector, which is nothing for one that is in use and in its normal form.
func TestCompileAllocatesWhatStays(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	long := long200()
	longer := long + " OR x = 2"
	kept := compile(t, c, long)
	compile(t, c, "user = 'u1'")
	for _, row := range []struct {
		what string
		do   func()
		most float64
	}{
		{"a normal form in use", func() { c.Release(compile(t, c, kept.String())) }, 0},
		{"what is in use, written differently", func() { c.Release(compile(t, c, long)) }, 3},
		{"an equality with another value", func() { c.Release(compile(t, c, "user = 'u2'")) }, 6},
		{"200 octets", func() { c.Release(compile(t, c, longer)) }, 22},
	} {
		if n := testing.AllocsPerRun(200, row.do); n > row.most {
			t.Errorf("%s: %v allocations, want at most %v", row.what, n, row.most)
		}
	}
}
