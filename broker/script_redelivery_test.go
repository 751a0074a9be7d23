package broker

import (
	"strconv"
	"strings"
	"time"

	"footfall/frames"
)

// scriptRedelivery reads what scripts say of redelivery: delay= first= backoff= multiplier= max= jitter= limit=, all of
// them after prefix.
func scriptRedelivery(w words, prefix string) *Redelivery {
	r := &Redelivery{
		Delay: scriptTTL(w.named[prefix+"delay"]), First: scriptTTL(w.named[prefix+"first"]), MaxDelay: scriptTTL(w.named[prefix+"max-delay"]),
		BackOff: map[string]BackOff{"none": BackOffNone, "linear": BackOffLinear, "exponential": BackOffExponential}[w.named[prefix+"backoff"]],
	}
	if text, ok := w.named[prefix+"multiplier"]; ok {
		r.Multiplier = must(strconv.ParseFloat(text, 64))
	}
	if text, ok := w.named[prefix+"jitter"]; ok {
		r.Jitter = new(must(strconv.ParseFloat(text, 64)))
	}
	if text, ok := w.named[prefix+"limit"]; ok {
		r.Limit = new(must(strconv.Atoi(text)))
	}
	return r
}

// scriptPolicyMore reads the settings of a policy that are about redelivery.
func scriptPolicyMore(p *Policy, w words) {
	p.Redelivery = *scriptRedelivery(w, "redelivery-")
	if text, ok := w.named["error-destination"]; ok {
		p.ErrorDestination = must(ParseErrorDestination(text))
	}
	p.AckTimeout = scriptTTL(w.named["ack-timeout"])
	for name, at := range map[string]**int64{"max-messages": &p.MaxMessages, "max-bytes": &p.MaxBytes, "max-message-size": &p.MaxMessageSize} {
		if text, ok := w.named[name]; ok {
			*at = new(must(strconv.ParseInt(text, 10, 64)))
		}
	}
	p.Overflow = map[string]Overflow{"block": OverflowBlock, "reject": OverflowReject, "drop-oldest": OverflowDropOldest}[w.named["overflow"]]
	p.Slow = map[string]SlowConsumer{"block": SlowBlock, "drop-oldest": SlowDropOldest, "drop-newest": SlowDropNewest, "disconnect": SlowDisconnect}[w.named["slow-consumer"]]
}

// scriptNack reads what a NACK or RECOVER has beside: dead=true delay= reason=, where _ stands for a blank.
func scriptNack(w words) *NackOp {
	n := &NackOp{Dead: w.named["dead"] == "true", Reason: strings.ReplaceAll(w.named["reason"], "_", " ")}
	if text, ok := w.named["delay"]; ok {
		n.Delay, n.HasDelay = must(time.ParseDuration(text)).Milliseconds(), true
	}
	if *n == (NackOp{}) {
		return nil
	}
	return n
}

// showDeath tells of the last death of a message.
func showDeath(h frames.Header) string {
	reason, ok := h.Get("dead-letter-reason")
	if !ok {
		return ""
	}
	from, _ := h.Get("original-destination")
	count, _ := h.Get("dead-letter-count")
	return " dead:" + reason + "," + from + "," + count
}

// deathless are policies under which no message dies of its failures.
func deathless() *Policies {
	return must(NewPolicies([]Policy{
		{Match: "/queue/>", Redelivery: Redelivery{Limit: new(NoRedeliveryLimit)}}, {Match: "/topic/>", Redelivery: Redelivery{Limit: new(NoRedeliveryLimit)}},
	}))
}
