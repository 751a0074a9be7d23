package broker

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"footfall/store/storetest"
)

// TestADeletionIsBegunOrNotAndFinishedAtTheStart cuts the power at each sync of a deletion. Either all is there as before, or nothing of it is and the
// rest of the store is whole; after an answer it is the latter.
func TestADeletionIsBegunOrNotAndFinishedAtTheStart(t *testing.T) {
	for _, text := range []string{"/queue/q", "/topic/t"} {
		begun, finished := 0, 0
		for syncs := 1; syncs <= 12; syncs++ {
			synctest.Test(t, func(t *testing.T) {
				was, answered := cutDeletion(t, address(text), syncs)
				if was {
					begun++
				} else {
					finished++
				}
				if was && answered {
					t.Fatalf("%s was deleted and is there after a crash at sync %d", text, syncs)
				}
			})
		}
		if finished == 0 {
			t.Fatalf("%s was never seen half deleted: %d and %d", text, begun, finished)
		}
	}
}

// cutDeletion deletes a destination of many messages and loses the power at the n-th sync after that. It tells whether it is
// there afterwards, and whether the deletion was answered before.
func cutDeletion(t *testing.T, a Address, syncs int) (there, answered bool) {
	w := newDiskWorld(t, Options{BacklogMessages: 16}, storetest.NewDisk(t))
	c := w.connectAs("c", Client{ClientID: "c"})
	dsub := SubscriptionName{"c", "d"}
	c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "d", From: Address{Kind: Topic, Name: "t"}, Durable: dsub, Mode: AckIndividual, Window: 1}})
	for i := range 2500 {
		c.do(Op{Kind: OpSend, To: a, Message: newMessage(fmt.Sprint("m", i))})
	}
	for i := range 20 {
		m := newMessage(fmt.Sprint("later", i))
		m.Delay = int64(time.Hour/time.Millisecond) + int64(i)
		c.do(Op{Kind: OpSend, To: a, Message: m}, Op{Kind: OpSend, To: Address{Kind: Queue, Name: "other"}, Message: newMessage("o")})
	}
	for range 2 {
		for _, o := range c.take() {
			if o.Kind == OutputMessage && o.Number == 1 { // its redelivery waits
				c.do(Op{Kind: OpNack, Ack: AckOp{SubNumber: o.SubNumber, Number: o.Number}, Nack: &NackOp{HasDelay: true, Delay: 3_600_000}})
			}
		}
	}
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	var disk *storetest.Disk
	left := syncs
	done := false
	w.disk.OnSync(func() {
		if left--; left == 0 {
			answered, disk = done, w.disk.Crash(0, uint64(syncs))
		}
	})
	if _, err := w.b.DeleteDestination(context.Background(), a, Deletion{}); err != nil {
		t.Fatal(err)
	}
	done = true
	w.settle()
	w.disk.OnSync(nil)
	if disk == nil {
		answered, disk = done, w.disk.Crash(0, uint64(syncs))
	}
	w.stop()
	w.use(disk)
	w.start()
	defer w.stop()
	detail, err := w.b.LookAt(context.Background(), a)
	there = err == nil
	w.settle()
	rep, err := w.store.Check()
	if err != nil || !rep.OK() {
		t.Fatalf("after sync %d: %v %v", syncs, err, rep)
	}
	if there {
		if n := detail.Ready; a.Kind == Queue && n != 2500 {
			t.Fatalf("after sync %d the queue is there with %d messages", syncs, n)
		}
		return there, answered
	}
	if rep.Messages != 20 {
		t.Fatalf("after sync %d: %d messages are left, of 20 in another queue", syncs, rep.Messages)
	}
	time.Sleep(3 * time.Hour) // nothing that was to come finds its way
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	other, err := w.b.LookAt(context.Background(), Address{Kind: Queue, Name: "other"})
	if err != nil || other.Ready != 20 {
		t.Fatalf("after sync %d the other queue has %d messages, %v", syncs, other.Ready, err)
	}
	return there, answered
}

// TestADeletionTellsAConnectionOnce: however much a connection has of what is deleted, it costs one text.
func TestADeletionTellsAConnectionOnce(t *testing.T) {
	const messages = 1000
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		q := Address{Kind: Queue, Name: "q"}
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: q, Mode: AckClient, Window: messages}})
		for range messages {
			c.do(Op{Kind: OpSend, To: q, Message: newMessage("m")})
		}
		if outs := c.take(); len(outs) != messages {
			t.Fatalf("%d messages came", len(outs))
		}
		var allocs float64
		err := w.b.callOr(context.Background(), func(core *core) {
			allocs = testing.AllocsPerRun(1, func() { core.takeAway(core.dests[q], "/queue/q") })
		})
		if err != nil || allocs > 10 {
			t.Errorf("%d deliveries were taken away with %v allocations, %v", messages, allocs, err)
		}
		if outs := c.take(); len(outs) != 1 || show(outs[0]) != `ERROR deleted: subscription "s": /queue/q was deleted by an operator` {
			t.Errorf("it got %v", outs)
		}
	})
}
