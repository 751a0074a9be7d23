package broker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// modelSub is a subscription.
type modelSub struct {
	conn    *modelConn
	key     string
	number  uint64
	mode    AckMode
	window  int
	froms   []Address      // what it takes from, with wildcards
	where   *modelSelector // nil: all
	coming  *modelBacklog  // what was sent to its topics
	issued  uint64
	last    int              // the step of the last delivery
	pending []*modelDelivery // not settled, in order
	ended   bool
	answer  string // the receipt of UNSUBSCRIBE, "" when it came or was never asked for
	closed  bool   // nothing may come any more
	grace   int64  // when what is pending is given back, in ms; 0: not
}

// covers tells whether s takes from a destination.
func (s *modelSub) covers(to Address) bool {
	return slices.ContainsFunc(s.froms, func(a Address) bool {
		return a.Kind == to.Kind && naiveMatch(strings.Split(a.Name, "."), strings.Split(to.Name, "."))
	})
}

// several tells whether it is to more than one destination.
func (s *modelSub) several() bool { return len(s.froms) > 1 || HasWildcard(s.froms[0].Name) }

// sources lists the backlogs that s takes from.
func (m *model) sources(s *modelSub) []*modelBacklog {
	list := []*modelBacklog{s.coming}
	for _, name := range slices.Sorted(maps.Keys(m.queues)) {
		if s.covers(Address{Kind: Queue, Name: name}) {
			list = append(list, m.queues[name])
		}
	}
	return list
}

// waiting lists what waits for s, or for others too.
func (m *model) waiting(s *modelSub) (its []*modelItem) {
	for _, q := range m.sources(s) {
		its = append(its, q.items...)
	}
	return its
}

// drawSources draws what a SUBSCRIBE names, and has op name it.
func (h *history) drawSources(t *rapid.T, s *modelSub, op *SubscribeOp) {
	s.coming = &modelBacklog{name: fmt.Sprintf("%s.%d", s.conn.name, s.number)}
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "parts") {
		a := h.address(t)
		if a.Kind == Topic {
			a.Name = rapid.SampledFrom([]string{a.Name, a.Name, "*", "#", "t.#", "*.u"}).Draw(t, "pattern")
		}
		s.froms = append(s.froms, a)
		if a.Kind == Queue {
			a.Name = rapid.SampledFrom([]string{a.Name, a.Name, a.Name, "*", "#", "a.#"}).Draw(t, "pattern")
			if !HasWildcard(a.Name) {
				h.m.queue(a.Name)
			}
		}
	}
	op.Text, op.From = s.froms[0].String(), s.froms[0]
	if len(s.froms) == 1 {
		return
	}
	op.From = Address{}
	for _, a := range s.froms {
		op.Parts = append(op.Parts, Source{Text: a.String(), Address: a})
	}
}

// modelSelector is a selector, and what it means.
type modelSelector struct {
	text  string
	wants func(*modelSend) bool
}

// modelSelectors are about the header k, which is 0 to 3, and the priority.
func modelSelectors() []*modelSelector {
	all := []*modelSelector{{"JMSPriority > 3 OR k = 3", func(s *modelSend) bool { return s.msg.Priority > 3 || s.k == 3 }}}
	for k := range 3 {
		all = append(all, &modelSelector{fmt.Sprintf("k = '%d'", k), func(s *modelSend) bool { return s.k == k }})
	}
	return append(all, &modelSelector{"k <> 0 AND k < 2.5", func(s *modelSend) bool { return s.k == 1 || s.k == 2 }})
}

func (s *modelSub) wants(send *modelSend) bool { return s.where == nil || s.where.wants(send) }
