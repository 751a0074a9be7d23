package broker

import (
	"math"
	"math/bits"
	"time"

	"footfall/schedule"
	"footfall/store"
)

// Redelivery says when a message comes again that a consumer did not take, and how often. A destination has one, see
// [Policy], and a subscription may have one, see [SubscribeOp]; where both say something the destination's counts. What
// is nil, or 0 of BackOff and Multiplier, is left to the other one, and then to the default.
type Redelivery struct {
	// Delay is the time before a redelivery, as BackOff has it grow: whole milliseconds up to schedule.MaxDelay; by
	// default 0, at once. First is the one before the first redelivery where that differs. Subscriptions only have it, and it does
	// not count where the destination has a Delay.
	Delay, First *time.Duration
	// BackOff is how the delay grows with each failure, by default not at all.
	BackOff BackOff
	// Multiplier is the factor of BackOffExponential, 1 to 1000; by default DefaultMultiplier.
	Multiplier float64
	// MaxDelay is the greatest delay, before Jitter; 0, the default, for none but schedule.MaxDelay.
	MaxDelay *time.Duration
	// Jitter is by how much of itself a delay is lengthened at most, 0, the default, to 1. How much it is differs from message to
	// message and from failure to failure.
	Jitter *float64
	// Limit is the number of failures after which a message still comes again, 0 to MaxRedeliveryLimit, or NoRedeliveryLimit. The limit of
	// the message itself comes between that of the destination and that of the subscription. By default it is DefaultRedeliveryLimit.
	Limit *int
}

// BackOff is how a redelivery delay grows.
type BackOff uint8

// The back-offs. With the delay d, the first delay f, which is d unless it is given, and the multiplier m, the n-th failure of a message is
// followed by a delay of: f, then d, for BackOffNone; f + (n-1)*d for BackOffLinear; f * m^(n-1) for BackOffExponential, which starts
// with d at the second failure if f is 0.
const (
	BackOffNone BackOff = iota + 1
	BackOffLinear
	BackOffExponential
)

// The limits of redelivery, and its defaults.
const (
	NoRedeliveryLimit      = -1
	DefaultRedeliveryLimit = 6
	// MaxRedeliveryLimit is the greatest limit; what is greater is none.
	MaxRedeliveryLimit = math.MaxUint16 - 1
	DefaultMultiplier  = 2.0
	MaxMultiplier      = 1000.0
)

// over lets o say what r does not.
func (r Redelivery) over(o Redelivery) Redelivery {
	if r.Delay == nil {
		r.Delay, r.First = o.Delay, o.First
	}
	if r.BackOff == 0 {
		r.BackOff = o.BackOff
	}
	if r.Multiplier == 0 {
		r.Multiplier = o.Multiplier
	}
	if r.MaxDelay == nil {
		r.MaxDelay = o.MaxDelay
	}
	if r.Jitter == nil {
		r.Jitter = o.Jitter
	}
	if r.Limit == nil {
		r.Limit = o.Limit
	}
	return r
}

// delay is how long a message waits after its n-th failure, from 1, in milliseconds. Equal seeds give equal jitter.
func (r *Redelivery) delay(n int, seed uint64) int64 {
	every := msOf(r.Delay)
	first := every
	if r.First != nil {
		first = msOf(r.First)
	}
	ms := first
	switch {
	case r.BackOff == BackOffLinear:
		ms += float64(n-1) * every
	case r.BackOff == BackOffExponential && first == 0 && n > 1:
		ms = every * r.growth(n-2)
	case r.BackOff == BackOffExponential:
		ms *= r.growth(n - 1)
	case n > 1:
		ms = every
	}
	longest := float64(schedule.MaxDelay.Milliseconds())
	if most := msOf(r.MaxDelay); most > 0 {
		longest = min(longest, most)
	}
	ms = min(ms, longest)
	if r.Jitter != nil {
		ms += ms * *r.Jitter * share(seed^uint64(n)<<48)
	}
	return int64(math.Ceil(min(ms, float64(schedule.MaxDelay.Milliseconds()))))
}

// growth is the multiplier to the power of n, as far as that makes a difference.
func (r *Redelivery) growth(n int) float64 {
	m := r.Multiplier
	if m == 0 {
		m = DefaultMultiplier
	}
	return min(math.Pow(m, float64(n)), 1e15)
}

func msOf(d *time.Duration) float64 {
	if d == nil {
		return 0
	}
	return float64(d.Milliseconds())
}

// share makes of a seed a number from 0 to 1 that looks like chance.
func share(seed uint64) float64 {
	// One step of wyrand.
	hi, lo := bits.Mul64(seed+0xa0761d6478bd642f, seed^0xe7037ed1a0b428db)
	return float64((hi^lo)>>11) / (1 << 53)
}

// NackOp is what a NACK, or a RECOVER, asks for beside counting a failure.
type NackOp struct {
	// Dead has the message go to the error destination, whatever the limit.
	Dead bool
	// Delay, with HasDelay, is the time before the redelivery in milliseconds, whatever the policies say.
	Delay    int64
	HasDelay bool
	// Reason is kept on a dead letter, as far as MaxNackReason octets.
	Reason string
}

// MaxNackReason bounds the reason of a NACK, in octets.
const MaxNackReason = 1024

// redelivery is what counts for a delivery now.
func (c *core) redelivery(d *delivery) Redelivery {
	r := c.policyOf(d.q.dest.addr, d.q.dest).redelivery
	if o := d.sub.op.Redelivery; o != nil {
		r = r.over(*o)
	}
	return r
}

// limitOf is how many failures of d's message are not the end of it, NoRedeliveryLimit for any number.
func (c *core) limitOf(d *delivery) int {
	if l := c.policyOf(d.q.dest.addr, d.q.dest).redelivery.Limit; l != nil {
		return *l
	}
	if m := d.e.msg; m.HasRedeliveryLimit {
		return int(m.RedeliveryLimit)
	}
	if o := d.sub.op.Redelivery; o != nil && o.Limit != nil {
		return *o.Limit
	}
	return DefaultRedeliveryLimit
}

// pause is how long d's message waits, in milliseconds. For a subscriber of a topic, whose messages are nowhere but with it, there
// is no redelivery delay.
func (c *core) pause(d *delivery, why cause) int64 {
	switch {
	case !why.isFailure() || !d.q.isStored():
		return 0
	case d.nack != nil && d.nack.HasDelay:
		return min(max(d.nack.Delay, 0), schedule.MaxDelay.Milliseconds())
	}
	r := c.redelivery(d)
	return r.delay(int(d.e.failures), seedOf(d.e.msg.ID))
}

func seedOf(id MessageID) uint64 { return id.Seq*uint64(store.Shards) + uint64(id.Shard) }
