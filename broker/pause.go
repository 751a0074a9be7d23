package broker

import (
	"fmt"
	"strings"
)

// Pause is a set of what an operator may put a stop to at a queue or a topic, after WebLogic.
type Pause uint8

// PauseProduction has SENDs and COMMITs to the destination wait, as they do where it is full: at most as long as Options.BlockTimeout, and
// not at all where its policy is OverflowReject; then they are refused. What the broker itself puts there, such as dead letters and what was
// sent before and comes due, still comes.
// PauseConsumption has its consumers get nothing more, nor those of the durable subscriptions of a topic. What they have they may acknowledge, and
// browsers go on.
const (
	PauseProduction Pause = 1 << iota
	PauseConsumption

	pauseAll = PauseProduction | PauseConsumption
)

// pauseNames are in the order of the bits.
func pauseNames() []string { return []string{"production", "consumption"} }

// ParsePause reads one or several names, parted by commas: production, consumption, or all.
func ParsePause(text string) (Pause, error) {
	var p Pause
next:
	for name := range strings.SplitSeq(text, ",") {
		if name == "all" {
			p = pauseAll
			continue
		}
		for i, known := range pauseNames() {
			if name == known {
				p |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("what is paused is production, consumption, or all; not %s", quote(name))
	}
	return p, nil
}

// String returns what ParsePause reads, empty for nothing.
func (p Pause) String() string {
	var names []string
	for i, name := range pauseNames() {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// setPaused sets what is paused at d, which is a queue or a topic. It is stored, and counts after a restart too.
func (c *core) setPaused(d *destination, p Pause) {
	if d.paused == p {
		return
	}
	c.noteStanding(d, -1)
	d.paused = p
	c.noteStanding(d, 1)
	if d.kept {
		c.putDestination(d)
	} else {
		c.keep(d)
	}
	c.recheck = true
	if d.queue != nil {
		c.mark(d.queue)
	}
	for t := range d.allTaps() {
		c.mark(t.q)
	}
}

func (c *core) noteStanding(d *destination, sign int) {
	if d.paused&PauseProduction != 0 {
		c.standing += sign
	}
}

// isPaused tells whether consumers of q get nothing for now.
func (q *backlog) isPaused() bool {
	return (q.dest.paused|q.tap.paused())&PauseConsumption != 0
}

func (t *tap) paused() Pause {
	if t == nil {
		return 0
	}
	return t.topic.paused
}

// atStandstill tells why a SEND or COMMIT cannot be done now as a destination takes nothing, and whether it may wait.
func (c *core) atStandstill(op *Op) (why *Error, wait bool) {
	if c.standing == 0 {
		return nil, false
	}
	look := func(send *Op) {
		d := c.dests[send.To]
		if why != nil || d == nil || d.paused&PauseProduction == 0 {
			return
		}
		why = &Error{Kind: KindPaused, Message: d.text + " takes no messages at the moment: an operator paused it"}
		wait = c.policyOf(send.To, d).quota.overflow != OverflowReject
	}
	if op.Kind == OpSend {
		look(op)
	}
	for i := range op.Sends {
		look(&op.Sends[i])
	}
	return why, wait
}

// The properties of an ordinary destination in the store are empty, or:
//
//	version  1 octet, propertiesVersion
//	flags    1 octet
//	paused   1 octet, a Pause
const propertiesVersion = 1

const propertyDoomed = 1

func (d *destination) properties() string {
	var flags byte
	if d.doomed {
		flags |= propertyDoomed
	}
	if flags == 0 && d.paused == 0 {
		return ""
	}
	return string([]byte{propertiesVersion, flags, byte(d.paused)})
}

// recoverProperties makes of a destination that the store knows what it was.
func (c *core) recoverProperties(d *destination, properties string) error {
	if d.addr.Kind == Durable {
		return c.recoverDurable(d, properties)
	}
	if properties == "" {
		return nil
	}
	r := recordReader{rest: []byte(properties)}
	version, flags, paused := r.octet(), r.octet(), Pause(r.octet())
	if r.err == nil && (version != propertiesVersion || flags > propertyDoomed || paused > pauseAll || len(r.rest) > 0) {
		r.err = fmt.Errorf("%w: properties %x", errRecord, properties)
	}
	if r.err != nil {
		return fmt.Errorf("%s: %w", d.text, r.err)
	}
	d.paused = paused
	c.noteStanding(d, 1)
	if flags&propertyDoomed != 0 {
		d.doomed = true
		c.noteStanding(d, -1)
		delete(c.dests, d.addr)
	}
	return nil
}
