package auth

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cheap is the hash of "secret" at the lowest cost.
const cheap = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$5lUl9z5R9e0RUM4Jk5bMn6f8bqGQp5YFJYkq9H8JQ1E"

func TestAFileOfUsersIsReadWholeOrNotAtAll(t *testing.T) {
	const bcrypted = "$2y$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe"
	for _, row := range []struct {
		text, wrong string
		count       int
	}{
		{"", "", 0},
		{"ann:" + cheap + "\n", "", 1},
		{"ann:" + cheap, "", 1},
		{"# people\n\nann:" + cheap + ":sales,east:viewer\nbob:" + bcrypted + "\ncat:!::admin\n", "", 3},
		{"ann:" + cheap + "\nbob\n", "line 2: is not of the form", 0},
		{"ann:" + cheap + "\nann:!\n", `line 2: user "ann" is in line 1`, 0},
		{"\ufeffann:!\n", "line 1: has a character", 0},
		{"ann:!\r\n", "line 1: has a character", 0},
		{"ann:\n", "line 1: the hash is neither", 0},
		{":!\n", "line 1: the name is empty", 0},
		{"a b:!\n", "line 1: the name has a blank", 0},
		{"#:!\n", "", 0}, // a comment
		{"a#:!\n", "line 1: the name has one of", 0},
		{">:!\n", "line 1: the name has one of", 0},
		{"@a:!\n", "line 1: the name begins with @", 0},
		{"everyone:!\n", "line 1: the name is a word", 0},
		{"ann:!:a,,b\n", `line 1: the group "" is empty`, 0},
		{"ann:!::root\n", "line 1: the role must be viewer", 0},
		{"ann:!:a:admin:x\n", "line 1: is not of the form", 0},
		{"ann:secret\n", "line 1: the hash is neither", 0},
		{"ann:$1$abc$def\n", "line 1: the hash is neither", 0},
		{"ann:\xff\n", "line 1: is not valid UTF-8", 0},
		{strings.Repeat("a", 300) + ":!\n", "line 1: the name has more than", 0},
		{"ann:" + strings.Repeat("a", 5000) + "\n", "line 1: has more than", 0},
	} {
		u, err := ParseUsers(row.text)
		switch {
		case row.wrong != "":
			if err == nil || !strings.HasPrefix(err.Error(), row.wrong) {
				t.Errorf("%.60q: %v", row.text, err)
			}
		case err != nil:
			t.Errorf("%.60q: %v", row.text, err)
		case len(u.List()) != row.count:
			t.Errorf("%.60q has %d users", row.text, len(u.List()))
		}
	}
	if _, err := ParseUsers(strings.Repeat("#\n", MaxUsersFile/2+1)); err == nil {
		t.Error("a file may be of any size")
	}
}

func TestWhatAHashMayCost(t *testing.T) {
	tail := "$c2FsdHNhbHQ$5lUl9z5R9e0RUM4Jk5bMn6f8bqGQp5YFJYkq9H8JQ1E"
	for text, wrong := range map[string]string{
		"$argon2id$v=19$m=19456,t=2,p=1" + tail:                        "",
		"$argon2id$v=19$m=262144,t=16,p=16" + tail:                     "",
		"$argon2id$v=19$m=262145,t=2,p=1" + tail:                       "parameter m",
		"$argon2id$v=19$m=4294967296,t=2,p=1" + tail:                   "parameter m",
		"$argon2id$v=19$m=19456,t=17,p=1" + tail:                       "parameter t",
		"$argon2id$v=19$m=19456,t=0,p=1" + tail:                        "parameter t",
		"$argon2id$v=19$m=19456,t=1,p=17" + tail:                       "parameter p",
		"$argon2id$v=19$m=019456,t=1,p=1" + tail:                       "parameter m",
		"$argon2id$v=19$m=8,t=1,p=2" + tail:                            "less memory",
		"$argon2id$v=16$m=8,t=1,p=1" + tail:                            "form",
		"$argon2id$v=19$m=8,t=1" + tail:                                "parameters",
		"$argon2id$v=19$m=8,t=1,p=1$c2Fs$" + tail[13:]:                 "salt",
		"$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$c2Fs":                  "key",
		"$argon2i$v=19$m=8,t=1,p=1" + tail:                             "neither",
		"$2b$14$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe": "",
		"$2b$15$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe": "cost of 15",
		"$2b$10$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2":        "whole",
	} {
		if _, err := parseHash(text); wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v, want %q", text, err, wrong)
		}
	}
}

func TestPasscodesAreHashed(t *testing.T) {
	text, err := HashPasscode("s3cret")
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHash(text)
	if err != nil {
		t.Fatal(err)
	}
	if !h.matches("s3cret") || h.matches("s3cret ") || h.matches("") {
		t.Errorf("%s does not tell its passcode from others", text)
	}
	if again, _ := HashPasscode("s3cret"); again == text {
		t.Error("two hashes have one salt")
	}
	for _, bad := range []string{"", "a\nb", "a\x00", strings.Repeat("x", MaxPasscode+1)} {
		if _, err := HashPasscode(bad); err == nil {
			t.Errorf("%.20q can be a passcode", bad)
		}
	}
}

func TestBcryptIsAcceptedUpToWhatItLooksAt(t *testing.T) {
	long := strings.Repeat("x", 72)
	h, err := parseHash("$2b$04$abcdefghijklmnopqrstuuEyvR4ygrEVS3Z/p1d8o3bDUQVePKWbi")
	if err != nil {
		t.Fatal(err)
	}
	own := bcryptOf(t, long)
	if !own.matches(long) || own.matches(long+"x") || own.matches(long[1:]) || h.matches(long) {
		t.Error("bcrypt takes a passcode for another one")
	}
}

func TestChangesKeepWhatTheyAreNotAbout(t *testing.T) {
	u, err := ParseUsers("# people\nann:!:sales\n\nbob:!\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []User{{Name: "ann", Hash: cheap, Role: Viewer}, {Name: "cat", Hash: "!", Groups: []string{"a", "b"}}} {
		if err := u.Put(user); err != nil {
			t.Fatal(err)
		}
	}
	if !u.Remove("bob") || u.Remove("bob") {
		t.Error("bob is not removed once")
	}
	want := "# people\nann:" + cheap + "::viewer\n\ncat:!:a,b\n"
	if diff := cmp.Diff(want, u.Text()); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []User{{Name: "a:b", Hash: "!"}, {Name: "a", Hash: "x"}, {Name: "a", Hash: "!", Groups: []string{"x,y"}}, {Name: "#a", Hash: "!"}} {
		if u.Put(bad) == nil {
			t.Errorf("%+v is put", bad)
		}
	}
	if got, ok := u.Find("ann"); !ok || got.Role != Viewer {
		t.Errorf("ann is %+v", got)
	}
}

func TestTheFileOfUsersIsChangedInOneStep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "users")
	if _, err := ReadUsers(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	add := func(name string) error {
		return ChangeUsers(path, func(u *Users) error { return u.Put(User{Name: name, Hash: "!"}) })
	}
	if err := add("ann"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := ChangeUsers(link, func(u *Users) error { return u.Put(User{Name: "bob", Hash: "!"}) }); err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v after a change", info.Mode(), err)
	}
	stop := errors.New("stop")
	if err := ChangeUsers(path, func(u *Users) error { u.Remove("ann"); return stop }); !errors.Is(err, stop) {
		t.Errorf("a change that fails: %v", err)
	}
	u, err := ReadUsers(path)
	if err != nil || u.Text() != "ann:!\nbob:!\n" {
		t.Errorf("%v, %v", u, err)
	}
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := add("cat"); err == nil || !strings.Contains(err.Error(), "users.new is there") {
		t.Errorf("two changes at a time: %v", err)
	}
	if err := os.Remove(path + ".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := add("cat"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file for everybody: %v", err)
	}
	if _, err := ReadUsers(dir); err == nil {
		t.Error("a directory is read")
	}
	if left, _ := filepath.Glob(path + ".new"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// What is read is written as it was, and each user of it can be put back.
func FuzzUsers(f *testing.F) {
	for _, text := range []string{"", "ann:!\n", "# x\n\nann:" + cheap + ":a,b:admin\n", "a:$2y$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe", ":::\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseUsers(text)
		if err != nil {
			return
		}
		if got := u.Text(); got != text && got != text+"\n" {
			t.Fatalf("%q is written as %q", text, got)
		}
		for _, user := range u.List() {
			if err := u.Put(user); err != nil {
				t.Fatalf("%+v: %v", user, err)
			}
		}
		again, err := ParseUsers(u.Text())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(u.List(), again.List()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, text := range []string{">", "/queue/a.*.>", "/topic/{user}.#", "/dsub/a:b", "/queue/a..b"} {
		f.Add(text, "a.b")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		own := p.of("ann")
		asked := levelsOf(name)
		if covers([][]level{own.levels}, asked) && !meets(own.levels, asked) {
			t.Fatalf("%q is within %q, and shares nothing with it", name, text)
		}
	})
}
