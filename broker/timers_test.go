package broker

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimersRunWhenDueInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(0, 0)
		c := &core{now: start}
		var due, ran []int
		for _, ms := range rapid.SliceOf(rapid.IntRange(0, 50)).Draw(t, "times") {
			due = append(due, ms)
			c.timers.add(start.Add(time.Duration(ms)*time.Millisecond), func() { ran = append(ran, ms) })
		}
		slices.Sort(due)
		for now := 0; now <= 50; now += rapid.IntRange(1, 20).Draw(t, "step") {
			c.now = start.Add(time.Duration(now) * time.Millisecond)
			c.timers.run(c)
			n, _ := slices.BinarySearch(due, now+1)
			if !slices.Equal(ran, due[:n]) {
				t.Fatalf("at %d ran %v of %v", now, ran, due)
			}
			at, ok := c.timers.next()
			if ok != (n < len(due)) || ok && !at.Equal(start.Add(time.Duration(due[n])*time.Millisecond)) {
				t.Fatalf("at %d the next is %v, %v", now, at, ok)
			}
		}
	})
}

func TestTimersThatAddTimers(t *testing.T) {
	c := &core{now: time.Unix(10, 0)}
	var ran []string
	c.timers.add(c.now, func() {
		ran = append(ran, "first")
		c.timers.add(c.now, func() { ran = append(ran, "at once") })
		c.timers.add(c.now.Add(1), func() { ran = append(ran, "later") })
	})
	c.timers.run(c)
	if !slices.Equal(ran, []string{"first", "at once"}) {
		t.Errorf("ran %v", ran)
	}
	if at, ok := c.timers.next(); !ok || !at.Equal(c.now.Add(1)) {
		t.Errorf("next is %v, %v", at, ok)
	}
}
