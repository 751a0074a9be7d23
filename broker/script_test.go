package broker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"footfall/frames"
	"footfall/schedule"
)

// TestScripts runs testdata/scripts: conversations with the broker. Each command is carried out,
// everything is let come to rest, and what the clients got is the output. The commands:
//
//	new [limit=value ...]                            a fresh broker; see options. A line "match setting=value ..." for each policy
//	policies                                         others from now on, as in new
//	connect c ... [user= client=], disconnect c [receipt=r], vanish c    sessions; vanish is a lost connection
//	sub c key dest [mode= window= octets=]           mode: auto, client or individual; see scriptRedelivery; timeout=
//	    [durable=name shared=name nolocal=true selector=word] [where=selector to the end of the line]
//	    dest may be several with commas between
//	    [browse=all|from BODY|tail|follow exclusive=true rank=n]
//	unsub c key [receipt=r durable=name]
//	send c dest body [receipt= persistent= priority= delay= at= size= times= id= headers=name:value,... group=g, or g! for its last, retain=set|remove dedup=]
//	ack|nack c [sub.number | id=text sub=key | msg=body sub=key | mid=id | invalid=text] [tx=n receipt=r credit=n extend=d]; nack: see scriptNack
//	recover c [key] [delay=]
//	commit c tx=n [receipt=r] with a line "dest body ..." for each SEND, as in send; abort c tx=n
//	nothing c [receipt=r]                            a frame that asks for a receipt only
//	request c, with a line for each                  send, ack, nack, recover, abort, commit in one request
//	stall c, write c n                               the writer stops, and goes on for n messages
//	hold before|after|outcomes, release              keeps answers of the store back: scans before or after they looked, batches
//	advance duration; disk low|high; restart; check; stats; deaths; duplicates; temporaries
//	delete, create, look, pause, resume               an operator, see operate
//	do, with a line for each                         several commands
//
// times=n sends body0, body1 and so on. A body of more than 40 octets is shown by its size.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{t: t, w: newWorld(t, Options{}), seen: map[string]*Message{}, seqs: map[string]uint64{}}
			defer func() { s.w.stop() }()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(d) })
		})
	})
}

type script struct {
	t     *testing.T
	w     *world
	batch []Op                // of a request that is put together, nil when there is none
	seen  map[string]*Message // by body
	seqs  map[string]uint64   // of what browsers saw
}

func (s *script) run(d *datadriven.TestData) string {
	var out strings.Builder
	switch d.Cmd {
	case "do":
		for line := range strings.Lines(d.Input) {
			s.line(line, "", &out)
		}
	case "request":
		s.batch = []Op{}
		for line := range strings.Lines(d.Input) {
			cmd, rest, _ := strings.Cut(line, " ")
			s.line(cmd+" "+d.CmdArgs[0].Key+" "+rest, "", &out)
		}
		ops := s.batch
		s.batch = nil
		s.w.clients[d.CmdArgs[0].Key].do(ops...)
		s.report(&out)
	default:
		s.line(d.Cmd+" "+cmdArgs(d), d.Input, &out)
	}
	return out.String()
}

// do submits ops, or keeps them for the request that they are part of.
func (s *script) do(c *client, ops ...Op) {
	if s.batch != nil {
		s.batch = append(s.batch, ops...)
		return
	}
	c.do(ops...)
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
	w := words{named: map[string]string{}}
	line, selector, _ := strings.Cut(strings.TrimSpace(line), " where=")
	w.named["where"] = selector // to the end of the line
	fields := strings.Fields(line)
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
	if !s.ask(cmd, c, w, input) && !s.manage(cmd, c, w, input, out) && !s.operate(cmd, w, out) {
		s.t.Fatalf("unknown command %q", line)
	}
	if s.batch == nil {
		s.report(out)
	}
	if cmd == "vanish" {
		delete(s.w.clients, w.args[0])
	}
}

// ask does the commands that are requests of a session.
func (s *script) ask(cmd string, c *client, w words, input string) bool {
	receipt, want := w.named["receipt"]
	op := Op{WantReceipt: want, Receipt: receipt, Tx: uint64(w.num("tx"))}
	switch cmd {
	case "disconnect":
		op.Kind = OpDisconnect
	case "sub":
		op.Kind = OpSubscribe
		op.Subscribe = &SubscribeOp{
			Browse: s.browseOp(w),
			ID:     w.args[1], Text: w.args[2], From: address(w.args[2]), Mode: modes[w.named["mode"]],
			Window: w.num("window"), WindowBytes: int64(w.num("octets")), Redelivery: scriptRedelivery(w, ""),
			Durable: c.subscriptionName(w.named["durable"]), Shared: c.subscriptionName(w.named["shared"]),
			Priority: int32(w.num("rank")), Exclusive: w.named["exclusive"] == "true",
			NoLocal: w.named["nolocal"] == "true", NoCreate: w.named["nocreate"] == "true", Selector: w.named["selector"] + w.named["where"],
		}
		if strings.Contains(w.args[2], ",") {
			op.Subscribe.From = Address{}
			for text := range strings.SplitSeq(w.args[2], ",") {
				op.Subscribe.Parts = append(op.Subscribe.Parts, Source{Text: text, Address: address(text)})
			}
		}
		if d := scriptTTL(w.named["timeout"]); d != nil {
			op.Subscribe.AckTimeout = *d
		}
	case "unsub":
		op.Kind, op.Sub, op.Durable = OpUnsubscribe, w.args[1], c.subscriptionName(w.named["durable"])
	case "send":
		s.do(c, sends(op, w)...)
		return true
	case "cancel":
		op.Kind, op.Schedule = OpCancel, &ScheduleOp{ID: w.args[1]}
		s.do(c, op)
		return true
	case "cancelall", "browse":
		op.Kind = OpCancelAll
		op.Schedule = &ScheduleOp{Until: math.MaxInt64}
		if cmd == "browse" {
			op.Kind, op.Schedule.ReplyTo = OpBrowseSchedule, address(w.args[1])
		}
		if d, ok := w.named["until"]; ok {
			op.Schedule.Until = time.Now().Add(must(time.ParseDuration(d))).UnixMilli()
		}
		s.do(c, op)
		return true
	case "ack", "nack":
		op.Kind = map[string]OpKind{"ack": OpAck, "nack": OpNack}[cmd]
		op.Ack, op.Nack = s.ackOp(w), scriptNack(w)
	case "recover":
		op.Kind, op.Nack = OpRecover, scriptNack(w)
		if len(w.args) > 1 {
			op.Sub = w.args[1]
		}
	case "commit":
		op.Kind = OpCommit
		for l := range strings.Lines(input) {
			_, w := parseWords("send " + w.args[0] + " " + l)
			op.Sends = append(op.Sends, sends(Op{}, w)...)
		}
	case "abort":
		op.Kind = OpAbort
	case "nothing":
		op.Kind = OpReceipt
	default:
		return false
	}
	s.do(c, op)
	return true
}

// manage does the commands that are not.
func (s *script) manage(cmd string, c *client, w words, input string, out *strings.Builder) bool {
	switch cmd {
	case "new":
		s.w.stop()
		opt := options(w)
		opt.Policies = scriptPolicies(input)
		s.w = newWorld(s.t, opt)
	case "policies":
		s.w.b.SetPolicies(context.Background(), scriptPolicies(input))
	case "connect":
		for _, name := range w.args {
			s.w.connectAs(name, Client{Remote: name, User: w.named["user"], ClientID: w.named["client"]})
		}
	case "vanish":
		c.conn.Detach()
	case "stall":
		c.mu.Lock()
		c.stall = true
		c.mu.Unlock()
	case "write":
		c.mu.Lock()
		c.write(must(strconv.Atoi(w.args[1])))
		c.mu.Unlock()
	case "hold":
		s.w.slow.hold(w.args[0] == "before", w.args[0] == "after", w.args[0] == "outcomes")
	case "release":
		s.w.slow.release()
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
		s.check(out)
	case "stats":
		st, _ := s.w.b.Stats(context.Background())
		fmt.Fprintf(out, "ready %d unacked %d scheduled %d stale %d memory %v\n", st.Ready, st.Unacked, st.Scheduled, st.StaleAcks, st.MemoryBytes > 0)
	case "duplicates":
		st, _ := s.w.b.Stats(context.Background())
		rep, err := s.w.store.Check()
		fmt.Fprintf(out, "%d refused, %d ids in memory, %d on disk, read %d times %v\n", st.Duplicates, st.DuplicateIDs, rep.Duplicates, st.DuplicateReads, errors.Join(err, rep.Err()))
	case "temporaries":
		st, _ := s.w.b.Stats(context.Background())
		stored := len(s.w.b.store.Recovered().Destinations)
		fmt.Fprintf(out, "there %d ended %d dropped %d destinations %d stored at the start %d\n", st.Temporaries, st.TemporariesEnded, st.DroppedNoOwner, st.Destinations, stored)
	case "slow":
		st, _ := s.w.b.Stats(context.Background())
		fmt.Fprintf(out, "blocked %d disconnected %d cut off %d dropped oldest %d newest %d\n", st.Blocked, st.SlowConsumers, st.SlowCutOff, st.SlowDroppedOldest, st.SlowDroppedNewest)
	case "deaths":
		st, _ := s.w.b.Stats(context.Background())
		fmt.Fprintf(out, "moved %v deleted %d kept %d returning %d timeouts %d\n", st.DeadLettered, st.DeadDeleted, st.DeadKept, st.Returning, st.AckTimeouts)
	default:
		return false
	}
	return true
}

func (s *script) check(out *strings.Builder) {
	s.w.settle()
	rep, err := s.w.store.Check()
	if err = errors.Join(err, rep.Err(), s.w.check()); err != nil {
		fmt.Fprintln(out, err)
		return
	}
	fmt.Fprintln(out, "ok")
}

func options(w words) Options {
	return Options{
		Window: w.num("window"), OutboxBytes: int64(w.num("outbox")), TopicBytes: int64(w.num("topic")),
		BacklogMessages: w.num("backlog"), BacklogBytes: int64(w.num("octets")), MemoryBytes: int64(w.num("memory")),
		MaxTemporaries: w.num("temporaries"), MaxFollowed: w.num("followed"), VirtualSelectors: w.named["virtual"] == "selectors", SharedTemporaries: w.named["temporaries-of"] == "user",
		MaxDestinations: w.num("destinations"), NoAutoCreate: w.named["create"] == "false", TransactionActions: w.num("actions"),
		MaxWindow: w.num("max-window"), MaxWindowBytes: int64(w.num("max-octets")), RetainedBytes: int64(w.num("retained")), DuplicateIDs: w.num("ids"), DuplicateBytes: int64(w.num("idbytes")), ExclusiveDurables: w.named["sharing"] == "exclusive",
	}
}

func sends(op Op, w words) (ops []Op) {
	times := max(1, w.num("times"))
	for i := range times {
		body := w.args[2]
		if times > 1 {
			body += strconv.Itoa(i)
		}
		m := newMessage(body)
		if n := w.num("size"); n > 0 {
			m.Body = append(m.Body, bytes.Repeat([]byte("."), n-len(body))...)
		}
		op.NoCreate = w.named["nocreate"] == "true"
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
		if name, ok := w.named["name"]; ok {
			m.ScheduledID, m.ChosenID = name, true
		}
		if d, ok := w.named["ttl"]; ok {
			m.TTL = must(time.ParseDuration(d)).Milliseconds()
		}
		if d, ok := w.named["expires"]; ok {
			m.Expires = time.Now().Add(must(time.ParseDuration(d))).UnixMilli()
		}
		if d, ok := w.named["repeat"]; ok { // delay/period/count
			parts := strings.Split(d, "/")
			m.Plan = &schedule.Plan{Kind: schedule.Repeating, Repeat: schedule.Repeat{
				Delay: must(time.ParseDuration(parts[0])).Milliseconds(), Period: must(time.ParseDuration(parts[1])).Milliseconds(),
				Count: must(strconv.ParseInt(parts[2], 10, 64)),
			}}
		}
		if _, ok := w.named["limit"]; ok {
			m.RedeliveryLimit, m.HasRedeliveryLimit = int32(w.num("limit")), true
		}
		for _, pair := range strings.Split(w.named["headers"], ",") {
			if name, value, ok := strings.Cut(pair, ":"); ok {
				m.Header.Raw = frames.AppendHeader(m.Header.Raw, m.Header.Dialect, name, value)
			}
		}
		m.UserID, m.DedupID = w.named["id"], w.named["dedup"]
		m.Retain = map[string]Retain{"set": RetainSet, "remove": RetainRemove}[w.named["retain"]]
		m.Group, m.GroupEnd = strings.CutSuffix(w.named["group"], "!")
		op.Kind, op.To, op.Message = OpSend, address(w.args[1]), m
		ops = append(ops, op)
	}
	return ops
}

func (s *script) ackOp(w words) AckOp {
	a := AckOp{Credit: w.num("credit"), Sub: w.named["sub"], UserID: w.named["id"], Text: w.named["id"], Invalid: w.named["invalid"]}
	if d, ok := w.named["extend"]; ok {
		a.Extend = must(time.ParseDuration(d)).Milliseconds()
	}
	if body, ok := w.named["msg"]; ok {
		a.MessageID = s.seen[body].ID
		a.Text = a.MessageID.String()
	}
	if id, ok := w.named["mid"]; ok {
		a.MessageID, _ = ParseMessageID(id)
		a.Text = id
	}
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
			if o.Kind == OutputMessage {
				s.seen[string(o.Message.Body)] = o.Message
				s.seqs[string(o.Message.Body)] = o.Seq
			}
		}
	}
}

// browseOp reads browse=all, follow, tail, or the body of a message that was seen by a browser.
func (s *script) browseOp(w words) *BrowseOp {
	switch how := w.named["browse"]; how {
	case "":
		return nil
	case "all":
		return &BrowseOp{}
	case "follow":
		return &BrowseOp{Follow: true}
	case "tail":
		return &BrowseOp{Follow: true, Tail: true}
	default:
		return &BrowseOp{From: s.seqs[how]}
	}
}

// subscriptionName is what a session makes of a name.
func (c *client) subscriptionName(name string) SubscriptionName {
	if name == "" {
		return SubscriptionName{}
	}
	return SubscriptionName{cmp.Or(c.conn.client.ClientID, c.conn.client.User), name}
}

var modes = map[string]AckMode{"": AckAuto, "auto": AckAuto, "client": AckClient, "individual": AckIndividual}

// address reads a destination; /temp-queue/OWNER.NAME and /queue/temp.OWNER.NAME are temporary, where the owner is the number of a connection.
func address(text string) Address {
	for _, kind := range []Kind{Queue, Topic} {
		for prefix, plain := range map[string]bool{"/temp-" + kind.String() + "/": false, "/" + kind.String() + "/temp.": true} {
			if rest, ok := strings.CutPrefix(text, prefix); ok {
				owner, name, _ := strings.Cut(rest, ".")
				a := Address{Kind: kind, Name: name, Owner: Owner{Conn: must(strconv.ParseUint(owner, 36, 64)), Plain: plain}}
				if plain {
					a.Name = "temp." + rest
				}
				return a
			}
		}
	}
	if name, ok := strings.CutPrefix(text, "/topic/"); ok {
		return Address{Kind: Topic, Name: name}
	}
	if name, ok := strings.CutPrefix(text, "/dsub/"); ok {
		return Address{Kind: Durable, Name: name}
	}
	return Address{Kind: Queue, Name: strings.TrimPrefix(text, "/queue/")}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
