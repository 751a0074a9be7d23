package broker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"footfall/schedule"
)

// Policy is what an operator wants of the destinations that Match names. What is nil, or 0 of Expired, it leaves
// to policies that are less specific.
type Policy struct {
	// Match is /queue/NAME or /topic/NAME. Levels of the name, parted by dots, may be wildcards: "*" stands for one
	// level, and each of ">", "#" and "**" for any number of them, none among them. A name has 1 to 1024 octets, and at
	// most 32 levels if there is a wildcard.
	Match string
	// TimeToDeliver says when messages are due, whatever their senders ask for.
	TimeToDeliver *Override
	// DefaultTTL is how long a message lives whose sender says nothing about it, MaxTTL the longest that any message
	// lives; 0 for without end. Both are whole milliseconds and count from when the message is taken; for the messages of a
	// repeating job, from when each is due.
	DefaultTTL, MaxTTL *time.Duration
	// Expired is what becomes of a message that expires.
	Expired ExpiredAction
	// Redelivery is when and how often messages come again that consumers did not take; it has no First.
	Redelivery Redelivery
	// ErrorDestination is where messages go that died: that failed too often, that a consumer does not want, or that expired, where
	// Expired is ExpiredRedirect. The default is a queue with "DLQ." and the name. A destination whose name
	// begins so has none; there messages stay.
	ErrorDestination *ErrorDestination
	// AckTimeout is how long a delivery may be pending before it counts as failed and is taken back, whatever the consumer
	// says; 0 for without end.
	AckTimeout *time.Duration
	// MaxMessages and MaxBytes bound what a queue, or each durable subscription of a topic, has: what waits for a consumer and what
	// consumers have, but not what waits for its time. MaxMessageSize bounds the octets of headers and body of one message. 0 is without end.
	MaxMessages, MaxBytes, MaxMessageSize *int64
	// Overflow is what happens when there is no room by MaxMessages and MaxBytes. The default is OverflowBlock.
	Overflow Overflow
	// Slow is what happens to consumers of a topic that do not keep up, but for those of durable subscriptions. The default is SlowBlock.
	Slow SlowConsumer
	// Reset are settings that are as if no policy had them, whatever less specific policies say.
	Reset []PolicySetting
}

// Override is a time of delivery that counts in the place of what senders ask for, as WebLogic's time-to-deliver
// override does. A repeating job is one message under it.
type Override struct {
	// Plan is AtOnce, After or OnSchedule. Nil is no override: the sender decides.
	Plan *schedule.Plan
}

// ExpiredAction is what becomes of a message that expires.
type ExpiredAction uint8

// The actions. ExpiredDiscard drops the message, and counts it. ExpiredLog also logs it, at level info. ExpiredRedirect
// moves it to the error destination; what a subscriber of a topic has coming is discarded.
const (
	ExpiredDiscard ExpiredAction = iota + 1
	ExpiredLog
	ExpiredRedirect
)

// PolicySetting is one of the settings of a Policy.
type PolicySetting uint8

// The settings, each with a field of [Policy].
const (
	PolicyTimeToDeliver PolicySetting = iota
	PolicyDefaultTTL
	PolicyMaxTTL
	PolicyExpired
	PolicyRedeliveryDelay
	PolicyRedeliveryBackOff
	PolicyRedeliveryMultiplier
	PolicyRedeliveryMaxDelay
	PolicyRedeliveryJitter
	PolicyRedeliveryLimit
	PolicyErrorDestination
	PolicyAckTimeout
	PolicyMaxMessages
	PolicyMaxBytes
	PolicyMaxMessageSize
	PolicyOverflow
	PolicySlowConsumer

	policySettings
)

// String returns the name that operators know the setting by.
func (s PolicySetting) String() string {
	return [policySettings]string{
		"time-to-deliver", "default-ttl", "max-ttl", "expired",
		"redelivery-delay", "redelivery-backoff", "redelivery-multiplier", "redelivery-max-delay", "redelivery-jitter", "redelivery-limit",
		"error-destination", "ack-timeout", "max-messages", "max-bytes", "max-message-size", "overflow", "slow-consumer",
	}[s]
}

// PolicySettings returns all settings.
func PolicySettings() []PolicySetting {
	all := make([]PolicySetting, policySettings)
	for i := range all {
		all[i] = PolicySetting(i)
	}
	return all
}

// Has tells whether p says something about a setting.
func (p *Policy) Has(s PolicySetting) bool {
	r := &p.Redelivery
	return [policySettings]bool{
		p.TimeToDeliver != nil, p.DefaultTTL != nil, p.MaxTTL != nil, p.Expired != 0,
		r.Delay != nil, r.BackOff != 0, r.Multiplier != 0, r.MaxDelay != nil, r.Jitter != nil, r.Limit != nil,
		p.ErrorDestination != nil, p.AckTimeout != nil,
		p.MaxMessages != nil, p.MaxBytes != nil, p.MaxMessageSize != nil, p.Overflow != 0, p.Slow != 0,
	}[s] || slices.Contains(p.Reset, s)
}

// settings returns the set of those that p says something about.
func (p *Policy) settings() (set policySet) {
	for _, s := range PolicySettings() {
		if p.Has(s) {
			set |= 1 << s
		}
	}
	return set
}

// policySet is a set of settings, by bit.
type policySet uint32

// check finds what is wrong with the policy at an index by itself.
func (p *Policy) check(index int, errs *PolicyErrors) {
	if p.settings() == 0 {
		errs.add(index, "match", "has no setting beside it")
	}
	checkTTL(index, PolicyDefaultTTL, p.DefaultTTL, errs)
	checkTTL(index, PolicyMaxTTL, p.MaxTTL, errs)
	checkTTL(index, PolicyAckTimeout, p.AckTimeout, errs)
	p.Redelivery.check(index, errs)
	p.checkErrorDestination(index, errs)
	p.checkQuota(index, errs)
	if p.DefaultTTL != nil && p.MaxTTL != nil && *p.MaxTTL > 0 && *p.DefaultTTL > *p.MaxTTL {
		errs.add(index, PolicyDefaultTTL.String(), "is longer than max-ttl: %v and %v", *p.DefaultTTL, *p.MaxTTL)
	}
	if p.TimeToDeliver == nil || p.TimeToDeliver.Plan == nil {
		return
	}
	plan := p.TimeToDeliver.Plan
	life := shortest(p.DefaultTTL, p.MaxTTL)
	switch {
	case plan.Kind == schedule.After && life > 0 && plan.Delay >= life.Milliseconds():
		// WebLogic: what expires before its time of delivery is taken, and expires silently. That cannot be meant.
		errs.add(index, PolicyTimeToDeliver.String(), "is not shorter than a time to live of %v: messages would expire before they are delivered", life)
	case plan.Kind != schedule.AtOnce && plan.Kind != schedule.After && plan.Kind != schedule.OnSchedule:
		errs.add(index, PolicyTimeToDeliver.String(), "must be a delay or a schedule")
	}
}

func checkTTL(index int, s PolicySetting, ttl *time.Duration, errs *PolicyErrors) {
	if ttl != nil && (*ttl < 0 || *ttl > schedule.MaxDelay || *ttl%time.Millisecond != 0) {
		errs.add(index, s.String(), "must be whole milliseconds, from 0 to ten years; it is %v", *ttl)
	}
}

// check finds what is wrong with the redelivery of the policy at an index.
func (r *Redelivery) check(index int, errs *PolicyErrors) {
	checkTTL(index, PolicyRedeliveryDelay, r.Delay, errs)
	checkTTL(index, PolicyRedeliveryMaxDelay, r.MaxDelay, errs)
	if r.Delay != nil && r.MaxDelay != nil && *r.MaxDelay > 0 && *r.Delay > *r.MaxDelay {
		errs.add(index, PolicyRedeliveryDelay.String(), "is longer than redelivery-max-delay: %v and %v", *r.Delay, *r.MaxDelay)
	}
	if m := r.Multiplier; m != 0 && !(m >= 1 && m <= MaxMultiplier) { // not a number is neither
		errs.add(index, PolicyRedeliveryMultiplier.String(), "must be from 1 to %v; it is %v", MaxMultiplier, m)
	}
	if r.Jitter != nil && !(*r.Jitter >= 0 && *r.Jitter <= 1) {
		errs.add(index, PolicyRedeliveryJitter.String(), "must be from 0 to 1; it is %v", *r.Jitter)
	}
	if r.Limit != nil && (*r.Limit < NoRedeliveryLimit || *r.Limit > MaxRedeliveryLimit) {
		errs.add(index, PolicyRedeliveryLimit.String(), "must be from 0 to %d, or -1 for none; it is %d", MaxRedeliveryLimit, *r.Limit)
	}
	if r.First != nil {
		errs.add(index, PolicyRedeliveryDelay.String(), "has a first delay of its own, which only subscriptions may have")
	}
}

// checkErrorDestination finds what is wrong with the error destination of the policy at an index.
func (p *Policy) checkErrorDestination(index int, errs *PolicyErrors) {
	e := p.ErrorDestination
	if e == nil || e.Name == "" {
		return
	}
	if _, err := ParseErrorDestination(e.String()); err != nil {
		errs.add(index, PolicyErrorDestination.String(), "%w", err)
	}
}

// checkQuota finds what is wrong with the bounds of the policy at an index.
func (p *Policy) checkQuota(index int, errs *PolicyErrors) {
	for i, n := range []*int64{p.MaxMessages, p.MaxBytes, p.MaxMessageSize} {
		if n != nil && *n < 0 {
			errs.add(index, (PolicyMaxMessages + PolicySetting(i)).String(), "must not be negative; it is %d", *n)
		}
	}
	if p.Overflow > OverflowDropOldest {
		errs.add(index, PolicyOverflow.String(), "is none that there is; it is %d", p.Overflow)
	}
	if p.Slow > SlowDisconnect {
		errs.add(index, PolicySlowConsumer.String(), "is none that there is; it is %d", p.Slow)
	}
}

// shortest returns the shorter one of two times to live, 0 if neither is one.
func shortest(ttls ...*time.Duration) (least time.Duration) {
	for _, ttl := range ttls {
		if ttl != nil && *ttl > 0 && (least == 0 || *ttl < least) {
			least = *ttl
		}
	}
	return least
}

// PolicyErrors are all that is wrong with a list of policies, in its order.
type PolicyErrors []*PolicyError

// Error returns one line for each error.
func (e PolicyErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

func (e *PolicyErrors) add(index int, setting, format string, args ...any) {
	*e = append(*e, &PolicyError{Index: index, Other: -1, Setting: setting, Err: fmt.Errorf(format, args...)})
}

// addTie blames the later of two policies.
func (e *PolicyErrors) addTie(index, other int, format string, args ...any) {
	e.add(index, "match", format, args...)
	(*e)[len(*e)-1].Other = other
}

// PolicyError is something that is wrong with a policy of a list.
type PolicyError struct {
	// Index is that of the policy, Other that of the one that it cannot stand beside, or -1.
	Index, Other int
	// Setting is "match", or the name of a PolicySetting.
	Setting string
	// Err says what is wrong, in words that follow the name of the setting.
	Err error
}

// Error names the policy, the setting and what is wrong.
func (e *PolicyError) Error() string {
	return fmt.Sprintf("policy %d: %s %v", e.Index, e.Setting, e.Err)
}

// Unwrap returns Err.
func (e *PolicyError) Unwrap() error { return e.Err }
