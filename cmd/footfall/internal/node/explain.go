package node

import (
	"fmt"
	"time"

	"footfall/broker"
	"footfall/cmd/footfall/internal/config"
	"footfall/schedule"
)

// Explained is a setting of one destination with its value, and where that comes from.
type Explained struct {
	Setting, Value string
	// Match is that of the item of the list of destinations that counts, empty for the default.
	Match string
	// Origin is where the value stands.
	Origin config.Origin
}

// Explain tells what counts for a destination, /queue/NAME or /topic/NAME, whether it exists or not. The warnings
// are of settings that make sense one by one, but not together.
func (o *Options) Explain(destination string) (settings []Explained, warnings []string, err error) {
	address, err := broker.ParseDestination(destination)
	if err != nil {
		return nil, nil, err
	}
	list, policies, err := o.policies()
	if err != nil {
		return nil, nil, err
	}
	choice := policies.Choose(address)
	for _, s := range broker.PolicySettings() {
		e := Explained{Setting: s.String(), Value: byDefault(s, address), Origin: config.Default}
		if i := choice[s]; i >= 0 {
			item := &o.Destinations[i]
			e.Match, e.Origin = item.Of.Match, item.Origin(s.String())
			if text := item.Of.text(s); text != theDefault {
				e.Value = text
			}
			if s == broker.PolicyTimeToDeliver && isSchedule(list[i].TimeToDeliver.Plan) {
				e.Value += " in " + list[i].TimeToDeliver.Plan.Zone.String()
			}
		}
		settings = append(settings, e)
	}
	return settings, conflicts(list, choice), nil
}

// text is what was written for a setting.
func (d *Destination) text(s broker.PolicySetting) string {
	switch s {
	case broker.PolicyTimeToDeliver:
		return d.TimeToDeliver
	case broker.PolicyDefaultTTL:
		return d.DefaultTTL
	case broker.PolicyMaxTTL:
		return d.MaxTTL
	case broker.PolicyExpired:
		return d.Expired
	}
	if text := d.Quota.text(s); text != "" {
		return text
	}
	return d.Redelivery.text(s)
}

// byDefault is what counts for a destination where no item says anything.
func byDefault(s broker.PolicySetting, a broker.Address) string {
	switch s {
	case broker.PolicyExpired:
		return "discard"
	case broker.PolicyOverflow, broker.PolicySlowConsumer:
		return "block"
	case broker.PolicyRedeliveryDelay, broker.PolicyRedeliveryBackOff, broker.PolicyRedeliveryMultiplier, broker.PolicyRedeliveryMaxDelay,
		broker.PolicyAckTimeout:
		return "as consumers say"
	case broker.PolicyRedeliveryJitter:
		return "0.0"
	case broker.PolicyRedeliveryLimit:
		return fmt.Sprintf("as senders and consumers say, or %d", broker.DefaultRedeliveryLimit)
	case broker.PolicyErrorDestination:
		return broker.DefaultErrorDestination(a).String()
	}
	return none
}

// conflicts finds times that come from several items and that nobody wants together.
func conflicts(list []broker.Policy, choice broker.Choice) (warnings []string) {
	var plan *schedule.Plan
	if i := choice[broker.PolicyTimeToDeliver]; i >= 0 {
		plan = list[i].TimeToDeliver.Plan
	}
	var byDefault, longest time.Duration
	if i := choice[broker.PolicyDefaultTTL]; i >= 0 {
		byDefault = *list[i].DefaultTTL
	}
	if i := choice[broker.PolicyMaxTTL]; i >= 0 {
		longest = *list[i].MaxTTL
	}
	wait := time.Duration(0)
	if plan != nil && plan.Kind == schedule.After {
		wait = time.Duration(plan.Delay) * time.Millisecond
	}
	switch {
	case longest > 0 && wait >= longest:
		warnings = append(warnings, "no message is delivered: each expires, by max-ttl, before it is due, by time-to-deliver")
	case byDefault > 0 && wait >= byDefault:
		warnings = append(warnings, "a message whose sender says nothing about its expiry is not delivered: it expires, by default-ttl, before it is due, by time-to-deliver")
	}
	if longest > 0 && byDefault > longest {
		warnings = append(warnings, "default-ttl is longer than max-ttl, which counts")
	}
	return warnings
}
