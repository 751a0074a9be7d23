package selector

// Value is what a message has under a name. The zero Value is NULL.
type Value struct {
	kind kind
	bits uint64
	text string
}

// kind is the type of a Value.
type kind uint8

const (
	null kind = iota
	boolean
	integer
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

// Double returns a floating point number. NaN cannot be compared: what is asked of it is unknown.
func Double(f float64) Value { return Value{kind: double} }

// Text returns a text. Compared with a number or a boolean it is read as one, and the comparison is unknown if it is
// none.
func Text(s string) Value { return Value{kind: text, text: s} }
