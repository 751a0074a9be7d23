package server

import (
	"footfall/broker"
	"footfall/frames"
)

// settle reads an ACK or a NACK.
func (s *session) settle(f *frames.Frame) error {
	if f.Command == frames.Nack {
		again, err := boolHeader(f, "recover")
		if err != nil {
			return err
		}
		if again {
			return s.recoverByNack(f)
		}
	}
	op := broker.Op{Kind: broker.OpAck}
	var err error
	var extend int64
	if f.Command == frames.Nack {
		op.Kind = broker.OpNack
		op.Nack, err = readNack(f)
	} else {
		extend, err = readExtend(f)
	}
	if err != nil {
		return err
	}
	if op.Ack, err = s.delivery(f); err != nil {
		return err
	}
	op.Ack.Extend = extend
	if op.Tx, err = s.settleInTransaction(f); err != nil {
		return err
	}
	s.add(f, op)
	if op.Nack != nil {
		s.bytes += len(op.Nack.Reason)
	}
	return nil
}

// delivery reads which delivery a frame names, or how much credit it grants.
func (s *session) delivery(f *frames.Frame) (broker.AckOp, error) {
	name, raw := s.deliveryHeader(f.Header)
	if len(raw) > 0 {
		return nameDelivery(s.id, f.Header.Decode(raw), s.subscriptionHeader(f.Header)), nil
	}
	if credit, ok := f.Header.GetRaw("credit"); ok && f.Command == frames.Ack {
		n, _, err := parseCredit(f.Command, f.Header.Decode(credit))
		return broker.AckOp{Credit: n, Sub: s.subscriptionHeader(f.Header)}, err
	}
	return broker.AckOp{}, missing(f.Command, name)
}

// deliveryHeader returns the header that names a delivery in this version, and its octets on the wire.
func (s *session) deliveryHeader(h frames.Header) (name string, raw []byte) {
	if s.version == frames.V12 {
		// STOMP 1.2 ACK: id is the ack header of MESSAGE. We take a message-id in it, too.
		raw, _ = h.GetRaw("id")
		return "id", raw
	}
	// STOMP 1.1 ACK, STOMP 1.0 ACK: message-id. Some clients send id whatever the version.
	if raw, _ = h.GetRaw("message-id"); len(raw) == 0 {
		raw, _ = h.GetRaw("id")
	}
	return "message-id", raw
}

// subscriptionHeader returns the key of the subscription that an ACK or NACK names, empty for none.
func (s *session) subscriptionHeader(h frames.Header) string {
	// STOMP 1.1 ACK: subscription is required. We do without where the message-id is enough.
	raw, _ := h.GetRaw("subscription")
	return h.Decode(raw)
}

// doRecover reads a RECOVER, which is Footfall's own.
func (s *session) doRecover(f *frames.Frame) error {
	for _, name := range [...]string{"id", "subscription"} {
		if raw, ok := f.Header.GetRaw(name); ok && len(raw) > 0 {
			key := f.Header.Decode(raw)
			if s.subs[key] == nil {
				return refusal(broker.KindUnknownSub, "RECOVER with %s %s, which is no subscription of this connection", name, quote(key))
			}
			return s.recoverSubscription(f, key)
		}
	}
	return s.recoverSubscription(f, "")
}

// recoverByNack reads a NACK with recover:true. Its id is that of a delivery, unless
// it is that of a subscription.
func (s *session) recoverByNack(f *frames.Frame) error {
	key := s.subscriptionHeader(f.Header)
	if key == "" {
		if raw, _ := f.Header.GetRaw("id"); s.subs[f.Header.Decode(raw)] != nil {
			key = f.Header.Decode(raw)
		}
	} else if s.subs[key] == nil {
		return refusal(broker.KindUnknownSub, "NACK with subscription %s, which is no subscription of this connection", quote(key))
	}
	return s.recoverSubscription(f, key)
}

func (s *session) recoverSubscription(f *frames.Frame, key string) error {
	if err := refuseFeatures(f.Header, recoverFeatures()); err != nil {
		return err
	}
	nack, err := readRecover(f)
	if err != nil {
		return err
	}
	s.add(f, broker.Op{Kind: broker.OpRecover, Sub: key, Nack: nack})
	return nil
}
