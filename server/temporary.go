package server

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// A temporary destination is /temp-queue/NAME or /temp-topic/NAME to its owner, and /remote-temp-queue/OWNER-SEAL.NAME to all
// others, who see it as reply-to. The seal is made of the owner with a secret of this run, so that nobody can guess
// where replies go, and no reply to a client of an earlier run reaches one that has its number now.
const (
	ownTemporary    = "/temp-"
	remoteTemporary = "/remote-temp-"
)

// temporaryForms are what a temporary destination may begin with.
var temporaryForms = [...]struct {
	prefix string
	kind   broker.Kind
	remote bool
}{
	{"/temp-queue/", broker.Queue, false},
	{"/temp-topic/", broker.Topic, false},
	{"temp-queue://", broker.Queue, false},
	{"temp-topic://", broker.Topic, false},
	{"/remote-temp-queue/", broker.Queue, true},
	{"/remote-temp-topic/", broker.Topic, true},
}

// secret seals the names of owners.
type secret [sha256.Size]byte

// sealOctets is how much of the digest a name has.
const sealOctets = 10

// seal makes the octets of a name that only the broker can make.
func (k *secret) seal(conn string) string {
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte(conn))
	return hex.EncodeToString(h.Sum(nil)[:sealOctets])
}

// remoteText is how others see a temporary destination of their reply-to.
func (k *secret) remoteText(a broker.Address) string {
	conn := strconv.FormatUint(a.Owner.Conn, 36)
	return remoteTemporary + a.Kind.String() + "/" + conn + "-" + k.seal(conn) + "." + a.Name
}

// owner reads OWNER-SEAL. Of one that this run did not make it is broker.Nobody.
func (k *secret) owner(text string) uint64 {
	conn, seal, _ := strings.Cut(text, "-")
	id, ok := parseBase36(conn)
	if !ok || !hmac.Equal([]byte(seal), []byte(k.seal(conn))) {
		return broker.Nobody
	}
	return id
}

// address reads a destination text of this session, decoded.
func (s *session) address(text string) (broker.Address, *broker.Error) {
	if a, ok, err := s.temporary(text); ok {
		return a, err
	}
	a, err := s.shared.destinations.parse(text)
	if err != nil {
		return a, err
	}
	a.Owner = s.shared.apolloOwner(a)
	return s.ownAddress(a), nil
}

// temporary reads a destination text that has one of the forms of temporary destinations. It is false for others.
func (s *session) temporary(text string) (a broker.Address, ok bool, err *broker.Error) {
	for _, form := range temporaryForms {
		rest, ok := strings.CutPrefix(text, form.prefix)
		if !ok {
			continue
		}
		owner := broker.Owner{Conn: s.id}
		if form.remote {
			var sealed string
			if sealed, rest, ok = strings.Cut(rest, "."); !ok {
				return a, true, refusal(broker.KindDestination, "destination %s is none that a reply-to had", quote(text))
			}
			owner.Conn = s.shared.secret.owner(sealed)
		}
		a, err = s.shared.destinations.named(text, form.kind, rest)
		a.Owner = owner
		return a, true, err
	}
	return a, false, nil
}

// apolloOwner tells whose a destination is that Apollo's clients name themselves, temp.HOST-ID.SESSION.NAME; the zero value
// of others.
func (s *sharedState) apolloOwner(a broker.Address) broker.Owner {
	rest, ok := strings.CutPrefix(a.Name, "temp."+s.options.HostID+".")
	if !ok || a.Kind == broker.Durable {
		return broker.Owner{}
	}
	session, name, ok := strings.Cut(rest, ".")
	conn, isNumber := parseBase36(session)
	if !ok || name == "" || !isNumber || conn == 0 {
		return broker.Owner{}
	}
	return broker.Owner{Conn: conn, Plain: true}
}

// isOwn tells whether a is a temporary destination of this session by its own name.
func (s *session) isOwn(a broker.Address) bool {
	return a.Owner == broker.Owner{Conn: s.id}
}

// replies is who takes what comes to a temporary queue of the session.
type replies struct {
	consumers int
	implicit  string // the key of the subscription that the broker made; empty for none
}

// rewriteReplyTo has others see where a temporary destination of this session is. A temporary queue that nobody takes from gets a subscription
// with its text as id: clients of RabbitMQ expect the replies without a SUBSCRIBE.
func (s *session) rewriteReplyTo(f *frames.Frame, h *sendHeaders) error {
	raw := h.values[replyToHeader]
	if len(raw) == 0 {
		return nil
	}
	if !bytes.HasPrefix(bytes.TrimPrefix(raw, []byte("/")), []byte(ownTemporary[1:])) {
		return s.mayReplyTo(f.Header, raw)
	}
	text := f.Header.Decode(raw)
	a, ok, bad := s.temporary(text)
	if !ok { // some other name that begins like it
		return s.mayReplyTo(f.Header, raw)
	}
	if bad != nil {
		return under("reply-to", bad)
	}
	h.replyTo = s.shared.secret.remoteText(a)
	if a.Kind != broker.Queue || s.replies[a].consumers > 0 {
		return nil
	}
	if broker.HasWildcard(a.Name) {
		return refusal(broker.KindDestination, "reply-to: destination %s is a wildcard", quote(text))
	}
	if err := s.authorize(auth.Receive, a, text); err != nil {
		return under("reply-to", err)
	}
	sub := &subscription{text: text, froms: []broker.Address{a}, rendering: newRendering(s.version, s.id, raw, raw, broker.AckAuto)}
	if err := s.register(frames.Send, text, sub); err != nil {
		return err
	}
	s.takeReplies(a, text)
	s.push(broker.Op{Kind: broker.OpSubscribe, Subscribe: &broker.SubscribeOp{ID: text, Text: text, From: a, Tag: sub}}, opBytes+2*len(text))
	return nil
}

// takeReplies notes that one more subscription takes from a temporary queue of the session, implicitly if it has a key.
func (s *session) takeReplies(a broker.Address, implicit string) {
	if s.replies == nil {
		s.replies = make(map[broker.Address]replies)
	}
	s.replies[a] = replies{s.replies[a].consumers + 1, implicit}
}

// endImplicit ends the subscription that the broker made for a, as the client makes one itself.
func (s *session) endImplicit(a broker.Address) {
	if key := s.replies[a].implicit; key != "" {
		s.unregister(key)
		s.push(broker.Op{Kind: broker.OpUnsubscribe, Sub: key}, opBytes+len(key))
	}
}

// register notes a subscription under its key.
func (s *session) register(c frames.Command, key string, sub *subscription) error {
	if s.subs[key] != nil {
		// STOMP 1.2 SUBSCRIBE: ids are unique within a connection.
		return refusal(broker.KindDuplicate, "%s with id %s, which is that of another subscription", c, quote(key))
	}
	if limit := s.shared.options.MaxSubscriptions; len(s.subs) >= limit {
		return refusal(broker.KindLimit, "more than %d subscriptions on a connection (limits.subscriptions)", limit)
	}
	if s.subs == nil {
		s.subs = make(map[string]*subscription)
	}
	s.subs[key] = sub
	s.ever = true
	return nil
}

// unregister forgets the subscription of a key, if there is one.
func (s *session) unregister(key string) {
	sub := s.subs[key]
	delete(s.subs, key)
	if sub == nil {
		return
	}
	for _, from := range sub.froms {
		r, ok := s.replies[from]
		if !ok {
			continue
		}
		if r.consumers--; r.consumers == 0 {
			delete(s.replies, from)
		} else {
			s.replies[from] = r
		}
	}
}

// withReplyTo returns a block in which reply-to, where it is first, is another one.
func withReplyTo(h frames.Header, to string) frames.Header {
	raw := make([]byte, 0, len(h.Raw)+len(to))
	start, done := 0, false
	for name, _, pos := h.Next(0); pos >= 0; name, _, pos = h.Next(pos) {
		if !done && string(name) == "reply-to" {
			raw = frames.AppendHeader(raw, h.Dialect, "reply-to", to)
			done = true
		} else {
			raw = append(raw, h.Raw[start:pos]...)
		}
		start = pos
	}
	h.Raw = raw
	return h
}
