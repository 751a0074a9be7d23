package server

import (
	"sync"

	"footfall/broker"
)

// A session that has this many answers that it does not read, or this many octets of
// receipt ids in them, is not read any more until there are fewer.
const (
	outboxReceipts = 64 << 10
	outboxBytes    = 1 << 20
)

// maxLot is the number of outputs from which on a lot is not kept for reuse.
const maxLot = 4096

// lot is what was put into an outbox at a time.
type lot struct{ outputs []broker.Output }

// lots keeps lots for reuse, so that neither a busy outbox allocates nor an idle one holds memory.
type lots struct{ pool sync.Pool }

func (l *lots) get() *lot {
	if v, ok := l.pool.Get().(*lot); ok {
		return v
	}
	return new(lot)
}

func (l *lots) put(v *lot) {
	if cap(v.outputs) > maxLot {
		return
	}
	clear(v.outputs)
	v.outputs = v.outputs[:0]
	l.pool.Put(v)
}

// outbox is where the broker leaves what it has for a session, and where its writer takes it. Messages in it
// are bounded by the broker, answers by the session's reader, which waits for roomy.
type outbox struct {
	lots *lots
	wake chan struct{} // holds one token when there is something to take
	room chan struct{} // holds one token when answers were written

	mu      sync.Mutex
	waiting *lot // nil when nothing waits
	// answers that were put and not written yet, and their octets
	answers, answerBytes int
	closed               bool
}

func newOutbox(l *lots) *outbox {
	return &outbox{lots: l, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Put implements broker.Outbox.
func (b *outbox) Put(outputs []broker.Output) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	if b.waiting == nil {
		b.waiting = b.lots.get()
	}
	b.waiting.outputs = append(b.waiting.outputs, outputs...)
	for i := range outputs {
		if outputs[i].Kind != broker.OutputMessage {
			b.answers++
			b.answerBytes += answerBytes(&outputs[i])
		}
	}
	b.mu.Unlock()
	signal(b.wake)
}

// answerBytes is what of an answer is the client's.
func answerBytes(out *broker.Output) int { return len(out.Receipt) }

// take takes all that waits, nil when that is nothing.
func (b *outbox) take() *lot {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.waiting
	b.waiting = nil
	return l
}

// wrote tells how many answers, and how many octets of them, were written.
func (b *outbox) wrote(answers, bytes int) {
	if answers == 0 {
		return
	}
	b.mu.Lock()
	b.answers -= answers
	b.answerBytes -= bytes
	b.mu.Unlock()
	signal(b.room)
}

// roomy says whether a session may go on asking for answers.
func (b *outbox) roomy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed || b.answers < outboxReceipts && b.answerBytes < outboxBytes
}

// close drops what is in the outbox and all that will be put.
func (b *outbox) close() {
	b.mu.Lock()
	b.closed = true
	b.waiting = nil
	b.mu.Unlock()
	signal(b.wake)
	signal(b.room)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (b *outbox) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
