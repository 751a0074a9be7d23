package server

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// The kinds of errors that a session finds, beside those of the broker. They are
// labels of the metric of protocol errors.
const (
	kindHeader      broker.ErrorKind = "header"      // missing, or with a value that cannot be
	kindSequence    broker.ErrorKind = "sequence"    // a frame that may not come now
	kindVersion     broker.ErrorKind = "version"     // no common version
	kindLogin       broker.ErrorKind = "login"       // refused login
	kindDenied      broker.ErrorKind = "denied"      // refused SEND, SUBSCRIBE or command to the schedule
	kindTransaction broker.ErrorKind = "transaction" // unknown, twice, missing, or where there is none
	kindUnsupported broker.ErrorKind = "unsupported" // see unsupported.go
	kindTimeout     broker.ErrorKind = "timeout"     // CONNECT or heart-beats did not come
	kindShutdown    broker.ErrorKind = "shutdown"
	kindInternal    broker.ErrorKind = "internal"
)

// supportedVersions is the version header of an ERROR that found none in common.
const supportedVersions = "1.0,1.1,1.2"

// refusal makes an error of one line.
func refusal(kind broker.ErrorKind, format string, args ...any) *broker.Error {
	return &broker.Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// missing says that a frame lacks a header that it needs.
func missing(c frames.Command, name string) *broker.Error {
	return refusal(kindHeader, "%s without %s header", c, name)
}

// badHeader says that a header has a value that it cannot have.
func badHeader(c frames.Command, name, value, want string) *broker.Error {
	return refusal(kindHeader, "%s with %s %s: %s", c, name, quote(value), want)
}

// maxID is the length of the longest id or name of a client that is kept for as long as what it names, in octets.
const maxID = 1024

func tooLong(c frames.Command, name string, length int) *broker.Error {
	return refusal(broker.KindLimit, "%s with %s of %d octets, and %d are the limit", c, name, length, maxID)
}

// asError gives any error the form in which it goes to a client. What is not made for clients
// stays out of it.
func asError(err error) *broker.Error {
	var own *broker.Error
	var frame *frames.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &frame):
		return &broker.Error{Kind: broker.ErrorKind(frame.Kind), Message: frame.Message, Detail: frame.Detail}
	case errors.Is(err, broker.ErrClosed):
		return refusal(kindShutdown, "the broker is shutting down")
	case errors.Is(err, auth.ErrLogin):
		return refusal(kindLogin, "unknown login or wrong passcode")
	case errors.Is(err, auth.ErrDenied):
		return refusal(kindDenied, "permission denied")
	}
	return refusal(kindInternal, "internal error")
}

// appendError appends an ERROR frame up to its NUL. Receipt is that of the frame that is
// answered, as it was on the wire, if it had one.
func appendError(dst []byte, v frames.Version, e *broker.Error, wantReceipt bool, receipt string) []byte {
	body := e.Message + "\n"
	if e.Detail != "" {
		body += e.Detail + "\n"
	}
	dst = frames.AppendCommand(dst, frames.Failure)
	dst = append(dst, "content-length:"...)
	dst = append(strconv.AppendInt(dst, int64(len(body)), 10), '\n')
	dst = frames.AppendHeader(dst, v, "message", e.Message)
	dst = append(dst, "content-type:text/plain\n"...)
	// STOMP 1.2 ERROR: the receipt-id of the frame that caused it.
	if wantReceipt {
		dst = append(append(append(dst, "receipt-id:"...), receipt...), '\n')
	}
	if e.Kind == kindVersion {
		dst = append(dst, "version:"+supportedVersions+"\n"...)
	}
	return frames.AppendBody(dst, []byte(body))
}

// short cuts a client's text for the log, which quotes it.
func short(text string) string {
	if len(text) > quoteLimit {
		text = text[:quoteLimit] + "..."
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// quoteLimit is how much of a client's text is told back to it, in octets.
const quoteLimit = 80

// quote puts a client's text between quotes, cut to quoteLimit, in one line of printable characters.
// A backslash stays one, as the text is escaped again on the wire.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	rest := text
	for len(rest) > 0 {
		r, size := utf8.DecodeRuneInString(rest)
		if len(text)-len(rest)+size > quoteLimit {
			break
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, rest[0])
		case unicode.IsPrint(r):
			b.WriteString(rest[:size])
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		rest = rest[size:]
	}
	b.WriteByte('"')
	if len(rest) > 0 {
		fmt.Fprintf(&b, " and %d octets more", len(rest))
	}
	return b.String()
}
