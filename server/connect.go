package server

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// greeting is what came of a CONNECT.
type greeting struct {
	version  frames.Version
	identity auth.Identity
	clientID string
	server   string // the header of CONNECTED
	hostID   string // likewise, empty for none
	beats    heartBeats
}

// heartBeats are the intervals that were agreed on, 0 for none.
type heartBeats struct {
	send, receive time.Duration
	announced     string // the header of CONNECTED
}

// connect reads the first frame of a session. Whether it is a good one or not, s.version
// then is the version in which to answer. The login may take until ctx ends.
func (s *session) connect(ctx context.Context, f *frames.Frame, t *Transport) (greeting, error) {
	if f.Command != frames.Connect && f.Command != frames.Stomp {
		return greeting{}, refusal(kindSequence, "%s before CONNECT", f.Command)
	}
	// STOMP 1.2 CONNECT: headers are literal. receipt is none of them, and so is ignored.
	accept, hasAccept := f.Header.Get("accept-version")
	version, ok := frames.Negotiate(accept)
	if !ok {
		// STOMP 1.2 Protocol Negotiation: ERROR with the versions that we know, then close.
		return greeting{}, refusal(kindVersion, "accept-version %s has none of the versions %s", quote(accept), supportedVersions)
	}
	s.version = version
	beat, hasBeat := f.Header.Get("heart-beat")
	g := greeting{version: version}
	var err error
	if g.beats, err = agree(beat, hasBeat, s.shared.options.MinHeartBeat); err != nil {
		return greeting{}, err
	}
	for _, name := range [...]string{"client-id", "login"} {
		if raw, _ := f.Header.GetRaw(name); len(raw) > maxID {
			return greeting{}, tooLong(f.Command, name, len(raw))
		}
	}
	g.clientID, _ = f.Header.Get("client-id")
	s.clientID = g.clientID
	stompjms := f.Command == frames.Connect && hasAccept && accept == "1.1" && !hasBeat
	g.introduce(t.Identity, stompjms, &s.shared.options)
	if s.identity, err = s.login(ctx, f); err != nil {
		return greeting{}, err
	}
	g.identity = s.identity
	return g, nil
}

// login asks who the client is: with login and passcode as they were written and, as some clients escape them,
// with both unescaped.
func (s *session) login(ctx context.Context, f *frames.Frame) (auth.Identity, error) {
	c := auth.Credentials{Certificate: s.certificate, Remote: s.remote, Local: s.local}
	c.Login, _ = f.Header.Get("login")
	c.Passcode, _ = f.Header.Get("passcode")
	a := s.shared.options.Auth
	id, err := a.Authenticate(ctx, c)
	if errors.Is(err, auth.ErrLogin) && (strings.Contains(c.Login, `\`) || strings.Contains(c.Passcode, `\`)) {
		escaped, again := frames.Header{Dialect: frames.V12}, c
		again.Login, again.Passcode = escaped.Decode([]byte(c.Login)), escaped.Decode([]byte(c.Passcode))
		id, err = a.Authenticate(ctx, again)
	}
	if err != nil {
		return auth.Identity{}, s.refuseLogin(c.Login, err)
	}
	return id, nil
}

// The results of logins, labels of a metric.
const (
	loginOK        = "ok"
	loginRefused   = "refused"
	loginThrottled = "throttled"
	loginBusy      = "busy"
)

// refuseLogin is the answer to a login that is refused. It says the same of an unknown login and of a wrong passcode.
func (s *session) refuseLogin(login string, err error) error {
	e := &broker.Error{Kind: kindLogin, Message: "login " + quote(login) + " refused"}
	if login == "" {
		e.Message = "CONNECT without login refused"
	}
	switch {
	case errors.Is(err, auth.ErrThrottled):
		s.loginResult = loginThrottled
		e.Detail = "Too many logins from this address, or under this name, have failed. Wait a minute."
	case errors.Is(err, auth.ErrBusy), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		s.loginResult = loginBusy
		e.Detail = "Too many logins are being looked at. Try again."
	default:
		s.loginResult = loginRefused
		e.Detail = "The login is not known or the passcode is wrong."
		if !errors.Is(err, auth.ErrLogin) && !errors.Is(err, auth.ErrDenied) {
			s.shared.lines.line("login", s.clock(), s.shared.options.Log.Error, "no decision on a login", "login", short(login), "error", err)
		}
	}
	return e
}

// introduce chooses the name by which some clients choose their dialect. Other than its own it is one that they
// know, with ours behind it.
func (g *greeting) introduce(as Identity, stompjms bool, o *Options) {
	own := "footfall-" + o.Version
	if as == IdentityAuto && stompjms {
		as = IdentityApollo
	}
	switch as {
	case IdentityApollo:
		g.server, g.hostID = "apache-apollo/1.7.1+"+own, o.HostID
	case IdentityActiveMQ:
		g.server = "ActiveMQ/5.18.0+" + own
	case IdentityRabbitMQ:
		g.server = "RabbitMQ/3.13.0+" + own
	default:
		g.server = "footfall/" + o.Version
	}
}

// agree reads the heart-beat header and mirrors it, each interval raised to the shortest that we do.
func agree(text string, present bool, shortest time.Duration) (heartBeats, error) {
	if !present {
		// STOMP 1.2 Heart-beating: a missing header is 0,0.
		return heartBeats{announced: "0,0"}, nil
	}
	first, second, two := strings.Cut(text, ",")
	cx, ok1 := parseCount(strings.Trim(first, " \t"))
	cy, ok2 := parseCount(strings.Trim(second, " \t"))
	if !two || !ok1 || !ok2 {
		return heartBeats{}, badHeader(frames.Connect, "heart-beat", text, "two numbers of milliseconds with a comma between are wanted")
	}
	b := heartBeats{send: interval(cy, shortest), receive: interval(cx, shortest)}
	// STOMP 1.2 Heart-beating: what is agreed on is the greater of what one side can and the other wants.
	// We say that we can what it wants, so that is what binds us.
	b.announced = strconv.FormatInt(b.send.Milliseconds(), 10) + "," + strconv.FormatInt(b.receive.Milliseconds(), 10)
	return b, nil
}

// interval raises an interval, in milliseconds, to the shortest. 0 stays 0.
func interval(ms int, shortest time.Duration) time.Duration {
	if ms == 0 {
		return 0
	}
	return max(time.Duration(ms)*time.Millisecond, shortest)
}

// silence is how long a client may be silent, 0 for ever.
func (b heartBeats) silence(tolerance float64, atLeast time.Duration) time.Duration {
	if b.receive == 0 {
		return 0
	}
	return max(time.Duration(float64(b.receive)*tolerance), atLeast)
}

// appendConnected appends CONNECTED up to its NUL.
func (g *greeting) appendConnected(dst []byte, session uint64) []byte {
	// STOMP 1.2 CONNECTED: headers are literal, and hold nothing that would want an escape.
	dst = append(dst, "CONNECTED\nversion:"...)
	dst = append(dst, g.version.String()...)
	dst = append(append(dst, "\nheart-beat:"...), g.beats.announced...)
	dst = append(dst, "\nsession:"...)
	dst = strconv.AppendUint(dst, session, 36)
	dst = append(append(dst, "\nserver:"...), g.server...)
	if g.hostID != "" {
		dst = append(append(dst, "\nhost-id:"...), g.hostID...)
	}
	return append(dst, '\n', '\n', 0)
}
