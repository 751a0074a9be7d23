package selector

// Truth is the result of a condition, in three-valued logic. Its order is that of SQL-92: AND is the least of two, OR the
// greatest.
type Truth int8

// The three values. A condition about something that is missing, or that cannot be compared, is Unknown.
const (
	False   Truth = -1
	Unknown Truth = 0
	True    Truth = 1
)

// String returns TRUE, FALSE or UNKNOWN.
func (t Truth) String() string {
	switch t {
	case True:
		return "TRUE"
	case False:
		return "FALSE"
	default:
		return "UNKNOWN"
	}
}

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

// relation is a set of the ways in which two values may stand to each other.
type relation uint8

const (
	less relation = 1 << iota
	equal
	greater

	unequal = less | greater
)

// holds tells whether a relation has the result of a comparison, -1, 0 or 1.
func (r relation) holds(c int) Truth { return truth(r&(1<<(c+1)) != 0) }

// not returns the relation that holds where r does not.
func (r relation) not() relation { return r ^ (less | equal | greater) }

// flip returns the relation of b to a, for that of a to b.
func (r relation) flip() relation {
	return r&equal | r&less<<2 | r&greater>>2
}

// String returns the operator.
func (r relation) String() string {
	return [...]string{less: "<", equal: "=", greater: ">", unequal: "<>", less | equal: "<=", greater | equal: ">="}[r]
}
