package auth

import "errors"

// Role is what somebody may do with the admin server. Each role may do what those before it may. The admin server does not ask the
// permissions of destinations, which are about STOMP, and a role gives none of these.
type Role uint8

// The roles.
const (
	// NoRole may do nothing there.
	NoRole Role = iota
	// Viewer sees everything, and changes nothing.
	Viewer
	// Operator also does what deletes nothing: pauses destinations, ends connections, moves and copies messages, sends dead letters
	// back, and gives what is scheduled another time.
	Operator
	// Admin also makes destinations, deletes them, messages, dead letters, durable subscriptions and what is scheduled, and has the
	// settings read again.
	Admin
)

// roleNames are the names of the roles, from NoRole on.
var roleNames = [...]string{"", "viewer", "operator", "admin"}

// String returns the role's name, which is empty for NoRole.
func (r Role) String() string { return roleNames[min(int(r), len(roleNames)-1)] }

// ParseRole reads a role's name; the empty one is that of NoRole.
func ParseRole(text string) (Role, error) {
	for i, name := range roleNames {
		if name == text {
			return Role(i), nil
		}
	}
	return NoRole, errors.New("must be viewer, operator or admin")
}
