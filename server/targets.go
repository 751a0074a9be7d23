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
)

// partBytes is about what a part of a composite destination takes in memory, without its texts.
const partBytes = 128

// target is a destination that a session may send to.
type target struct {
	text    string // as the client wrote it, decoded
	address broker.Address
	role    role
	parts   []*target // of a composite destination, which has no address and no role; else nil
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
}

func (t *targets) add(raw []byte, to *target) {
	size := len(raw) + len(to.text)
	for _, part := range to.parts {
		size += partBytes + len(part.text)
	}
	if t.byText == nil || len(t.byText) >= maxTargets || t.bytes+size > maxTargetBytes {
		*t = targets{byText: make(map[string]*target)}
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
	err := s.shared.options.Auth.Authorize(s.identity, action, to.Form(), to.Name)
	if err == nil {
		return nil
	}
	if !errors.Is(err, auth.ErrDenied) {
		s.shared.options.Log.Error("no decision on a permission", "user", short(s.identity.User), "error", err)
	}
	return refusal(kindDenied, "user %s may not %s: destination %s", quote(s.identity.User), action, quote(text))
}
