package frames

import (
	"fmt"
	"strconv"
)

// ErrorKind groups errors for metrics.
type ErrorKind string

// The kinds of errors that a Reader finds.
const (
	KindGreeting ErrorKind = "greeting"       // the first frame is not the one that must be first
	KindCommand  ErrorKind = "command"        // no command, or one of the other side
	KindHeader   ErrorKind = "header"         // a header line that is none
	KindEscape   ErrorKind = "escape"         // an escape that the version does not have
	KindLength   ErrorKind = "content_length" // content-length is no number
	KindBody     ErrorKind = "body"           // a body where none may be, or that does not end where it must
	KindLineEnd  ErrorKind = "line_end"       // a carriage return without line feed between frames
	KindLimit    ErrorKind = "limit"          // more than Limits allow
)

// Error is a breach of the protocol or of a limit. It ends a connection: the Reader
// does not go on after it.
type Error struct {
	Kind ErrorKind
	// Message is one line that names what was wrong, and its value, quoted and cut. No
	// value of CONNECT and STOMP is in it.
	Message string
	// Detail says where it was, and what would be right.
	Detail string
	// Setting is the name of the setting that limits what was too large, and Limit its
	// value. They are empty but for KindLimit.
	Setting string
	Limit   int
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// maxQuoted is the number of octets of a client that an error shows.
const maxQuoted = 64

// quote shows octets on one line, as they are where that is readable.
func quote(octets []byte) string {
	cut := ""
	if len(octets) > maxQuoted {
		octets, cut = octets[:maxQuoted], "..."
	}
	for _, c := range octets {
		if c < ' ' || c > '~' || c == '"' {
			return strconv.QuoteToASCII(string(octets)) + cut
		}
	}
	return `"` + string(octets) + `"` + cut
}

// fail makes an error of the Reader's state. It returns false for the caller to return.
func (r *Reader) fail(kind ErrorKind, detail, format string, args ...any) bool {
	r.err = &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Detail: detail}
	return false
}

func (r *Reader) failLimit(what, unit, setting string, limit int, detail string) bool {
	r.err = &Error{
		Kind:    KindLimit,
		Message: fmt.Sprintf("%s %d%s (%s)", what, limit, unit, setting),
		Detail:  detail,
		Setting: setting,
		Limit:   limit,
	}
	return false
}

// where names a header line of the frame in progress; the first is 1.
func (r *Reader) where(line int) string {
	return fmt.Sprintf("header line %d of %s", line, r.command)
}

// show quotes a header line for an error, after a blank. It leaves out all that may be a secret.
func (r *Reader) show(line []byte) string {
	if r.command == Connect || r.command == Stomp {
		return ""
	}
	return " " + quote(line)
}
