package broker

import "time"

// own is what takes memory for the broker's sake: backlogs in memory, and windows of what waits for its time. What
// consumers have is bounded apart from it, see loans: it must not hold up senders.
func (c *core) own() int64 { return c.memory - c.loans.total }

// watchMemory keeps the messages in memory below the watermark: backlogs that nobody
// consumes leave it first, then senders wait.
func (c *core) watchMemory() {
	if c.pressed() && !c.now.Before(c.nextEvict) {
		c.nextEvict = c.now.Add(100 * time.Millisecond)
		c.evict()
	}
	if own := c.own(); own > c.opt.MemoryBytes && !c.memoryHigh {
		c.memoryHigh = true
		c.opt.Log.Warn("too many messages in memory: senders wait", "bytes", own, "limit", c.opt.MemoryBytes)
	}
	c.easeMemory()
}

// easeMemory lets senders and pages go on for which there is room again.
func (c *core) easeMemory() {
	if own := c.own(); c.memoryHigh && own < c.opt.MemoryBytes/5*4 {
		c.memoryHigh, c.recheck = false, true
		c.opt.Log.Info("messages in memory are below the watermark again: senders go on", "bytes", own)
	}
	if len(c.thirsty) == 0 || c.pressed() {
		return
	}
	for i, q := range c.thirsty {
		q.thirsty = false
		c.mark(q)
		c.thirsty[i] = nil
	}
	c.thirsty = c.thirsty[:0]
}

// pressed tells whether memory is to be made free, at nextEvict again.
func (c *core) pressed() bool { return c.memoryHigh || c.own() > c.opt.MemoryBytes }

// fill notes that q has something in memory.
func (c *core) fill(q *backlog) {
	if !q.filled && q.dest.queue == q {
		q.filled = true
		c.filled = append(c.filled, q)
	}
}

// evict has the windows leave memory that nobody takes from.
func (c *core) evict() {
	kept := c.filled[:0]
	for _, q := range c.filled {
		if !q.hasOpen(c) {
			for q.count > 0 {
				q.edgeBefore(c)
			}
			c.blur(q)
		}
		if q.filled = q.count+len(q.deep) > 0; q.filled {
			kept = append(kept, q)
		}
	}
	clear(c.filled[len(kept):])
	c.filled = kept
}

// mustThirst tells whether the next page of q has to wait, as memory is short and nobody would take from it.
func (c *core) mustThirst(q *backlog) bool {
	if !c.pressed() || q.hasOpen(c) {
		return false
	}
	if !q.thirsty {
		q.thirsty = true
		c.thirsty = append(c.thirsty, q)
	}
	return true
}
