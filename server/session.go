package server

import (
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

// A session hands over what it gathered when it is this much, or sooner when no whole
// frame is left to read.
const (
	requestOps   = 256
	requestBytes = 256 << 10
)

// opBytes is about what an operation takes in memory, without its message.
const opBytes = 256

// session turns the frames of one connection into operations. It does no I/O, but for the first look at a time zone.
type session struct {
	shared *sharedState
	// clock tells the time. It is asked only when a SEND says when its message is due.
	clock func() time.Time

	// Fixed by CONNECT.
	version frames.Version
	id      uint64 // the broker's number of the connection
	remote  string
	local   bool // the peer is on this machine
	// certificate is the name in the verified certificate of the client, empty for none.
	certificate string
	identity    auth.Identity
	clientID    string

	loginResult string // why CONNECT was refused, of the results of logins

	// ops and bytes are what was gathered and not taken yet.
	ops   []broker.Op
	bytes int
	hint  int // how many operations the next request may have

	// ended: an ERROR or the end of the session was asked for, and no further frame counts.
	ended bool
	// ever says that there was a subscription.
	ever bool

	subs    map[string]*subscription // by key
	txs     map[string]*transaction  // open, by id
	lastTx  uint64
	targets targets
	replies map[broker.Address]replies // of temporary queues of its own
	spans   []span                     // scratch of send
}

// sharedState is what sessions share. It never changes, but for what it counts.
type sharedState struct {
	options      Options
	destinations *destinations
	secret       secret
	denied       *labels // refused actions, by name
	lines        logLines
}

// subscription is a live subscription, and the tag of its messages.
type subscription struct {
	text  string           // the destination text of SUBSCRIBE
	froms []broker.Address // what that means
	rendering
}

// handle does what a frame asks for. A frame that cannot be done ends the session, in its turn.
func (s *session) handle(f *frames.Frame) {
	if err := s.do(f); err != nil {
		s.fail(f, err)
	}
}

func (s *session) do(f *frames.Frame) error {
	switch f.Command {
	case frames.Send:
		return s.send(f)
	case frames.Ack, frames.Nack:
		return s.settle(f)
	case frames.Subscribe:
		return s.subscribe(f)
	case frames.Unsubscribe:
		return s.unsubscribe(f)
	case frames.Begin:
		return s.begin(f)
	case frames.Commit:
		return s.commit(f)
	case frames.Abort:
		return s.abort(f)
	case frames.Recover:
		return s.doRecover(f)
	case frames.Disconnect:
		s.ended = true
		s.add(f, broker.Op{Kind: broker.OpDisconnect})
		return nil
	case frames.Connect, frames.Stomp:
		return refusal(kindSequence, "%s in a session that is connected already", f.Command)
	}
	return refusal(kindSequence, "%s is not a frame that a client sends", f.Command)
}

// add appends an operation that answers the receipt of f.
func (s *session) add(f *frames.Frame, op broker.Op) {
	op.Receipt, op.WantReceipt = receiptOf(f)
	s.push(op, opBytes+len(op.Receipt))
}

func (s *session) push(op broker.Op, bytes int) {
	if s.ops == nil {
		s.ops = make([]broker.Op, 0, max(s.hint, 1))
	}
	s.ops = append(s.ops, op)
	s.bytes += bytes
}

// answer asks for the receipt of f, if it wants one, when all before it was done.
func (s *session) answer(f *frames.Frame) {
	if receipt, ok := receiptOf(f); ok {
		s.push(broker.Op{Kind: broker.OpReceipt, WantReceipt: true, Receipt: receipt}, opBytes+len(receipt))
	}
}

// fail ends the session with an ERROR that answers f, after the answers to all before it.
func (s *session) fail(f *frames.Frame, err error) {
	op := broker.Op{Kind: broker.OpFail, Err: asError(err)}
	// STOMP 1.2 ERROR: the receipt-id of the frame that caused it.
	s.add(f, op)
	s.ended = true
}

// full says that what was gathered should be taken.
func (s *session) full() bool { return len(s.ops) >= requestOps || s.bytes >= requestBytes }

// take returns what was gathered since the last time, nil when that is nothing.
func (s *session) take() *broker.Request {
	if len(s.ops) == 0 {
		return nil
	}
	req := &broker.Request{Ops: s.ops, Bytes: s.bytes}
	s.hint = max(len(s.ops), s.hint/2)
	s.ops, s.bytes = nil, 0
	return req
}

// receiptOf returns the receipt id of a frame as it is on the wire, so that RECEIPT can give it back octet
// for octet.
func receiptOf(f *frames.Frame) (receipt string, ok bool) {
	// STOMP 1.2 receipt: any client frame other than CONNECT may ask for one.
	raw, ok := f.Header.GetRaw("receipt")
	return string(raw), ok
}
