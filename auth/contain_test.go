package auth

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestASetIsCoveredAsAWhole(t *testing.T) {
	for _, row := range []struct {
		union, asked string
		covered      bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a.>", false}, // the text of one does not matter, the set does
		{"a.b", "*.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a.*", true},
		{"a.*", "a.>", false},
		{"a.*", "a", false},
		{"a.>", "a", true},
		{"a.>", "a.*", true},
		{"a.>", "a.*.b.>", true},
		{"a.>", ">", false},
		{"a.>", "*.>", false},
		{">", ">.>.>.>", true},
		{"*.>", ">.*", true},
		{">.*", "*.>", true},
		{"*.>", ">", false}, // which has the name of no level, as a set
		{"a.*.>.b", "a.>.b", false},
		{"a.>.b", "a.*.>.b", true},
		{">.a.>", "a.>", true},
		{">.a.>", ">.a", true},
		{">.a.>", "a.*", true},
		{">.a.>", "*.*", false},
		{"a.* a", "a.>", false},
		{"a a.* a.*.*.>", "a.>", true}, // together
		{"a.>.b a.>.*", "a.*.>", true},
		{"a.b a.c", "a.*", false},
		{"", "a", false},
	} {
		var union [][]level
		for _, p := range strings.Fields(row.union) {
			union = append(union, levelsOf(p))
		}
		if got := covers(union, levelsOf(row.asked)); got != row.covered {
			t.Errorf("%q covers %q: %v", row.union, row.asked, got)
		}
	}
}

func TestSetsThatShareAName(t *testing.T) {
	for _, row := range []struct {
		a, b  string
		share bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a.*", "*.b", true},
		{"a.*", "a", false},
		{"a.>", "a", true},
		{">.b", "a.>", true},
		{"*.*", "*", false},
		{">.a.>", "b.*", true},
		{">.a.>", "b.c.d", false},
	} {
		if got := meets(levelsOf(row.a), levelsOf(row.b)); got != row.share {
			t.Errorf("%q and %q: %v", row.a, row.b, got)
		}
		if got := meets(levelsOf(row.b), levelsOf(row.a)); got != row.share {
			t.Errorf("%q and %q: %v", row.b, row.a, got)
		}
	}
}

// slowly tells whether a name is in a set, the plain way.
func slowly(set []level, name []string) bool {
	switch {
	case len(set) == 0:
		return len(name) == 0
	case set[0].kind == many:
		return slowly(set[1:], name) || len(name) > 0 && slowly(set, name[1:])
	case len(name) == 0:
		return false
	}
	return (set[0].kind == single || set[0].text == name[0]) && slowly(set[1:], name[1:])
}

// names visits all names of at most so many levels, until visit is false.
func names(most int, visit func(name []string) bool) bool {
	var from func(name []string) bool
	from = func(name []string) bool {
		if !visit(name) {
			return false
		}
		if len(name) == most {
			return true
		}
		for _, next := range []string{"a", "b", "other"} {
			if !from(append(name[:len(name):len(name)], next)) {
				return false
			}
		}
		return true
	}
	return from(nil)
}

func drawSet(t *rapid.T, name string) []level {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", ">"}), 1, 4).Draw(t, name)
	return levelsOf(strings.Join(parts, "."))
}

// The sets have at most four levels each. Names that tell two of them apart need no more than six.
func TestDecisionsAboutSetsAreThoseOfAllTheirNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := drawSet(t, "asked")
		var union [][]level
		for range rapid.IntRange(0, 3).Draw(t, "count") {
			union = append(union, drawSet(t, "pattern"))
		}
		all, shared := true, false
		names(6, func(name []string) bool {
			if !slowly(asked, name) {
				return true
			}
			in := false
			for _, p := range union {
				in = in || slowly(p, name)
			}
			all, shared = all && in, shared || in
			return all || !shared
		})
		if got := covers(union, asked); got != all {
			t.Errorf("covered: %v, of its names: %v", got, all)
		}
		met := false
		for _, p := range union {
			met = met || meets(p, asked)
		}
		if met != shared {
			t.Errorf("met: %v, by its names: %v", met, shared)
		}
	})
}

func TestWhatIsNotDecidedInABoundedNumberOfStepsIsNotCovered(t *testing.T) {
	all := [][]level{levelsOf(">")}
	if !covers(all, levelsOf(strings.Repeat("a.", 511)+"b")) {
		t.Error("the longest name is not covered by everything")
	}
	if covers(all, levelsOf(strings.Repeat("a.", maxCoverSteps)+"b")) {
		t.Error("there is no end to the steps")
	}
}
