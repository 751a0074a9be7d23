package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUsersAreAddedChangedListedAndRemoved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	env := []string{"FOOTFALL_AUTH_USERS=" + file}
	run(t, "s3cret\nmore", env, "user", "add", "ann", "--group", "a,b", "--role", "viewer").expect(t, 0, "added ann to "+file+"; a broker that runs reads it after: footfall reload\n")
	run(t, "", nil, "user", "add", "cert", "--no-passcode", "--file", file).expect(t, 0, "added cert")
	run(t, "x", env, "user", "add", "ann").expect(t, 5, "there already")
	run(t, "", env, "user", "add", "bob").expect(t, 2, "the passcode is empty")
	run(t, "x", env, "user", "add", "b:c").expect(t, 2, "one of the characters")
	run(t, "x", env, "user", "add", "bob", "--role", "root").expect(t, 2, "--role: must be viewer")
	run(t, "x", env, "user", "add", "bob", "--group", "everyone").expect(t, 2, "a meaning of its own")
	run(t, "x", []string{"FOOTFALL_AUTH_USERS=none"}, "user", "add", "bob").expect(t, 2, "auth.users is none")
	run(t, "", env, "user", "list").expect(t, 0, "USER  GROUPS  ROLE    PASSCODE\nann   a,b     viewer  argon2id\ncert                  none\n")
	run(t, "", env, "user", "list", "-o", "json").expect(t, 0, `"groups": []`)

	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	run(t, "other\r\n", env, "user", "passwd", "ann").expect(t, 0, "changed the passcode of ann")
	run(t, "x", env, "user", "passwd", "bob").expect(t, 3, "there is no user bob")
	after, err := os.ReadFile(file)
	if err != nil || string(after) == string(before) || !strings.HasSuffix(string(after), ":a,b:viewer\ncert:!\n") || strings.Contains(string(after), "other") {
		t.Errorf("%s, %v", after, err)
	}
	run(t, "", env, "user", "remove", "ann").expect(t, 2, "--yes is needed")
	run(t, "", env, "user", "remove", "--yes", "ann", "bob").expect(t, 3, "there is no user bob")
	run(t, "", env, "user", "remove", "--yes", "ann", "cert").expect(t, 0, "removed ann, cert")
	run(t, "", env, "user", "list").expect(t, 0, "USER  GROUPS  ROLE  PASSCODE\n")
	run(t, "", []string{"FOOTFALL_AUTH_USERS=" + file + "x"}, "user", "list").expect(t, 3, "no such file")
}

// people writes a file of users and one of settings, and returns the latter.
func people(t *testing.T, permissions string) (settings, users string) {
	t.Helper()
	dir := t.TempDir()
	settings, users = filepath.Join(dir, "f.yaml"), filepath.Join(dir, "users")
	for _, who := range []struct{ name, role string }{{"ann", "admin"}, {"bob", "viewer"}, {"cat", ""}} {
		run(t, who.name+"-pass", nil, "user", "add", who.name, "--role", who.role, "--file", users).expect(t, 0, "")
	}
	if err := os.WriteFile(settings, []byte("auth: {users: "+users+"}\npermissions:\n"+permissions), 0o600); err != nil {
		t.Fatal(err)
	}
	return settings, users
}

func TestPermissionsAreTested(t *testing.T) {
	settings, _ := people(t, "- {match: '/queue/a.>', who: ann, allow: all}\n- {match: /queue/a.x, who: everyone, deny: send}\n")
	for _, row := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"ann", "send", "/queue/a.b"}, 0, "allowed: a rule allows it\n  " + settings + ":3:3: /queue/a.> for ann\n"},
		{[]string{"ann", "send", "/queue/a.x"}, 4, "denied: a rule denies it\n  " + settings + ":4:3: /queue/a.x for everyone\n"},
		{[]string{"ann", "send", "/queue/a.>"}, 4, "denied: a rule denies it"},
		{[]string{"ann", "receive", "/queue/a.>"}, 0, "allowed"},
		{[]string{"ann", "receive", "/queue/>"}, 4, "denied: rules allow a part of it only\n"},
		{[]string{"bob", "send", "/queue/b"}, 4, "denied: no rule allows it\n"},
		{[]string{"anonymous", "send", "/queue/b"}, 4, "denied"},
		{[]string{"dan", "send", "/queue/b"}, 3, `there is no user "dan"`},
		{[]string{"ann", "eat", "/queue/b"}, 2, "must be one of send"},
		{[]string{"ann", "send", "b"}, 2, "must be /queue/NAME"},
		{[]string{"bob", "send", "/queue/a.x", "-o", "json"}, 4, `"match": "/queue/a.x"`},
	} {
		r := run(t, "", nil, append([]string{"acl", "test", "--config", settings}, row.args...)...)
		if r.code != row.code || !strings.Contains(r.stdout+r.stderr, row.want) {
			t.Errorf("%q: %+v, want %d and %q", row.args, r, row.code, row.want)
		}
	}
	run(t, "", []string{"FOOTFALL_AUTH_USERS=none"}, "acl", "test", "dan", "send", "/queue/b").expect(t, 0, "there are no users")
}

func TestABrokerWithUsers(t *testing.T) {
	settings, users := people(t, "- {match: '/queue/>', who: [ann, cat], allow: all}\n")
	s := serve(t, t.TempDir(), "--config", settings)
	login := func(name string) []string {
		return append(s.env(), "FOOTFALL_LOGIN="+name, "FOOTFALL_PASSCODE="+name+"-pass", "FOOTFALL_ADMIN="+s.admin)
	}
	run(t, "", s.env(), "send", "/queue/a", "x").expect(t, 1, "CONNECT without login refused")
	run(t, "", append(login("ann"), "FOOTFALL_PASSCODE=no"), "send", "/queue/a", "x").expect(t, 1, `login "ann" refused`)
	run(t, "", login("ann"), "send", "/queue/a", "x").expect(t, 0, "confirmed")
	run(t, "", login("ann"), "send", "/topic/a", "x").expect(t, 1, `user "ann" may not send: destination "/topic/a"`)
	run(t, "", login("bob"), "receive", "/queue/a", "--count", "1").expect(t, 1, `user "bob" may not receive`)
	run(t, "", login("cat"), "receive", "/queue/a", "--count", "1").expect(t, 0, "x\n")

	run(t, "", nil, "sub", "list", "--admin", s.admin).expect(t, 4, "a login with a role is needed")
	run(t, "", login("cat"), "sub", "list").expect(t, 4, `this needs the role viewer, and user "cat" has none`)
	run(t, "", login("bob"), "sub", "list").expect(t, 0, "SUBSCRIPTION")
	run(t, "", login("bob"), "reload").expect(t, 4, "this needs the role admin")
	file := filepath.Join(t.TempDir(), "passcode")
	if err := os.WriteFile(file, []byte("ann-pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "", nil, "user", "remove", "--yes", "cat", "--file", users).expect(t, 0, "")
	run(t, "", login("cat"), "send", "/queue/a", "x").expect(t, 0, "confirmed") // not yet
	run(t, "", nil, "reload", "--admin", s.admin, "--user", "ann", "--passcode-file", file).expect(t, 0, "reloaded: 0 entries of destinations, 1 of permissions and 2 users count now\n")
	run(t, "", login("cat"), "send", "/queue/a", "x").expect(t, 1, `login "cat" refused`)
	s.end(t)
}

func TestABrokerWithoutUsersIsNotShownToOthers(t *testing.T) {
	run(t, "", []string{"FOOTFALL_AUTH_USERS=none"}, "serve", "--data", t.TempDir(), "--stomp", "0.0.0.0:0", "--admin", "none").
		expect(t, 2, "stomp.listen: ")
}
