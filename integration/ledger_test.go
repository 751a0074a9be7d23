//go:build linux

package integration

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// ledger knows what clients sent, were promised and have seen, over any number of
// lives of a broker, and finds what breaks a promise.
type ledger struct {
	mu      sync.Mutex
	life    int
	ending  bool // the broker ends connections, which their clients do not know yet
	entries map[string]*entry
	open    []*entry // those not settled yet
	txs     []*tx
	faults  []string
	more    int // faults beyond those that are kept
	sent    int
	kept    int // receipts for messages
	seen    int
}

// entry is a message.
type entry struct {
	id, queue, producer string
	number, priority    int
	size                int
	due                 time.Time // zero for at once
	tx                  *tx       // it is sent in; nil for none
	moves               []*tx     // transactions that acknowledge it

	receipted   bool
	deliveries  int
	lastLife    int
	holder      string // the connection that has it, unacknowledged
	acking      bool   // an ACK went out; it may or may not have counted
	kept        bool   // taken in mode auto: it does not come back when its connection ends
	acked       bool   // with a receipt
	settledAway bool   // all is known of it, and it never comes (back)

	story []event
}

// event is something that happened to a message: in which life, by which client, and what.
type event struct {
	life     int
	by, what string
}

// String tells a message's story.
func (e *entry) String() string {
	var text strings.Builder
	text.WriteString(e.id + " (")
	for i, v := range e.story {
		if i > 0 {
			text.WriteString("; ")
		}
		fmt.Fprintf(&text, "life %d: %s %s", v.life, v.by, v.what)
	}
	return text.String() + ")"
}

// note adds to a message's story. The lock is held.
func (l *ledger) note(e *entry, by, what string) {
	e.story = append(e.story, event{l.life, by, what})
}

// tx is a transaction.
type tx struct {
	id        string
	life      int
	sends     []*entry
	acks      []*entry
	committed bool // with a receipt
	aborted   bool
	happened  bool // one of its messages was seen
}

func newLedger() *ledger { return &ledger{entries: map[string]*entry{}} }

// fault notes a broken promise. The lock is held.
func (l *ledger) fault(format string, args ...any) {
	const most = 25
	if len(l.faults) == most {
		l.more++
		return
	}
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// report fails the test for each broken promise.
func (l *ledger) report(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.faults {
		t.Error(f)
	}
	if l.more > 0 {
		t.Errorf("and %d more of the kind", l.more)
	}
}

// body is that of an entry: its id, and filling that depends on it.
func (e *entry) body() string {
	if e.size <= len(e.id)+1 {
		return e.id
	}
	h := fnv.New64a()
	h.Write([]byte(e.id))
	fill := fmt.Sprintf("%016x\x00", h.Sum64())
	return e.id + " " + strings.Repeat(fill, e.size/len(fill)+1)[:e.size-len(e.id)-1]
}

// sending notes that a message goes out.
func (l *ledger) sending(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(e)
}

func (l *ledger) add(e *entry) {
	l.entries[e.id] = e
	l.open = append(l.open, e)
	l.sent++
}

// beginning notes a transaction, with all it will hold, before it begins.
func (l *ledger) beginning(x *tx) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x.life = l.life
	l.txs = append(l.txs, x)
	for _, e := range x.sends {
		e.tx = x
		l.add(e)
	}
	for _, e := range x.acks {
		l.note(e, x.id, "acknowledges it")
		e.moves = append(e.moves, x)
		e.acking = e.acking || !x.aborted
	}
}

// receipted notes the RECEIPT of a SEND.
func (l *ledger) receipted(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.receipted = true
	l.note(e, e.producer, "has the RECEIPT")
	l.kept++
}

// committed notes the RECEIPT of a COMMIT.
func (l *ledger) committed(x *tx) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x.committed = true
	for _, e := range x.sends {
		e.receipted = true
		l.note(e, x.id, "has the RECEIPT")
		l.kept++
	}
	for _, e := range x.acks {
		e.acked = true
		l.note(e, x.id, "has the RECEIPT")
	}
}

// delivered notes a MESSAGE, and judges it. It returns the entry, nil for a message that was never sent.
func (l *ledger) delivered(by string, m answer) *entry {
	now := time.Now()
	id, _, _ := strings.Cut(m.body, " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++
	e := l.entries[id]
	if e == nil {
		l.fault("%s got %v, which was never sent", by, m)
		return nil
	}
	redelivered := m.get("redelivered") == "true"
	if m.body != e.body() {
		l.fault("%s got %s with another body than was sent: %d octets for %d", by, id, len(m.body), len(e.body()))
	}
	if m.get("destination") != e.queue {
		l.fault("%s got %s from %s; it was sent to %s", by, id, m.get("destination"), e.queue)
	}
	if e.deliveries > 0 && !redelivered {
		l.fault("%s got %v without redelivered:true, though %d deliveries of it were seen", by, e, e.deliveries)
	}
	if e.acked {
		l.fault("%s got %v, which was acknowledged with a RECEIPT", by, e)
	}
	if e.settledAway {
		l.fault("%s got %v, which was gone after a queue had been emptied", by, e)
	}
	if e.holder != "" && !l.ending {
		l.fault("%s got %v while %s has it", by, e, e.holder)
	}
	// Times on the wire are whole milliseconds.
	if early := e.due.Sub(now); early > time.Millisecond {
		l.fault("%s got %s %v early", by, id, early)
	}
	l.judgeTransactions(by, e)
	l.note(e, by, "got it")
	e.deliveries++
	e.lastLife = l.life
	e.holder = by
	return e
}

// judgeTransactions holds a delivery of e against the transactions that it is part of.
func (l *ledger) judgeTransactions(by string, e *entry) {
	for _, x := range e.moves {
		if x.happened {
			l.fault("%s got %s, which the transaction %s acknowledged, whose messages were seen", by, e.id, x.id)
		}
	}
	x := e.tx
	if x == nil {
		return
	}
	if x.aborted {
		l.fault("%s got %s of the aborted transaction %s", by, e.id, x.id)
	}
	if !x.happened {
		for _, other := range x.acks {
			if other.lastLife > x.life || other.settledAway {
				l.fault("%s got %s of the transaction %s, but %s, which it acknowledged, came back", by, e.id, x.id, other.id)
			}
		}
	}
	x.happened = true
}

// acking notes that an ACK goes out that covers the entries.
func (l *ledger) acking(entries ...*entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		e.acking = true
		l.note(e, e.holder, "acknowledges it")
	}
}

// acked notes the RECEIPT of such an ACK.
func (l *ledger) acked(entries ...*entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		e.acked = true
		l.note(e, e.holder, "has the RECEIPT of the ACK")
	}
}

// taken notes that a message came in mode auto: only a crash may bring it back.
func (l *ledger) taken(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.acking, e.kept = true, true
}

// letGo notes, before it happens, that a connection gives a message back.
func (l *ledger) letGo(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(e, e.holder, "gives it back")
	e.holder = ""
}

// leaving notes, before it happens, that a connection ends.
func (l *ledger) leaving(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.open {
		if e.holder == name && !e.kept {
			l.note(e, name, "leaves")
			e.holder = ""
		}
	}
}

// endingAll notes, before it happens, that the broker is to end.
func (l *ledger) endingAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending = true
}

// crashed notes the end of a life of the broker: all connections are over.
func (l *ledger) crashed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life++
	l.ending = false
	for _, e := range l.open {
		e.holder, e.kept = "", false
	}
}

// settle judges what must be known once all queues are empty, everything that came
// acknowledged with a RECEIPT, and no client at work.
func (l *ledger) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.open {
		l.settleEntry(e)
	}
	for _, x := range l.txs {
		l.settleTransaction(x)
	}
	l.settleGaps()
	for _, e := range l.open {
		e.settledAway = true
		e.holder = ""
	}
	l.open, l.txs = nil, nil
}

func (l *ledger) settleEntry(e *entry) {
	happened := 0
	for _, x := range e.moves {
		if x.happened {
			happened++
		}
	}
	switch {
	case e.receipted && e.deliveries == 0 && e.queue != automatic:
		// In mode auto a message is taken when it is on its way, and that may be cut off.
		l.fault("%v was sent with a RECEIPT, and is lost", e)
	case e.deliveries > 0 && !e.acked && !e.acking:
		l.fault("%v was delivered, never acknowledged, and did not come back", e)
	case happened > 1:
		l.fault("%v was moved by %d transactions", e, happened)
	case len(e.moves) > 0 && !e.acked && happened == 0:
		l.fault("%v is gone, but no transaction that acknowledged it happened", e)
	}
}

func (l *ledger) settleTransaction(x *tx) {
	present := 0
	for _, e := range x.sends {
		if e.deliveries > 0 {
			present++
		}
	}
	switch {
	case present > 0 && present < len(x.sends):
		l.fault("of the transaction %s there came %d of %d messages", x.id, present, len(x.sends))
	case x.committed && present == 0 && len(x.sends) > 0:
		l.fault("the transaction %s was committed with a RECEIPT, and is lost", x.id)
	}
}

// settleGaps judges what came of messages without a RECEIPT: what one connection sent to one queue
// is there up to some message, and not from there on.
func (l *ledger) settleGaps() {
	type line struct{ producer, queue string }
	lines := map[line][]*entry{}
	for _, e := range l.open {
		if e.tx == nil && e.queue != automatic {
			k := line{e.producer, e.queue}
			lines[k] = append(lines[k], e)
		}
	}
	for _, entries := range lines {
		slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.number, b.number) })
		var gap *entry
		for _, e := range entries {
			switch {
			case e.deliveries == 0 && gap == nil:
				gap = e
			case e.deliveries > 0 && gap != nil:
				l.fault("%s came, but %s, sent before it, did not", e.id, gap.id)
				gap = nil
			}
		}
	}
}

// sequence judges the order in which one connection gets messages.
type sequence struct {
	l    *ledger
	last map[string]*entry // by queue, producer and priority
	// emptying says that nothing is sent any more, and nobody else gives anything back: then
	// redelivered messages are in their place too, and the higher priority is always first.
	emptying bool
	lowest   map[string]*entry // by queue
}

func newSequence(l *ledger, emptying bool) *sequence {
	return &sequence{l: l, last: map[string]*entry{}, lowest: map[string]*entry{}, emptying: emptying}
}

// next judges the next delivery. A nil sequence accepts any.
func (s *sequence) next(e *entry, redelivered bool) {
	if s == nil || !e.due.IsZero() || redelivered && !s.emptying {
		return
	}
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	key := fmt.Sprint(e.queue, " ", e.producer, " ", e.priority)
	if last := s.last[key]; last != nil && last.number >= e.number {
		s.l.fault("%s came after %s of the same sender and priority", e.id, last.id)
	}
	s.last[key] = e
	if !s.emptying {
		return
	}
	if lowest := s.lowest[e.queue]; lowest != nil && lowest.priority < e.priority {
		s.l.fault("%s of priority %d came after %s of priority %d", e.id, e.priority, lowest.id, lowest.priority)
	}
	s.lowest[e.queue] = e
}
