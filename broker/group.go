package broker

import "time"

// group is who gets the messages of a message group: one consumer of the backlog, for as long as it is there.
type group struct {
	owner  *consumer
	flight int // messages of the group that it has
}

// dealGroups is deal where messages of groups wait: each goes to the consumer of its group, and others go past one
// that has to wait for it.
func (c *core) dealGroups(q *backlog) {
	for lane := range q.lanes {
		r := &q.lanes[lane]
		for i := 0; i < r.len(); {
			e := r.at(i)
			s := c.consumerFor(q, e.msg)
			switch {
			case e.msg.expired(c.ms) && (!e.stored() || e.seq <= c.synced[q.dest.shard]):
				dead := q.takeFrom(lane, i)
				c.drop(q, &dead)
				continue
			case s == nil && q.nextOpen(c) == nil:
				return
			case s == nil:
				i++
				continue
			case e.stored() && !c.showable(q, e):
				return
			}
			taken := q.takeFrom(lane, i)
			first := c.assign(q, taken.msg, s)
			c.deliver(q, s, taken, first)
		}
	}
}

// consumerFor returns the consumer that m can be given to now, nil if there is none.
func (c *core) consumerFor(q *backlog, m *Message) *consumer {
	g := q.groups[m.Group]
	switch {
	case m.Group == "" || g == nil:
	case g.owner.ended:
		if g.flight > 0 {
			return nil // what it has may come back before m
		}
	case g.owner.open(c):
		return g.owner
	case g.flight > 0:
		return nil
	case c.now.Before(g.owner.moved.Add(c.opt.GroupPatience)):
		c.regroup(q, g.owner.moved.Add(c.opt.GroupPatience))
		return nil
	}
	return q.nextOpen(c)
}

// regroup has q looked at again when the consumer of a group counts as stuck.
func (c *core) regroup(q *backlog, at time.Time) {
	if q.regrouping {
		return
	}
	q.regrouping = true
	c.timers.add(at, func() {
		q.regrouping = false
		c.mark(q)
	})
}

// assign makes s the consumer of the group of m, which it is given, and tells whether it was not before.
func (c *core) assign(q *backlog, m *Message, s *consumer) (first bool) {
	if m.Group == "" {
		return false
	}
	g := q.groups[m.Group]
	if first = g == nil || g.owner != s; first {
		if len(q.groups) >= c.opt.MaxGroups {
			q.forgetGroup()
		}
		if q.groups == nil {
			q.groups = map[string]*group{}
		}
		g = &group{owner: s}
		q.groups[m.Group] = g
	}
	g.flight++
	if m.GroupEnd {
		delete(q.groups, m.Group)
	}
	return first
}

// forgetGroup forgets a group of which no consumer has anything, if there is one.
func (q *backlog) forgetGroup() {
	for name, g := range q.groups {
		if g.flight == 0 {
			delete(q.groups, name)
			return
		}
	}
}

// leaveGroup counts that a consumer no longer has a message.
func (q *backlog) leaveGroup(d *delivery) {
	name := d.e.msg.Group
	if name == "" {
		return
	}
	if g := q.groups[name]; g != nil && g.owner.subscription == d.sub && g.flight > 0 {
		if g.flight--; g.flight == 0 && g.owner.ended {
			delete(q.groups, name)
		}
	}
}

// leaveGroups has the groups of a consumer that is gone go to others.
func (q *backlog) leaveGroups(s *consumer) {
	for name, g := range q.groups {
		if g.owner == s && g.flight == 0 {
			delete(q.groups, name)
		}
	}
}
