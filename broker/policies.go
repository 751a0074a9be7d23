package broker

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"

	"footfall/schedule"
)

// The limits of a list of policies: of all of them, and of those whose Match has a wildcard, which
// are tried one by one.
const (
	MaxPolicies         = 10_000
	MaxWildcardPolicies = 1000
)

// Policies finds what counts for a destination. For each setting by itself that is what the most specific policy says
// that matches it and has the setting. The most specific of several patterns is
//
//  1. one without wildcards,
//  2. else the one with more literal levels,
//  3. else the one with fewer wildcards for any number of levels,
//  4. else the one with more wildcards for one level,
//  5. else the one whose level is literal, or else stands for one level only, at the first place, from the left,
//     where they differ in that.
//
// Policies is immutable, and may be used by several goroutines at once. A nil *Policies has no policy.
type Policies struct {
	list      []Policy
	exact     map[Address]int          // by name, an index of list
	wildcards [Topic + 1][]wildcardFor // by kind, the most specific first
	overrides bool                     // some policy has a TimeToDeliver
	quotas    bool                     // some policy has a bound of messages
}

// wildcardFor is the pattern of the policy at an index, and the settings of that policy.
type wildcardFor struct {
	pattern
	index    int
	settings policySet
}

// Choice tells for each setting the index of the policy that counts, -1 if there is none.
type Choice [policySettings]int16

// NewPolicies compiles policies, at most MaxPolicies of them. Errors are of type [PolicyErrors], and are all that is wrong:
// with a policy by itself, and among policies that are tied, as they name the same destinations or are
// equally specific, have a setting in common, and match a name in common.
func NewPolicies(list []Policy) (*Policies, error) {
	p := &Policies{list: slices.Clone(list), exact: map[Address]int{}}
	var errs PolicyErrors
	if len(list) > MaxPolicies {
		errs.add(MaxPolicies, "match", "is one too many: there may be %d", MaxPolicies)
		return nil, errs
	}
	for i := range p.list {
		policy := &p.list[i]
		policy.check(i, &errs)
		p.overrides = p.overrides || policy.TimeToDeliver != nil
		p.quotas = p.quotas || policy.MaxMessages != nil || policy.MaxBytes != nil || policy.MaxMessageSize != nil
		pattern, err := parsePattern(policy.Match)
		if err != nil {
			errs.add(i, "match", "%w; it is %s", err, quote(policy.Match))
			continue
		}
		if pattern.kind == Queue && policy.Slow != 0 {
			errs.add(i, PolicySlowConsumer.String(), "is for topics; consumers of a queue hold nobody up")
		}
		p.add(i, pattern, &errs)
	}
	if len(p.wildcards[Queue])+len(p.wildcards[Topic]) > MaxWildcardPolicies {
		errs.add(len(list)-1, "match", "ends a list with more than %d matches with wildcards", MaxWildcardPolicies)
		return nil, errs
	}
	for _, wildcards := range p.wildcards {
		slices.SortStableFunc(wildcards, func(a, b wildcardFor) int { return a.compare(&b.pattern) })
		p.findTies(wildcards, &errs)
	}
	if len(errs) > 0 {
		slices.SortStableFunc(errs, func(a, b *PolicyError) int { return cmp.Compare(a.Index, b.Index) })
		return nil, errs
	}
	return p, nil
}

// add files the policy at an index under its pattern.
func (p *Policies) add(index int, pattern pattern, errs *PolicyErrors) {
	if pattern.isWildcard() {
		p.wildcards[pattern.kind] = append(p.wildcards[pattern.kind], wildcardFor{pattern, index, p.list[index].settings()})
		return
	}
	if other, twice := p.exact[pattern.address()]; twice {
		errs.addTie(index, other, "is the same destination as %s", quote(p.list[other].Match))
		return
	}
	p.exact[pattern.address()] = index
}

// findTies looks for policies of which none is more specific, though both count for some name. Those that are equally
// specific are neighbours.
func (p *Policies) findTies(wildcards []wildcardFor, errs *PolicyErrors) {
	for i := range wildcards {
		for j := i - 1; j >= 0 && wildcards[j].compare(&wildcards[i].pattern) == 0; j-- {
			first, later := &wildcards[j], &wildcards[i]
			if slices.Equal(first.levels, later.levels) {
				errs.addTie(later.index, first.index, "names the same destinations as %s", quote(first.text))
				break
			}
			if both := first.settings & later.settings; both != 0 && first.overlaps(&later.pattern) {
				s := PolicySetting(bits.TrailingZeros32(uint32(both)))
				errs.addTie(later.index, first.index, "is as specific as %s, some names match both, and both have %v", quote(first.text), s)
				break
			}
		}
	}
}

// Choose finds the policies that count for a destination. It allocates in proportion to the length of the name,
// and takes at most as many steps as there are patterns with wildcards, times their levels, times the levels of the name.
func (p *Policies) Choose(a Address) Choice {
	var choice Choice
	for s := range choice {
		choice[s] = -1
	}
	if p == nil || a.Kind == Durable || a.IsTemporary() { // what counts for one is what counts for its topic
		return choice
	}
	open := policySet(1<<policySettings - 1)
	choose := func(index int, settings policySet) {
		for set := settings & open; set != 0; set &= set - 1 {
			choice[bits.TrailingZeros32(uint32(set))] = int16(index)
		}
		open &^= settings
	}
	if index, ok := p.exact[a]; ok {
		choose(index, p.list[index].settings())
	}
	wildcards := p.wildcards[a.Kind]
	if len(wildcards) == 0 {
		return choice
	}
	names := [][]string{strings.Split(a.Name, ".")}
	if a.Kind == Topic && strings.Contains(a.Name, partsMark) {
		names = names[:0]
		for name := range strings.SplitSeq(a.Name, partsMark) {
			names = append(names, strings.Split(name, "."))
		}
	}
	for i := range wildcards {
		if w := &wildcards[i]; w.settings&open != 0 && w.matchesAll(names) {
			choose(w.index, w.settings)
		}
	}
	return choice
}

// policy is what counts for a destination, put together from those that match it.
type policy struct {
	override           *schedule.Plan // nil: the sender decides
	defaultTTL, maxTTL int64          // in milliseconds, 0 for none
	expired            ExpiredAction
	redelivery         Redelivery
	ackTimeout         *time.Duration    // nil: the subscription decides
	errors             *ErrorDestination // nil: the default
	quota              quota
	slow               SlowConsumer
}

// compile puts together what a choice names.
func (p *Policies) compile(choice Choice) *policy {
	for s, i := range choice {
		if i >= 0 && slices.Contains(p.list[i].Reset, PolicySetting(s)) {
			choice[s] = -1
		}
	}
	out := &policy{}
	if i := choice[PolicyTimeToDeliver]; i >= 0 {
		out.override = p.list[i].TimeToDeliver.Plan
	}
	if i := choice[PolicyDefaultTTL]; i >= 0 {
		out.defaultTTL = p.list[i].DefaultTTL.Milliseconds()
	}
	if i := choice[PolicyMaxTTL]; i >= 0 {
		out.maxTTL = p.list[i].MaxTTL.Milliseconds()
	}
	if i := choice[PolicyExpired]; i >= 0 {
		out.expired = p.list[i].Expired
	}
	if i := choice[PolicyErrorDestination]; i >= 0 {
		out.errors = p.list[i].ErrorDestination
	}
	if i := choice[PolicyAckTimeout]; i >= 0 {
		out.ackTimeout = p.list[i].AckTimeout
	}
	if i := choice[PolicySlowConsumer]; i >= 0 {
		out.slow = p.list[i].Slow
	}
	out.redelivery = p.redelivery(choice)
	out.quota = p.quota(choice)
	return out
}

// quota puts together what a choice names of bounds.
func (p *Policies) quota(choice Choice) (q quota) {
	if i := choice[PolicyMaxMessages]; i >= 0 {
		q.messages = *p.list[i].MaxMessages
	}
	if i := choice[PolicyMaxBytes]; i >= 0 {
		q.bytes = *p.list[i].MaxBytes
	}
	if i := choice[PolicyMaxMessageSize]; i >= 0 {
		q.size = *p.list[i].MaxMessageSize
	}
	if i := choice[PolicyOverflow]; i >= 0 {
		q.overflow = p.list[i].Overflow
	}
	return q
}

// redelivery puts together what a choice names of redelivery.
func (p *Policies) redelivery(choice Choice) (r Redelivery) {
	for s := PolicyRedeliveryDelay; s <= PolicyRedeliveryLimit; s++ {
		i := choice[s]
		if i < 0 {
			continue
		}
		switch from := &p.list[i].Redelivery; s {
		case PolicyRedeliveryDelay:
			r.Delay = from.Delay
		case PolicyRedeliveryBackOff:
			r.BackOff = from.BackOff
		case PolicyRedeliveryMultiplier:
			r.Multiplier = from.Multiplier
		case PolicyRedeliveryMaxDelay:
			r.MaxDelay = from.MaxDelay
		case PolicyRedeliveryJitter:
			r.Jitter = from.Jitter
		case PolicyRedeliveryLimit:
			r.Limit = from.Limit
		}
	}
	return r
}

// limit gives a message the lifetimes of its destination.
func (p *policy) limit(m *Message) {
	if p.defaultTTL > 0 && m.TTL <= 0 && m.Expires == 0 {
		m.TTL = p.defaultTTL
	}
	if p.maxTTL > 0 && (m.TTL <= 0 || m.TTL > p.maxTTL) {
		m.TTL = p.maxTTL
	}
}

// policyOf is what counts for the destination at a; d is nil as long as it does not exist.
func (c *core) policyOf(a Address, d *destination) *policy {
	if d != nil && d.policy != nil {
		return d.policy
	}
	if d != nil {
		a = d.source()
	}
	choice := c.opt.Policies.Choose(a)
	p := c.policies[choice]
	if p == nil {
		p = c.opt.Policies.compile(choice)
		c.policies[choice] = p // there are few of them, and many destinations
	}
	if d != nil {
		d.policy = p
	}
	return p
}
