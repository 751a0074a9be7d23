package auth

import "errors"

// ErrLogin is returned for a login that is not known and for a passcode that is
// not its own: which of the two it was is nobody's business.
var ErrLogin = errors.New("auth: unknown login or wrong passcode")

// ErrDenied is returned for an action that an identity may not do.
var ErrDenied = errors.New("auth: denied")

// Identity is who somebody is after a login. The zero value is somebody without a name.
type Identity struct {
	// User is the name of the user, as it is shown and as permissions know it.
	User string
}

// Action is something that is done to a destination.
type Action uint8

// The actions. Send is done by SEND and Receive by SUBSCRIBE. Manage is to see and take back what others have
// scheduled, of any destination; it is asked for the destination that takes the commands.
const (
	Send Action = iota + 1
	Receive
	Manage
)

// String returns "send", "receive" or "manage".
func (a Action) String() string {
	switch a {
	case Receive:
		return "receive"
	case Manage:
		return "manage"
	}
	return "send"
}

// Authorizer decides. Its methods are called from many goroutines and return
// ErrLogin, ErrDenied, or an error that wraps one of them; any other
// error means that no decision could be made, and counts as a refusal.
type Authorizer interface {
	// Authenticate tells who somebody is who gave this login and passcode, both
	// empty when none were given. Remote is the address of the peer. A session asks
	// with both as they were written and, where that fails and they hold a backslash,
	// once more with both unescaped.
	Authenticate(login, passcode, remote string) (Identity, error)
	// Authorize tells whether id may do action to the destination of this kind,
	// "queue", "topic", "dsub", "temp-queue" or "temp-topic", and name; of the last two that is what their owner calls them. A session keeps the answer for as long as it lives.
	Authorize(id Identity, action Action, kind, name string) error
}

// Open is the Authorizer that lets everybody in under the name that they give, and
// do everything. It is in use while no users are configured.
type Open struct{}

// Authenticate believes the login.
func (Open) Authenticate(login, _, _ string) (Identity, error) { return Identity{User: login}, nil }

// Authorize allows everything.
func (Open) Authorize(Identity, Action, string, string) error { return nil }
