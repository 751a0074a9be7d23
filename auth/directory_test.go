package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func bcryptOf(t *testing.T, passcode string) *hash {
	t.Helper()
	text, err := bcrypt.GenerateFromPassword([]byte(passcode), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHash(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// clock is a time that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// people are users whose passcode is their name and "-pass", at the lowest cost.
func people(t *testing.T, names ...string) *Users {
	t.Helper()
	u := new(Users)
	for _, name := range names {
		if err := u.Put(User{Name: name, Hash: bcryptOf(t, name+"-pass").text}); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func directory(t *testing.T, o Options, names ...string) (*Directory, *clock) {
	t.Helper()
	c := &clock{time.Unix(1000, 0)}
	o.Now = c.now
	d := NewDirectory(o)
	d.Set(people(t, names...), []Rule{rule(t, "/queue/> everyone +send")})
	return d, c
}

func (d *Directory) try(login, passcode, remote string) error {
	_, err := d.Authenticate(context.Background(), Credentials{Login: login, Passcode: passcode, Remote: remote})
	return err
}

func TestUsersLogInWithTheirPasscode(t *testing.T) {
	d, _ := directory(t, Options{}, "ann", "bob")
	u := people(t, "ann", "bob")
	if err := u.Put(User{Name: "cert", Hash: "!"}); err != nil {
		t.Fatal(err)
	}
	d.Set(u, nil)
	for _, row := range []struct {
		c  Credentials
		as string // empty: refused
	}{
		{Credentials{Login: "ann", Passcode: "ann-pass"}, "ann"},
		{Credentials{Login: "ann", Passcode: "ann-pass"}, "ann"}, // as it was proven
		{Credentials{Login: "ann", Passcode: "bob-pass"}, ""},
		{Credentials{Login: "ann"}, ""},
		{Credentials{Passcode: "ann-pass"}, ""},
		{Credentials{}, ""},
		{Credentials{Local: true}, ""},
		{Credentials{Login: "nobody", Passcode: "ann-pass"}, ""},
		{Credentials{Login: "cert", Passcode: "!"}, ""},
		{Credentials{Login: "cert", Passcode: "cert-pass"}, ""},
		{Credentials{Certificate: "cert"}, "cert"},
		{Credentials{Certificate: "ann"}, "ann"},
		{Credentials{Certificate: "stranger"}, ""},
		{Credentials{Certificate: "cert", Login: "ann", Passcode: "ann-pass"}, "ann"},
		{Credentials{Certificate: "cert", Login: "ann", Passcode: "wrong"}, ""},
		{Credentials{Login: "ann", Passcode: strings.Repeat("x", MaxPasscode+1)}, ""},
	} {
		id, err := d.Authenticate(t.Context(), row.c)
		if id.User != row.as || (err == nil) != (row.as != "") || err != nil && !errors.Is(err, ErrLogin) {
			t.Errorf("%+v: %q, %v", row.c, id.User, err)
		}
	}
}

func TestWhoIsLetInWithoutALogin(t *testing.T) {
	for _, row := range []struct {
		anonymous       Anonymous
		hasUsers, local bool
		in              bool
		may             bool // send to a queue that a rule for anonymous allows
		any             bool // send to any
	}{
		{AnonymousAuto, false, true, true, true, true},
		{AnonymousAuto, false, false, false, false, false},
		{AnonymousAuto, true, true, false, false, false},
		{AnonymousNever, false, true, false, false, false},
		{AnonymousNever, true, true, false, false, false},
		{AnonymousLocal, false, true, true, true, true},
		{AnonymousLocal, false, false, false, false, false},
		{AnonymousLocal, true, true, true, true, false},
		{AnonymousLocal, true, false, false, false, false},
		{AnonymousEverywhere, false, false, true, true, true},
		{AnonymousEverywhere, true, false, true, true, false},
	} {
		d := NewDirectory(Options{Anonymous: row.anonymous, Now: time.Now})
		if row.hasUsers {
			d.Set(people(t), []Rule{rule(t, "/queue/a anonymous +send")})
		}
		id, err := d.Authenticate(t.Context(), Credentials{Local: row.local, Remote: "192.0.2.1:5"})
		may := d.Authorize(id, Send, "queue", "a") == nil
		any := d.Authorize(id, Send, "queue", "b") == nil
		if (err == nil) != row.in || may != row.may || any != row.any || err != nil && !errors.Is(err, ErrLogin) {
			t.Errorf("%+v: %v, %v, %v", row, err, may, any)
		}
		if id.Role == Admin && row.hasUsers {
			t.Errorf("%+v: nobody is an admin", row)
		}
	}
}

func TestFailuresAreLimited(t *testing.T) {
	d, c := directory(t, Options{Failures: 3}, "ann", "bob")
	const here, there = "192.0.2.1:5", "192.0.2.2:5"
	if err := d.try("bob", "bob-pass", here); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := d.try("ann", "wrong", here); !errors.Is(err, ErrLogin) {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		what, login, passcode, remote string
		want                          error
	}{
		{"one more", "ann", "wrong", here, ErrThrottled},
		{"from another port", "ann", "wrong", "192.0.2.1:6", ErrThrottled},
		{"mapped into IPv6", "ann", "wrong", "[::ffff:192.0.2.1]:6", ErrThrottled},
		{"the right one, which nobody has seen", "ann", "ann-pass", here, ErrThrottled},
		{"another name", "nobody", "wrong", here, ErrThrottled},
		{"one that was right before", "bob", "bob-pass", here, nil},
		{"another address", "ann", "ann-pass", there, nil},
	} {
		if err := d.try(row.login, row.passcode, row.remote); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.what, err)
		}
	}
	c.at = c.at.Add(20 * time.Second)
	if err := d.try("ann", "wrong", here); !errors.Is(err, ErrLogin) {
		t.Errorf("a third of a minute later: %v", err)
	}
	if err := d.try("ann", "wrong", here); !errors.Is(err, ErrThrottled) {
		t.Errorf("twice in a third of a minute: %v", err)
	}
	for i := range 5 * 3 {
		_ = d.try("cat", "wrong", fmt.Sprintf("198.51.100.%d:1", i))
	}
	if err := d.try("cat", "wrong", "198.51.100.99:1"); !errors.Is(err, ErrThrottled) {
		t.Errorf("a name that many guess: %v", err)
	}
	for i := range 3 {
		_ = d.try("ann", "wrong", fmt.Sprintf("[2001:db8::%d]:1", i))
	}
	if err := d.try("ann", "wrong", "[2001:db8::ffff]:1"); !errors.Is(err, ErrThrottled) {
		t.Errorf("another address of a site: %v", err)
	}
}

func TestFailuresAreRememberedOfABoundedNumber(t *testing.T) {
	var th throttle
	now := time.Unix(1000, 0)
	for range 5 {
		th.fail("worst", now, time.Second)
	}
	for i := range maxKeys + 10 {
		th.fail(fmt.Sprint(i), now, time.Second)
	}
	if len(th.until) > maxKeys {
		t.Errorf("%d keys", len(th.until))
	}
	if th.allows("worst", now, 5, time.Second) {
		t.Error("who failed most is forgotten first")
	}
}

func TestAFewLoginsAreHashedAtATimeAndABoundedNumberWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkers(2, 3)
		release := make(chan struct{})
		var running, most, busy atomic.Int64
		for range 7 {
			go func() {
				err := w.do(t.Context(), func() {
					most.Store(max(most.Load(), running.Add(1)))
					<-release
					running.Add(-1)
				})
				if errors.Is(err, ErrBusy) {
					busy.Add(1)
				}
			}()
		}
		synctest.Wait()
		if busy.Load() != 2 || running.Load() != 2 {
			t.Errorf("%d are busy, %d run", busy.Load(), running.Load())
		}
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w.most++
		if err := w.do(late, func() { t.Error("it ran") }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits too long: %v", err)
		}
		close(release)
		synctest.Wait()
		if most.Load() != 2 || w.waiting.Load() != 0 {
			t.Errorf("%d ran at a time, %d wait", most.Load(), w.waiting.Load())
		}
	})
}

func TestAnUnknownNameCostsWhatAKnownOneDoes(t *testing.T) {
	d, _ := directory(t, Options{}, "ann", "bob")
	s := d.now.Load()
	for _, name := range []string{"x", "y", "z"} {
		h := d.decoy(s, name)
		if h != s.users["ann"].hash && h != s.users["bob"].hash {
			t.Errorf("%q is compared with what is of no user", name)
		}
		if d.decoy(s, name) != h {
			t.Errorf("%q is compared with another hash the second time", name)
		}
	}
	d.Set(new(Users), nil)
	if h := d.decoy(d.now.Load(), "x"); h.memory != argonMemory || h.time != argonTime || h.matches("x") {
		t.Errorf("without users a login is compared with %+v", h)
	}
	if err := d.try("x", "y", "192.0.2.1:1"); !errors.Is(err, ErrLogin) {
		t.Errorf("an empty list lets in: %v", err)
	}
}

func TestALoginIsCurrentUntilItsUserChanges(t *testing.T) {
	base := func(t *testing.T) (*Users, []Rule) {
		return people(t, "ann", "bob"), []Rule{rule(t, "/queue/a ann +send"), rule(t, "/queue/b bob +send"), rule(t, "/queue/c @sales +send")}
	}
	users, rules := base(t)
	for _, row := range []struct {
		what    string
		change  func(u *Users, rules []Rule) (*Users, []Rule)
		current bool
	}{
		{"nothing", func(u *Users, r []Rule) (*Users, []Rule) { return u, r }, true},
		{"somebody else", func(u *Users, r []Rule) (*Users, []Rule) { u.Remove("bob"); return u, r[:1] }, true},
		{"the order of others", func(u *Users, r []Rule) (*Users, []Rule) { return u, []Rule{r[2], r[1], r[0]} }, true},
		{"no user", func(u *Users, r []Rule) (*Users, []Rule) { u.Remove("ann"); return u, r }, false},
		{"the passcode", func(u *Users, r []Rule) (*Users, []Rule) { _ = u.Put(User{Name: "ann", Hash: "!"}); return u, r }, false},
		{"a group with rules", func(u *Users, r []Rule) (*Users, []Rule) {
			ann, _ := u.Find("ann")
			ann.Groups = []string{"sales"}
			_ = u.Put(ann)
			return u, r
		}, false},
		{"a group without", func(u *Users, r []Rule) (*Users, []Rule) {
			ann, _ := u.Find("ann")
			ann.Groups = []string{"east"}
			_ = u.Put(ann)
			return u, r
		}, true},
		{"the role", func(u *Users, r []Rule) (*Users, []Rule) {
			ann, _ := u.Find("ann")
			ann.Role = Viewer
			_ = u.Put(ann)
			return u, r
		}, false},
		{"a rule less", func(u *Users, r []Rule) (*Users, []Rule) { return u, r[1:] }, false},
		{"a rule more", func(u *Users, r []Rule) (*Users, []Rule) {
			return u, append(r, Rule{Match: r[0].Match, Who: []string{everyone}, Deny: Send.alone()})
		}, false},
	} {
		t.Run(row.what, func(t *testing.T) {
			d := NewDirectory(Options{Now: time.Now})
			d.Set(users, rules)
			id, err := d.Authenticate(t.Context(), Credentials{Login: "ann", Passcode: "ann-pass"})
			if err != nil || !d.Current(id) {
				t.Fatalf("%v, current: %v", err, d.Current(id))
			}
			same, _ := ParseUsers(users.Text())
			d.Set(row.change(same, rules[:3:3]))
			if d.Current(id) != row.current {
				t.Errorf("current: %v", d.Current(id))
			}
			if row.current && d.now.Load().users["ann"].proven.Load() == nil {
				t.Error("what was proven is forgotten")
			}
		})
	}
	d := NewDirectory(Options{Now: time.Now})
	open, err := d.Authenticate(t.Context(), Credentials{Login: "ann", Local: true})
	if err != nil || !d.Current(open) {
		t.Fatal(err)
	}
	d.Set(users, rules)
	if d.Current(open) || d.Current(Identity{}) {
		t.Error("who was let in without a passcode stays when there are users")
	}
}

func TestPermissionsAreExplained(t *testing.T) {
	d, _ := directory(t, Options{}, "ann")
	for _, row := range []struct {
		user, destination string
		action            Action
		allowed           bool
		wrong             string
	}{
		{"ann", "/queue/a", Send, true, ""},
		{"ann", "/queue/a", Receive, false, ""},
		{"anonymous", "/queue/a", Send, false, ""},
		{"bob", "/queue/a", Send, false, "no user"},
		{"ann", "a", Send, false, "must be /queue/NAME"},
	} {
		got, err := d.Explain(row.user, row.action, row.destination)
		if got.Allowed != row.allowed || (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%+v: %+v, %v", row, got, err)
		}
	}
	if d.Count() != 1 || !d.HasUsers() {
		t.Errorf("%d users", d.Count())
	}
}
