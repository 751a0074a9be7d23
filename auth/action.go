package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Action is something that is done to a destination.
type Action uint8

// The actions.
const (
	// Send is what SEND does.
	Send Action = iota + 1
	// Receive is what SUBSCRIBE does.
	Receive
	// Browse is to look at what is in a queue and take nothing.
	Browse
	// Create is to make the destination, or a durable subscription to it, by using it first.
	Create
	// Delete is to end a durable subscription, for the destination of kind "dsub" that it is.
	Delete
	// Manage is to see and take back what others have scheduled, of any destination; it is asked for the
	// destination that takes the commands.
	Manage
)

// actionNames are the names of the actions, from Send on.
var actionNames = [...]string{"send", "receive", "browse", "create", "delete", "manage"}

// String returns the action's name: "send".
func (a Action) String() string {
	if a < Send || int(a) > len(actionNames) {
		return fmt.Sprintf("action %d", uint8(a))
	}
	return actionNames[a-Send]
}

// ParseAction reads the name of an action.
func ParseAction(text string) (Action, error) {
	if i := slices.Index(actionNames[:], text); i >= 0 {
		return Send + Action(i), nil
	}
	return 0, fmt.Errorf("must be one of %s", strings.Join(actionNames[:], ", "))
}

// ActionNames returns the names of all actions.
func ActionNames() []string { return slices.Clone(actionNames[:]) }

// Actions is a set of actions.
type Actions uint8

// allActions is the word for all of them.
const allActions = "all"

// ParseActions reads names of actions; "all" is all of them.
func ParseActions(names []string) (set Actions, err error) {
	for _, name := range names {
		if name == allActions {
			return 1<<len(actionNames) - 1, nil
		}
		a, err := ParseAction(name)
		if err != nil {
			return 0, fmt.Errorf("%w, or %s", err, allActions)
		}
		set |= a.alone()
	}
	return set, nil
}

func (a Action) alone() Actions { return 1 << (a - Send) }

func (s Actions) has(a Action) bool { return s&a.alone() != 0 }
