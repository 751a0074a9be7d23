package broker

import "errors"

// ErrClosed is returned by what is called after Close, or after the store failed.
var ErrClosed = errors.New("broker: closed")

// ErrorKind groups errors for metrics.
type ErrorKind string

// The kinds of errors that the broker itself finds.
const (
	KindInvalid     ErrorKind = "invalid"     // a request that cannot be meant
	KindUnknownAck  ErrorKind = "unknown_ack" // an ack id that was never given out
	KindUnknownSub  ErrorKind = "unknown_subscription"
	KindDuplicate   ErrorKind = "duplicate_subscription"
	KindDestination ErrorKind = "destination"
	KindSelector    ErrorKind = "selector"
	KindLimit       ErrorKind = "limit"
	KindResource    ErrorKind = "resource" // disk or memory above its watermark
	KindQuota       ErrorKind = "quota"    // a destination has as much as it may have
	KindSlow        ErrorKind = "slow_consumer"
	KindStore       ErrorKind = "store"
	KindInUse       ErrorKind = "in_use"  // a durable subscription that others use, or a destination
	KindPaused      ErrorKind = "paused"  // a destination that takes nothing at the moment
	KindDeleted     ErrorKind = "deleted" // a destination that an operator deleted
	KindClosed      ErrorKind = "closed"  // a connection that an operator closed
	KindDenied      ErrorKind = "denied"  // a durable subscription of another user
)

// Error is a refusal that ends the connection. Message is one line that names
// what was wrong and its value, Detail may say more.
type Error struct {
	Kind    ErrorKind
	Message string
	Detail  string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }
