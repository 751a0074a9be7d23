package auth_test

import (
	"testing"

	"footfall/auth"
)

func TestOpenTakesTheNameThatIsGivenAndAllowsAll(t *testing.T) {
	var a auth.Authorizer = auth.Open{}
	for _, login := range []string{"", "ann", `a\cb`} {
		id, err := a.Authenticate(t.Context(), auth.Credentials{Login: login, Passcode: "any", Remote: "127.0.0.1:1"})
		if err != nil || id.User != login || !a.Current(id) {
			t.Errorf("Authenticate(%q) = %+v, %v", login, id, err)
		}
		for action := auth.Send; action <= auth.Manage; action++ {
			if err := a.Authorize(id, action, "queue", "a"); err != nil {
				t.Errorf("Authorize(%q, %v): %v", login, action, err)
			}
		}
	}
}

func TestActionsHaveNames(t *testing.T) {
	for i, name := range auth.ActionNames() {
		action := auth.Send + auth.Action(i)
		if got, err := auth.ParseAction(name); err != nil || got != action || action.String() != name {
			t.Errorf("%q is read as %v, %v, and written as %q", name, got, err, action.String())
		}
	}
	if _, err := auth.ParseAction("eat"); err == nil {
		t.Error("eat is an action")
	}
}
