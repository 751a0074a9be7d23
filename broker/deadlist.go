package broker

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"footfall/frames"
	"footfall/selector"
	"footfall/store"
)

// DeadQuery asks for the dead letters in a queue. It goes for any queue; of messages that are no dead letters only the place is known.
type DeadQuery struct {
	Queue string // the name
	DeadFilter
	// After is where another page ended. Empty: the beginning.
	After string
	// Limit is how many messages are looked at, 1 to MaxDead; 0: 100.
	Limit int
	// BodyBytes is how many octets of each body are wanted, 0 to MaxScheduledBody.
	BodyBytes int
}

// DeadFilter narrows a list of dead letters down. What is empty leaves out none.
type DeadFilter struct {
	ID     string // of one dead letter
	Origin string // its original-destination
	Reason string // its dead-letter-reason
	// Selector says which are wanted, in the language of package selector.
	Selector string
}

// MaxDead is the greatest number of dead letters that one request looks at.
const MaxDead = 1000

// deadBytes bounds the octets of a page.
const deadBytes = 4 << 20

// DeadLetter is a dead letter in its place.
type DeadLetter struct {
	// ID names its place in the queue, for as long as it is there.
	ID        string
	MessageID string
	// Origin, Subscription, Reason, Detail, Died and Deaths are what its headers say of its last death; Died is in milliseconds since the epoch.
	Origin, Subscription, Reason, Detail string
	Died                                 int64
	Deaths                               int
	Priority                             uint8
	Persistent                           bool
	Sent                                 int64 // in milliseconds since the epoch
	// Unacked says that a consumer has it.
	Unacked bool
	Header  frames.Header
	// BodySize is the size of the body in octets, Body its beginning, as far as it was asked for.
	BodySize int64
	Body     []byte
}

// DeadQueues lists the queues that dead letters go to: those of the policies, and those whose names are of the default form, with what they
// hold, by their names.
func (b *Broker) DeadQueues(ctx context.Context) ([]DestinationStats, error) {
	list, err := ask(ctx, b, func(c *core, answer func([]DestinationStats)) {
		var list []DestinationStats
		for _, d := range c.dests {
			if d.addr.Kind == Queue && c.isGrave(d.addr) {
				list = append(list, d.stats())
			}
		}
		answer(list)
	})
	slices.SortFunc(list, func(a, b DestinationStats) int { return cmp.Compare(a.Address.Name, b.Address.Name) })
	return list, err
}

// isGrave tells whether dead letters may go to the queue at a.
func (c *core) isGrave(a Address) bool {
	if DefaultErrorDestination(a).of(a) == a {
		return true
	}
	if c.opt.Policies == nil {
		return false
	}
	return slices.ContainsFunc(c.opt.Policies.list, func(p Policy) bool {
		e := p.ErrorDestination
		if e == nil || e.Name == "" || e.Kind != a.Kind {
			return false
		}
		before, after, template := strings.Cut(e.Name, namePlaceholder)
		if !template {
			return e.Name == a.Name
		}
		return len(a.Name) > len(before)+len(after) && strings.HasPrefix(a.Name, before) && strings.HasSuffix(a.Name, after)
	})
}

// DeadLetters returns a page of what is in a queue, in its order. next is the After of the next page, empty at the end; a page may
// be empty and still have a next one. An error is a *Error about the query, ErrClosed, or that of ctx.
func (b *Broker) DeadLetters(ctx context.Context, q DeadQuery) (list []DeadLetter, next string, err error) {
	if q.BodyBytes < 0 || q.BodyBytes > MaxScheduledBody {
		return nil, "", &Error{Kind: KindInvalid, Message: "a page of dead letters shows 0 to 65536 octets of each body"}
	}
	p, err := b.deadPage(ctx, Address{Kind: Queue, Name: q.Queue}, q.DeadFilter, q.After, q.Limit, func(_ *core, _ *backlog, list []deadEntry) []deadEntry { return list })
	if err != nil {
		return nil, "", err
	}
	for i := range p.list {
		list = append(list, p.list[i].describe(q.BodyBytes))
	}
	return list, p.next, nil
}

// deadEntry is a message in a queue, as it was at some moment.
type deadEntry struct {
	entry
	held bool // a consumer has it
}

type deadAnswer struct {
	list []deadEntry
	next string
	err  *Error
}

// deadPage looks at a page of a queue or a durable subscription, and has act do something with it in the loop; what act returns is the page.
func (b *Broker) deadPage(ctx context.Context, from Address, f DeadFilter, after string, limit int, act func(*core, *backlog, []deadEntry) []deadEntry) (deadAnswer, error) {
	w := &deadWalk{filter: f, limit: cmp.Or(limit, 100)}
	if w.limit < 1 || w.limit > MaxDead {
		return deadAnswer{}, &Error{Kind: KindInvalid, Message: "a page has 1 to 1000 messages"}
	}
	if f.ID != "" {
		after, w.limit = f.ID, 1
	}
	if after != "" {
		var ok bool
		if w.from, ok = parseDeadID(after); !ok {
			return deadAnswer{}, &Error{Kind: KindInvalid, Message: "no message has the id " + quote(after)}
		}
	}
	p, err := ask(ctx, b, func(c *core, answer func(deadAnswer)) {
		d := c.dests[from]
		if d == nil || d.queue == nil {
			answer(deadAnswer{err: notThere(from)})
			return
		}
		var bad *Error
		if w.program, bad = c.compile(f.Selector); bad != nil {
			answer(deadAnswer{err: bad})
			return
		}
		w.read(c, d.queue, func(p deadAnswer) {
			c.release(w.program)
			if d.doomed {
				answer(deadAnswer{err: notThere(from)})
				return
			}
			p.list = act(c, d.queue, p.list)
			c.onDisk(func() { answer(p) })
		})
	})
	if err == nil && p.err != nil {
		err = p.err
	}
	return p, err
}

// deadWalk is a page that is being looked at.
type deadWalk struct {
	filter DeadFilter
	// program is that of its selector, nil for none.
	program *selector.Program
	from    place
	limit   int
}

// read looks at what is in the store, and then at what is in memory only. What happens to places meanwhile is kept in c.leftPlaces.
func (w *deadWalk) read(c *core, q *backlog, then func(deadAnswer)) {
	scan := store.RefScan{
		From:     store.RefKey{Shard: q.account.Shard, Backlog: q.account.ID, Priority: 9 - w.from.lane, Seq: w.from.seq},
		MaxCount: w.limit, MaxBytes: deadBytes,
	}
	for i := range scan.Heads {
		scan.Heads[i] = q.account.Lanes[i].Head
	}
	c.walks++
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		scan.After = after
		read, more, err := readRefs(s, scan, c.zones, c.epoch)
		return func() {
			then(w.merge(c, q, read, more))
			if c.walks--; c.walks == 0 {
				clear(c.leftPlaces)
			}
		}, err
	})
}

// merge puts together what is on the page.
func (w *deadWalk) merge(c *core, q *backlog, read []entry, more bool) (p deadAnswer) {
	var next place
	if more {
		next = placeOf(&read[len(read)-1])
		next.seq++
	}
	held := map[store.Seq]bool{}
	inPage := func(e *entry) bool {
		at := placeOf(e)
		return !at.less(w.from) && (!more || at.less(next))
	}
	var all []deadEntry
	for d := q.flight.front; d != nil; d = d.next {
		held[d.e.seq] = true
		if !d.e.stored() && inPage(&d.e) {
			all = append(all, deadEntry{d.e, true})
		}
	}
	for i := range q.lanes {
		for j := range q.lanes[i].len() {
			if e := q.lanes[i].at(j); !e.stored() && inPage(e) {
				all = append(all, deadEntry{*e, false})
			}
		}
	}
	for i := range read {
		if !c.leftPlaces[q.key(&read[i])] {
			all = append(all, deadEntry{read[i], held[read[i].seq]})
		}
	}
	slices.SortFunc(all, func(a, b deadEntry) int {
		x, y := placeOf(&a.entry), placeOf(&b.entry)
		return cmp.Or(cmp.Compare(x.lane, y.lane), cmp.Compare(x.seq, y.seq))
	})
	if len(all) > w.limit {
		next, more = placeOf(&all[w.limit].entry), true
		all = all[:w.limit]
	}
	p.list = slices.DeleteFunc(all, func(e deadEntry) bool { return !w.fits(c, q, &e.entry) })
	if more && w.filter.ID == "" {
		p.next = deadID(next)
	}
	return p
}

func (w *deadWalk) fits(c *core, q *backlog, e *entry) bool {
	f := &w.filter
	has := func(name, want string) bool {
		got, _ := e.msg.Header.Get(name)
		return want == "" || got == want
	}
	return (f.ID == "" || f.ID == deadID(placeOf(e))) && has("original-destination", f.Origin) && has("dead-letter-reason", f.Reason) &&
		(w.program == nil || c.matches(q, w.program, e))
}

// deadID is the id of a place in a queue: priority and number.
func deadID(p place) string {
	return strconv.Itoa(9-int(p.lane)) + "." + strconv.FormatUint(uint64(p.seq), 36)
}

func parseDeadID(text string) (place, bool) {
	priority, seq, ok := strings.Cut(text, ".")
	p, err := strconv.ParseUint(priority, 10, 8)
	n, bad := strconv.ParseUint(seq, 36, 64)
	if !ok || err != nil || bad != nil || p >= store.Priorities {
		return place{}, false
	}
	at := place{lane: uint8(9 - p), seq: store.Seq(n)}
	return at, deadID(at) == text
}

// describe makes of it what is shown.
func (e *deadEntry) describe(body int) DeadLetter {
	m := e.msg
	get := func(name string) string {
		text, _ := m.Header.Get(name)
		return text
	}
	d := DeadLetter{
		ID: deadID(placeOf(&e.entry)), MessageID: m.ID.String(), Origin: get("original-destination"), Subscription: get("original-subscription"),
		Reason: get("dead-letter-reason"), Detail: get("dead-letter-detail"), Deaths: deathsOf(m),
		Priority: m.Priority, Persistent: m.Persistent, Sent: m.Timestamp, Unacked: e.held, Header: m.Header, BodySize: int64(len(m.Body)),
	}
	if m.UserID != "" {
		d.MessageID = m.UserID
	}
	d.Died, _ = strconv.ParseInt(get("dead-letter-time"), 10, 64)
	if body > 0 {
		d.Body = m.Body[:min(body, len(m.Body))]
	}
	return d
}
