package auth_test

import (
	"testing"

	"footfall/auth"
)

func TestOpenTakesTheNameThatIsGivenAndAllowsAll(t *testing.T) {
	var a auth.Authorizer = auth.Open{}
	for _, login := range []string{"", "ann", `a\cb`} {
		id, err := a.Authenticate(login, "any", "127.0.0.1:1")
		if err != nil || id.User != login {
			t.Errorf("Authenticate(%q) = %+v, %v", login, id, err)
		}
		for _, action := range []auth.Action{auth.Send, auth.Receive, auth.Manage} {
			if err := a.Authorize(id, action, "queue", "a"); err != nil {
				t.Errorf("Authorize(%q, %v): %v", login, action, err)
			}
		}
	}
}

func TestActionsHaveNames(t *testing.T) {
	for action, name := range map[auth.Action]string{auth.Send: "send", auth.Receive: "receive", auth.Manage: "manage"} {
		if got := action.String(); got != name {
			t.Errorf("the name of %s is %q", name, got)
		}
	}
}
