package selector_test

import (
	"strings"
	"syscall"
	"testing"

	"footfall/selector"
)

const orders = "type = 'order' AND price > 100 AND region IN ('EU','US')"

func order() *headers {
	return textHeaders("destination", "/topic/orders", "content-type", "text/plain", "type", "order", "price", "149.90", "region", "US")
}

// measure runs f as a benchmark does, and reports the time of the processor besides that of the clock: on a machine that others use as well
// the one is what f costs, the other how long it had to wait.
func measure(b *testing.B, f func()) {
	b.ReportAllocs()
	start := processorTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(processorTime(b)-start)/float64(b.N), "cpu-ns/op")
}

func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkReference is work of a known kind, to hold the others against: the digest of 1 KiB, octet by octet.
func BenchmarkReference(b *testing.B) {
	text := strings.Repeat("x", 1<<10)
	sum := uint32(0)
	measure(b, func() {
		for i := range len(text) {
			sum = (sum ^ uint32(text[i])) * 16777619
		}
	})
	if sum == 1 {
		b.Fatal("the digest is 1")
	}
}

// BenchmarkMatch matches a message that was looked at before, and one that is new each time.
func BenchmarkMatch(b *testing.B) {
	h := order()
	for _, text := range []string{orders, "user = 'u1'", "region LIKE '%_S%'", "price * 2 > 299.5", "price BETWEEN 100 AND 200"} {
		p := compile(b, selector.NewCompiler(selector.Options{}), text)
		var m selector.Message
		m.Reset(h)
		b.Run("prepared/"+text, func(b *testing.B) {
			measure(b, func() { p.Match(&m) })
		})
		b.Run("new/"+text, func(b *testing.B) {
			measure(b, func() {
				m.Reset(h)
				p.Match(&m)
			})
		})
	}
}

// BenchmarkCompile compiles a selector of 200 octets that is new each time, one that is in use but written differently, one that is
// in use in its normal form, and one for each of many subscribers that have one of their own.
func BenchmarkCompile(b *testing.B) {
	long := long200()
	run := func(name string, c *selector.Compiler, text string) {
		b.Run(name, func(b *testing.B) {
			measure(b, func() { c.Release(compile(b, c, text)) })
		})
	}
	c := selector.NewCompiler(selector.Options{})
	run("new", c, long)
	p := compile(b, c, long)
	run("in use", c, long)
	run("normal form in use", c, p.String())
	compile(b, c, "user = 'u1'")
	run("equality", c, "user = 'u2'")
}

// long200 is a selector of 200 octets.
func long200() string {
	return strings.Repeat(orders+" AND ", 3) + "id = 'c' OR x = 1"
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
