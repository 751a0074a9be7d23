package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
	"github.com/google/go-cmp/cmp"
)

// rulebook allows nothing but what it lists, as "ACTION KIND NAME", and notes what it is asked.
type rulebook struct {
	auth.Open
	allowed string
	asked   []string
}

func (r *rulebook) Authorize(_ auth.Identity, a auth.Action, kind, name string) error {
	asked := fmt.Sprint(a, " ", kind, " ", name)
	r.asked = append(r.asked, asked)
	if strings.Contains(";"+r.allowed+";", ";"+asked+";") {
		return nil
	}
	return auth.ErrDenied
}

func TestWhichRightAFrameNeeds(t *testing.T) {
	const sub = "SUBSCRIBE\nid:1\ndestination:"
	for _, row := range []struct{ frame, needs string }{
		{"SEND\ndestination:/queue/a\n\n^@", "send queue a"},
		{"SEND\ndestination:jms.topic.a\n\n^@", "send topic a"},
		{"SEND\ndestination:/queue/a,b,/topic/c\n\n^@", "send queue a;send queue b;send topic c"},
		{"SEND\ndestination:DELAYED_QUEUE\nJMS_DESTINATION:/queue/a\nDELIVERY_TIME:4102444800000\n\n^@", "send queue DELAYED_QUEUE;send queue a"},
		{"SEND\ndestination:/topic/ActiveMQ.Scheduler.Management\nAMQ_SCHEDULER_ACTION:REMOVEALL\n\n^@", "send topic ActiveMQ.Scheduler.Management;manage topic ActiveMQ.Scheduler.Management"},
		// However it is spelled a command is one to the topic, or a rule about that could be gone round.
		{"SEND\ndestination:/topic/activemq.scheduler.MANAGEMENT\nAMQ_SCHEDULER_ACTION:REMOVEALL\n\n^@", "send topic activemq.scheduler.MANAGEMENT;send topic ActiveMQ.Scheduler.Management;manage topic ActiveMQ.Scheduler.Management"},
		{"SEND\ndestination:ActiveMQ.Scheduler.Management\nAMQ_SCHEDULER_ACTION:REMOVEALL\n\n^@", "send queue ActiveMQ.Scheduler.Management;send topic ActiveMQ.Scheduler.Management;manage topic ActiveMQ.Scheduler.Management"},
		{"SEND\ndestination:activemq.scheduler.management\n\n^@", "send queue activemq.scheduler.management"}, // no command
		{"BEGIN\ntransaction:t\n\n^@SEND\ndestination:a\ntransaction:t\n\n^@", "send queue a"},
		{"SEND\ndestination:a\nreply-to:/queue/r\n\n^@", "send queue a;receive queue r"},
		{"SEND\ndestination:a\nreply-to:/queue/r\n\n^@", "send queue a;send queue r"},
		{"SEND\ndestination:a\nreply-to:/queue/r,/topic/s\n\n^@", "send queue a;receive queue r;receive topic s"},
		{"SEND\ndestination:a\nreply-to:/temp-queue/r\n\n^@", "send queue a;receive temp-queue r"},
		{"SEND\ndestination:a\nreply-to:/remote-temp-queue/1-ab.r\n\n^@", "send queue a"}, // somebody gave it
		{"SEND\ndestination:a\nreply-to:/exchange/x/y\n\n^@", "send queue a"},             // no destination of ours
		{sub + "/queue/a\n\n^@", "receive queue a"},
		{sub + "/queue/a\nbrowser:true\n\n^@", "browse queue a"},
		{sub + "/queue/a\nbrowser:false\n\n^@", "receive queue a"},
		{sub + "/topic/a\ndurable:true\n\n^@", "receive topic a"},
		{sub + "/dsub/o:n\n\n^@", "receive dsub o:n"},
		{sub + "a,/topic/b,/topic/c.*\n\n^@", "receive queue a;receive topic b;receive topic c.*"},
		{sub + "/temp-topic/a\n\n^@", "receive temp-topic a"},
		{"UNSUBSCRIBE\nid:n\ndurable:true\n\n^@", "delete dsub :n"},
	} {
		for _, needed := range strings.Split(row.needs, ";") {
			rules := &rulebook{allowed: strings.Trim(strings.ReplaceAll(";"+row.needs+";", ";"+needed+";", ";"), ";")}
			s := newTestSession(frames.V12, Options{Auth: rules})
			refused(t, s, row.frame, `user ""`, "may not ", strings.Fields(needed)[0])
			if n := s.shared.denied.snapshot(); len(n) != 1 {
				t.Errorf("%q: refusals are counted as %v", row.frame, n)
			}
		}
		s := newTestSession(frames.V12, Options{Auth: &rulebook{allowed: row.needs}})
		if feed(t, s, row.frame); s.ended {
			t.Errorf("%q is refused to who may %q", row.frame, row.needs)
		}
	}
}

func TestWhatMayBeMade(t *testing.T) {
	for _, row := range []struct {
		frame    string
		noCreate func(op broker.Op) bool
		want     bool // to who may not
	}{
		{"SEND\ndestination:/queue/a\n\n^@", func(op broker.Op) bool { return op.NoCreate }, true},
		{"SEND\ndestination:/topic/a\n\n^@", func(op broker.Op) bool { return op.NoCreate }, false},
		{"SEND\ndestination:/topic/b,/queue/a\n\n^@", func(op broker.Op) bool { return op.Sends[1].NoCreate }, true},
		{"SEND\ndestination:/temp-queue/a\n\n^@", func(op broker.Op) bool { return op.NoCreate }, false},
		{"SUBSCRIBE\nid:1\ndestination:/queue/a\n\n^@", func(op broker.Op) bool { return op.Subscribe.NoCreate }, true},
		{"SUBSCRIBE\nid:1\ndestination:/topic/a\n\n^@", func(op broker.Op) bool { return op.Subscribe.NoCreate }, false},
		{"SUBSCRIBE\nid:1\ndestination:/topic/a,/queue/a\n\n^@", func(op broker.Op) bool { return op.Subscribe.Parts[1].NoCreate }, true},
		{"SUBSCRIBE\nid:1\ndestination:/topic/a\ndurable:true\n\n^@", func(op broker.Op) bool { return op.Subscribe.NoCreate }, true},
	} {
		const uses = "send queue a;send topic a;send topic b;send temp-queue a;receive queue a;receive topic a"
		for _, may := range []bool{false, true} {
			allowed := uses
			if may {
				allowed += ";create queue a;create topic a;create topic b;create temp-queue a"
			}
			s := newTestSession(frames.V12, Options{Auth: &rulebook{allowed: allowed}})
			ops := feed(t, s, row.frame)
			if s.ended || row.noCreate(ops[0]) != (row.want && !may) {
				t.Errorf("%q by who may make it: %v: %+v", row.frame, may, ops)
			}
		}
	}
}

func TestAReplyToThatNoSendCouldGoToAsksNobody(t *testing.T) {
	rules := &rulebook{allowed: "send queue a"}
	s := newTestSession(frames.V12, Options{Auth: rules, MaxParts: 3})
	feed(t, s, "SEND\ndestination:a\nreply-to:b,c,d,e\n\n^@")
	if diff := cmp.Diff([]string{"send queue a", "create queue a"}, rules.asked); s.ended || diff != "" {
		t.Error(diff)
	}
	refused(t, s, "SEND\ndestination:a\nreply-to:b,c,d\n\n^@", "reply-to")
}

func TestAReplyToIsAuthorisedOnce(t *testing.T) {
	rules := &rulebook{allowed: "send queue a;receive queue r"}
	s := newTestSession(frames.V12, Options{Auth: rules})
	feed(t, s, strings.Repeat("SEND\ndestination:a\nreply-to:/queue/r\n\n^@", 3))
	if diff := cmp.Diff([]string{"send queue a", "create queue a", "send queue r", "receive queue r"}, rules.asked); diff != "" {
		t.Error(diff)
	}
	for i := range 3 * maxReplies {
		if _ = s.mayReplyTo(frames.Header{Dialect: frames.V12}, fmt.Appendf(nil, "/exchange/%d", i)); len(s.targets.replies) > maxReplies {
			t.Fatalf("%d texts of reply-to are remembered", len(s.targets.replies))
		}
	}
}

// gate is an Authorizer whose answers the test chooses.
type gate struct {
	auth.Open
	err  error
	wait bool // until the context ends
	seen auth.Credentials
	gone atomic.Pointer[string] // the user who is no longer what he was
}

func (g *gate) Authenticate(ctx context.Context, c auth.Credentials) (auth.Identity, error) {
	g.seen = c
	if g.wait {
		<-ctx.Done()
		return auth.Identity{}, ctx.Err()
	}
	return auth.Identity{User: c.Login}, g.err
}

func (g *gate) Current(id auth.Identity) bool {
	gone := g.gone.Load()
	return gone == nil || *gone != id.User
}

func TestWhyALoginIsRefused(t *testing.T) {
	for _, row := range []struct {
		err            error
		result, detail string
	}{
		{fmt.Errorf("no such user: %w", auth.ErrLogin), loginRefused, "The login is not known or the passcode is wrong."},
		{auth.ErrDenied, loginRefused, "The login is not known"},
		{errors.New("the database is down"), loginRefused, "The login is not known"},
		{fmt.Errorf("again: %w", auth.ErrThrottled), loginThrottled, "Wait"},
		{auth.ErrBusy, loginBusy, "Try again"},
		{context.DeadlineExceeded, loginBusy, "Try again"},
	} {
		g := &gate{err: row.err}
		s := newTestSession(frames.V12, Options{Auth: g})
		s.remote, s.local, s.certificate = "192.0.2.1:5", true, "cn"
		_, err := s.connect(t.Context(), connectFrame(t, "accept-version:1.2\nlogin:ann\npasscode:p\n"), new(Transport{}.withDefaults()))
		if e := asError(err); e.Kind != kindLogin || e.Message != `login "ann" refused` || !strings.Contains(e.Detail, row.detail) || s.loginResult != row.result {
			t.Errorf("%v: %+v, counted as %q", row.err, e, s.loginResult)
		}
		if diff := cmp.Diff(auth.Credentials{Login: "ann", Passcode: "p", Certificate: "cn", Remote: "192.0.2.1:5", Local: true}, g.seen); diff != "" {
			t.Error(diff)
		}
	}
	s := newTestSession(frames.V12, Options{Auth: &gate{err: auth.ErrLogin}})
	if _, err := s.connect(t.Context(), connectFrame(t, ""), new(Transport{}.withDefaults())); asError(err).Message != "CONNECT without login refused" {
		t.Errorf("without a login: %v", err)
	}
}

func TestALoginEndsWithTheConnectTimeout(t *testing.T) {
	inBubble(t, Options{Auth: &gate{wait: true}}, Transport{}, func(w *world) {
		c := w.listener.dial()
		w.say(c, "CONNECT\naccept-version:1.2\nlogin:ann\n\n\x00", "")
		<-time.After(10*time.Second + time.Millisecond)
		w.wantEnd(c, "Try again")
		if n := w.Stats().Logins[loginBusy]; n != 1 {
			t.Errorf("logins: %v", w.Stats().Logins)
		}
	})
}

func TestALoginUnderWayEndsWithTheServer(t *testing.T) {
	inBubble(t, Options{Auth: &gate{wait: true}}, Transport{}, func(w *world) {
		c := w.listener.dial()
		w.say(c, "CONNECT\naccept-version:1.2\nlogin:ann\n\n\x00", "")
		if err := w.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestASessionEndsWhenItsLoginIsNoLongerWhatItWas(t *testing.T) {
	g := new(gate)
	inBubble(t, Options{Auth: g}, Transport{}, func(w *world) {
		login := func(user string) string { return "CONNECT\naccept-version:1.2\nlogin:" + user + "\n\n\x00" }
		ann, bob, silent := w.listener.dial(), w.listener.dial(), w.listener.dial()
		w.say(ann, login("ann"), "CONNECTED\n")
		w.say(bob, login("bob"), "CONNECTED\n")
		w.say(silent, "", "")
		w.Recheck()
		w.say(ann, "SEND\ndestination:a\nreceipt:1\n\n\x00", "RECEIPT\n")
		name := "ann"
		g.gone.Store(&name)
		w.Recheck()
		w.wantEnd(ann, "connect again")
		w.say(bob, "SEND\ndestination:a\nreceipt:1\n\n\x00", "RECEIPT\n")
		if n := w.Stats().Closed[endRevoked]; n != 1 {
			t.Errorf("closed: %v", w.Stats().Closed)
		}
		// A login that was looked at before the change is not let in after it.
		w.say(silent, login("ann"), "ERROR\n")
		if n := w.Stats().Logins[loginRefused]; n != 1 {
			t.Errorf("logins: %v", w.Stats().Logins)
		}
	})
}

// from is a connection that comes from an address.
type from struct {
	net.Conn
	at net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.at }

func TestWhoIsOnThisMachine(t *testing.T) {
	tcp := func(text string) net.Conn {
		at, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		return from{at: at}
	}
	here, away := tcp("127.0.0.1:1"), tcp("192.0.2.1:1")
	for name, row := range map[string]struct {
		conn  net.Conn
		local bool
	}{
		"loopback":                      {here, true},
		"another loopback":              {tcp("127.8.9.1:1"), true},
		"IPv6":                          {tcp("[::1]:1"), true},
		"away":                          {away, false},
		"all addresses":                 {tcp("0.0.0.0:1"), false},
		"a Unix socket":                 {from{at: &net.UnixAddr{Name: "", Net: "unix"}}, true},
		"something else":                {from{at: pipeAddr{}}, false},
		"TLS":                           {tls.Server(here, nil), true},
		"TLS from away":                 {tls.Server(away, nil), false},
		"a proxy here for one away":     {&proxied{Conn: here, client: away.RemoteAddr()}, false},
		"a proxy away that says it is":  {&proxied{Conn: away, client: here.RemoteAddr()}, false},
		"a proxy here for one here":     {&proxied{Conn: here, client: here.RemoteAddr()}, true},
		"TLS over a proxy that says so": {tls.Server(&proxied{Conn: away, client: here.RemoteAddr()}, nil), false},
	} {
		if got := isLocal(row.conn); got != row.local {
			t.Errorf("%s: %v", name, got)
		}
	}
}
