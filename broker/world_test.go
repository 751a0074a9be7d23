package broker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"footfall/frames"
	"footfall/store"
)

// world is a broker over a store that outlives it, with clients, inside a synctest bubble.
type world struct {
	tb      testing.TB
	opt     Options
	memory  *store.Memory
	b       *Broker
	clients map[string]*client
}

func newWorld(tb testing.TB, opt Options) *world {
	w := &world{tb: tb, opt: opt, memory: store.NewMemory(), clients: map[string]*client{}}
	if w.opt.Log == nil {
		w.opt.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	w.b = New(w.memory, w.opt)
	return w
}

// restart ends the broker in good order and begins anew.
func (w *world) restart() {
	w.stop()
	w.memory = w.memory.Reopen()
	w.b = New(w.memory, w.opt)
	clear(w.clients)
}

func (w *world) stop() {
	synctest.Wait()
	if err := w.b.Close(context.Background()); err != nil {
		w.tb.Fatalf("Close: %v", err)
	}
	if err := w.memory.Close(); err != nil {
		w.tb.Fatalf("Close of the store: %v", err)
	}
}

// client is a session: it collects what it is given, and reports it written at once
// unless it is told to stall.
type client struct {
	w     *world
	name  string
	conn  *Conn
	stall bool

	mu      sync.Mutex
	outputs []Output
	owed    int // messages not reported as written
}

func (w *world) connect(name string) *client {
	c := &client{w: w, name: name}
	conn, err := w.b.Attach(c, Client{Remote: name})
	if err != nil {
		w.tb.Fatalf("Attach: %v", err)
	}
	c.conn = conn
	w.clients[name] = c
	return c
}

// Put implements Outbox.
func (c *client) Put(outputs []Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range outputs {
		c.outputs = append(c.outputs, o)
		if o.Kind == OutputMessage {
			c.owed++
		}
	}
	if !c.stall {
		c.write(c.owed)
	}
}

// write reports n messages as written. The caller holds mu.
func (c *client) write(n int) {
	c.owed -= n
	c.conn.Written(n)
}

// take waits until nothing moves and returns what came since the last time.
func (c *client) take() []Output {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	outs := c.outputs
	c.outputs = nil
	return outs
}

func (c *client) do(ops ...Op) {
	bytes := 0
	for i := range ops {
		if m := ops[i].Message; m != nil {
			bytes += int(m.Size())
		}
	}
	if err := c.conn.Submit(&Request{Ops: ops, Bytes: bytes}); err != nil {
		c.w.tb.Fatalf("Submit: %v", err)
	}
}

// newMessage makes a persistent message of priority 4.
func newMessage(body string) *Message {
	return &Message{Body: []byte(body), Priority: 4, Persistent: true, Header: frames.Header{Dialect: frames.V12}}
}

// show writes an output as scripts expect it.
func show(o Output) string {
	switch o.Kind {
	case OutputMessage:
		var b strings.Builder
		body := string(o.Message.Body)
		if len(body) > 40 {
			body = fmt.Sprintf("%d octets", len(body))
		}
		fmt.Fprintf(&b, "MESSAGE %d.%d %s", o.SubNumber, o.Number, body)
		if o.Redelivered {
			fmt.Fprintf(&b, " redelivered:%d", o.Deliveries)
		}
		if o.HideUserID {
			b.WriteString(" own-id")
		}
		return b.String()
	case OutputReceipt:
		if o.DeliverAt != 0 {
			return "RECEIPT " + o.Receipt + " scheduled"
		}
		return "RECEIPT " + o.Receipt
	case OutputError:
		if o.WantReceipt {
			return fmt.Sprintf("ERROR (%s) %s: %s", o.Receipt, o.Err.Kind, o.Err.Message)
		}
		return fmt.Sprintf("ERROR %s: %s", o.Err.Kind, o.Err.Message)
	case OutputClose:
		return "CLOSE"
	}
	return "?"
}
