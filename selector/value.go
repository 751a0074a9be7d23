package selector

import (
	"math"
	"strings"
)

// Value is what a message has under a name. The zero Value is NULL. Numbers are exact but for doubles: see [Number].
type Value struct {
	kind kind
	exp  int8   // of a decimal: -18 to 0
	bits uint64 // a boolean, an int64, the mantissa of a decimal, the bits of a double, the sign of a wide number
	text string // a text, or the digits of a wide number
}

// kind is the type of a Value.
type kind uint8

const (
	null kind = iota
	boolean
	integer // an int64
	decimal // an int64 and a power of ten; below 10^18 and without zeros at the end if it is no whole number
	wide    // digits, with point and exponent, that fit none of the two
	double
	text
)

// Bool returns a boolean.
func Bool(b bool) Value {
	v := Value{kind: boolean}
	if b {
		v.bits = 1
	}
	return v
}

// Int returns a whole number.
func Int(i int64) Value { return Value{kind: integer, bits: uint64(i)} }

// Double returns a floating point number. NaN cannot be compared: what is asked of it is unknown. With whole
// numbers a double is compared exactly; a decimal fraction is rounded to a double first, as 0.1 is not one.
func Double(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	return Value{kind: double, bits: math.Float64bits(f)}
}

// Text returns a text. Compared with a number or a boolean it is read as one, and the comparison is unknown if it is
// none.
func Text(s string) Value { return Value{kind: text, text: s} }

// IsNull tells whether there is no value.
func (v Value) IsNull() bool { return v.kind == null }

func (v Value) int() int64      { return int64(v.bits) }
func (v Value) bool() bool      { return v.bits != 0 }
func (v Value) double() float64 { return math.Float64frombits(v.bits) }
func (v Value) isNumber() bool  { return v.kind >= integer && v.kind <= double }

// isWhole tells whether v is a whole number of 64 bits, however it is written.
func (v Value) isWhole() bool { return v.kind == integer || v.kind == decimal && v.exp == 0 }

// asNumber reads a value as a number: NULL if it is none.
func (v Value) asNumber() Value {
	switch {
	case v.isNumber():
		return v
	case v.kind == text:
		return Number(strings.Trim(v.text, " \t"))
	default:
		return Value{}
	}
}

// asBool reads a value as a boolean: Unknown if it is none.
func (v Value) asBool() Truth {
	switch v.kind {
	case boolean:
		return truth(v.bool())
	case text:
		switch s := strings.Trim(v.text, " \t"); {
		case isFold(s, "true"):
			return True
		case isFold(s, "false"):
			return False
		}
	}
	return Unknown
}

// fromTruth returns a condition as a value.
func fromTruth(t Truth) Value {
	if t == Unknown {
		return Value{}
	}
	return Bool(t == True)
}
