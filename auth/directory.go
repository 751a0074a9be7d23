package auth

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Anonymous says who is let in without a login.
type Anonymous string

// The choices.
const (
	// AnonymousAuto lets in who is on this machine, with all rights, as long as there are no users.
	AnonymousAuto Anonymous = "auto"
	// AnonymousNever lets in nobody.
	AnonymousNever Anonymous = "never"
	// AnonymousLocal is AnonymousAuto, but for that those on this machine may come without a login when there are users too, with the
	// rights that the rules for "anonymous" give.
	AnonymousLocal Anonymous = "local"
	// AnonymousEverywhere is AnonymousLocal for all machines.
	AnonymousEverywhere Anonymous = "everywhere"
)

// Options are the settings of a Directory. The zero value of each field but Now means its default.
type Options struct {
	// Anonymous says who is let in without a login: AnonymousAuto.
	Anonymous Anonymous
	// Hashing is how many passcodes are hashed at a time, each with the memory that its hash asks for: half
	// as many as there are processors, at least 1. Queue is how many logins wait for that: 1024. One more gets ErrBusy.
	Hashing, Queue int
	// Failures is how many failed logins from an address are looked at, at once and then a minute: 30. Those under a name are
	// five times as many.
	Failures int
	// Now tells the time. It must be set.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.Anonymous = cmp.Or(o.Anonymous, AnonymousAuto)
	o.Hashing = cmp.Or(o.Hashing, max(1, runtime.GOMAXPROCS(0)/2))
	o.Queue = cmp.Or(o.Queue, 1024)
	o.Failures = cmp.Or(o.Failures, 30)
	return o
}

// nameFailures is how many more logins may fail under a name than from an address.
const nameFailures = 5

// Directory is the Authorizer that knows users and rules. While it has no users it lets in as Options.Anonymous says, with all rights. Its methods may be called
// from any goroutine.
type Directory struct {
	opt      Options
	secret   [sha256.Size]byte // of this run
	now      atomic.Pointer[snapshot]
	hashing  *workers
	throttle throttle
}

// snapshot is what a Directory knows. It does not change, but for what is remembered.
type snapshot struct {
	users  map[string]*member // nil: there are none, and everything is open
	decoys []*hash
	rules  []Rule

	mu     sync.Mutex
	rights map[string]*rights // of those who asked, by name
}

// member is a user.
type member struct {
	User
	hash *hash // nil for none
	// proven is what Directory.mac made of the passcode that was found to be the right one.
	proven atomic.Pointer[[sha256.Size]byte]
}

// NewDirectory returns one without users.
func NewDirectory(o Options) *Directory {
	o = o.withDefaults()
	d := &Directory{opt: o, hashing: newWorkers(o.Hashing, o.Queue)}
	_, _ = rand.Read(d.secret[:]) // never fails
	d.now.Store(&snapshot{})
	return d
}

// Set has these users and rules count from now on. Without users, nil, everything is open as long as no others are set; a list that is empty lets nobody in.
func (d *Directory) Set(users *Users, rules []Rule) {
	next := &snapshot{rules: rules, rights: map[string]*rights{}}
	if users != nil {
		next.users = map[string]*member{}
		before := d.now.Load().users
		for _, line := range users.lines {
			if line.user == nil {
				continue
			}
			m := &member{User: *line.user, hash: line.hash}
			if old := before[m.Name]; old != nil && old.Hash == m.Hash {
				m.proven.Store(old.proven.Load())
			}
			next.users[m.Name] = m
			if line.hash != nil {
				next.decoys = append(next.decoys, line.hash)
			}
		}
	}
	d.now.Store(next)
}

// HasUsers tells whether there are users, or a list of none.
func (d *Directory) HasUsers() bool { return d.now.Load().users != nil }

// Count is how many users there are.
func (d *Directory) Count() int { return len(d.now.Load().users) }

// Authenticate implements Authorizer.
func (d *Directory) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	s := d.now.Load()
	switch {
	case s.users == nil:
		if !d.mayBeAnonymous(c) {
			return Identity{}, fmt.Errorf("there are no users, and %s is not on this machine: %w", c.Remote, ErrLogin)
		}
		return s.openIdentity(c.Login), nil
	case c.Login == "" && c.Certificate != "":
		if m := s.users[c.Certificate]; m != nil {
			return s.identity(m), nil
		}
		return Identity{}, fmt.Errorf("the name in the certificate is no user: %w", ErrLogin)
	case c.Login == "" && c.Passcode == "":
		if d.opt.Anonymous == AnonymousAuto || !d.mayBeAnonymous(c) {
			return Identity{}, fmt.Errorf("no login was given: %w", ErrLogin)
		}
		return s.identity(nil), nil
	}
	return d.login(ctx, s, c)
}

func (d *Directory) mayBeAnonymous(c Credentials) bool {
	switch d.opt.Anonymous {
	case AnonymousNever:
		return false
	case AnonymousEverywhere:
		return true
	default:
		return c.Local
	}
}

// login compares passcodes. Known and unknown names, right and wrong passcodes cost the same, except that a passcode which was right before costs nearly
// nothing: so a fleet that comes back is let in at once, whatever an attacker does meanwhile.
func (d *Directory) login(ctx context.Context, s *snapshot, c Credentials) (Identity, error) {
	if len(c.Passcode) > MaxPasscode || len(c.Login) > maxUserName {
		return Identity{}, fmt.Errorf("login or passcode is too long: %w", ErrLogin)
	}
	m := s.users[c.Login]
	mac := d.mac(c.Login, c.Passcode)
	if m != nil {
		if proven := m.proven.Load(); proven != nil && hmac.Equal(proven[:], mac[:]) {
			return s.identity(m), nil
		}
	}
	against := d.decoy(s, c.Login)
	if m != nil && m.hash != nil {
		against = m.hash
	}
	var err error
	right := false
	busy := d.hashing.do(ctx, func() {
		if err = d.admit(c); err != nil {
			return
		}
		right = against.matches(c.Passcode) && m != nil && against == m.hash
		if !right {
			d.failed(c)
		}
	})
	switch {
	case busy != nil:
		return Identity{}, busy
	case err != nil:
		return Identity{}, err
	case !right:
		return Identity{}, ErrLogin
	}
	m.proven.Store(&mac)
	return s.identity(m), nil
}

// admit tells whether a login may be looked at. It is asked by those that are being hashed only, so that the
// failures of the others are known.
func (d *Directory) admit(c Credentials) error {
	now, every := d.opt.Now(), time.Minute/time.Duration(d.opt.Failures)
	if !d.throttle.allows(addressKey(c.Remote), now, d.opt.Failures, every) ||
		!d.throttle.allows(nameKey(c.Login), now, nameFailures*d.opt.Failures, every/nameFailures) {
		return ErrThrottled
	}
	return nil
}

func (d *Directory) failed(c Credentials) {
	now, every := d.opt.Now(), time.Minute/time.Duration(d.opt.Failures)
	d.throttle.fail(addressKey(c.Remote), now, every)
	d.throttle.fail(nameKey(c.Login), now, every/nameFailures)
}

func nameKey(login string) string { return "as " + login }

// mac is what is remembered of a passcode: nothing that is worth anything outside of this run.
func (d *Directory) mac(login, passcode string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, d.secret[:])
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(login)))
	h.Write(length[:])
	h.Write([]byte(login))
	h.Write([]byte(passcode))
	h.Sum(sum[:0])
	return sum
}

// decoy is the hash that the passcode for an unknown name is compared with: that of some user, the same each time, so
// that it takes as long as it does for somebody.
func (d *Directory) decoy(s *snapshot, login string) *hash {
	if len(s.decoys) == 0 {
		return &hash{memory: argonMemory, time: argonTime, threads: argonThreads, salt: d.secret[:saltOctets], key: d.secret[:]}
	}
	sum := d.mac(login, "")
	return s.decoys[binary.BigEndian.Uint64(sum[:])%uint64(len(s.decoys))]
}

// openIdentity is who somebody is while there are no users.
func (s *snapshot) openIdentity(name string) Identity {
	return Identity{User: name, Role: Admin, rights: &rights{open: true}}
}

// identity is who a user is; nil is somebody without a name.
func (s *snapshot) identity(m *member) Identity {
	p := new(principal)
	if m != nil {
		*p = principal{m.Name, m.Groups}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rights[p.name]
	if r == nil {
		r = rightsOf(p, s.rules)
		s.rights[p.name] = r
	}
	id := Identity{User: p.name, rights: r}
	if m != nil {
		id.Role, id.stamp = m.Role, m.Hash
	}
	return id
}

// Authorize implements Authorizer.
func (d *Directory) Authorize(id Identity, action Action, kind, name string) error {
	if id.rights == nil {
		return ErrDenied
	}
	if decision := id.rights.decide(action, kind, name); !decision.Allowed {
		return fmt.Errorf("%w: %s", ErrDenied, decision.Reason)
	}
	return nil
}

// Current implements Authorizer: the user is there, with the same hash, the same role, and the same rights.
func (d *Directory) Current(id Identity) bool {
	s := d.now.Load()
	switch {
	case id.rights == nil:
		return false
	case s.users == nil || id.rights.open:
		return s.users == nil && id.rights.open
	case id.User == "":
		return s.identity(nil).rights.stamp == id.rights.stamp
	}
	m := s.users[id.User]
	if m == nil {
		return false
	}
	now := s.identity(m)
	return now.stamp == id.stamp && now.Role == id.Role && now.rights.stamp == id.rights.stamp
}

// Explain tells whether a user may do action to a destination, /KIND/NAME, and why. The user "anonymous" is one without a login. An unknown user is an
// error.
func (d *Directory) Explain(user string, action Action, destination string) (Decision, error) {
	kind, name, ok := cutKind(destination)
	if !ok || name == "" {
		return Decision{}, fmt.Errorf("the destination must be /%s/NAME", strings.Join(kindNames[:], "/NAME, /"))
	}
	s := d.now.Load()
	if s.users == nil {
		return s.openIdentity(user).rights.decide(action, kind, name), nil
	}
	m := s.users[user]
	if m == nil && user != anonymous {
		return Decision{}, fmt.Errorf("%w %q", ErrNoUser, user)
	}
	return s.identity(m).rights.decide(action, kind, name), nil
}
