package schedule

import "time"

// Lifetime is how long a message lives, as its sender asked. The zero Lifetime is for ever.
type Lifetime struct {
	// Expires is when it ends, in milliseconds since the epoch, from 1 to MaxInstant; 0 if the
	// sender named no such time.
	Expires int64
	// TTL is how long it lasts, in milliseconds, above 0; 0 if the sender named no such time.
	TTL int64
}

// LifetimeLimits are what a destination says about lifetimes. Zero is no limit.
type LifetimeLimits struct {
	// Default is for messages whose senders say nothing.
	Default time.Duration
	// Max is the longest. A longer lifetime is cut, one without end too.
	Max time.Duration
}

// Lifetime reads the headers expires, a time in milliseconds since the epoch, and ttl, expiration and
// x-message-ttl, times in milliseconds. Each of them is a limit, so that the earliest one counts.
//
// Zero and negative values say nothing, as in JMS, where some clients always send them: expires:0, ttl:-1. (In
// RabbitMQ expiration:0 is at once.) What is too large to matter is for ever: 9223372036854775807. What
// is no whole number is an error, of type *[HeaderError].
func (r *Request) Lifetime() (Lifetime, error) {
	var l Lifetime
	if r.present>>HeaderExpires == 0 {
		return l, nil
	}
	if h := HeaderExpires; r.Has(h) {
		n, err := number(r.values[h], "milliseconds since the epoch")
		if err != nil {
			return Lifetime{}, r.wrong(h, err)
		}
		if n <= MaxInstant {
			l.Expires = max(n, 0)
		}
	}
	for h := HeaderTTL; h < headerCount; h++ {
		if !r.Has(h) {
			continue
		}
		n, err := number(r.values[h], "a number of milliseconds")
		if err != nil {
			return Lifetime{}, r.wrong(h, err)
		}
		if n > 0 && n <= MaxInstant && (l.TTL == 0 || n < l.TTL) {
			l.TTL = n
		}
	}
	return l, nil
}

// Until returns when a message expires that is taken now, in milliseconds since the epoch; 0 for
// never. In a transaction now is COMMIT. A message that waits for its time lives from when it was
// taken, and may expire before it is delivered; but each delivery of a repeating job lives from
// when it is due, else all but the first would be dead.
func (l Lifetime) Until(now time.Time, limits LifetimeLimits) int64 {
	const never = MaxInstant + 1
	at := now.UnixMilli()
	until := int64(never)
	if l.Expires > 0 {
		until = l.Expires
	}
	if l.TTL > 0 {
		until = min(until, at+l.TTL)
	}
	if l == (Lifetime{}) && limits.Default > 0 {
		until = at + limits.Default.Milliseconds()
	}
	if limits.Max > 0 {
		until = min(until, at+limits.Max.Milliseconds())
	}
	if until >= never {
		return 0
	}
	return max(until, 1)
}
