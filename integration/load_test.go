//go:build linux

package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"footfall/frames"
)

// load is clients at work on one life of a broker, all of whose doings are in a ledger.
type load struct {
	l    *ledger
	addr string
	seed uint64
	// ending is set before the broker is ended: what breaks afterwards is no fault.
	ending atomic.Bool
	// stopping asks the clients to end by themselves.
	stopping atomic.Bool
	wg       sync.WaitGroup
}

// The queues of a load.
const (
	competing  = "/queue/competing"  // two consumers that acknowledge one by one
	cumulative = "/queue/cumulative" // a consumer that acknowledges many at once
	untouched  = "/queue/untouched"  // no consumer
	later      = "/queue/later"      // delayed messages, a consumer
	automatic  = "/queue/automatic"  // a consumer that acknowledges nothing
	incoming   = "/queue/incoming"   // moved to outgoing in transactions
	outgoing   = "/queue/outgoing"
)

func allQueues() []string {
	return []string{competing, cumulative, untouched, later, automatic, incoming, outgoing}
}

// startLoad puts all clients to work.
func startLoad(l *ledger, p *process, seed uint64) *load {
	work := &load{l: l, addr: p.stomp, seed: seed}
	life := l.life
	for i := range 2 {
		work.run(fmt.Sprintf("plain%d.%d", life, i), func(c *client) error { return c.produce(competing, time.Duration(0)) })
	}
	work.run(fmt.Sprintf("bulk%d", life), func(c *client) error { return c.produceInTransactions(cumulative, untouched) })
	work.run(fmt.Sprintf("feed%d", life), func(c *client) error { return c.produce(incoming, time.Duration(0)) })
	work.run(fmt.Sprintf("swift%d", life), func(c *client) error { return c.produce(automatic, time.Duration(0)) })
	work.run(fmt.Sprintf("delay%d", life), func(c *client) error { return c.produce(later, 1500*time.Millisecond) })
	for i := range 2 {
		work.run(fmt.Sprintf("one%d.%d", life, i), func(c *client) error { return c.consume(competing, "client-individual") })
	}
	work.run(fmt.Sprintf("many%d", life), func(c *client) error { return c.consume(cumulative, "client") })
	work.run(fmt.Sprintf("auto%d", life), func(c *client) error { return c.consume(automatic, "auto") })
	work.run(fmt.Sprintf("late%d", life), func(c *client) error { return c.consume(later, "client-individual") })
	work.run(fmt.Sprintf("move%d", life), func(c *client) error { return c.move(incoming, outgoing) })
	return work
}

// client is one of the clients of a load. It connects anew as often as it leaves.
type client struct {
	load *load
	name string
	rand *rand.Rand
	n    int // sessions so far
	wire *wire
	// number is that of the last message it sent.
	number int
	// pending are what RECEIPTs will answer, in order: the next id, and what to do.
	pending []pending
	ids     int
}

type pending struct {
	id string
	do func()
}

// run runs a client until its connection breaks or the load stops.
func (w *load) run(name string, work func(*client) error) {
	w.seed++
	c := &client{load: w, name: name, rand: rand.New(rand.NewPCG(w.seed, 0))}
	w.wg.Go(func() {
		for !w.stopping.Load() {
			err := c.session(work)
			if err == nil {
				continue
			}
			if !w.ending.Load() {
				w.l.mu.Lock()
				w.l.fault("%s: %v", name, err)
				w.l.mu.Unlock()
			}
			return
		}
	})
}

// session is one connection of a client.
func (c *client) session(work func(*client) error) error {
	var err error
	c.n++
	version := frames.Version(c.rand.IntN(3))
	if c.wire, err = connect(c.load.addr, version); err != nil {
		return err
	}
	c.pending = nil
	defer func() {
		c.load.l.leaving(c.id())
		c.wire.close()
	}()
	return work(c)
}

// id names the client's present connection.
func (c *client) id() string { return fmt.Sprintf("%s#%d", c.name, c.n) }

// receipt returns the next receipt id, after whose RECEIPT do is called.
func (c *client) receipt(do func()) string {
	c.ids++
	id := fmt.Sprint(c.ids)
	c.pending = append(c.pending, pending{id, do})
	return id
}

// answered judges a RECEIPT: they come in the order of their frames.
func (c *client) answered(id string) error {
	if len(c.pending) == 0 {
		return fmt.Errorf("RECEIPT %s, which nothing waits for", id)
	}
	if c.pending[0].id != id {
		return fmt.Errorf("RECEIPT %s before that of %s", id, c.pending[0].id)
	}
	c.pending[0].do()
	c.pending = c.pending[1:]
	return nil
}

// settleDown sends what was gathered and reads until at most that many RECEIPTs are missing.
func (c *client) settleDown(most int) error {
	if err := c.wire.flush(); err != nil {
		return err
	}
	for len(c.pending) > most {
		a, err := c.wire.receive(patience)
		if err != nil {
			return err
		}
		if a.command != frames.Receipt {
			return fmt.Errorf("waiting for RECEIPT %s: %v", c.pending[0].id, a)
		}
		if err := c.answered(a.get("receipt-id")); err != nil {
			return err
		}
	}
	return nil
}

// message makes up the next message.
func (c *client) message(queue string, most time.Duration) *entry {
	c.number++
	e := &entry{
		// What two connections send has no order, even if one begins after the other has ended.
		id: fmt.Sprintf("%s-%d", c.name, c.number), queue: queue, producer: c.id(),
		number: c.number, priority: 3 + c.rand.IntN(3),
	}
	switch c.rand.IntN(200) {
	case 0:
		e.size = 300 << 10 // stored in pieces
	case 1, 2, 3:
		e.size = 20_000
	default:
		e.size = c.rand.IntN(500)
	}
	if most > 0 {
		e.due = time.Now().Add(rand.N(most))
	}
	return e
}

// add gathers the SEND of a message.
func (c *client) add(e *entry, headers ...string) {
	headers = append([]string{"destination", e.queue, "priority", fmt.Sprint(e.priority)}, headers...)
	if !e.due.IsZero() {
		if e.number%2 == 0 {
			headers = append(headers, "deliver-at", fmt.Sprint(e.due.UnixMilli()))
			e.due = time.UnixMilli(e.due.UnixMilli())
		} else {
			// Counted from when the broker reads it, which is later than now.
			delay := time.Until(e.due).Truncate(time.Millisecond)
			e.due = time.Now().Add(delay)
			headers = append(headers, "delay", fmt.Sprint(delay.Milliseconds()))
		}
	}
	c.wire.add(frames.Send, e.body(), headers...)
}

// produce sends messages with RECEIPTs, some at a time, delayed by up to most.
func (c *client) produce(queue string, most time.Duration) error {
	const window = 64
	for !c.load.stopping.Load() {
		for len(c.pending) < window {
			e := c.message(queue, most)
			c.add(e, "receipt", c.receipt(func() { c.load.l.receipted(e) }))
			c.load.l.sending(e)
		}
		if err := c.settleDown(c.rand.IntN(window)); err != nil {
			return err
		}
	}
	return c.settleDown(0)
}

// produceInTransactions sends to several queues at once, and now and then changes its mind.
func (c *client) produceInTransactions(queues ...string) error {
	for !c.load.stopping.Load() {
		c.number++
		x := &tx{id: fmt.Sprintf("%s-tx%d", c.name, c.number), aborted: c.rand.IntN(10) == 0}
		for range 1 + c.rand.IntN(20) {
			x.sends = append(x.sends, c.message(queues[c.rand.IntN(len(queues))], 0))
		}
		c.load.l.beginning(x)
		c.wire.add(frames.Begin, "", "transaction", x.id)
		for _, e := range x.sends {
			c.add(e, "transaction", x.id)
		}
		c.end(x)
		if err := c.settleDown(c.rand.IntN(4)); err != nil {
			return err
		}
	}
	return c.settleDown(0)
}

// end gathers the end of a transaction.
func (c *client) end(x *tx) {
	if x.aborted {
		c.wire.add(frames.Abort, "", "transaction", x.id, "receipt", c.receipt(func() {}))
		return
	}
	c.wire.add(frames.Commit, "", "transaction", x.id, "receipt", c.receipt(func() { c.load.l.committed(x) }))
}

// delivery is a message that a consumer has, and what names it in an ACK of 1.2 and of the versions before.
type delivery struct {
	e              *entry
	ack, messageID string
}

// naming returns the headers of an ACK or NACK of d.
func (c *client) naming(d delivery) []string {
	switch c.wire.version {
	case frames.V10:
		return []string{"message-id", d.messageID}
	case frames.V11:
		return []string{"message-id", d.messageID, "subscription", "s"}
	}
	return []string{"id", d.ack}
}

// order judges the order in which messages come, where it is certain. What waits for another consumer when that leaves, and was
// never written to it, comes late and is no redelivery; the consumer's own last connection may be that other one.
func (c *client) order(queue string) *sequence {
	if queue == competing || c.n > 1 {
		return nil
	}
	return newSequence(c.load.l, false)
}

// consume takes messages, acknowledges most, refuses some, and leaves now and then with some
// in its hands.
func (c *client) consume(queue, mode string) error {
	var hands []delivery
	order := c.order(queue)
	c.wire.add(frames.Subscribe, "", "id", "s", "destination", queue, "ack", mode, "prefetch-count", "200")
	for !c.load.stopping.Load() {
		d, err := c.take(order)
		if err != nil {
			return err
		}
		if d.e == nil {
			continue
		}
		if mode == "auto" {
			c.load.l.taken(d.e)
			if c.rand.IntN(2000) == 0 {
				return nil
			}
			continue
		}
		hands = append(hands, d)
		if len(hands) < 5+c.rand.IntN(20) {
			continue
		}
		switch chance := c.rand.IntN(200); {
		case chance == 0:
			return nil // and come again
		case chance == 1 && mode == "client":
			if err := c.recover(hands); err != nil {
				return err
			}
			hands = nil
		case mode == "client":
			hands = c.settleFirst(hands, 1+c.rand.IntN(len(hands)), chance < 10)
		default:
			i := c.rand.IntN(len(hands))
			d := hands[i]
			hands = append(hands[:i], hands[i+1:]...)
			c.settle(chance < 10, d, d.e)
		}
	}
	return nil
}

// recover gives back all that the subscription was given, whether it was read or is on its way. The queue must have no other
// consumer: that could have what is on its way before it is read here.
func (c *client) recover(hands []delivery) error {
	for _, d := range hands {
		c.load.l.letGo(d.e)
	}
	done := false
	c.wire.add(frames.Recover, "", "id", "s", "receipt", c.receipt(func() { done = true }))
	for !done && !c.load.stopping.Load() {
		d, err := c.take(nil)
		if err != nil {
			return err
		}
		if d.e != nil {
			c.load.l.letGo(d.e)
		}
	}
	return nil
}

// settleFirst acknowledges, or refuses, the first n of hands by naming the last of them.
func (c *client) settleFirst(hands []delivery, n int, refuse bool) []delivery {
	var entries []*entry
	for _, d := range hands[:n] {
		entries = append(entries, d.e)
	}
	c.settle(refuse, hands[n-1], entries...)
	return hands[n:]
}

// settle gathers an ACK of d, or a NACK, that covers the entries.
func (c *client) settle(refuse bool, d delivery, entries ...*entry) {
	l := c.load.l
	// STOMP 1.1 NACK: there is none in 1.0.
	if refuse && c.wire.version != frames.V10 {
		for _, e := range entries {
			l.letGo(e)
		}
		c.wire.add(frames.Nack, "", append(c.naming(d), "receipt", c.receipt(func() {}))...)
		return
	}
	l.acking(entries...)
	c.wire.add(frames.Ack, "", append(c.naming(d), "receipt", c.receipt(func() { l.acked(entries...) }))...)
}

// take sends what was gathered and takes the next frame. The delivery is empty if that is no message, or none
// comes for a moment.
func (c *client) take(order *sequence) (delivery, error) {
	if len(c.wire.out) > 0 {
		if err := c.wire.flush(); err != nil {
			return delivery{}, err
		}
	}
	a, err := c.wire.receive(50 * time.Millisecond)
	switch {
	case errors.Is(err, errSilence):
		return delivery{}, nil
	case err != nil:
		return delivery{}, err
	case a.command == frames.Receipt:
		return delivery{}, c.answered(a.get("receipt-id"))
	case a.command != frames.Message:
		return delivery{}, fmt.Errorf("waiting for MESSAGE: %v", a)
	}
	e := c.load.l.delivered(c.id(), a)
	if e == nil {
		return delivery{}, fmt.Errorf("a message that was never sent: %v", a)
	}
	order.next(e, a.get("redelivered") == "true")
	return delivery{e, a.get("ack"), a.get("message-id")}, nil
}

// move takes messages and sends one on for each, both in one transaction.
func (c *client) move(from, to string) error {
	order := c.order(from)
	c.wire.add(frames.Subscribe, "", "id", "s", "destination", from, "ack", "client-individual", "prefetch-count", "50")
	for !c.load.stopping.Load() {
		d, err := c.take(order)
		if err != nil {
			return err
		}
		if d.e == nil {
			continue
		}
		if c.rand.IntN(300) == 0 {
			return nil // and come again, the rest of the window unmoved
		}
		for {
			e := c.message(to, 0)
			x := &tx{id: fmt.Sprintf("%s-tx%d", c.name, c.number), sends: []*entry{e}, acks: []*entry{d.e}, aborted: c.rand.IntN(20) == 0}
			c.load.l.beginning(x)
			c.wire.add(frames.Begin, "", "transaction", x.id)
			c.add(e, "transaction", x.id)
			c.wire.add(frames.Ack, "", append(c.naming(d), "transaction", x.id)...)
			c.end(x)
			if !x.aborted {
				break
			}
			// An aborted ACK leaves the message with its consumer.
		}
	}
	return nil
}

// stop has the clients end by themselves, and waits for them.
func (w *load) stop() {
	w.stopping.Store(true)
	w.wg.Wait()
}

// lost has the clients end with the broker, which ends by what end does.
func (w *load) lost(end func()) {
	w.ending.Store(true)
	w.l.endingAll()
	end()
	w.wg.Wait()
	w.l.crashed()
}
