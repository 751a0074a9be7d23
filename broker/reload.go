package broker

import "context"

// SetPolicies has other policies count from now on, all at once: for what comes, for what fails, expires or is too much from now on, and for those
// who wait for room. What was decided before stays: times of delivery, times to live, and the limits of deliveries that are with
// consumers. False: the loop did not turn while ctx lived, and it may happen yet.
func (b *Broker) SetPolicies(ctx context.Context, p *Policies) bool {
	return b.call(ctx, func(c *core) { c.setPolicies(p) })
}

func (c *core) setPolicies(p *Policies) {
	c.opt.Policies = p
	c.policies = map[Choice]*policy{}
	for _, d := range c.dests {
		d.policy = nil
	}
	for _, d := range c.byID { // also those that are being deleted
		d.policy = nil
	}
	for _, d := range c.dests {
		if d.queue != nil {
			c.swells(d.queue)
			continue
		}
		for t := range d.allTaps() {
			c.unslow(t) // the next message decides again
		}
	}
	c.recheck = true
}
