package selector_test

import (
	"strings"
	"testing"

	"footfall/selector"
)

const orders = "type = 'order' AND price > 100 AND region IN ('EU','US')"

func order() *headers {
	return textHeaders("destination", "/topic/orders", "content-type", "text/plain", "type", "order", "price", "149.90", "region", "US")
}

// BenchmarkMatch matches a message that was looked at before, and one that is new each time.
func BenchmarkMatch(b *testing.B) {
	h := order()
	for _, text := range []string{orders, "user = 'u1'", "region LIKE '%_S%'", "price * 2 > 299.5", "price BETWEEN 100 AND 200"} {
		p := compile(b, selector.NewCompiler(selector.Options{}), text)
		var m selector.Message
		m.Reset(h)
		b.Run("prepared/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Match(&m)
			}
		})
		b.Run("new/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Reset(h)
				p.Match(&m)
			}
		})
	}
}

// BenchmarkCompile compiles a selector of 200 octets that is new each time.
func BenchmarkCompile(b *testing.B) {
	text := strings.Repeat(orders+" AND ", 3) + "customer = 'c-1' OR x = 1"
	c := selector.NewCompiler(selector.Options{})
	b.Log(len(text))
	b.ReportAllocs()
	for b.Loop() {
		p, err := c.Compile(text)
		if err != nil {
			b.Fatal(err)
		}
		c.Release(p)
	}
}

// BenchmarkLike reads a text of 64 KiB to its end.
func BenchmarkLike(b *testing.B) {
	h := textHeaders("x", strings.Repeat("a", 64<<10))
	for _, pattern := range []string{"%a%a%a%a%b", "%aaaaaaaaaaaaaaaaaaaaaab%", "%a_a_a_a_b%", "%" + strings.Repeat("a_", 200) + "b%"} {
		p := compile(b, selector.NewCompiler(selector.Options{}), "x LIKE '"+pattern+"'")
		var m selector.Message
		m.Reset(h)
		b.Run(pattern[:min(len(pattern), 20)], func(b *testing.B) {
			b.SetBytes(64 << 10)
			for b.Loop() {
				p.Match(&m)
			}
		})
	}
}

// BenchmarkIndex matches a message with 100 000 subscribers of which few match.
func BenchmarkIndex(b *testing.B) {
	for _, cost := range costs {
		c := selector.NewCompiler(selector.Options{})
		var x selector.Index[int]
		for n := range 100_000 {
			x.Add(compile(b, c, cost.selector(n)), n)
		}
		var m selector.Message
		found := 0
		count := func(int) { found++ }
		b.Run(cost.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Reset(cost.message)
				x.Match(&m, count)
			}
		})
	}
}
