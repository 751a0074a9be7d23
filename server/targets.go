package server

import (
	"errors"
	"slices"
	"strings"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// A session remembers this many destinations, and this many octets of their texts.
const (
	maxTargets     = 1024
	maxTargetBytes = 64 << 10
	maxReplies     = 64 // texts of reply-to, of maxID octets at most
)

// partBytes is about what a part of a composite destination takes in memory, without its texts.
const partBytes = 128

// target is a destination that a session may send to.
type target struct {
	text    string // as the client wrote it, decoded
	address broker.Address
	role    role
	// noCreate says that the session may send there, and may not make it.
	noCreate bool
	parts    []*target // of a composite destination, which has no address and no role; else nil
}

// role says what a SEND to a destination may mean beside storing it.
type role uint8

const (
	plain      role = iota
	delayQueue      // may be forwarded, see forward
	management      // may be a command, see manage
)

// roleOf tells what a SEND to a destination may mean.
func (o *Options) roleOf(to broker.Address) role {
	switch {
	case to.IsTemporary():
		return plain
	case strings.EqualFold(to.Name, managementName):
		return management // ActiveMQ looks at the name only, in any case
	case to.Kind == broker.Queue && slices.Contains(o.DelayQueues, to.Name):
		return delayQueue
	}
	return plain
}

// targets are the destinations that a session sent to, by their text on the wire, so
// that sending there again neither parses nor asks anybody. When there are too many all are forgotten.
type targets struct {
	byText map[string]*target
	bytes  int
	// replies are texts of reply-to headers that may be sent.
	replies map[string]struct{}
}

func (t *targets) add(raw []byte, to *target) {
	size := len(raw) + len(to.text)
	for _, part := range to.parts {
		size += partBytes + len(part.text)
	}
	if t.byText == nil || len(t.byText) >= maxTargets || t.bytes+size > maxTargetBytes {
		*t = targets{byText: make(map[string]*target), replies: t.replies}
	}
	t.byText[string(raw)] = to
	t.bytes += size
}

// sendTarget reads, checks and authorises the destination of a SEND.
func (s *session) sendTarget(block frames.Header, raw []byte) (*target, error) {
	if t, ok := s.targets.byText[string(raw)]; ok {
		return t, nil
	}
	text := block.Decode(raw)
	read := s.plainTarget
	if isComposite(text) {
		read = s.compositeTarget
	}
	t, err := read(text)
	if err != nil {
		return nil, err
	}
	s.targets.add(raw, t)
	return t, nil
}

// under says which header named a destination that is refused.
func under(header string, err error) error {
	if err == nil {
		return nil
	}
	e := *asError(err)
	e.Message = header + ": " + e.Message
	return &e
}

// authorize asks whether the user may do action to a destination.
func (s *session) authorize(action auth.Action, to broker.Address, text string) error {
	if s.may(action, to) {
		return nil
	}
	s.shared.denied.add(action.String())
	return refusal(kindDenied, "user %s may not %s: destination %s", quote(s.identity.User), action, quote(text))
}

// may tells whether the user may do action to a destination.
func (s *session) may(action auth.Action, to broker.Address) bool {
	err := s.shared.options.Auth.Authorize(s.identity, action, to.Form(), to.Name)
	if err != nil && !errors.Is(err, auth.ErrDenied) {
		s.shared.lines.line("permission", s.clock(), s.shared.options.Log.Error, "no decision on a permission", "user", short(s.identity.User), "error", err)
	}
	return err == nil
}

// mayNotMake tells whether a SEND or SUBSCRIBE must not make the destination, which the user may use. Of topics and temporary
// destinations nothing is kept.
func (s *session) mayNotMake(a broker.Address) bool {
	return a.Kind == broker.Queue && !a.IsTemporary() && !s.may(auth.Create, a)
}

// mayReplyTo authorises the reply-to of a SEND. Whoever answers may be allowed to send where this user is not: so it has to be a destination that the user may send to
// or receive from. A text that is no destination is the client's own affair, and an address that others gave was theirs to give.
func (s *session) mayReplyTo(block frames.Header, raw []byte) error {
	if _, ok := s.targets.replies[string(raw)]; ok {
		return nil
	}
	text := block.Decode(raw)
	if strings.Count(text, ",") >= s.shared.options.MaxParts {
		return nil // no SEND could go there
	}
	for part := range strings.SplitSeq(text, ",") {
		a, bad := s.address(strings.Trim(part, " "))
		if bad != nil || a.Form() != a.Kind.String() || s.may(auth.Send, a) || s.may(auth.Receive, a) {
			continue
		}
		s.shared.denied.add(auth.Receive.String())
		return refusal(kindDenied, "reply-to: user %s may not send to, nor receive from, destination %s", quote(s.identity.User), quote(text))
	}
	if len(raw) > maxID {
		return nil
	}
	if s.targets.replies == nil || len(s.targets.replies) >= maxReplies {
		s.targets.replies = make(map[string]struct{})
	}
	s.targets.replies[string(raw)] = struct{}{}
	return nil
}
