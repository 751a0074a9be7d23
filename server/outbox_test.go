package server

import (
	"strings"
	"testing"

	"footfall/broker"
)

func receipts(n, size int) []broker.Output {
	list := make([]broker.Output, n)
	for i := range list {
		list[i] = broker.Output{Kind: broker.OutputReceipt, Receipt: strings.Repeat("r", size)}
	}
	return list
}

// isSet tells whether a channel held a token, and takes it.
func isSet(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAnOutboxGivesWhatWasPutInOrderWithOneWakeUp(t *testing.T) {
	b := newOutbox(new(lots))
	if b.take() != nil || isSet(b.wake) {
		t.Error("a new outbox is not empty")
	}
	lent := receipts(2, 1)
	b.Put(lent)
	clear(lent)
	b.Put([]broker.Output{{Kind: broker.OutputClose}})
	if !isSet(b.wake) || isSet(b.wake) {
		t.Error("two Puts gave not one token")
	}
	l := b.take()
	if len(l.outputs) != 3 || l.outputs[0].Receipt != "r" || l.outputs[2].Kind != broker.OutputClose {
		t.Errorf("took %+v", l.outputs)
	}
	b.lots.put(l)
	for _, o := range l.outputs[:3] {
		if o != (broker.Output{}) {
			t.Errorf("a lot for reuse still holds %+v", o)
		}
	}
}

func TestAnOutboxIsFullOfAnswersAtItsBoundsAndNeverOfMessages(t *testing.T) {
	messages := make([]broker.Output, 2*outboxReceipts)
	for i := range messages {
		messages[i].Kind = broker.OutputMessage
	}
	for _, c := range []struct {
		name    string
		outputs []broker.Output
		room    bool
	}{
		{"messages", messages, true},
		{"fewer than the number", receipts(outboxReceipts-1, 1), true},
		{"the octets", receipts(8, outboxBytes/8), false},
		{"the number", receipts(outboxReceipts, 0), false},
	} {
		b := newOutbox(new(lots))
		b.Put(c.outputs)
		if b.roomy() != c.room {
			t.Errorf("with %s there is room: %v", c.name, !c.room)
		}
		bytes := 0
		for i := range c.outputs {
			bytes += answerBytes(&c.outputs[i])
		}
		if !c.room {
			b.wrote(len(c.outputs), bytes)
			if !isSet(b.room) || !b.roomy() {
				t.Errorf("after %s were written there is no room", c.name)
			}
		}
	}
}

func TestAClosedOutboxTakesNothingAndHoldsNobodyUp(t *testing.T) {
	b := newOutbox(new(lots))
	b.Put(receipts(8, outboxBytes))
	b.close()
	b.Put(receipts(1, 1))
	if b.take() != nil || !b.roomy() || !b.isClosed() || !isSet(b.wake) || !isSet(b.room) {
		t.Error("a closed outbox is not")
	}
}
