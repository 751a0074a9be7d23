package selector_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"footfall/selector"
)

// The reference evaluates trees, not text: it has no parser, knows no normal form and no steps, and
// calculates with fractions. Results are what the standard's tables say, as letters.

// tri is T, F or U.
type tri byte

func not(a tri) tri { return map[tri]tri{'T': 'F', 'F': 'T', 'U': 'U'}[a] }

func and(a, b tri) tri {
	switch {
	case a == 'F' || b == 'F':
		return 'F'
	case a == 'U' || b == 'U':
		return 'U'
	}
	return 'T'
}

func or(a, b tri) tri { return not(and(not(a), not(b))) }

func decide(b bool) tri {
	if b {
		return 'T'
	}
	return 'F'
}

// thing is a value of the reference: nil, a bool, a fraction, a header's text or a literal's.
type (
	thing    any
	fraction struct {
		*big.Rat
		whole bool // written without a point
	}
	header  string
	literal string
)

// condition and operand are trees: their text, and what they are for a message.
type condition struct {
	text string
	of   func(message map[string]thing) tri
}

type operand struct {
	text string
	of   func(message map[string]thing) thing
}

func readNumber(v thing) (fraction, bool) {
	switch v := v.(type) {
	case fraction:
		return v, true
	case header:
		s := strings.TrimSpace(string(v))
		if s == "" || strings.Trim(s, "+-.0123456789e") != "" {
			return fraction{}, false
		}
		r, ok := new(big.Rat).SetString(s)
		return fraction{r, !strings.ContainsAny(s, ".e")}, ok
	}
	return fraction{}, false
}

func readBool(v thing) tri {
	switch v := v.(type) {
	case bool:
		return decide(v)
	case header:
		switch strings.ToLower(strings.TrimSpace(string(v))) {
		case "true":
			return 'T'
		case "false":
			return 'F'
		}
	}
	return 'U'
}

func isEqual(a, b thing) tri {
	if a == nil || b == nil {
		return 'U'
	}
	_, isBoolA := a.(bool)
	_, isBoolB := b.(bool)
	if isBoolA || isBoolB {
		x, y := readBool(a), readBool(b)
		if x == 'U' || y == 'U' {
			return 'U'
		}
		return decide(x == y)
	}
	s, isTextA := words(a)
	t, isTextB := words(b)
	if isTextA && isTextB && s == t {
		return 'T'
	}
	x, okX := readNumber(a)
	y, okY := readNumber(b)
	switch {
	case okX && okY:
		return decide(x.Cmp(y.Rat) == 0)
	case isTextA && isTextB:
		return 'F'
	}
	return 'U'
}

func words(v thing) (string, bool) {
	switch v := v.(type) {
	case header:
		return string(v), true
	case literal:
		return string(v), true
	}
	return "", false
}

func ordered(operator string, a, b thing) tri {
	x, okX := readNumber(a)
	y, okY := readNumber(b)
	if !okX || !okY {
		return 'U'
	}
	c := x.Cmp(y.Rat)
	return decide(operator[0] == '<' && c < 0 || operator[0] == '>' && c > 0 || len(operator) == 2 && c == 0)
}

func reckon(operator string, a, b thing) thing {
	x, okX := readNumber(a)
	y, okY := readNumber(b)
	if !okX || !okY {
		return nil
	}
	r, whole := new(big.Rat), x.whole && y.whole
	switch operator {
	case "+":
		r.Add(x.Rat, y.Rat)
	case "-":
		r.Sub(x.Rat, y.Rat)
	case "*":
		r.Mul(x.Rat, y.Rat)
	default:
		if y.Sign() == 0 {
			return nil
		}
		if r.Quo(x.Rat, y.Rat); whole {
			r.SetInt(new(big.Int).Quo(r.Num(), r.Denom()))
		}
	}
	return fraction{r, whole}
}

// resembles is LIKE by trying everything.
func resembles(text, pattern []rune, escape rune) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	switch {
	case pattern[0] == escape:
		return len(text) > 0 && text[0] == pattern[1] && resembles(text[1:], pattern[2:], escape)
	case pattern[0] == '%':
		return resembles(text, pattern[1:], escape) || len(text) > 0 && resembles(text[1:], pattern, escape)
	}
	return len(text) > 0 && (pattern[0] == '_' || pattern[0] == text[0]) && resembles(text[1:], pattern[1:], escape)
}

var (
	referenceNames  = []string{"a", "b", "c", "d.e", "f-g", `"h i"`}
	referenceTexts  = []string{"x", "X", "", "1", "1.0", " 2 ", "true", "FALSE", "ab_c%", "aXbc", "ää", "0.1", "-3", "5e1", "O'Reilly", "1.", ".", "e", "9007199254740993"}
	referenceLiters = []string{"0", "1", "1.0", "2", "0.5", "5.", "50", "0x10", "010", "1e2", "3L", "9007199254740993", "9007199254740992", "9223372036854775808", "1.25"}
)

// drawOperand draws a value that may be a number.
func drawOperand(t *rapid.T, depth int) operand {
	switch kind := rapid.IntRange(0, 5).Draw(t, "operand"); {
	case kind <= 2 || depth <= 0:
		return drawName(t)
	case kind == 3:
		return drawNumber(t)
	case kind == 4:
		x := drawOperand(t, depth-1)
		return operand{"- (" + x.text + ")", func(m map[string]thing) thing { return reckon("-", fraction{new(big.Rat), true}, x.of(m)) }}
	}
	operator := rapid.SampledFrom([]string{"+", "-", "*", "/"}).Draw(t, "operator")
	x, y := drawOperand(t, depth-1), drawOperand(t, depth-1)
	if operator == "/" { // quotients that end
		divisor := rapid.SampledFrom([]int64{0, 1, 2, -4, 5}).Draw(t, "divisor")
		y = operand{fmt.Sprint(divisor), func(map[string]thing) thing { return fraction{big.NewRat(divisor, 1), true} }}
	}
	return operand{"(" + x.text + ") " + operator + " (" + y.text + ")", func(m map[string]thing) thing { return reckon(operator, x.of(m), y.of(m)) }}
}

func drawName(t *rapid.T) operand {
	name := rapid.SampledFrom(referenceNames).Draw(t, "name")
	return operand{name, func(m map[string]thing) thing { return m[strings.Trim(name, `"`)] }}
}

func drawNumber(t *rapid.T) operand {
	text := rapid.SampledFrom(referenceLiters).Draw(t, "number")
	r, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "L"))
	if text == "010" {
		r = big.NewRat(8, 1)
	}
	if !ok {
		t.Fatalf("no number: %s", text)
	}
	return operand{text, func(map[string]thing) thing {
		return fraction{r, !strings.Contains(text, ".") && (!strings.Contains(text, "e"))}
	}}
}

func drawText(t *rapid.T) operand {
	s := rapid.SampledFrom(referenceTexts).Draw(t, "text")
	return operand{"'" + strings.ReplaceAll(s, "'", "''") + "'", func(map[string]thing) thing { return literal(s) }}
}

func drawCondition(t *rapid.T, depth int) condition {
	kinds := 6
	if depth > 0 {
		kinds = 11
	}
	switch kind := rapid.IntRange(0, kinds).Draw(t, "condition"); kind {
	case 0:
		return drawEquality(t)
	case 1:
		operator := rapid.SampledFrom([]string{"<", ">", "<=", ">="}).Draw(t, "operator")
		x, y := drawOperand(t, 2), drawOperand(t, 2)
		return condition{x.text + operator + "(" + y.text + ")", func(m map[string]thing) tri { return ordered(operator, x.of(m), y.of(m)) }}
	case 2:
		x, low, high := drawOperand(t, 1), drawOperand(t, 1), drawOperand(t, 1)
		return negatable(t, x.text, " ", "BETWEEN "+low.text+" AND "+high.text, func(m map[string]thing) tri {
			return and(ordered(">=", x.of(m), low.of(m)), ordered("<=", x.of(m), high.of(m)))
		})
	case 3:
		return drawIn(t)
	case 4:
		return drawLike(t)
	case 5:
		x := drawName(t)
		return negatable(t, x.text, " IS ", "NULL", func(m map[string]thing) tri { return decide(x.of(m) == nil) })
	case 6:
		if rapid.Bool().Draw(t, "constant") {
			b := rapid.Bool().Draw(t, "value")
			return condition{fmt.Sprint(b), func(map[string]thing) tri { return decide(b) }}
		}
		x := drawName(t)
		return condition{x.text, func(m map[string]thing) tri { return readBool(x.of(m)) }}
	case 7, 8:
		x := drawCondition(t, depth-1)
		return condition{"NOT (" + x.text + ")", func(m map[string]thing) tri { return not(x.of(m)) }}
	case 9, 10:
		x, y := drawCondition(t, depth-1), drawCondition(t, depth-1)
		word, apply := " AND ", and
		if kind == 10 {
			word, apply = " OR ", or
		}
		return condition{"(" + x.text + ")" + word + "(" + y.text + ")", func(m map[string]thing) tri { return apply(x.of(m), y.of(m)) }}
	}
	x, y := drawCondition(t, depth-1), drawCondition(t, depth-1)
	// A name in parentheses is a value still; with OR it is a condition.
	return condition{"(" + x.text + " OR FALSE) = (" + y.text + " OR FALSE)", func(m map[string]thing) tri {
		a, b := x.of(m), y.of(m)
		if a == 'U' || b == 'U' {
			return 'U'
		}
		return decide(a == b)
	}}
}

// negatable draws whether NOT is in a predicate.
func negatable(t *rapid.T, before, between, after string, of func(map[string]thing) tri) condition {
	if rapid.Bool().Draw(t, "negated") {
		return condition{before + between + "NOT " + after, func(m map[string]thing) tri { return not(of(m)) }}
	}
	return condition{before + between + after, of}
}

func drawEquality(t *rapid.T) condition {
	x := drawOperand(t, 2)
	var y operand
	switch rapid.IntRange(0, 3).Draw(t, "right") {
	case 0:
		y = drawOperand(t, 2)
	case 1:
		y = drawText(t)
	case 2:
		y = drawNumber(t)
	default:
		b := rapid.Bool().Draw(t, "bool")
		y = operand{fmt.Sprint(b), func(map[string]thing) thing { return b }}
	}
	if rapid.Bool().Draw(t, "swap") {
		x, y = y, x
	}
	if rapid.Bool().Draw(t, "unequal") {
		return condition{"(" + x.text + ") <> (" + y.text + ")", func(m map[string]thing) tri { return not(isEqual(x.of(m), y.of(m))) }}
	}
	return condition{"(" + x.text + ") = (" + y.text + ")", func(m map[string]thing) tri { return isEqual(x.of(m), y.of(m)) }}
}

func drawIn(t *rapid.T) condition {
	x := drawName(t)
	var texts []string
	var items []operand
	for range rapid.IntRange(1, 12).Draw(t, "items") {
		item := drawText(t)
		if rapid.IntRange(0, 3).Draw(t, "item") == 0 {
			item = drawNumber(t)
		}
		texts, items = append(texts, item.text), append(items, item)
	}
	return negatable(t, x.text, " ", "IN ("+strings.Join(texts, ", ")+")", func(m map[string]thing) tri {
		result := tri('F')
		for _, item := range items {
			result = or(result, isEqual(x.of(m), item.of(m)))
		}
		return result
	})
}

func drawLike(t *rapid.T) condition {
	x := drawName(t)
	pattern := []rune(rapid.StringOfN(rapid.SampledFrom([]rune("abXc_%%ä1")), 0, 6, -1).Draw(t, "pattern"))
	escape, suffix := rune(-1), ""
	if rapid.Bool().Draw(t, "escape") {
		escape, suffix = '!', " ESCAPE '!'"
		pattern = append(pattern, '!', rapid.SampledFrom([]rune("_%!c")).Draw(t, "escaped"))
	}
	return negatable(t, x.text, " ", "LIKE '"+string(pattern)+"'"+suffix, func(m map[string]thing) tri {
		s, ok := m[strings.Trim(x.text, `"`)].(header)
		if !ok {
			return 'U'
		}
		return decide(resembles([]rune(string(s)), pattern, escape))
	})
}

// TestReference holds what selectors are for messages against the reference, and the normal form against the
// selector.
func TestReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawCondition(t, 4)
		c := selector.NewCompiler(selector.Options{MaxText: 1 << 20, MaxNodes: 1 << 16, MaxDepth: 1 << 10})
		p, err := c.Compile(want.text)
		if err != nil {
			t.Fatalf("%s: %v", want.text, err)
		}
		if again, err := c.Compile(p.String()); err != nil || again != p {
			t.Fatalf("%s: its normal form is %s, of which it is %v, %v", want.text, p, again, err)
		}
		var m selector.Message
		for range 4 {
			h, things := drawMessage(t)
			m.Reset(h)
			got := p.Eval(&m)
			if got.String()[0] != byte(want.of(things)) {
				t.Fatalf("%s\nnormal form %s\nof %v: %v, want %c", want.text, p, things, got, want.of(things))
			}
			if p.Match(&m) != (got == selector.True) {
				t.Fatalf("%s: Match is not Eval", want.text)
			}
		}
	})
}

func drawMessage(t *rapid.T) (*headers, map[string]thing) {
	h, things := &headers{}, map[string]thing{}
	for _, name := range referenceNames {
		name = strings.Trim(name, `"`)
		switch rapid.IntRange(0, 6).Draw(t, "header") {
		case 0:
		case 1:
			b := rapid.Bool().Draw(t, "bool")
			h.add(name, selector.Bool(b))
			things[name] = b
		case 2:
			i := rapid.Int64Range(-3, 60).Draw(t, "int")
			h.add(name, selector.Int(i))
			things[name] = fraction{big.NewRat(i, 1), true}
		default:
			s := rapid.SampledFrom(referenceTexts).Draw(t, "text")
			h.add(name, selector.Text(s))
			things[name] = header(s)
		}
	}
	return h, things
}
