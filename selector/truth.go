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
