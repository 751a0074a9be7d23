package selector

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawDecimal draws the writing of a number, often near the limits of what is held in 64 bits.
func drawDecimal(t *rapid.T) string {
	const all = `[-+]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,22})(e[-+]?[0-9]{1,2})?`
	edges := []string{
		"0", "-0", "0.0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9007199254740993", "9007199254740993.0",
		"0.1", "0.10", "1e-1", "0.000000000000000001", "0.0000000000000000001", "999999999999999999.9", "1e18", "1e19", "1e-18", "1e-19", "18446744073709551616",
		"0.999999999999999999", "0.9999999999999999999", "123456789012345678.5", "1e99", "1e-99",
	}
	if rapid.Bool().Draw(t, "edge") {
		return rapid.SampledFrom(edges).Draw(t, "number")
	}
	return rapid.StringMatching(all).Draw(t, "number")
}

func rat(t *rapid.T, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%s is no fraction", s)
	}
	return r
}

// TestNumbersAreExact compares numbers with their fractions, and reads what is written of them.
func TestNumbersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, u := drawDecimal(t), drawDecimal(t)
		a, b := Number(s), Number(u)
		if a.IsNull() || b.IsNull() {
			t.Fatalf("%s, %s: NULL", s, u)
		}
		x, y := rat(t, s), rat(t, u)
		if got, want := compareNumbers(a, b), x.Cmp(y); got != want {
			t.Errorf("%s to %s: %d, want %d", s, u, got, want)
		}
		if (x.Cmp(y) == 0) && a.hash() != b.hash() {
			t.Errorf("%s and %s are equal, their hashes are not", s, u)
		}
		written := string(a.appendNumber(nil))
		if again := Number(written); compareNumbers(a, again) != 0 || again.kind != a.kind {
			t.Errorf("%s is written as %s", s, written)
		}
		if want, _ := x.Float64(); a.float() != want {
			t.Errorf("%s is %v as a double, want %v", s, a.float(), want)
		}
		if got := opposite(a); compareNumbers(got, Number(new(big.Rat).Neg(x).FloatString(130))) != 0 {
			t.Errorf("-(%s) is %s", s, got.appendNumber(nil))
		}
	})
}

// TestNumbersAndDoubles: whole numbers are compared with doubles exactly, others as the doubles next to them.
func TestNumbersAndDoubles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawDecimal(t)
		f := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 0.1, 1 << 53, 1 << 63, -1 << 63, math.Inf(1), math.Inf(-1), math.MaxFloat64, 1 << 62})).Draw(t, "double")
		a, b := Number(s), Double(f)
		x := rat(t, s)
		want := 0
		switch near, _ := x.Float64(); {
		case math.IsInf(f, 1):
			want = -1
		case math.IsInf(f, -1):
			want = 1
		case a.isWhole():
			want = x.Cmp(new(big.Rat).SetFloat64(f))
		case near < f:
			want = -1
		case near > f:
			want = 1
		}
		if got := compareNumbers(a, b); got != want || compareNumbers(b, a) != -want {
			t.Errorf("%s to %v: %d, want %d", s, f, got, want)
		}
		if want == 0 && a.hash() != b.hash() {
			t.Errorf("%s and %v are equal, their hashes are not", s, f)
		}
	})
}

// TestArithmeticIsExact: where the result is exact it is the fraction; else it is as near as doubles come.
func TestArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, u := drawDecimal(t), drawDecimal(t)
		operator := rapid.SampledFrom([]byte("+-*/")).Draw(t, "operator")
		a, b := Number(s), Number(u)
		x, y := rat(t, s), rat(t, u)
		got := calculate(operator, a, b)
		r := new(big.Rat)
		switch operator {
		case '+':
			r.Add(x, y)
		case '-':
			r.Sub(x, y)
		case '*':
			r.Mul(x, y)
		default:
			if y.Sign() == 0 {
				if !got.IsNull() {
					t.Errorf("%s / %s is not NULL", s, u)
				}
				return
			}
			if r.Quo(x, y); a.kind == integer && b.kind == integer {
				r.SetInt(new(big.Int).Quo(r.Num(), r.Denom()))
			}
		}
		if got.kind != double {
			if z := rat(t, string(got.appendNumber(nil))); z.Cmp(r) != 0 {
				t.Errorf("%s %c %s is %s, want %s", s, operator, u, z, r)
			}
			return
		}
		want, _ := r.Float64()
		size := math.Max(math.Abs(a.float()), math.Abs(b.float()))
		if operator == '*' || operator == '/' {
			size = math.Abs(want)
		}
		if math.Abs(got.double()-want) > size*1e-15 {
			t.Errorf("%s %c %s is %v, want %v", s, operator, u, got.double(), want)
		}
	})
}

// FuzzNumber: what is read as a number is one for math/big, and the other way round.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1", "-1.5e3", ".", "+.5", "5.", "1e", "e1", "--1", "1e-+1", "1e+-1", "1e++1", "1e--1", "0x10", "NaN", "1_000", strings.Repeat("9", 100), "1e-99999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 300 || strings.Contains(strings.ToLower(s), "e") && len(s) > 20 && !strings.HasSuffix(s, "e1") {
			return // math/big makes all digits of an exponent
		}
		v := Number(s)
		if i := strings.IndexAny(s, "eE"); i >= 0 && len(strings.TrimLeft(s[i+1:], "+-0")) > 3 {
			return
		}
		r, ok := new(big.Rat).SetString(s)
		if ok = ok && strings.Trim(s, "+-.0123456789eE") == ""; ok == v.IsNull() {
			t.Fatalf("%q: a number is %v, NULL is %v", s, ok, v.IsNull())
		}
		if ok && v.kind != wide && rat64(v).Cmp(r) != 0 {
			t.Errorf("%q is %s", s, v.appendNumber(nil))
		}
	})
}

func rat64(v Value) *big.Rat {
	r, _ := new(big.Rat).SetString(string(v.appendNumber(nil)))
	return r
}
