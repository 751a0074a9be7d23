package broker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWildcardsAreWholeLevels(t *testing.T) {
	for name, want := range map[string]bool{
		"a": false, "a.b": false, "a*": false, "a.b>": false, "##": false, "a.***": false, "": false,
		"*": true, "a.*": true, "*.a": true, "a.>": true, "#": true, "a.**.b": true,
	} {
		if got := HasWildcard(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestAPatternHasOneForm(t *testing.T) {
	for name, want := range map[string]string{
		"a.#": "a.>", "a.**": "a.>", "a.>.>": "a.>", "a.>.*": "a.*.>", "#.*.**.*.b": "*.*.>.b", "a*.*": "a*.*", "*..>": "*..>", "a.b": "a.b", "a#": "a#",
	} {
		for _, a := range []Address{{Kind: Topic, Name: name}, {Kind: Queue, Name: name}} {
			if got := a.canonical(); got.Name != want || got.Kind != a.Kind {
				t.Errorf("%s becomes %s, not %s", a, got, want)
			}
		}
	}
	for _, a := range []Address{{Kind: Durable, Name: "o:a.#"}, {Kind: Topic, Name: "a.#", Owner: Owner{Conn: 1}}} {
		if got := a.canonical(); got != a || a.Wildcard() {
			t.Errorf("%s becomes %s", a, got)
		}
	}
}

// A tree finds what trying each pattern finds, and is empty when all was taken out.
func TestATreeFindsWhatTryingAllFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tree patternTree[int]
		patterns := rapid.SliceOfN(drawnPattern(), 0, 12).Draw(t, "patterns")
		filed := map[int]pattern{}
		for i, levels := range patterns {
			p := patternOf(Topic, strings.Join(levels, "."))
			tree.add(p.levels, i)
			filed[i] = p
		}
		check := func() {
			name := drawnName().Draw(t, "name")
			var want []int
			for i := range filed {
				if naiveMatch(patterns[i], name) {
					want = append(want, i)
				}
			}
			slices.Sort(want)
			got := tree.match(strings.Join(name, "."), nil)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("%q matches %v of %q, not %v", name, got, patterns, want)
			}
		}
		for range 4 {
			check()
		}
		for i := range patterns {
			if rapid.Bool().Draw(t, "stays") {
				continue
			}
			p := filed[i]
			tree.remove(p.levels, i)
			tree.remove(p.levels, i) // is there no more
			delete(filed, i)
		}
		check()
		for i, p := range filed {
			tree.remove(p.levels, i)
		}
		if r := &tree.root; tree.count != 0 || len(r.values)+len(r.literals) != 0 || r.single != nil || r.many != nil {
			t.Fatalf("an empty tree has %d, and %+v", tree.count, r)
		}
	})
}

func FuzzPatternTree(f *testing.F) {
	f.Add("a.*,>,a.>.b,#.a.#", "a.x.b")
	f.Fuzz(func(t *testing.T, patterns, name string) {
		var tree patternTree[string]
		want := map[string]int{}
		levels := strings.Split(name, ".")
		if slices.ContainsFunc(levels, func(l string) bool { return HasWildcard(l) }) {
			return // nothing is sent to such a name
		}
		for text := range strings.SplitSeq(patterns, ",") {
			p := patternOf(Topic, text)
			tree.add(p.levels, text)
			if p.matches(levels) {
				want[text]++
			}
		}
		for _, text := range tree.match(name, nil) {
			want[text]--
		}
		for text, n := range want {
			if n != 0 {
				t.Errorf("%q of %q: %d matches of %q are missing", name, patterns, n, text)
			}
		}
	})
}

// Patterns that go on in the same way, and a name that fits all of it in very many ways, are matched in steps by the levels of both.
func TestAMatchTakesFewSteps(t *testing.T) {
	var tree patternTree[int]
	for i := range 32 {
		p := patternOf(Topic, strings.Repeat("#.a.", i)+"#.b")
		tree.add(p.levels, i)
	}
	long := strings.Repeat("a.", 500) + "c"
	if got := tree.match(long, nil); len(got) > 0 {
		t.Errorf("%v match", got)
	}
	if n := testing.AllocsPerRun(10, func() { tree.match(long, nil) }); n > 0 {
		t.Errorf("a match takes %v allocations", n)
	}
	if most := max(cap(tree.active), cap(tree.next)); most > 256 {
		t.Errorf("%d nodes were active at a time, there are 65", most)
	}
}

// BenchmarkMatch is what a SEND costs where very many others are subscribed by wildcards.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var tree patternTree[int]
			for i := range n {
				p := patternOf(Topic, fmt.Sprintf("stocks.*.s%d.>", i))
				tree.add(p.levels, i)
			}
			var found []int
			b.ReportAllocs()
			for b.Loop() {
				found = tree.match("stocks.nasdaq.s0.price", found[:0])
			}
			if len(found) != 1 {
				b.Fatalf("%d match", len(found))
			}
		})
	}
}

// BenchmarkFollow is a SUBSCRIBE by wildcards, and its end, where there are 10 000 queues: one to all with a selector, and one to none of them.
func BenchmarkFollow(b *testing.B) {
	const queues = 10_000
	for name, pattern := range map[string]string{"all": "q.*", "none": "r.*"} {
		b.Run(name, func(b *testing.B) {
			s := newStream(b, AckIndividual)
			op := SubscribeOp{ID: "x", From: Address{Kind: Queue, Name: pattern}, Mode: AckIndividual, Selector: "(type) = 'order' and region in ('eu', 'us') and not (price < 100) and name like 'a%'"}
			err := s.broker.callOr(context.Background(), func(c *core) {
				for i := range queues {
					if _, err := c.resolve(Address{Kind: Queue, Name: "q." + strconv.Itoa(i)}); err != nil {
						b.Error(err)
					}
				}
				for b.Loop() {
					sub := op
					if err := c.subscribe(s.conn, &sub); err != nil {
						b.Error(err)
					}
					if n := len(s.conn.subs["x"].consumers); n != queues && n != 0 {
						b.Errorf("%d queues", n)
					}
					_ = c.unsubscribe(s.conn, "x")
				}
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
