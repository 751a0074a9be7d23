package broker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"footfall/frames"
)

// DeathReason is why a message became a dead letter.
type DeathReason uint8

// The reasons. DeathLimit: it failed more often than it may. DeathRejected: a consumer asked for it. DeathExpired: nobody
// took it in time. DeathOverflow: its destination
// had as much as it may have, and others came.
const (
	DeathLimit DeathReason = iota
	DeathRejected
	DeathExpired
	DeathOverflow

	deathReasons
)

// String returns the reason as the header dead-letter-reason has it.
func (r DeathReason) String() string {
	return [deathReasons]string{"redelivery-limit", "rejected", "expired", "overflow"}[r]
}

// rabbit is RabbitMQ's word for it.
func (r DeathReason) rabbit() string {
	return [deathReasons]string{"delivery_limit", "rejected", "expired", "maxlen"}[r]
}

// The bounds of what a dead letter tells of its deaths: octets of a detail, the deaths that are told of beside the last
// one, and the deaths after which a message is moved no more, as it seems to go round in circles.
const (
	maxDeathDetail = MaxNackReason
	maxDeathsTold  = 9
	maxDeaths      = 1000
)

// ErrorDestination is where dead letters go. Name may have "{name}" in it once, which stands for the name of the
// destination that they come from. Without a Name they go nowhere: they are deleted.
type ErrorDestination struct {
	Kind Kind
	Name string
}

const (
	namePlaceholder = "{name}"
	// deadPrefix begins the names of the default error destinations, deadQueue is that of names that are too long for it.
	deadPrefix = "DLQ."
	deadQueue  = "DLQ"
)

// DefaultErrorDestination is where dead letters of a go as long as nobody says otherwise. Those of a queue whose name begins with
// "DLQ." stay there, and those of a temporary destination are deleted.
func DefaultErrorDestination(a Address) *ErrorDestination {
	if a.IsTemporary() {
		return &ErrorDestination{}
	}
	if a.Kind == Queue && (a.Name == deadQueue || strings.HasPrefix(a.Name, deadPrefix)) {
		return &ErrorDestination{Queue, a.Name}
	}
	return &ErrorDestination{Queue, deadPrefix + namePlaceholder}
}

// of is where the dead letters of a go. Where the name would be too long for a client that is the queue DLQ.
func (e *ErrorDestination) of(a Address) Address {
	to := Address{Kind: e.Kind, Name: strings.Replace(e.Name, namePlaceholder, a.Name, 1)}
	if len(to.Name) > maxPatternName {
		return Address{Kind: Queue, Name: deadQueue}
	}
	return to
}

// ParseErrorDestination reads what String wrote: /queue/NAME or /topic/NAME, where {name} may stand once in the name; or none.
func ParseErrorDestination(text string) (*ErrorDestination, error) {
	if text == "none" {
		return &ErrorDestination{}, nil
	}
	p, err := parsePattern(text)
	switch {
	case err != nil:
		return nil, err
	case p.isWildcard():
		return nil, errors.New("has a wildcard")
	case strings.Count(p.name, namePlaceholder) > 1:
		return nil, errors.New("has {name} twice")
	}
	return &ErrorDestination{p.kind, p.name}, nil
}

// String returns it as operators write it: /queue/DLQ.{name}, or none.
func (e *ErrorDestination) String() string {
	if e.Name == "" {
		return "none"
	}
	return Address{Kind: e.Kind, Name: e.Name}.String()
}

// grave is what becomes of the dead letters of a destination.
type grave struct {
	to   Address // where they go, if it has a name
	none string  // else why they cannot go anywhere; empty where the operator wants none
}

// graveOf finds out where a dead letter of d goes, whether that exists or not.
func (c *core) graveOf(d *destination, m *Message) grave {
	e, from := c.policyOf(d.addr, d).errors, d.origin(m)
	if e == nil {
		e = DefaultErrorDestination(from)
	}
	if e.Name == "" {
		return grave{}
	}
	to := e.of(from)
	if to == from {
		return grave{none: "it is its own error destination"}
	}
	if n := deathsOf(m); n >= maxDeaths {
		return grave{none: fmt.Sprintf("a message has died %d times", n)}
	}
	if to.Kind == Queue {
		if _, err := c.open(to); err != nil {
			return grave{none: err.Message}
		}
	}
	return grave{to: to}
}

func deathsOf(m *Message) int {
	raw, _ := m.Header.GetRaw("dead-letter-count")
	n, _ := strconv.Atoi(string(raw))
	return n
}

// death is how a message died at a destination.
type death struct {
	reason DeathReason
	detail string
}

// died makes a dead letter of the message of a settled delivery that failed, if that was once too often or its consumer
// asks for it. It does not where there is no place for it: then the message goes on as if there was no limit.
func (c *core) died(d *delivery, why cause) bool {
	e := &d.e
	var how death
	limit := c.limitOf(d)
	switch {
	case why == causeNack && d.nack != nil && d.nack.Dead:
		how = death{DeathRejected, "a consumer does not want it"}
	case limit != NoRedeliveryLimit && int(e.failures) > limit:
		how = death{DeathLimit, fmt.Sprintf("it failed %d times, the limit of redeliveries is %d", e.failures, limit)}
	default:
		return false
	}
	if why == causeNack && d.nack != nil && d.nack.Reason != "" {
		how.detail = d.nack.Reason
	}
	g := c.graveOf(d.q.dest, e.msg)
	if g.none != "" {
		c.stats.DeadKept++
		c.logDeath(d.q.dest, e.msg, how, "dead letter kept in its place: "+g.none)
		return false
	}
	c.expiresNoMore(d.q, e)
	if e.stored() {
		c.dropRef(d.q, e)
	}
	c.bury(g, d.q.dest, e.msg, how)
	c.unhold(e.msg)
	return true
}

// bury moves a message that has left its place at d, in this batch, to where its kind of dead letters goes.
func (c *core) bury(g grave, d *destination, m *Message, how death) {
	if g.to.Name == "" {
		c.stats.DeadDeleted++
		c.logDeath(d, m, how, "dead letter deleted")
		return
	}
	c.stats.DeadLettered[how.reason]++
	c.logDeath(d, m, how, "dead letter moved to "+g.to.String())
	dead := m.deadLetter(d, how, c.ms)
	to := c.dests[g.to]
	if g.to.Kind == Topic {
		c.publish(g.to, to, dead)
		return
	}
	c.policyOf(to.addr, to).limit(dead) // how long it lives there is what the operator says
	dead.lives(c.ms)
	c.enqueue(to.queue, dead, c.next(to.shard))
}

// deadLetter makes a copy of m as it goes to an error destination: with body, headers and ids, without a time to live and
// without a time of delivery.
func (m *Message) deadLetter(from *destination, how death, ms int64) *Message {
	dead := m.again()
	dead.Header = m.deadHeader(from, how, ms)
	return dead
}

// deadHeader puts the headers of a death before those that m has. No sender can have written such headers: sessions
// drop them.
func (m *Message) deadHeader(from *destination, how death, ms int64) frames.Header {
	old := m.Header
	firstQueue, again := old.Get("x-first-death-queue")
	if !again {
		firstQueue = from.origin(m).Name
	}
	id := m.UserID
	if id == "" {
		id = m.ID.String()
	}
	detail := oneLine(how.detail, maxDeathDetail)
	raw := make([]byte, 0, len(old.Raw)+640+2*len(from.text)+2*len(detail))
	add := func(name, value string) { raw = frames.AppendHeader(raw, old.Dialect, name, value) }
	add("original-destination", from.origin(m).String())
	if from.durable != nil {
		add("original-subscription", from.addr.Name)
	}
	add("dead-letter-reason", how.reason.String())
	add("dead-letter-detail", detail)
	add("dead-letter-time", strconv.FormatInt(ms, 10))
	add("dead-letter-count", strconv.Itoa(deathsOf(m)+1))
	if m.Expires != 0 {
		at := strconv.FormatInt(m.Expires, 10)
		add("original-expires", at)
		add("originalExpiration", at)
	}
	add("dlqDeliveryFailureCause", how.reason.String()+": "+detail)
	add("_AMQ_ORIG_ADDRESS", from.origin(m).Name)
	add("_AMQ_ORIG_MESSAGE_ID", id)
	add("x-death-reason", how.reason.rabbit())
	add("x-first-death-queue", firstQueue)
	return frames.Header{Raw: appendUndead(raw, old, m.Expires != 0), Dialect: old.Dialect, HasCR: old.HasCR}
}

// appendUndead appends what a dead letter keeps of the headers it had. Of earlier deaths those stay that tell of one each, as repeated headers,
// the last first.
func appendUndead(raw []byte, old frames.Header, expires bool) []byte {
	told := map[string]int{}
	start := 0
	for name, _, pos := old.Next(0); pos >= 0; name, _, pos = old.Next(pos) {
		line := old.Raw[start:pos]
		start = pos
		switch string(name) {
		case "expires", "ttl", "expiration", "x-message-ttl":
			continue // who sends it on must not send its limit
		case "dedup-id", "_AMQ_DUPL_ID":
			continue // who sends it back must not have it taken for a duplicate
		case "original-subscription", "dead-letter-count", "dlqDeliveryFailureCause", "_AMQ_ORIG_ADDRESS", "_AMQ_ORIG_MESSAGE_ID", "x-death-reason", "x-first-death-queue":
			continue
		case "original-expires", "originalExpiration":
			if expires {
				continue
			}
		case "original-destination", "dead-letter-reason", "dead-letter-detail", "dead-letter-time":
			if told[string(name)]++; told[string(name)] > maxDeathsTold {
				continue
			}
		}
		raw = append(raw, line...)
	}
	return raw
}

// oneLine makes of any text one line of valid UTF-8 that is not too long.
func oneLine(text string, octets int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > octets {
		cut := octets
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// redirects tells whether what expires at d goes to the error destination.
func (c *core) redirects(d *destination) bool {
	return c.policyOf(d.addr, d).expired == ExpiredRedirect
}

// redirect makes a dead letter of a message that expired and has left its place at d. What has nowhere to go is dropped.
func (c *core) redirect(d *destination, m *Message) {
	g := c.graveOf(d, m)
	how := death{DeathExpired, "it expired at " + time.UnixMilli(m.Expires).UTC().Format(time.RFC3339Nano)}
	if g.none != "" {
		c.stats.DeadDeleted++
		c.logDeath(d, m, how, "dead letter deleted: "+g.none)
		return
	}
	c.bury(g, d, m, how)
}

// logDeath tells what became of a dead letter of d.
func (c *core) logDeath(d *destination, m *Message, how death, what string) {
	if c.deadLog.reserve(c, d, "more dead letters") {
		c.opt.Log.Info(what, "destination", d.text, "message-id", m.ID.String(), "reason", how.reason.String(), "detail", oneLine(how.detail, maxDeathDetail))
	}
}
