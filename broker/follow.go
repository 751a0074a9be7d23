package broker

import (
	"cmp"
	"slices"
	"strings"
)

// A subscription to queues by wildcards follows those that match: it has a consumer in each, and gets one in each that is made later.
// Temporary queues do not match, and those of dead letters do only where the pattern begins with their name: a consumer of everything that refuses a
// message would get it back from there again and again.

// followers are the subscriptions that follow queues, by their patterns: those that name dead letters apart.
type followers struct{ living, dead patternTree[*subscription] }

// of returns the tree of patterns that a queue of that name can match, or that a pattern in this form belongs to.
func (f *followers) of(name string) *patternTree[*subscription] {
	if name == deadQueue || strings.HasPrefix(name, deadPrefix) {
		return &f.dead
	}
	return &f.living
}

// follow has s take from all queues that match the patterns which it names, but for those that it takes from already.
func (c *core) follow(s *subscription) *Error {
	if len(s.follows) == 0 {
		return nil
	}
	var match followers
	for i := range s.follows {
		p := &s.follows[i]
		match.of(p.canonicalName()).add(p.levels, s)
	}
	taken := map[*backlog]bool{}
	for _, one := range s.consumers {
		taken[one.q] = true
	}
	var list []*destination
	var found []*subscription
	for a, d := range c.dests {
		if a.Kind != Queue || a.IsTemporary() || taken[d.queue] {
			continue
		}
		if found = match.of(a.Name).match(a.Name, found[:0]); len(found) > 0 {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *destination) int { return cmp.Compare(a.addr.Name, b.addr.Name) })
	for _, d := range list {
		if err := c.followInto(s, d); err != nil {
			return err
		}
	}
	for i := range s.follows {
		p := &s.follows[i]
		c.followers.of(p.canonicalName()).add(p.levels, s)
	}
	return nil
}

// unfollow has s take from no queues that are made later.
func (c *core) unfollow(s *subscription) {
	for i := range s.follows {
		p := &s.follows[i]
		c.followers.of(p.canonicalName()).remove(p.levels, s)
	}
	s.conn.following -= s.following
	s.follows, s.following = nil, 0
}

// followInto has s take from one more queue that matches.
func (c *core) followInto(s *subscription, d *destination) *Error {
	if s.conn.following >= c.opt.MaxFollowed {
		return &Error{Kind: KindLimit, Message: "subscription " + quote(s.op.ID) + " takes from " + d.text + " and more queues than a connection may by wildcards (limits.wildcard-queues)"}
	}
	if err := c.takeFrom(s, Source{Address: d.addr}); err != nil {
		return err
	}
	s.conn.following++
	s.following++
	return nil
}

// followed has those take from the queue d, which was made just now, who follow queues of its name.
func (c *core) followed(d *destination) {
	for _, s := range c.followers.of(d.addr.Name).match(d.addr.Name, nil) {
		if n := len(s.consumers); s.ended || n > 0 && s.consumers[n-1].q == d.queue {
			continue // several of its patterns match
		}
		if err := c.followInto(s, d); err != nil {
			// Not at once: a dispatch that has a dead letter's queue made may be going over consumers of s, and an operation of
			// s itself is to have its answer first.
			c.timers.add(c.now, func() {
				c.fail(s.conn, &Op{}, err)
				c.endSubscription(s)
			})
		}
	}
}
