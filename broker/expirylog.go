package broker

import (
	"time"

	"footfall/store"
)

// reserveExpiry takes a line of the log for a message that expires at d, where its policy asks for one.
func (c *core) reserveExpiry(d *destination) bool {
	return c.policyOf(d.addr, d).expired == ExpiredLog && c.expiryLog.reserve(c, d, "more messages expired")
}

// logExpired tells of a message that expired, with how long ago it was taken, on the line that was reserved for it.
func (c *core) logExpired(d *destination, m *Message) {
	age := time.Duration(c.ms-m.Timestamp) * time.Millisecond
	c.opt.Log.Info("message expired", "destination", d.text, "message-id", m.ID.String(), "age", age)
}

// What expires behind a window and has to be read is read one by one, so many messages and octets at a time.
const (
	maxReading      = 256
	maxReadingBytes = 16 << 20
)

// mayRead tells whether t, whose time has come, can be dealt with now if it has to be read for that.
func (c *core) mayRead(t *timed) bool {
	return len(c.reading) == 0 || len(c.reading) < maxReading && c.readingBytes+int64(t.octets) <= maxReadingBytes
}

// readExpired has a message behind the window read, of which only the place is known, so that it can be told of or
// redirected. It expires when that is done, unless it leaves its place before.
func (c *core) readExpired(t *timed, key store.RefKey) {
	c.reading[key] = t
	c.readingBytes += int64(t.octets)
	c.toRead = append(c.toRead, key)
}

// readThem reads what expired and waits for that, all of it one after the other, so that its order is kept.
func (c *core) readThem() {
	if c.underRead || len(c.toRead) == 0 {
		return
	}
	keys := c.toRead
	c.toRead, c.underRead = nil, true
	timed := make([]*timed, len(keys))
	for i, key := range keys {
		timed[i] = c.reading[key]
	}
	c.loads = append(c.loads, func(s Store, after uint64) (func(), error) {
		found := make([]*Message, len(keys))
		for i, key := range keys {
			read, _, err := readRefs(s, store.RefScan{After: after, From: key, MaxCount: 1, MaxBytes: 1}, c.zones, c.epoch)
			if err != nil {
				return nil, err
			}
			if len(read) == 1 && read[0].seq == key.Seq {
				found[i] = read[0].msg
			}
		}
		return func() {
			c.underRead = false
			for i, key := range keys {
				if t := timed[i]; t != nil && c.reading[key] == t {
					c.wasRead(t, key, found[i])
				}
			}
			c.readThem()
		}, nil
	})
}

// wasRead takes in what was found in the place of t, unless that was left meanwhile.
func (c *core) wasRead(t *timed, key store.RefKey, m *Message) {
	c.readNoMore(key)
	switch {
	case t.q.ended: // all that is in it goes
	case t.q.covers(place{lane: 9 - key.Priority, seq: key.Seq}) || t.q.flight.has(key.Seq):
		c.expirePlace(t)
	default:
		c.expireBehind(t, key, m)
	}
}

// readNoMore forgets that what is at key is being read.
func (c *core) readNoMore(key store.RefKey) {
	if t := c.reading[key]; t != nil {
		c.readingBytes -= int64(t.octets)
		delete(c.reading, key)
	}
}

// expireBehind drops what was read of the place of t, behind the window, and tells of it or redirects it.
func (c *core) expireBehind(t *timed, key store.RefKey, m *Message) {
	d := t.q.dest
	c.dropBehind(t, key)
	switch {
	case m == nil:
	case c.redirects(d):
		c.redirect(d, m)
	case c.policyOf(d.addr, d).expired == ExpiredLog:
		c.logExpired(d, m) // a line was reserved before it was read
	}
}
