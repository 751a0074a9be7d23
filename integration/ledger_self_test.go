//go:build linux

package integration

import (
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

// history is a ledger with two messages of one sender, for tests of the ledger.
type history struct {
	*ledger
	a, b *entry
}

func newHistory() *history {
	h := &history{ledger: newLedger()}
	h.a = &entry{id: "s-1", queue: "/queue/q", producer: "s", number: 1, priority: 4, size: 100}
	h.b = &entry{id: "s-2", queue: "/queue/q", producer: "s", number: 2, priority: 4}
	h.sending(h.a)
	h.sending(h.b)
	return h
}

// message is e as it is delivered.
func message(e *entry, redelivered bool) answer {
	header := "destination:" + e.queue + "\n"
	if redelivered {
		header += "redelivered:true\n"
	}
	return answer{command: frames.Message, header: frames.Header{Raw: []byte(header), Dialect: frames.V12}, body: e.body()}
}

// take delivers e and acknowledges it.
func (h *history) take(by string, e *entry, redelivered bool) {
	h.delivered(by, message(e, redelivered))
	h.acking(e)
	h.acked(e)
}

func TestLedgerAcceptsWhatMayHappen(t *testing.T) {
	for name, happen := range map[string]func(h *history){
		"all is taken": func(h *history) {
			h.receipted(h.a)
			h.receipted(h.b)
			h.take("c", h.a, false)
			h.take("c", h.b, false)
		},
		"messages without a RECEIPT are lost from some on": func(h *history) {
			h.receipted(h.a)
			h.take("c", h.a, false)
		},
		"a message comes again after a crash": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.crashed()
			h.take("d", h.a, true)
		},
		"an ACK without a RECEIPT did not count": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.acking(h.a)
			h.crashed()
			h.take("d", h.a, true)
		},
		"an ACK without a RECEIPT counted": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.acking(h.a)
			h.crashed()
		},
		"a consumer leaves": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.leaving("c")
			h.take("d", h.a, true)
		},
		"a move without a RECEIPT happened": func(h *history) {
			h.delivered("c", message(h.a, false))
			moved := h.move(h.a, false)
			h.crashed()
			h.take("d", moved, false)
		},
		"a move without a RECEIPT did not happen": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.move(h.a, false)
			h.crashed()
			h.take("d", h.a, true)
		},
	} {
		h := newHistory()
		happen(h)
		h.settle()
		if len(h.faults) > 0 {
			t.Errorf("%s: %q", name, h.faults)
		}
	}
}

// move moves e to another queue in a transaction.
func (h *history) move(e *entry, aborted bool) *entry {
	moved := &entry{id: "m-" + e.id, queue: "/queue/other", producer: "m", number: 1, priority: 4}
	h.beginning(&tx{id: "tx", sends: []*entry{moved}, acks: []*entry{e}, aborted: aborted})
	return moved
}

func TestLedgerFindsEachBrokenPromise(t *testing.T) {
	for want, happen := range map[string]func(h *history){
		"was sent with a RECEIPT, and is lost": func(h *history) { h.receipted(h.a) },
		"which was acknowledged with a RECEIPT": func(h *history) {
			h.take("c", h.a, false)
			h.crashed()
			h.delivered("d", message(h.a, true))
		},
		"while c has it": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.delivered("d", message(h.a, true))
		},
		"without redelivered:true": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.crashed()
			h.delivered("d", message(h.a, false))
		},
		"never acknowledged, and did not come back": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.crashed()
		},
		"s-2 came, but s-1, sent before it, did not": func(h *history) { h.take("c", h.b, false) },
		"which was never sent": func(h *history) {
			h.delivered("c", message(&entry{id: "x-1", queue: "/queue/q"}, false))
		},
		"with another body": func(h *history) {
			m := message(h.a, false)
			m.body += "x"
			h.delivered("c", m)
		},
		"it was sent to /queue/q": func(h *history) {
			m := message(h.a, false)
			m.header.Raw = []byte("destination:/queue/other\n")
			h.delivered("c", m)
		},
		"early": func(h *history) {
			h.a.due = time.Now().Add(time.Hour)
			h.delivered("c", message(h.a, false))
		},
		"of the aborted transaction tx": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.delivered("d", message(h.move(h.a, true), false))
		},
		"whose messages were seen": func(h *history) {
			h.delivered("c", message(h.a, false))
			moved := h.move(h.a, false)
			h.crashed()
			h.take("d", moved, false)
			h.take("d", h.a, true)
		},
		"came back": func(h *history) {
			h.delivered("c", message(h.a, false))
			moved := h.move(h.a, false)
			h.crashed()
			h.take("d", h.a, true)
			h.take("d", moved, false)
		},
		"no transaction that acknowledged it happened": func(h *history) {
			h.delivered("c", message(h.a, false))
			h.move(h.a, false)
			h.crashed()
		},
		"there came 1 of 2 messages": func(h *history) {
			x := &tx{id: "tx", sends: []*entry{
				{id: "t-1", queue: "/queue/q", producer: "t", number: 1}, {id: "t-2", queue: "/queue/q", producer: "t", number: 2},
			}}
			h.beginning(x)
			h.take("c", x.sends[1], false)
		},
		"was committed with a RECEIPT, and is lost": func(h *history) {
			x := &tx{id: "tx", sends: []*entry{{id: "t-1", queue: "/queue/q", producer: "t", number: 1}}}
			h.beginning(x)
			h.committed(x)
		},
		"which was gone after": func(h *history) {
			h.settle()
			h.delivered("c", message(h.a, false))
		},
		"came after s-2 of the same sender": func(h *history) {
			order := newSequence(h.ledger, false)
			order.next(h.b, false)
			order.next(h.a, false)
		},
		"of priority 5 came after s-1 of priority 4": func(h *history) {
			h.b.priority = 5
			order := newSequence(h.ledger, true)
			order.next(h.a, false)
			order.next(h.b, true)
		},
	} {
		h := newHistory()
		happen(h)
		h.settle()
		if !strings.Contains(strings.Join(h.faults, "\n"), want) {
			t.Errorf("wanted a fault %q, the ledger found %q", want, h.faults)
		}
	}
}
