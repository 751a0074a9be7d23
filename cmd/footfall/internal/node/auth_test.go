package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"footfall/auth"
	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
)

// load reads settings of a file with this text.
func load(t *testing.T, text string) (node.Options, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var o node.Options
	_, err := config.Load(node.Settings(&o), config.Sources{File: file})
	return o, err
}

func TestPermissionsAreReadWithTheirPlaces(t *testing.T) {
	o, err := load(t, "permissions:\n- {match: '/queue/a.>', who: [ann, '@sales'], allow: [send, receive]}\n- {match: '>', who: everyone, deny: manage}\n")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := o.Rules()
	if err != nil || len(rules) != 2 || rules[0].Match.String() != "/queue/a.>" || len(rules[0].Who) != 2 || !strings.HasSuffix(rules[1].At, "f.yaml:3:3") {
		t.Errorf("%+v, %v", rules, err)
	}
	for text, wrong := range map[string]string{
		"- {match: /queue/a*, who: ann, allow: send}":                  "f.yaml:2:11: permissions[0].match: has the level",
		"- {match: /queue/a, allow: send}":                             "f.yaml:2:3: permissions[0]: says nothing of who",
		"- {match: /queue/a, who: ann}":                                "f.yaml:2:3: permissions[0]: neither allows nor denies",
		"- {match: /queue/a, who: ann, allow: eat}":                    "permissions[0].allow: must be one of send",
		"- {match: /queue/a, who: 'a b', allow: send}":                 "permissions[0].who: has a blank",
		"- {match: /queue/a, who: ann, allow: send, deny: all}":        "allows what it denies",
		"- {who: ann, allow: send}":                                    "permissions[0]: has no match",
		"- {match: /queue/a, who: ann, allow: send, may: everything}":  "permissions[0].may: no such setting",
		"- {match: /queue/a, who: ann, allow: send}\n- {match: queue}": "f.yaml:3:11: permissions[1].match: must begin with",
	} {
		if _, err := load(t, "permissions:\n"+text+"\n"); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v, want %q", text, err, wrong)
		}
	}
}

func TestWhoCanBeReachedByOthersNeedsUsers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte("ann:!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		stomp, admin, users, anonymous string
		wrong                          string
	}{
		{"127.0.0.1:0", "127.0.0.1:0", "none", "auto", ""},
		{":0", "none", "none", "auto", "stomp.listen: [::]"},
		{"0.0.0.0:0", "none", "none", "local", "stomp.listen: "},
		{"127.0.0.1:0", ":0", "none", "auto", "admin.listen: [::]"},
		{":0", "none", file, "auto", ""},
		{":0", "none", "none", "everywhere", ""},
		{":0", "none", "none", "never", ""},
		{"127.0.0.1:0", "none", file + "x", "auto", "no such file or directory; footfall user add NAME makes it"},
	} {
		o := options(t)
		o.Stomp, o.Admin, o.Users = []string{row.stomp}, row.admin, row.users
		o.Auth.Anonymous = auth.Anonymous(row.anonymous)
		n, err := node.Start(o, program())
		if err == nil {
			err = n.Close(t.Context())
		} else if row.wrong != "" && strings.Contains(row.wrong, "listen") && !errors.Is(err, node.ErrExposed) {
			t.Errorf("%+v: %v", row, err)
		}
		if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestUsersThatAreGoneAreNoReasonToOpenEverything(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ann:!\n")
	o := options(t)
	o.Users = file
	n, err := node.Start(o, program())
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, n)
	for _, row := range []struct {
		change func()
		wrong  string
		users  int
	}{
		{func() { write("ann:!\nbob:!\n") }, "", 2},
		{func() { write("ann\n") }, "line 1", 0},
		{func() { _ = os.Remove(file) }, "no such file", 0},
		{func() { write("") }, "", 0},
	} {
		row.change()
		people, err := n.ReadPeople(&o)
		if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%v, want %q", err, row.wrong)
		}
		if err == nil {
			n.SetPeople(people)
			if people.Users() != row.users {
				t.Errorf("%d users, want %d", people.Users(), row.users)
			}
		}
	}
}
