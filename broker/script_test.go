package broker

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/scripts: conversations with the broker. Each command is carried out,
// everything is let come to rest, and what the clients got is the output. The commands:
//
//	new [limit=value ...]                            a fresh broker
//	connect c, disconnect c [receipt=r], vanish c    sessions; vanish is a lost connection
//	sub c key dest [mode= window= octets=]           mode: auto, client or individual
//	unsub c key [receipt=r]
//	send c dest body [receipt= persistent= priority= delay= at= size= times= id=]
//	ack|nack c [sub.number | id=text sub=key] [tx=n receipt=r credit=n]
//	recover c [key]
//	commit c tx=n [receipt=r] with a line "dest body" for each SEND; abort c tx=n
//	stall c, write c n                               the writer stops, and goes on for n messages
//	advance duration; disk low|high; restart; check; stats
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{t: t, w: newWorld(t, Options{})}
			defer func() { s.w.stop() }()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(d) })
		})
	})
}

type script struct {
	t   *testing.T
	w   *world
	low bool
}

func (s *script) run(d *datadriven.TestData) string {
	var out strings.Builder
	for line := range strings.Lines(d.Cmd + " " + cmdArgs(d)) {
		s.line(strings.TrimSpace(line), d.Input, &out)
	}
	return out.String()
}

func cmdArgs(d *datadriven.TestData) string {
	var parts []string
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			parts = append(parts, a.Key)
			continue
		}
		parts = append(parts, a.Key+"="+strings.Join(a.Vals, ","))
	}
	return strings.Join(parts, " ")
}

type words struct {
	args  []string
	named map[string]string
}

func parseWords(line string) (string, words) {
	fields := strings.Fields(line)
	w := words{named: map[string]string{}}
	for _, f := range fields[1:] {
		if k, v, ok := strings.Cut(f, "="); ok {
			w.named[k] = v
			continue
		}
		w.args = append(w.args, f)
	}
	return fields[0], w
}

func (w words) num(key string) int {
	n, _ := strconv.Atoi(w.named[key])
	return n
}

func (s *script) line(line, input string, out *strings.Builder) {
	cmd, w := parseWords(line)
	var c *client
	if len(w.args) > 0 {
		c = s.w.clients[w.args[0]]
	}
	receipt, want := w.named["receipt"]
	op := Op{WantReceipt: want, Receipt: receipt, Tx: uint64(w.num("tx"))}
	switch cmd {
	case "new":
		s.w.stop()
		s.w = newWorld(s.t, s.options(w))
	case "connect":
		s.w.connect(w.args[0])
	case "vanish":
		c.conn.Detach()
		s.report(out)
		delete(s.w.clients, w.args[0])
	case "disconnect":
		op.Kind = OpDisconnect
		c.do(op)
		c.conn.Detach()
		s.report(out)
		delete(s.w.clients, w.args[0])
	case "sub":
		op.Kind = OpSubscribe
		op.Subscribe = &SubscribeOp{
			ID: w.args[1], Text: w.args[2], From: address(w.args[2]), Mode: modes[w.named["mode"]],
			Window: w.num("window"), WindowBytes: int64(w.num("octets")),
		}
		c.do(op)
	case "unsub":
		op.Kind, op.Sub = OpUnsubscribe, w.args[1]
		c.do(op)
	case "send":
		s.send(c, op, w)
	case "ack", "nack":
		op.Kind = map[string]OpKind{"ack": OpAck, "nack": OpNack}[cmd]
		op.Ack = ackOp(w)
		c.do(op)
	case "recover":
		op.Kind = OpRecover
		if len(w.args) > 1 {
			op.Sub = w.args[1]
		}
		c.do(op)
	case "commit":
		op.Kind = OpCommit
		for l := range strings.Lines(input) {
			f := strings.Fields(l)
			op.Sends = append(op.Sends, Op{Kind: OpSend, To: address(f[0]), Message: newMessage(f[1])})
		}
		c.do(op)
	case "abort":
		op.Kind = OpAbort
		c.do(op)
	case "stall":
		c.mu.Lock()
		c.stall = true
		c.mu.Unlock()
	case "write":
		c.mu.Lock()
		c.write(must(strconv.Atoi(w.args[1])))
		c.mu.Unlock()
	case "advance":
		time.Sleep(must(time.ParseDuration(w.args[0])))
	case "disk":
		free := uint64(1 << 20)
		if w.args[0] == "high" {
			free = 1 << 40
		}
		s.w.b.inbox.run(func() { s.w.b.core.diskFree(free) })
	case "restart":
		s.w.restart()
	case "check":
		synctest.Wait()
		if err := s.w.check(); err != nil {
			fmt.Fprintln(out, err)
		} else {
			fmt.Fprintln(out, "ok")
		}
	case "stats":
		st, _ := s.w.b.Stats(context.Background())
		fmt.Fprintf(out, "ready %d unacked %d scheduled %d stale %d memory %v\n", st.Ready, st.Unacked, st.Scheduled, st.StaleAcks, st.MemoryBytes > 0)
	default:
		s.t.Fatalf("unknown command %q", cmd)
	}
	s.report(out)
}

func (s *script) options(w words) Options {
	o := Options{
		Window: w.num("window"), OutboxBytes: int64(w.num("outbox")), TopicBytes: int64(w.num("topic")),
		BacklogMessages: w.num("backlog"), MemoryBytes: int64(w.num("memory")), MaxDestinations: w.num("destinations"),
		NoAutoCreate: w.named["create"] == "false", TransactionActions: w.num("actions"),
	}
	return o
}

func (s *script) send(c *client, op Op, w words) {
	times := max(1, w.num("times"))
	var ops []Op
	for i := range times {
		body := w.args[2]
		if times > 1 {
			body += strconv.Itoa(i)
		}
		m := newMessage(body)
		if n := w.num("size"); n > 0 {
			m.Body = bytes.Repeat([]byte("x"), n)
		}
		m.Persistent = w.named["persistent"] != "false"
		if p, ok := w.named["priority"]; ok {
			m.Priority = uint8(must(strconv.Atoi(p)))
		}
		if d, ok := w.named["delay"]; ok {
			m.Delay = must(time.ParseDuration(d)).Milliseconds()
		}
		if d, ok := w.named["at"]; ok {
			m.DeliverAt = time.Now().Add(must(time.ParseDuration(d))).UnixMilli()
		}
		m.UserID = w.named["id"]
		op.Kind, op.To, op.Message = OpSend, address(w.args[1]), m
		ops = append(ops, op)
	}
	c.do(ops...)
}

func ackOp(w words) AckOp {
	a := AckOp{Credit: w.num("credit"), Sub: w.named["sub"], UserID: w.named["id"], Text: w.named["id"]}
	if len(w.args) > 1 {
		sub, number, _ := strings.Cut(w.args[1], ".")
		a.SubNumber, a.Number = must(strconv.ParseUint(sub, 10, 64)), must(strconv.ParseUint(number, 10, 64))
		a.Text = w.args[1]
	}
	return a
}

// report writes what the clients got since the last time, by client.
func (s *script) report(out *strings.Builder) {
	for _, name := range slices.Sorted(maps.Keys(s.w.clients)) {
		for _, o := range s.w.clients[name].take() {
			fmt.Fprintf(out, "%s < %s\n", name, show(o))
		}
	}
}

var modes = map[string]AckMode{"": AckAuto, "auto": AckAuto, "client": AckClient, "individual": AckIndividual}

func address(text string) Address {
	if name, ok := strings.CutPrefix(text, "/topic/"); ok {
		return Address{Topic, name}
	}
	return Address{Queue, strings.TrimPrefix(text, "/queue/")}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
