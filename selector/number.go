package selector

import (
	"cmp"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// maxExponent is the greatest power of ten that may be written after an E, of either sign.
const maxExponent = 99_999

// Number reads a decimal number: digits, with a sign, a point, an exponent where wanted ("-1", ".5", "2.50e3"). It is kept exactly, however many
// digits it has. Other texts, among them "NaN", "0x10" and "", give NULL, and so does an exponent of more than five digits.
func Number(s string) Value {
	n, ok := scanNumber(s)
	if !ok {
		return Value{}
	}
	return n.value()
}

// digits is a decimal number in writing.
type digits struct {
	negative bool
	text     string // digits with at most one point, without sign and exponent
	point    int    // how many of its digits are before the point; the point itself is not counted
	exponent int
}

func scanNumber(s string) (n digits, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		n.negative = s[0] == '-'
		s = s[1:]
	}
	end, count, point := 0, 0, -1
	for ; end < len(s); end++ {
		if isDigit(s[end]) {
			count++
		} else if s[end] == '.' && point < 0 {
			point = count
		} else {
			break
		}
	}
	if count == 0 {
		return digits{}, false
	}
	if point < 0 {
		point = count
	}
	n.text, n.point = s[:end], point
	if end == len(s) {
		return n, true
	}
	if s[end] != 'e' && s[end] != 'E' {
		return digits{}, false
	}
	e, err := strconv.Atoi(s[end+1:]) // with one sign at most
	if err != nil || e > maxExponent || e < -maxExponent {
		return digits{}, false
	}
	n.exponent = e
	return n, true
}

// value returns the number in the smallest form that holds it.
func (n digits) value() Value {
	mantissa, exp, fits := n.mantissa()
	switch {
	case !fits:
		return n.wide()
	case mantissa == 0:
		return n.whole(0)
	}
	for exp < 0 && mantissa%10 == 0 {
		mantissa, exp = mantissa/10, exp+1
	}
	for exp > 0 && mantissa <= math.MaxUint64/10 {
		mantissa, exp = mantissa*10, exp-1
	}
	switch {
	case exp == 0 && n.negative && mantissa <= 1<<63:
		return n.whole(-int64(mantissa))
	case exp == 0 && mantissa <= math.MaxInt64:
		return n.whole(int64(mantissa))
	case exp < 0 && exp >= -18 && mantissa < 1e18:
		return fraction(mantissa, exp, n.negative)
	default:
		return n.wide()
	}
}

// whole returns a whole number: as a decimal if it was written as one, for that is how Java divides it.
func (n digits) whole(i int64) Value {
	v := Int(i)
	if n.exponent != 0 || strings.IndexByte(n.text, '.') >= 0 {
		v.kind = decimal
	}
	return v
}

// mantissa returns the digits as a whole number and the power of ten that it is to be multiplied by, unless there
// are too many digits.
func (n digits) mantissa() (mantissa uint64, exp int, ok bool) {
	s := n.text
	if strings.IndexByte(s, '.') >= 0 {
		s = strings.TrimRight(s, "0")
	}
	read := 0
	for i := range len(s) {
		if s[i] == '.' {
			continue
		}
		high, low := bits.Mul64(mantissa, 10)
		sum, carry := bits.Add64(low, uint64(s[i]-'0'), 0)
		if high != 0 || carry != 0 {
			return 0, 0, false
		}
		mantissa = sum
		read++
	}
	return mantissa, n.exponent + n.point - read, true
}

func (n digits) wide() Value {
	if strings.Trim(n.text, "0.") == "" {
		return n.whole(0)
	}
	v := Value{kind: wide, text: n.text}
	if n.exponent != 0 {
		v.text += "e" + strconv.Itoa(n.exponent)
	}
	if n.negative {
		v.bits = 1
	}
	return v
}

func fraction(mantissa uint64, exp int, negative bool) Value {
	m := int64(mantissa)
	if negative {
		m = -m
	}
	return Value{kind: decimal, exp: int8(exp), bits: uint64(m)}
}

// reader reads the digits of an exact number that is not zero, from the first that is not a zero.
type reader struct {
	order int    // the power of ten below which the number is
	text  string // what is left of a wide number
	rest  uint64 // what is left of another
	unit  uint64 // that of its next digit, 0 at the end
}

func (v Value) reader() reader {
	if v.kind == wide {
		n, _ := scanNumber(v.text)
		return n.reader()
	}
	r := reader{order: 1 + int(v.exp), rest: magnitude(v.int()), unit: 1}
	for r.rest/r.unit >= 10 {
		r.unit *= 10
		r.order++
	}
	return r
}

func (n digits) reader() reader {
	r := reader{order: n.point + n.exponent, text: n.text}
	for r.text[0] == '0' || r.text[0] == '.' {
		if r.text[0] == '0' {
			r.order--
		}
		r.text = r.text[1:]
	}
	return r
}

func (r *reader) isDone() bool { return r.unit == 0 && r.text == "" }

// next returns the next digit, 0 at the end.
func (r *reader) next() uint64 {
	if r.unit > 0 {
		digit := r.rest / r.unit
		r.rest %= r.unit
		r.unit /= 10
		return digit
	}
	if r.text != "" && r.text[0] == '.' {
		r.text = r.text[1:]
	}
	if r.text == "" {
		return 0
	}
	digit := uint64(r.text[0] - '0')
	r.text = r.text[1:]
	return digit
}

// compareNumbers compares two numbers: exactly, but for a double with a fraction in decimal, which is rounded.
func compareNumbers(a, b Value) int {
	switch {
	case a.kind == integer && b.kind == integer:
		return cmp.Compare(a.int(), b.int())
	case b.kind == double:
		return a.compareDouble(b.double())
	case a.kind == double:
		return -b.compareDouble(a.double())
	case a.kind == wide || b.kind == wide:
		return compareWide(a, b)
	default:
		return compareFractions(&a, &b)
	}
}

// compareDouble compares a number with a double.
func (v Value) compareDouble(f float64) int {
	switch {
	case math.IsInf(f, 0) && v.kind != double:
		return cmp.Compare(0, f)
	case v.kind == integer, v.kind == decimal && v.exp == 0:
		return compareIntDouble(v.int(), f)
	default:
		return cmp.Compare(v.float(), f)
	}
}

func compareIntDouble(i int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(i, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, f)
}

// compareWide compares exact numbers by their digits.
func compareWide(a, b Value) int {
	if c := cmp.Compare(sign(a), sign(b)); c != 0 {
		return c
	}
	x, y := a.reader(), b.reader() // one is wide, so that neither is zero
	c := cmp.Compare(x.order, y.order)
	for c == 0 && !(x.isDone() && y.isDone()) {
		c = cmp.Compare(x.next(), y.next())
	}
	return c * sign(a)
}

// compareFractions compares whole numbers and decimals in 128 bits.
func compareFractions(a, b *Value) int {
	x, y := a.int(), b.int()
	if (x < 0) != (y < 0) {
		return cmp.Compare(x, y)
	}
	if a.exp == b.exp {
		return cmp.Compare(x, y)
	}
	exp := min(a.exp, b.exp)
	xHigh, xLow := bits.Mul64(magnitude(x), pow10(int(a.exp-exp)))
	yHigh, yLow := bits.Mul64(magnitude(y), pow10(int(b.exp-exp)))
	c := cmp.Or(cmp.Compare(xHigh, yHigh), cmp.Compare(xLow, yLow))
	if x < 0 {
		return -c
	}
	return c
}

// sign is -1, 0 or 1, for an exact number.
func sign(v Value) int {
	if v.kind == wide {
		if v.bool() {
			return -1
		}
		return 1
	}
	return cmp.Compare(v.int(), 0)
}

// float returns a number as the double next to it.
func (v Value) float() float64 {
	switch v.kind {
	case integer:
		return float64(v.int())
	case double:
		return v.double()
	case decimal:
		if m := v.int(); m < 1<<53 && m > -1<<53 {
			return float64(m) / float64(pow10(-int(v.exp))) // both are exact, so the quotient is rounded once
		}
	case wide:
		f, _ := strconv.ParseFloat(v.text, 64) // out of range it is infinite
		if v.bool() {
			return -f
		}
		return f
	}
	var buf [24]byte
	f, _ := strconv.ParseFloat(string(v.appendNumber(buf[:0])), 64)
	return f
}

// appendNumber appends an exact number as a literal.
func (v Value) appendNumber(b []byte) []byte {
	switch v.kind {
	case wide:
		if v.bool() {
			b = append(b, '-')
		}
		return append(b, v.text...)
	case integer:
		return strconv.AppendInt(b, v.int(), 10)
	}
	if v.exp == 0 {
		return append(strconv.AppendInt(b, v.int(), 10), ".0"...)
	}
	if v.int() < 0 {
		b = append(b, '-')
	}
	unit := pow10(-int(v.exp))
	m := magnitude(v.int())
	b = strconv.AppendUint(b, m/unit, 10)
	b = append(b, '.')
	start := len(b)
	b = strconv.AppendUint(b, m%unit+unit, 10) // with a 1 in front, for the zeros
	return append(b[:start], b[start+1:]...)
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// pow10 is a power of ten, 0 to 18.
func pow10(n int) uint64 { return powers[n] }

var powers = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
