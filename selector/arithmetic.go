package selector

import (
	"math"
	"math/bits"
)

// calculate applies an operator, one of + - * /, to two numbers. The result is exact where whole numbers and decimals can
// hold it, else a double. Whole numbers are divided as Java divides them, towards zero. (JMS 3.1, 3.8.1.2: arithmetic
// follows Java's numeric promotion.) Division by zero is NULL.
func calculate(operator byte, a, b Value) Value {
	if a.kind == null || b.kind == null {
		return Value{}
	}
	if isSmall(a) && isSmall(b) {
		if v, ok := calculateExactly(operator, a, b); ok {
			return v
		}
	}
	x, y := a.float(), b.float()
	switch operator {
	case '+':
		return Double(x + y)
	case '-':
		return Double(x - y)
	case '*':
		return Double(x * y)
	}
	if y == 0 {
		return Value{}
	}
	return Double(x / y)
}

// isSmall tells whether a number is a mantissa and a power of ten.
func isSmall(v Value) bool { return v.kind == integer || v.kind == decimal }

func calculateExactly(operator byte, a, b Value) (Value, bool) {
	switch operator {
	case '+':
		return add(a, b)
	case '-':
		if b.int() == math.MinInt64 {
			return Value{}, false
		}
		b.bits = -b.bits
		return add(a, b)
	case '*':
		m, ok := multiply(a.int(), b.int())
		return scaled(m, int(a.exp)+int(b.exp), kindOf(a, b), ok)
	}
	if b.int() == 0 {
		return Value{}, true
	}
	if a.kind == integer && b.kind == integer {
		return Int(a.int() / b.int()), a.int() != math.MinInt64 || b.int() != -1
	}
	return divide(a, b)
}

// add adds a and b, as multiples of the smaller of their units.
func add(a, b Value) (Value, bool) {
	exp := min(a.exp, b.exp)
	x, ok := multiply(a.int(), int64(pow10(int(a.exp-exp))))
	y, fits := multiply(b.int(), int64(pow10(int(b.exp-exp))))
	sum := x + y
	overflows := (x < 0) == (y < 0) && (sum < 0) != (x < 0)
	return scaled(sum, int(exp), kindOf(a, b), ok && fits && !overflows)
}

// divide finds the quotient if it is a decimal, digit by digit.
func divide(a, b Value) (Value, bool) {
	exp := int(a.exp) - int(b.exp)
	x, y := a.int(), b.int()
	if x == math.MinInt64 || y == math.MinInt64 {
		return Value{}, false
	}
	for ; x%y != 0 || exp > 0; exp-- {
		var ok bool
		if x, ok = multiply(x, 10); !ok {
			return Value{}, false
		}
	}
	return scaled(x/y, exp, decimal, true)
}

func multiply(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(low), true
	}
	return int64(low), true
}

// kindOf is the kind of what two small numbers make.
func kindOf(a, b Value) kind { return max(a.kind, b.kind) }

// scaled returns m × 10^exp, if that is a whole number or a decimal; k says which it is if it is whole. ok says that m itself is right.
func scaled(m int64, exp int, k kind, ok bool) (Value, bool) {
	if m == 0 {
		return Value{kind: k}, ok
	}
	for exp < 0 && m%10 == 0 {
		m, exp = m/10, exp+1
	}
	switch {
	case !ok || exp < -18 || exp < 0 && magnitude(m) >= 1e18:
		return Value{}, false
	case exp < 0:
		return fraction(magnitude(m), exp, m < 0), true
	default:
		return Value{kind: k, bits: uint64(m)}, true // exp is 0: that of the operands is not above, nor that of their quotient
	}
}

// opposite returns -v.
func opposite(v Value) Value {
	switch v.kind {
	case integer, decimal:
		if v.int() == math.MinInt64 {
			return Value{kind: wide, text: "9223372036854775808"}
		}
		v.bits = -v.bits
	case wide:
		v.bits ^= 1
	case double:
		return Double(-v.double())
	}
	return v
}
