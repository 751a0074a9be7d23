package selector

import "fmt"

// SyntaxError says where and why a text is no selector.
type SyntaxError struct {
	// Offset is where the text stops making sense, in octets from 0; it may be the length of the text.
	Offset int
	// Message says what was expected there, in one line.
	Message string
}

// Error names the position, counted from 1, and what was expected there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("selector at position %d: %s", e.Offset+1, e.Message)
}
