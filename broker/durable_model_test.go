package broker

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"footfall/store"
	"footfall/store/storetest"
)

// TestDurableSubscriptionsAtRandom holds durable subscriptions against lists: what is sent to a topic is in each of its
// subscriptions until that one acknowledges it, over restarts and cuts of the power, and nothing is left in
// the store of what nobody has. Backlogs are paged, and bodies are in chunks, all the time.
func TestDurableSubscriptionsAtRandom(t *testing.T) {
	setRapid(t, 60, 40)
	for range rounds() {
		synctest.Test(t, func(t *testing.T) {
			rapid.Check(bubbled{t}, func(t *rapid.T) {
				tidy := &tidied{}
				defer tidy.up()
				opt := Options{BacklogMessages: rapid.SampledFrom([]int{1, 3, 2048}).Draw(t, "backlog"), BacklogBytes: 2 << 20}
				opt.fewLeave = rapid.SampledFrom([]int{-1, 1, 16}).Draw(t, "few leave")
				h := &durableHistory{w: newDiskWorld(t, opt, storetest.NewDisk(tidy)), durables: map[string]*durableModel{}}
				defer func() { h.w.stop() }()
				h.sender = h.w.connect("sender")
				t.Repeat(map[string]func(*rapid.T){
					"subscribe": h.subscribe, "subscribe too": h.subscribe, "send": h.send, "send more": h.send, "commit": h.commit, "direct": h.direct,
					"later": h.later, "ack": h.ack, "ack more": h.ack, "nack": h.nack, "vanish": h.vanish, "unsubscribe": h.unsubscribe,
					"delete": h.delete, "advance": h.advance, "restart": h.restart, "crash": h.crash,
					"": func(t *rapid.T) { h.check(t) },
				})
				h.drain(t)
			})
		})
	}
}

// durableModel is a durable subscription: what it has, in the order in which it came.
type durableModel struct {
	topic  string
	bodies []string
	// maybe are those of the last request before a crash, which it has or has not.
	maybe []string
}

type durableHistory struct {
	w        *world
	sender   *client
	durables map[string]*durableModel
	live     []*durableConsumer
	delayed  []lateMessage
	bodies   int
	clients  int
	receipts int
	// unsure are messages of which is not known whether they came before a crash: each is everywhere or nowhere.
	unsure [][]string
}

type lateMessage struct {
	at          time.Time
	topic, body string
}

type durableConsumer struct {
	name   string
	client *client
	has    []Output // not acknowledged
}

var durableTopics = map[string]string{"a": "t", "b": "t", "c": "t", "d": "u"}

func durableName(name string) SubscriptionName { return SubscriptionName{Owner: "o", Name: name} }

// act carries out operations and demands their receipt.
func (h *durableHistory) act(t *rapid.T, c *client, ops ...Op) {
	h.receipts++
	last := &ops[len(ops)-1]
	last.WantReceipt, last.Receipt = true, fmt.Sprint(h.receipts)
	c.do(ops...)
	synctest.Wait()
	for _, o := range h.collect(c) {
		switch {
		case o.Kind == OutputReceipt && o.Receipt == last.Receipt:
			return
		case o.Kind == OutputError:
			t.Fatalf("%+v is answered with %v", last, o.Err)
		}
	}
	t.Fatalf("%+v is not answered", last)
}

// collect takes what a client got, and gives its consumer the messages.
func (h *durableHistory) collect(c *client) []Output {
	outs := c.take()
	for _, l := range h.live {
		if l.client == c {
			for _, o := range outs {
				if o.Kind == OutputMessage {
					l.has = append(l.has, o)
				}
			}
		}
	}
	return outs
}

func (h *durableHistory) gather() {
	synctest.Wait()
	for _, l := range h.live {
		h.collect(l.client)
	}
}

func (h *durableHistory) subscribe(t *rapid.T) {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(durableTopics))).Draw(t, "name")
	if len(h.live) >= 6 {
		return
	}
	h.clients++
	c := &durableConsumer{name: name, client: h.w.connect(fmt.Sprint("c", h.clients))}
	h.live = append(h.live, c)
	if h.durables[name] == nil {
		h.durables[name] = &durableModel{topic: durableTopics[name]}
	}
	limit := NoRedeliveryLimit
	h.act(t, c.client, Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{
		Redelivery: &Redelivery{Limit: &limit},
		ID:         "s", From: Address{Kind: Topic, Name: durableTopics[name]}, Durable: durableName(name), Mode: AckIndividual,
		Window: rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "window"),
	}})
}

func (h *durableHistory) message(t *rapid.T) *Message {
	h.bodies++
	m := newMessage(fmt.Sprint("m", h.bodies, " "))
	if rapid.IntRange(0, 9).Draw(t, "large") == 9 {
		m.Body = append(m.Body, bytes.Repeat([]byte("x"), store.ChunkBytes+10)...)
	}
	return m
}

// nameOfBody is what a message is known by.
func nameOfBody(m *Message) string {
	name, _, _ := strings.Cut(string(m.Body), " ")
	return name
}

func (h *durableHistory) arrive(topic, body string) {
	for _, d := range h.durables {
		if d.topic == topic {
			d.bodies = append(d.bodies, body)
		}
	}
}

func (h *durableHistory) send(t *rapid.T) {
	topic, m := rapid.SampledFrom([]string{"t", "t", "u"}).Draw(t, "topic"), h.message(t)
	h.arrive(topic, nameOfBody(m))
	h.act(t, h.sender, Op{Kind: OpSend, To: Address{Kind: Topic, Name: topic}, Message: m})
}

func (h *durableHistory) commit(t *rapid.T) {
	op := Op{Kind: OpCommit, Tx: 1}
	for range rapid.IntRange(1, 4).Draw(t, "sends") {
		topic, m := rapid.SampledFrom([]string{"t", "u"}).Draw(t, "topic"), h.message(t)
		h.arrive(topic, nameOfBody(m))
		op.Sends = append(op.Sends, Op{Kind: OpSend, To: Address{Kind: Topic, Name: topic}, Message: m})
	}
	h.act(t, h.sender, op)
}

// direct sends to the address of one subscription.
func (h *durableHistory) direct(t *rapid.T) {
	name, ok := some(t, slices.Sorted(maps.Keys(h.durables)), "subscription")
	if !ok {
		return
	}
	m := h.message(t)
	h.durables[name].bodies = append(h.durables[name].bodies, nameOfBody(m))
	h.act(t, h.sender, Op{Kind: OpSend, To: durableName(name).Address(), Message: m})
}

func (h *durableHistory) later(t *rapid.T) {
	m := h.message(t)
	m.Delay = 5000
	topic := rapid.SampledFrom([]string{"t", "u"}).Draw(t, "topic")
	h.delayed = append(h.delayed, lateMessage{time.Now().Add(5 * time.Second), topic, nameOfBody(m)})
	h.act(t, h.sender, Op{Kind: OpSend, To: Address{Kind: Topic, Name: topic}, Message: m})
}

func (h *durableHistory) advance(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, 6 * time.Second}).Draw(t, "time"))
	h.due()
}

// due has the messages come whose time is past.
func (h *durableHistory) due() {
	synctest.Wait()
	rest := h.delayed[:0]
	for _, l := range h.delayed {
		if l.at.After(time.Now()) {
			rest = append(rest, l)
			continue
		}
		h.arrive(l.topic, l.body)
	}
	h.delayed = rest
}

// one draws a consumer with something that it has not acknowledged, and one message of that.
func (h *durableHistory) one(t *rapid.T) (*durableConsumer, int) {
	h.gather()
	var with []*durableConsumer
	for _, l := range h.live {
		if len(l.has) > 0 {
			with = append(with, l)
		}
	}
	c, ok := some(t, with, "consumer")
	if !ok {
		return nil, 0
	}
	return c, rapid.IntRange(0, len(c.has)-1).Draw(t, "message")
}

func (h *durableHistory) ack(t *rapid.T) {
	c, i := h.one(t)
	if c == nil {
		return
	}
	o := c.has[i]
	c.has = slices.Delete(c.has, i, i+1)
	d := h.durables[c.name]
	at := slices.Index(d.bodies, nameOfBody(o.Message))
	if at < 0 {
		t.Fatalf("%s has %s, which was not to be there", c.name, nameOfBody(o.Message))
	}
	d.bodies = slices.Delete(d.bodies, at, at+1)
	h.act(t, c.client, Op{Kind: OpAck, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}})
}

func (h *durableHistory) nack(t *rapid.T) {
	c, i := h.one(t)
	if c == nil {
		return
	}
	o := c.has[i]
	c.has = slices.Delete(c.has, i, i+1)
	h.act(t, c.client, Op{Kind: OpNack, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}})
}

func (h *durableHistory) vanish(t *rapid.T) {
	c, ok := some(t, h.live, "consumer")
	if !ok {
		return
	}
	h.part(c)
}

func (h *durableHistory) part(c *durableConsumer) {
	c.client.conn.Detach()
	delete(h.w.clients, c.client.name)
	h.live = slices.DeleteFunc(h.live, func(o *durableConsumer) bool { return o == c })
	synctest.Wait()
}

func (h *durableHistory) unsubscribe(t *rapid.T) {
	c, ok := some(t, h.live, "consumer")
	if !ok {
		return
	}
	h.act(t, c.client, Op{Kind: OpUnsubscribe, Sub: "s"})
	h.part(c)
}

// delete deletes a subscription after its consumers but one have left.
func (h *durableHistory) delete(t *rapid.T) {
	name, ok := some(t, slices.Sorted(maps.Keys(h.durables)), "subscription")
	if !ok {
		return
	}
	by := h.sender
	for _, l := range slices.Clone(h.live) {
		if l.name != name {
			continue
		}
		if by != h.sender {
			h.part(l)
			continue
		}
		by = l.client
	}
	delete(h.durables, name)
	h.act(t, by, Op{Kind: OpUnsubscribe, Sub: "s", Durable: durableName(name)})
	h.live = slices.DeleteFunc(h.live, func(l *durableConsumer) bool {
		if l.name == name {
			l.client.conn.Detach()
		}
		return l.name == name
	})
}

func (h *durableHistory) restart(t *rapid.T) {
	h.w.restart()
	h.reborn()
}

func (h *durableHistory) reborn() {
	h.live = nil
	h.sender = h.w.connect("sender")
	h.due()
}

// crash cuts the power while messages are under way that have no receipt yet.
func (h *durableHistory) crash(t *rapid.T) {
	h.w.settle()
	var disk *storetest.Disk
	syncs, percent, seed := rapid.IntRange(1, 3).Draw(t, "syncs"), rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "percent left"), rapid.Uint64().Draw(t, "seed")
	h.w.disk.OnSync(func() {
		if syncs--; syncs == 0 {
			disk = h.w.disk.Crash(percent, seed)
		}
	})
	for range rapid.IntRange(0, 2).Draw(t, "messages") {
		m := h.message(t)
		h.unsure = append(h.unsure, []string{nameOfBody(m)})
		for _, d := range h.durables {
			if d.topic == "t" {
				d.maybe = append(d.maybe, nameOfBody(m))
			}
		}
		h.sender.do(Op{Kind: OpSend, To: Address{Kind: Topic, Name: "t"}, Message: m})
	}
	h.w.settle()
	h.w.disk.OnSync(nil)
	if disk == nil {
		disk = h.w.disk.Crash(percent, seed)
	}
	h.w.stop()
	h.w.use(disk)
	h.w.start()
	h.reborn()
	h.learn(t)
}

// learn finds out what came of the messages that were under way: one that is in a subscription is in all of them.
func (h *durableHistory) learn(t *rapid.T) {
	came := map[string]int{}
	subscriptions := 0
	for name, d := range h.durables {
		if d.topic != "t" {
			continue
		}
		subscriptions++
		for _, body := range h.look(t, name) {
			if slices.Contains(d.maybe, body) {
				came[body]++
				d.bodies = append(d.bodies, body)
			}
		}
		d.maybe = nil
	}
	for body, n := range came {
		if n != subscriptions {
			t.Fatalf("%s is in %d of %d subscriptions", body, n, subscriptions)
		}
	}
	h.unsure = nil
}

// look returns what a subscription has that no consumer has, in order.
func (h *durableHistory) look(t *rapid.T, name string) (bodies []string) {
	h.clients++
	c := h.w.connect(fmt.Sprint("c", h.clients))
	c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "b", From: durableName(name).Address(), Browse: &BrowseOp{}}})
	for _, o := range c.take() {
		if o.Kind == OutputMessage {
			bodies = append(bodies, nameOfBody(o.Message))
		}
	}
	c.conn.Detach()
	delete(h.w.clients, c.name)
	synctest.Wait()
	return bodies
}

// check demands that subscriptions have what they should, with their consumers or not, and that the store is in order.
func (h *durableHistory) check(t *rapid.T) {
	h.gather()
	rep, err := h.checked()
	if err != nil {
		t.Fatalf("%v", err)
	}
	wanted := uint64(0)
	for name, d := range h.durables {
		wanted += uint64(len(d.bodies))
		has := map[string]bool{}
		for _, l := range h.live {
			for _, o := range l.has {
				if l.name == name {
					has[nameOfBody(o.Message)] = true
				}
			}
		}
		waiting := slices.DeleteFunc(slices.Clone(d.bodies), func(b string) bool { return has[b] })
		if got := h.look(t, name); !slices.Equal(got, waiting) {
			t.Fatalf("%s has %v and not %v, beside %v", name, got, waiting, has)
		}
	}
	if rep.Messages != wanted {
		t.Fatalf("the store has %d messages and not %d", rep.Messages, wanted)
	}
}

func (h *durableHistory) checked() (store.Report, error) {
	h.w.settle()
	rep, err := h.w.store.Check()
	return rep, errors.Join(err, rep.Err(), h.w.check())
}

// drain acknowledges all, and demands that nothing is left but what is spent.
func (h *durableHistory) drain(t *rapid.T) {
	for len(h.delayed) > 0 {
		time.Sleep(6 * time.Second)
		h.due()
	}
	for _, l := range slices.Clone(h.live) {
		h.part(l)
	}
	for _, name := range slices.Sorted(maps.Keys(h.durables)) {
		d := h.durables[name]
		c := h.w.connect("drain " + name)
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Topic, Name: d.topic}, Durable: durableName(name), Mode: AckAuto}})
		var got []string
		for _, o := range c.take() {
			if o.Kind == OutputMessage {
				got = append(got, nameOfBody(o.Message))
			}
		}
		if !slices.Equal(got, d.bodies) {
			t.Fatalf("%s gives %v and not %v", name, got, d.bodies)
		}
	}
	rep, err := h.checked()
	if err != nil || rep.Messages+rep.Shared+rep.Chunks != 0 {
		t.Fatalf("at the end: %v\n%v", err, rep)
	}
}
