package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"footfall/auth"
	"footfall/frames"
)

// passcodes knows one login.
type passcodes struct {
	auth.Open
	login, passcode string
}

func (p passcodes) Authenticate(_ context.Context, c auth.Credentials) (auth.Identity, error) {
	if c.Login == p.login && c.Passcode == p.passcode {
		return auth.Identity{User: c.Login}, nil
	}
	return auth.Identity{}, auth.ErrLogin
}

func TestAPasscodeIsTakenAsWrittenAndUnescaped(t *testing.T) {
	for _, c := range []struct {
		known  passcodes
		header string
		ok     bool
	}{
		{passcodes{login: "ann", passcode: "p"}, "login:ann\npasscode:p\n", true},
		{passcodes{login: "ann", passcode: `a:b\c`}, "login:ann\npasscode:a:b\\c\n", true},
		{passcodes{login: "ann", passcode: `a:b\`}, "login:ann\npasscode:a\\cb\\\\\n", true},
		{passcodes{login: `x\y`, passcode: ""}, "login:x\\\\y\n", true},
		{passcodes{login: "ann", passcode: "p"}, "login:ann\npasscode:q\n", false},
		{passcodes{login: "ann", passcode: "p"}, "login:bob\npasscode:p\n", false},
		{passcodes{login: "ann", passcode: "p"}, "", false},
	} {
		s := newTestSession(frames.V12, Options{Auth: c.known})
		_, err := s.connect(t.Context(), connectFrame(t, "accept-version:1.2\n"+c.header), new(Transport{}.withDefaults()))
		if (err == nil) != c.ok {
			t.Errorf("%+v with %q: %v", c.known, c.header, err)
		}
		if err != nil && (asError(err).Kind != kindLogin || strings.Contains(err.Error(), "q")) {
			t.Errorf("%q: the error is %+v", c.header, err)
		}
		if err == nil && s.identity.User != c.known.login {
			t.Errorf("%q: the user is %q", c.header, s.identity.User)
		}
	}
}

func connectFrame(t testing.TB, headers string) *frames.Frame {
	t.Helper()
	r := frames.NewReader(strings.NewReader("CONNECT\n"+headers+"\n\x00"), frames.Limits{})
	f := new(frames.Frame)
	for {
		if ok, err := r.Next(f); ok {
			return f
		} else if err != nil {
			t.Fatal(err)
		}
		if err := r.Fill(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeartBeatsAreMirroredAndRaised(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		text          string
		send, receive time.Duration
		announced     string
	}{
		{"0,0", 0, 0, "0,0"},
		{"5000,7000", 7000 * ms, 5000 * ms, "7000,5000"},
		{"1,1", 500 * ms, 500 * ms, "500,500"},
		{"1000,0", 0, 1000 * ms, "0,1000"},
		{" 1000 , 2000 ", 2000 * ms, 1000 * ms, "2000,1000"},
		{"99999999999999999999,501", 501 * ms, (1<<31 - 1) * ms, "501,2147483647"},
	} {
		b, err := agree(c.text, true, 500*ms)
		if err != nil || b != (heartBeats{c.send, c.receive, c.announced}) {
			t.Errorf("%q: %+v, %v", c.text, b, err)
		}
	}
	for _, text := range []string{"", "0", ",", "1000,", ",1000", "-1,5", "1.5,2", "T,0", "100,10,50", "+1,2", "1 0,2"} {
		if b, err := agree(text, true, 500*ms); err == nil {
			t.Errorf("%q is accepted: %+v", text, b)
		}
	}
	b := heartBeats{receive: 2 * time.Second}
	if d := b.silence(2.5, 0); d != 5*time.Second {
		t.Errorf("silence of 2.5 times 2 s: %v", d)
	}
	if d := b.silence(2.5, 90*time.Second); d != 90*time.Second {
		t.Errorf("silence of at least 90 s: %v", d)
	}
	if d := (heartBeats{}).silence(2.5, 90*time.Second); d != 0 {
		t.Errorf("silence where no beats were agreed on: %v", d)
	}
}

func TestIdentities(t *testing.T) {
	for _, c := range []struct {
		as      Identity
		headers string
		server  string
		hostID  string
	}{
		{IdentityAuto, "accept-version:1.1\nclient-id:x\n", "apache-apollo/1.7.1+footfall-dev", "footfall"},
		{IdentityAuto, "accept-version:1.1\nheart-beat:0,0\n", "footfall/dev", ""},
		{IdentityAuto, "accept-version:1.0,1.1\n", "footfall/dev", ""},
		{IdentityAuto, "", "footfall/dev", ""},
		{IdentityFootfall, "accept-version:1.1\n", "footfall/dev", ""},
		{IdentityApollo, "accept-version:1.2\n", "apache-apollo/1.7.1+footfall-dev", "footfall"},
		{IdentityActiveMQ, "accept-version:1.2\n", "ActiveMQ/5.18.0+footfall-dev", ""},
		{IdentityRabbitMQ, "accept-version:1.2\n", "RabbitMQ/3.13.0+footfall-dev", ""},
	} {
		g, err := newTestSession(frames.V12, Options{}).connect(t.Context(), connectFrame(t, c.headers), &Transport{Identity: c.as})
		if err != nil || g.server != c.server || g.hostID != c.hostID {
			t.Errorf("%s %q: %q, %q, %v", c.as, c.headers, g.server, g.hostID, err)
		}
	}
}
