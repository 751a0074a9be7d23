package auth

import (
	"context"
	"errors"
)

// ErrLogin is returned for a login that is not known and for a passcode that is
// not its own: which of the two it was is nobody's business.
var ErrLogin = errors.New("auth: unknown login or wrong passcode")

// ErrThrottled is returned for a login that is not looked at, as too many failed from the same address or under the same name.
var ErrThrottled = errors.New("auth: too many failed logins")

// ErrBusy is returned for a login that is not looked at, as too many others are being looked at.
var ErrBusy = errors.New("auth: too many logins at a time")

// ErrNoUser is in the error of Directory.Explain about somebody who is none.
var ErrNoUser = errors.New("there is no user")

// ErrDenied is returned for an action that an identity may not do.
var ErrDenied = errors.New("auth: denied")

// Credentials are what somebody gives who wants to be let in.
type Credentials struct {
	// Login and Passcode are both empty when none were given.
	Login, Passcode string
	// Certificate is the name that a verified certificate of the client gives, empty for none.
	Certificate string
	// Remote is the address of the peer, host:port, or the path of a socket.
	Remote string
	// Local says that the peer is on this machine, judged by the address that the connection really comes from.
	Local bool
}

// Identity is who somebody is after a login. The zero value is somebody without a name and without rights.
type Identity struct {
	// User is the name of the user, as it is shown and as permissions know it; empty of one who gave none.
	User string
	// Role is what the user may do with the admin server.
	Role Role

	rights *rights // nil for none
	stamp  string  // see Directory.Current
}

// Authorizer decides. Its methods are called from many goroutines.
type Authorizer interface {
	// Authenticate tells who somebody is. It may take its time, at most until ctx ends. The error is, or wraps, one of
	// ErrLogin, ErrThrottled and ErrBusy; any other error means that no decision could be made, and counts as a refusal.
	// A session asks with both texts as they were written and, where that fails with ErrLogin and they hold a backslash, once more with
	// both unescaped.
	Authenticate(ctx context.Context, c Credentials) (Identity, error)
	// Authorize tells whether id may do action to the destination of this kind,
	// "queue", "topic", "dsub", "temp-queue" or "temp-topic", and name; of the last two that is what their owner calls them. A name
	// in which a level, parted by dots, is a wildcard stands for all that it matches. A session keeps the answer for as long as it lives. The error
	// is, or wraps, ErrDenied; any other means that no decision could be made, and counts as a refusal.
	Authorize(id Identity, action Action, kind, name string) error
	// Current tells whether a login that gave id would give the same now. A session of one that is not ends.
	Current(id Identity) bool
}

// Open is the Authorizer that lets everybody in under the name that they give, and
// do everything.
type Open struct{}

// Authenticate believes the login.
func (Open) Authenticate(_ context.Context, c Credentials) (Identity, error) {
	return Identity{User: c.Login, Role: Admin}, nil
}

// Authorize allows everything.
func (Open) Authorize(Identity, Action, string, string) error { return nil }

// Current is true.
func (Open) Current(Identity) bool { return true }
