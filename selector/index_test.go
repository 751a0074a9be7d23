package selector_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"footfall/selector"
)

// TestIndexFindsWhatBruteForceFinds adds and removes subscribers and programs, and holds each match against evaluating all.
func TestIndexFindsWhatBruteForceFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			c       = selector.NewCompiler(selector.Options{})
			x       selector.Index[int]
			m       selector.Message
			present []subscription
		)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				p, err := c.Compile(drawGuarded(t, 2))
				if err != nil {
					t.Fatal(err)
				}
				s := subscription{p, rapid.IntRange(0, 30).Draw(t, "subscriber")}
				x.Add(p, s.subscriber)
				if slices.Contains(present, s) {
					c.Release(p)
				} else {
					present = append(present, s)
				}
			},
			"remove": func(t *rapid.T) {
				if len(present) == 0 {
					return
				}
				i := rapid.IntRange(0, len(present)-1).Draw(t, "index")
				s := present[i]
				if !x.Remove(s.program, s.subscriber) {
					t.Fatalf("%v was not there", s)
				}
				if x.Remove(s.program, s.subscriber) {
					t.Fatalf("%v was there twice", s)
				}
				present = slices.Delete(present, i, i+1)
				c.Release(s.program)
			},
			"match": func(t *rapid.T) {
				m.Reset(drawHeaders(t))
				var got []int
				x.Match(&m, func(n int) { got = append(got, n) })
				var want []int
				for _, s := range present {
					if s.program.Match(&m) {
						want = append(want, s.subscriber)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("found %v, want %v, of %v", got, want, present)
				}
			},
			"": func(t *rapid.T) {
				if x.Len() != len(present) || x.Programs() > x.Len() || x.Programs() != c.Len() {
					t.Fatalf("%d subscribers of %d programs, %d compiled, want %d", x.Len(), x.Programs(), c.Len(), len(present))
				}
			},
		})
	})
}

type subscription struct {
	program    *selector.Program
	subscriber int
}

func (s subscription) String() string { return fmt.Sprintf("%d: %s", s.subscriber, s.program) }

var (
	guardedNames  = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
	guardedValues = []string{"'u1'", "'u2'", "'true'", "1", "1.5", "9007199254740993", "9007199254740992", "TRUE", "FALSE", "'1'", "'1.0'"}
)

// drawGuarded draws a selector of what an index looks up, and of what it does not, over few names and values.
func drawGuarded(t *rapid.T, depth int) string {
	name := rapid.SampledFrom(guardedNames).Draw(t, "name")
	value := rapid.SampledFrom(guardedValues).Draw(t, "value")
	other := rapid.SampledFrom(guardedValues[:7]).Draw(t, "other")
	another := rapid.SampledFrom(guardedValues[3:7]).Draw(t, "another")
	kinds := 9
	if depth > 0 {
		kinds = 12
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0, 1, 2:
		return name + " = " + value
	case 3:
		return name + " IN (" + other + ", 'u3', " + another + ")"
	case 4:
		return name + " IS NOT NULL"
	case 5:
		return name + " IS NULL"
	case 6:
		return name + " <> " + value
	case 7:
		return name + " > " + another
	case 8:
		return name + " LIKE 'u%'"
	case 9:
		return name + " = " + rapid.SampledFrom(guardedNames).Draw(t, "right")
	case 10:
		return "NOT (" + drawGuarded(t, depth-1) + ")"
	case 11:
		return "(" + drawGuarded(t, depth-1) + ") OR (" + drawGuarded(t, depth-1) + ")"
	default:
		return "(" + drawGuarded(t, depth-1) + ") AND (" + drawGuarded(t, depth-1) + ")"
	}
}

// drawHeaders draws a message for such selectors.
func drawHeaders(t *rapid.T) *headers {
	h := &headers{}
	values := []selector.Value{
		selector.Text("u1"), selector.Text("u2"), selector.Text("true"), selector.Text("1"), selector.Text("1.0"), selector.Text("1.50"), selector.Text(""),
		selector.Text(" 9007199254740993"), selector.Text("9007199254740992"), selector.Int(1), selector.Double(1), selector.Double(1 << 53),
		selector.Bool(true), selector.Bool(false), selector.Text("FALSE"),
		{},
	}
	for range rapid.IntRange(0, 6).Draw(t, "count") {
		h.add(rapid.SampledFrom(guardedNames).Draw(t, "name"), rapid.SampledFrom(values).Draw(t, "value"))
	}
	return h
}

// costs are selectors of n-th subscribers, and messages that match few of them.
var costs = []struct {
	name     string
	selector func(n int) string
	message  *headers
	matches  int
}{
	{"equality", func(n int) string { return fmt.Sprintf("user = 'u%d'", n) }, textHeaders("user", "u500"), 1},
	{"number", func(n int) string { return fmt.Sprintf("account = %d", n) }, textHeaders("account", "500.0"), 1},
	{"IN", func(n int) string { return fmt.Sprintf("user IN ('u%d', 'v%d')", n, n) }, textHeaders("user", "v500"), 1},
	{"IS NOT NULL", func(n int) string { return fmt.Sprintf("wanted_%d IS NOT NULL", n) }, textHeaders("a", "1", "wanted_500", "x"), 1},
	{"AND", func(n int) string { return fmt.Sprintf("type = 'order' AND price > 10 AND user = 'u%d'", n) }, textHeaders("type", "order", "price", "11", "user", "u500"), 1},
	{"OR", func(n int) string { return fmt.Sprintf("user = 'u%d' OR owner = %d", n, n) }, textHeaders("user", "u500", "owner", "600"), 2},
	{"two equalities", func(n int) string { return fmt.Sprintf("type = 't%d' AND user = 'u'", n) }, textHeaders("type", "t500", "user", "u"), 1},
}

// TestManySubscribersCostTheirMatches counts what a message asks: with 1000 subscribers as much as with 10.
func TestManySubscribersCostTheirMatches(t *testing.T) {
	for _, cost := range costs {
		c := selector.NewCompiler(selector.Options{})
		var x selector.Index[int]
		for n := range 1000 {
			x.Add(compile(t, c, cost.selector(n)), n)
		}
		if n := x.Unguarded(); n != 0 {
			t.Errorf("%s: %d programs are evaluated for each message", cost.name, n)
		}
		var m selector.Message
		h := *cost.message
		h.asked = map[string]int{}
		m.Reset(&h)
		found := 0
		x.Match(&m, func(int) { found++ })
		if found != cost.matches {
			t.Errorf("%s: found %d, want %d", cost.name, found, cost.matches)
		}
		if len(h.asked) > len(h.names) {
			t.Errorf("%s: %d properties were asked for, of a message with %d", cost.name, len(h.asked), len(h.names))
		}
		for name, times := range h.asked {
			if times > 1 {
				t.Errorf("%s: %s was asked for %d times", cost.name, name, times)
			}
		}
	}
}

func TestUnguardedProgramsAreCounted(t *testing.T) {
	c := selector.NewCompiler(selector.Options{})
	var x selector.Index[string]
	for _, text := range []string{"a IS NULL", "a = b", "a = 1 OR b IS NULL", "TRUE"} {
		x.Add(compile(t, c, text), "s")
	}
	if x.Unguarded() != 4 || x.Len() != 4 {
		t.Errorf("%d of %d, want 4 of 4", x.Unguarded(), x.Len())
	}
}

// TestManySubscribersAreSmall holds the size of a subscriber with a selector of its own, compiled and indexed.
func TestManySubscribersAreSmall(t *testing.T) {
	const count, most = 20_000, 520
	c := selector.NewCompiler(selector.Options{})
	var x selector.Index[*int]
	subscriber := new(int)
	before := heap()
	for n := range count {
		x.Add(compile(t, c, fmt.Sprintf("user = 'u%d'", n)), subscriber)
	}
	size := (heap() - before) / count
	if size > most {
		t.Errorf("%d octets a subscriber, more than %d", size, most)
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(&x)
}

func heap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

func compile(t testing.TB, c *selector.Compiler, text string) *selector.Program {
	t.Helper()
	p, err := c.Compile(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}
