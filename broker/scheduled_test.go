package broker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"footfall/schedule"
	"footfall/store"
	"footfall/store/storetest"
	"pgregory.net/rapid"
)

// later makes a message that is due so long from now.
func later(body string, d time.Duration) *Message {
	m := newMessage(body)
	m.Delay = d.Milliseconds()
	return m
}

// named makes a message with a name of the sender's choice.
func named(m *Message, id string) *Message {
	m.ScheduledID, m.ChosenID = id, true
	return m
}

// every makes a job of a message.
func every(m *Message, r schedule.Repeat) *Message {
	m.Delay = 0
	m.Plan = &schedule.Plan{Kind: schedule.Repeating, Repeat: r}
	return m
}

func sendOp(to Address, m *Message) Op {
	return Op{Kind: OpSend, To: to, Message: m, WantReceipt: true, Receipt: string(m.Body)}
}

func subscribeOp(to Address) Op {
	return Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: to.String(), From: to}}
}

// scheduled reads a whole list, in pages of so many.
func (w *world) scheduled(q ScheduledQuery) (list []ScheduledMessage) {
	for {
		page, next, err := w.b.Scheduled(context.Background(), q)
		if err != nil {
			w.tb.Fatalf("Scheduled: %v", err)
		}
		if list = append(list, page...); next == "" {
			return list
		}
		q.After = next
	}
}

// must is the count that a change returned.
func (w *world) must(n int, err error) int {
	if err != nil {
		w.tb.Fatalf("%v", err)
	}
	return n
}

// sound ends what is under way and checks the loop and the store.
func (w *world) sound() {
	synctest.Wait()
	if err := w.check(); err != nil {
		w.tb.Fatalf("%v", err)
	}
	report, err := w.store.Check()
	if err != nil || !report.OK() {
		w.tb.Fatalf("%v: %v", err, report.Problems)
	}
}

// bodiesOf lists the bodies of the messages among outputs.
func bodiesOf(outs []Output) (list []string) {
	for _, o := range outs {
		if o.Kind == OutputMessage {
			list = append(list, string(o.Message.Body))
		}
	}
	return list
}

// ofReceipt is the id that a SEND was told.
func ofReceipt(outs []Output, receipt string) string {
	for _, o := range outs {
		if o.Kind == OutputReceipt && o.Receipt == receipt {
			return o.ScheduledID
		}
	}
	return ""
}

// TestTheScheduleIsListedInDueOrder holds lists with all kinds of bounds, in pages of all sizes, against a sorted list: of messages on disk
// and in memory, at many destinations, before and after a restart.
func TestTheScheduleIsListedInDueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		w := newWorld(t, Options{})
		defer func() { w.stop() }()
		c := w.connect("c")
		var sent []ScheduledMessage
		for i := range 400 {
			to := Address{Kind: Queue, Name: "q" + strconv.Itoa(i%7)}
			if i%5 == 0 {
				to = Address{Kind: Topic, Name: "t"}
			}
			m := later(strconv.Itoa(i), time.Duration(1+rng.IntN(300))*time.Second)
			m.Persistent = i%3 != 0
			if i%11 == 0 {
				m = named(m, "name"+strconv.Itoa(i))
			}
			sent = append(sent, ScheduledMessage{
				Destination: to, Due: time.Now().UnixMilli() + m.Delay, Persistent: m.Persistent, Body: m.Body, BodySize: int64(len(m.Body)),
			})
			c.do(sendOp(to, m))
			sent[i].ID = ofReceipt(c.take(), strconv.Itoa(i))
		}
		check := func() {
			for range 60 {
				q := ScheduledQuery{Limit: 1 + rng.IntN(50), BodyBytes: 100}
				from, until := time.Now().UnixMilli()+rng.Int64N(400_000)-50_000, int64(0)
				if rng.IntN(2) == 0 {
					q.From, until = from, from+rng.Int64N(200_000)
					q.Until = until
				}
				if rng.IntN(2) == 0 {
					q.Destination = &sent[rng.IntN(len(sent))].Destination
				}
				if rng.IntN(8) == 0 {
					q.ID = sent[rng.IntN(len(sent))].ID
				}
				want := slices.DeleteFunc(slices.Clone(sent), func(s ScheduledMessage) bool {
					return s.Due < q.From || until != 0 && s.Due > until || q.Destination != nil && s.Destination != *q.Destination || q.ID != "" && s.ID != q.ID
				})
				compareLists(t, w.scheduled(q), want)
			}
		}
		check()
		w.sound()
		w.restart()
		sent = slices.DeleteFunc(sent, func(s ScheduledMessage) bool { return !s.Persistent })
		check()
	})
}

// compareLists demands the same messages in the order of their times.
func compareLists(t *testing.T, got, want []ScheduledMessage) {
	t.Helper()
	if !slices.IsSortedFunc(got, func(a, b ScheduledMessage) int { return cmp.Compare(a.Due, b.Due) }) {
		t.Fatalf("not in the order of the times: %v", got)
	}
	text := func(list []ScheduledMessage) string {
		var lines []string
		for _, s := range list {
			lines = append(lines, fmt.Sprintln(s.Due, s.Destination, s.ID, s.Persistent, string(s.Body), s.BodySize, s.Repeat != nil))
		}
		slices.Sort(lines)
		return strings.Join(lines, "")
	}
	if text(got) != text(want) {
		t.Fatalf("expected\n%s\nsaw\n%s", text(want), text(got))
	}
}

// TestEachPageEndsInTime lists more octets than a page may have, of messages on disk and in memory.
func TestEachPageEndsInTime(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			defer w.stop()
			c := w.connect("c")
			body := strings.Repeat("x", MaxScheduledBody)
			for i := range 100 {
				m := later(body, time.Duration(i+1)*time.Second)
				m.Persistent = persistent
				c.do(sendOp(Address{Kind: Queue, Name: "q"}, m))
			}
			c.take()
			page, next, err := w.b.Scheduled(context.Background(), ScheduledQuery{BodyBytes: MaxScheduledBody})
			if err != nil || next == "" || len(page) == 0 || len(page) > 1+scheduledBytes/MaxScheduledBody {
				t.Fatalf("persistent %v: %d messages, %q, %v", persistent, len(page), next, err)
			}
			if n := len(w.scheduled(ScheduledQuery{BodyBytes: MaxScheduledBody})); n != 100 {
				t.Fatalf("persistent %v: %d messages", persistent, n)
			}
		})
	}
}

func TestAListTellsHowAJobGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		berlin, err := new(schedule.Zones).Load("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		cron, err := schedule.ParseCron("0 9 * * mon-fri")
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UnixMilli()
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, every(newMessage("period"), schedule.Repeat{Delay: 1000, Period: 2000, Count: 2})),
			sendOp(Address{Kind: Queue, Name: "q"}, every(newMessage("cron"), schedule.Repeat{Cron: cron, Zone: berlin})),
			sendOp(Address{Kind: Queue, Name: "q"}, every(newMessage("for ever"), schedule.Repeat{Delay: 3000, Period: 3000, Count: schedule.Forever})))
		c.take()
		list := w.scheduled(ScheduledQuery{})
		if len(list) != 3 {
			t.Fatalf("%d are listed", len(list))
		}
		period, endless, nine := list[0].Repeat, list[1].Repeat, list[2].Repeat
		if period.Left != 3 || period.Period != 2000 || !slices.Equal(period.Next, []int64{now + 1000, now + 3000, now + 5000}) {
			t.Errorf("%+v", period)
		}
		if endless.Left != schedule.Forever || len(endless.Next) != 5 || endless.Next[4] != now+15000 {
			t.Errorf("%+v", endless)
		}
		if nine.Cron.String() != "0 9 * * 1-5" || nine.Zone.String() != "Europe/Berlin" || nine.Left != schedule.Forever || len(nine.Next) != 5 {
			t.Errorf("%+v", nine)
		}
		if at := time.UnixMilli(nine.Next[0]).In(berlin); at.Hour() != 9 || at.Minute() != 0 {
			t.Errorf("the first is at %v", at)
		}
	})
}

func TestACancelledMessageIsNeverDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		c.do(subscribeOp(Address{Kind: Queue, Name: "q"}))
		loose := later("loose", time.Minute)
		loose.Persistent = false
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, later("plain", time.Minute)), sendOp(Address{Kind: Queue, Name: "q"}, named(later("named", time.Minute), "n")),
			sendOp(Address{Kind: Queue, Name: "r"}, named(later("elsewhere", time.Minute), "n")), sendOp(Address{Kind: Queue, Name: "q"}, loose),
			sendOp(Address{Kind: Queue, Name: "q"}, every(newMessage("job"), schedule.Repeat{Delay: 60_000, Period: 1000, Count: 5})),
			sendOp(Address{Kind: Queue, Name: "q"}, later("left alone", time.Minute)))
		outs := c.take()
		for id, want := range map[string]int{
			ofReceipt(outs, "plain"): 1, "n": 2, ofReceipt(outs, "loose"): 1, ofReceipt(outs, "job"): 1, "unknown": 0, "1.1.1": 0, "": 0,
		} {
			for _, want := range []int{want, 0} { // twice
				if n := w.must(w.b.CancelScheduled(context.Background(), id)); n != want {
					t.Errorf("%q: %d were taken back, not %d", id, n, want)
				}
			}
		}
		time.Sleep(2 * time.Minute)
		if got := bodiesOf(c.take()); !slices.Equal(got, []string{"left alone"}) {
			t.Errorf("came: %v", got)
		}
		w.sound()
	})
}

func TestRunGivesAMessageItsPlaceNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		c.do(subscribeOp(Address{Kind: Queue, Name: "q"}), subscribeOp(Address{Kind: Topic, Name: "t"}))
		large := strings.Repeat("y", 2*store.ChunkBytes)
		loose := named(later("loose", time.Minute), "loose")
		loose.Persistent = false
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, named(later("small", time.Minute), "small")), sendOp(Address{Kind: Queue, Name: "q"}, named(later(large, time.Minute), "large")),
			sendOp(Address{Kind: Topic, Name: "t"}, named(later("topic", time.Minute), "topic")), sendOp(Address{Kind: Queue, Name: "q"}, loose))
		c.take()
		for id, want := range map[string]string{"small": "small", "large": large, "topic": "topic", "loose": "loose"} {
			if n := w.must(w.b.RunScheduled(context.Background(), id)); n != 1 {
				t.Errorf("%s: %d were run", id, n)
			}
			outs := c.take()
			if got := bodiesOf(outs); !slices.Equal(got, []string{want}) {
				t.Fatalf("%s: came %.100v", id, got)
			}
			if m := outs[0].Message; m.DeliverAt != time.Now().UnixMilli() || m.ScheduledID != id {
				t.Errorf("%s: was due at %d under %s", id, m.DeliverAt, m.ScheduledID)
			}
			if n := w.must(w.b.RunScheduled(context.Background(), id)); n != 0 {
				t.Errorf("%s: %d were run again", id, n)
			}
		}
		time.Sleep(time.Hour)
		if got := bodiesOf(c.take()); len(got) > 0 {
			t.Errorf("came again: %.100v", got)
		}
		w.sound()
	})
}

func TestRunOfAJobIsADeliveryMore(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			defer w.stop()
			c := w.connect("c")
			c.do(subscribeOp(Address{Kind: Queue, Name: "q"}))
			m := every(named(newMessage(strings.Repeat("z", store.ChunkBytes+1)), "job"), schedule.Repeat{Delay: 10_000, Period: 10_000, Count: 2})
			m.Persistent = persistent
			c.do(sendOp(Address{Kind: Queue, Name: "q"}, m))
			start := time.Now().UnixMilli()
			time.Sleep(12 * time.Second)
			if n := w.must(w.b.RunScheduled(context.Background(), "job")); n != 1 {
				t.Errorf("%d were run", n)
			}
			time.Sleep(time.Minute)
			var came []int64
			for _, o := range c.take() {
				if o.Kind == OutputMessage {
					came = append(came, o.Message.DeliverAt-start)
				}
			}
			if !slices.Equal(came, []int64{10_000, 12_000, 20_000, 30_000}) {
				t.Errorf("came at %v", came)
			}
			w.sound()
		})
	}
}

// TestARescheduledMessageKeepsItsID moves messages to and fro, with restarts, and takes them back by the id that their senders know.
func TestARescheduledMessageKeepsItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer func() { w.stop() }()
		c := w.connect("c")
		large := strings.Repeat("L", store.ChunkBytes+10)
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, later("plain", time.Minute)), sendOp(Address{Kind: Queue, Name: "q"}, named(later("named", time.Minute), "n")),
			sendOp(Address{Kind: Queue, Name: "q"}, later(large, time.Minute)))
		outs := c.take()
		bodies := map[string]string{ofReceipt(outs, "plain"): "plain", "n": "named", ofReceipt(outs, large): large}
		now := time.Now()
		for i, to := range []time.Duration{time.Hour, 2 * time.Minute, 2 * time.Minute, 3 * time.Hour} {
			for id, body := range bodies {
				due := now.Add(to).UnixMilli()
				if n := w.must(w.b.Reschedule(context.Background(), id, due)); n != 1 {
					t.Fatalf("%s: %d were moved", id, n)
				}
				list := w.scheduled(ScheduledQuery{ID: id, BodyBytes: 10})
				if len(list) != 1 || list[0].Due != due || list[0].ID != id || list[0].BodySize != int64(len(body)) || string(list[0].Body) != body[:min(10, len(body))] {
					t.Fatalf("%s: %+v", id, list)
				}
			}
			w.sound()
			if i == 1 {
				w.restart()
			}
		}
		c = w.connect("c")
		c.do(subscribeOp(Address{Kind: Queue, Name: "q"}))
		for id, body := range bodies {
			if body == "named" {
				if n := w.must(w.b.CancelScheduled(context.Background(), id)); n != 1 {
					t.Errorf("%s: %d were taken back", id, n)
				}
				continue
			}
			if n := w.must(w.b.Reschedule(context.Background(), id, 5)); n != 1 { // long past
				t.Errorf("%s: %d were moved", id, n)
			}
			if got := bodiesOf(c.take()); !slices.Equal(got, []string{body}) {
				t.Errorf("%s: came %.50v", id, got)
			}
		}
		time.Sleep(24 * time.Hour)
		if got := bodiesOf(c.take()); len(got) > 0 {
			t.Errorf("came as well: %.50v", got)
		}
		w.sound()
	})
}

func TestRescheduleMovesOneDeliveryOfAJob(t *testing.T) {
	rows := []struct {
		name string
		to   int64 // from the start, in ms
		next []int64
		came []int64
	}{
		{"earlier", 4_000, []int64{4_000, 20_000, 30_000}, []int64{4_000, 20_000, 30_000}},
		{"later, past one that is made up for at the end", 25_000, []int64{25_000, 30_000, 40_000}, []int64{25_000, 30_000, 40_000}},
	}
	for _, row := range rows {
		for _, persistent := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				defer w.stop()
				c := w.connect("c")
				c.do(subscribeOp(Address{Kind: Queue, Name: "q"}))
				m := every(named(newMessage("job"), "job"), schedule.Repeat{Delay: 10_000, Period: 10_000, Count: 2})
				m.Persistent = persistent
				c.do(sendOp(Address{Kind: Queue, Name: "q"}, m))
				c.take()
				start := time.Now().UnixMilli()
				if n := w.must(w.b.Reschedule(context.Background(), "job", start+row.to)); n != 1 {
					t.Fatalf("%s: %d were moved", row.name, n)
				}
				list := w.scheduled(ScheduledQuery{})
				if len(list) != 1 || list[0].Due != start+row.to {
					t.Fatalf("%s: %+v", row.name, list)
				}
				var next, came []int64
				for _, at := range list[0].Repeat.Next {
					next = append(next, at-start)
				}
				time.Sleep(2 * time.Minute)
				for _, o := range c.take() {
					if o.Kind == OutputMessage {
						came = append(came, o.Message.DeliverAt-start)
					}
				}
				if !slices.Equal(next, row.next) || !slices.Equal(came, row.came) {
					t.Errorf("%s: told %v, came %v", row.name, next, came)
				}
				w.sound()
			})
		}
	}
}

// TestAnIDOfTheBrokerMayBeUsedAgain replaces a message that has no name by one that is sent with its id.
func TestAnIDOfTheBrokerMayBeUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		c.do(subscribeOp(Address{Kind: Queue, Name: "q"}), sendOp(Address{Kind: Queue, Name: "q"}, later("old", time.Minute)))
		id := ofReceipt(c.take(), "old")
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, named(later("new", time.Hour), id)))
		if list := w.scheduled(ScheduledQuery{}); len(list) != 1 || list[0].ID != id {
			t.Errorf("waiting: %+v", list)
		}
		time.Sleep(2 * time.Hour)
		if got := bodiesOf(c.take()); !slices.Equal(got, []string{"new"}) {
			t.Errorf("came: %v", got)
		}
		w.sound()
	})
}

// TestThePlaceOfANameIsNoID looks for a message with a name by the id that it would have without one.
func TestThePlaceOfANameIsNoID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, named(later("x", time.Minute), "n")))
		c.take()
		var place string
		w.b.call(t.Context(), func(c *core) {
			for s := range c.agendas {
				for _, item := range c.agendas[s].heap {
					place = placeID(item.key())
				}
			}
		})
		if n := w.must(w.b.CancelScheduled(context.Background(), place)); n != 0 {
			t.Errorf("%d were taken back by %s", n, place)
		}
		w.sound()
	})
}

// TestAChangeIsOnDiskWhenItIsAnswered keeps outcomes back.
func TestAChangeIsOnDiskWhenItIsAnswered(t *testing.T) {
	changes := map[string]func(ctx context.Context, b *Broker) (int, error){
		"cancel":     func(ctx context.Context, b *Broker) (int, error) { return b.CancelScheduled(ctx, "n") },
		"run":        func(ctx context.Context, b *Broker) (int, error) { return b.RunScheduled(ctx, "n") },
		"reschedule": func(ctx context.Context, b *Broker) (int, error) { return b.Reschedule(ctx, "n", 1<<41) },
	}
	for name, change := range changes {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			defer w.stop()
			c := w.connect("c")
			c.do(sendOp(Address{Kind: Queue, Name: "q"}, named(later("x", time.Minute), "n")))
			c.take()
			w.slow.hold(false, false, true)
			answered := make(chan int, 2)
			for range 2 { // what the second one sees is not on disk either
				go func() { answered <- w.must(change(context.Background(), w.b)) }()
				synctest.Wait()
			}
			if len(answered) > 0 {
				t.Errorf("%s: answered before it is on disk", name)
			}
			w.slow.release()
			if n := <-answered + <-answered; n < 1 {
				t.Errorf("%s: %d", name, n)
			}
		})
	}
}

// TestAChangeSurvivesACrash crashes without anything that was not synced as soon as a change is answered.
func TestAChangeSurvivesACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := storetest.NewDisk(t)
		w := newDiskWorld(t, Options{}, disk)
		c := w.connect("c")
		for _, id := range []string{"cancel", "run", "move"} {
			c.do(sendOp(Address{Kind: Queue, Name: "q"}, named(later(id, time.Hour), id)))
		}
		c.take()
		due := time.Now().Add(5 * time.Hour).UnixMilli()
		n := w.must(w.b.CancelScheduled(context.Background(), "cancel")) + w.must(w.b.RunScheduled(context.Background(), "run")) +
			w.must(w.b.Reschedule(context.Background(), "move", due))
		crashed := disk.Crash(0, 1)
		w.stop()
		w = newDiskWorld(t, Options{}, crashed)
		defer w.stop()
		list := w.scheduled(ScheduledQuery{})
		if n != 3 || len(list) != 1 || list[0].ID != "move" || list[0].Due != due {
			t.Errorf("%d changes; left: %+v", n, list)
		}
		c = w.connect("c")
		c.do(subscribeOp(Address{Kind: Queue, Name: "q"}))
		if got := bodiesOf(c.take()); !slices.Equal(got, []string{"run"}) {
			t.Errorf("came: %v", got)
		}
		w.sound()
	})
}

// dawdler is a store that takes its time to search.
type dawdler struct {
	testStore
	mu  sync.Mutex
	rng *rand.Rand
}

func (d *dawdler) dawdle() {
	d.mu.Lock()
	n := d.rng.IntN(4)
	d.mu.Unlock()
	time.Sleep(time.Duration(n) * time.Millisecond)
}

func (d *dawdler) FindNames(after uint64, shard store.Shard, name string) ([]store.ScheduleName, error) {
	if shard == store.ShardOf(uint8(Queue), "q") { // the others have nothing
		d.dawdle()
		defer d.dawdle()
	}
	return d.testStore.FindNames(after, shard, name)
}

func (d *dawdler) FindDue(after uint64, k store.DueKey, body bool) (store.Due, uint64, bool, error) {
	d.dawdle()
	defer d.dawdle()
	return d.testStore.FindDue(after, k, body)
}

// TestEachAnswerAgreesWithWhatBecameOfTheMessage has operators cancel, run and reschedule one message about the time at which it is due, all at
// once, and demands that it is delivered once or never, and that all their answers can be true.
func TestEachAnswerAgreesWithWhatBecameOfTheMessage(t *testing.T) {
	setRapid(t, 150, 1)
	for range rounds() {
		synctest.Test(t, func(t *testing.T) {
			rapid.Check(bubbled{t}, func(t *rapid.T) { newRace(t).run(t) })
		})
	}
}

// attempt is what an operator does, and what came of it.
type attempt struct {
	what      string
	after     time.Duration
	to        int64 // of a reschedule
	n         int
	began, at int64 // when it was answered
}

// race is one message, and what several operators do to it.
type race struct {
	w        *world
	id       string
	due      int64
	attempts []*attempt
	wg       sync.WaitGroup
}

func newRace(t *rapid.T) *race {
	w := &world{tb: t, store: &dawdler{testStore: store.NewMemory(), rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}}
	w.start()
	return &race{w: w}
}

func (r *race) run(t *rapid.T) {
	w := r.w
	defer w.stop()
	to := Address{Kind: Queue, Name: "q"}
	c := w.connect("c")
	c.do(subscribeOp(to))
	if rapid.IntRange(0, 3).Draw(t, "many before it") == 0 {
		ops := make([]Op, 3*timelineItems) // so that it is not in memory
		for i := range ops {
			m := newMessage("other")
			m.Delay = 1_000 + int64(i%1000)
			ops[i] = Op{Kind: OpSend, To: to, Message: m}
		}
		c.do(ops...)
	}
	lead := rapid.Int64Range(10, 30).Draw(t, "lead")
	m := newMessage(strings.Repeat("b", rapid.SampledFrom([]int{1, store.ChunkBytes + 1}).Draw(t, "octets")))
	if rapid.Bool().Draw(t, "far") {
		lead += 2_500
	}
	m.Delay = lead
	m.Persistent = rapid.IntRange(0, 3).Draw(t, "persistent") > 0
	if rapid.Bool().Draw(t, "named") {
		m = named(m, "n")
	}
	c.do(Op{Kind: OpSend, To: to, Message: m, WantReceipt: true, Receipt: "r"})
	time.Sleep(8 * time.Millisecond) // until its name was searched for
	outs := c.take()
	receipt := outs[slices.IndexFunc(outs, func(o Output) bool { return o.Kind == OutputReceipt })]
	r.id, r.due = receipt.ScheduledID, receipt.DeliverAt
	for range rapid.IntRange(1, 6).Draw(t, "operators") {
		a := &attempt{
			what:  rapid.SampledFrom([]string{"cancel", "run", "reschedule", "reschedule"}).Draw(t, "what"),
			after: time.Duration(rapid.IntRange(0, 30).Draw(t, "after")) * time.Millisecond,
			to:    time.Now().UnixMilli() + rapid.SampledFrom([]int64{0, 10, 20, 30, 40, 3_000}).Draw(t, "to"),
		}
		r.attempts = append(r.attempts, a)
		r.wg.Go(func() { r.try(a) })
	}
	r.wg.Wait()
	delivered, first := r.deliveries(c)
	r.judge(t, delivered, first)
	w.sound()
}

func (r *race) try(a *attempt) {
	time.Sleep(a.after)
	a.began = time.Now().UnixMilli()
	var err error
	switch a.what {
	case "cancel":
		a.n, err = r.w.b.CancelScheduled(context.Background(), r.id)
	case "run":
		a.n, err = r.w.b.RunScheduled(context.Background(), r.id)
	default:
		a.n, err = r.w.b.Reschedule(context.Background(), r.id, a.to)
	}
	if err != nil {
		r.w.tb.Fatalf("%v", err)
	}
	a.at = time.Now().UnixMilli()
}

// deliveries waits until whatever is due has come, and tells how often the message came and when it did first.
func (r *race) deliveries(c *client) (n int, first int64) {
	for range 2 {
		for _, o := range c.take() {
			if o.Kind == OutputMessage && o.Message.Body[0] == 'b' {
				if n++; n == 1 {
					first = o.Message.DeliverAt
				}
			}
		}
		time.Sleep(4 * time.Second) // beyond the furthest time
	}
	return n, first
}

func (r *race) judge(t *rapid.T, delivered int, first int64) {
	counts := map[string]int{}
	times := []int64{r.due}
	for _, a := range r.attempts {
		counts[a.what] += a.n
		if a.what == "reschedule" && a.n == 1 {
			times = append(times, max(a.to, a.began))
			for at := a.began; at <= a.at; at++ {
				times = append(times, max(a.to, at)) // a time that is past is that of the change
			}
		}
	}
	tell := func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "due at %d, delivered %d times, first %d", r.due, delivered, first)
		for _, a := range r.attempts {
			fmt.Fprintf(&b, "\n%s to %d: %d, from %d to %d", a.what, a.to, a.n, a.began, a.at)
		}
		return b.String()
	}
	switch {
	case counts["cancel"]+counts["run"] > 1, delivered > 1, counts["cancel"]+delivered != 1, counts["run"] > delivered:
		t.Fatalf("the answers cannot all be true: %s", tell())
	case delivered == 1 && counts["run"] == 0 && !slices.Contains(times, first):
		t.Fatalf("it came at no time of its own: %s", tell())
	}
	for _, a := range r.attempts {
		if delivered == 1 && a.n == 0 && a.at < first {
			t.Fatalf("%s found nothing, and it came later: %s", a.what, tell())
		}
	}
}

// TestAClockThatIsSetDeliversNothingTwice drives the loop's state by hand: a clock in a bubble cannot be set.
func TestAClockThatIsSetDeliversNothingTwice(t *testing.T) {
	s := store.NewMemory()
	defer func() { _ = s.Close() }()
	c := newCore(Options{}.withDefaults(), s.NewBatch())
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	at := func(d time.Duration) uint64 {
		c.begin(start.Add(d))
		c.end()
		return c.stats.Fired
	}
	at(0)
	once := later("once", time.Minute)
	job := every(newMessage("job"), schedule.Repeat{Delay: 10_000, Period: 10_000, Count: 9})
	for _, m := range []*Message{once, job} {
		m.Persistent = false
		if err := c.send(Address{Kind: Queue, Name: "q"}, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		to    time.Duration
		fired uint64
	}{
		{9_999 * time.Millisecond, 0},
		{10 * time.Second, 1},
		{-time.Hour, 1}, // set back: nothing comes again, and the job goes on on its grid
		{-time.Hour + 9_999*time.Millisecond, 1},
		{-time.Hour + 10*time.Second, 2},
		{19 * time.Second, 3}, // set forward: what was missed is made up for by one
		{20 * time.Second, 4},
		{24 * time.Hour, 6}, // one of the job, and the other message
		{24*time.Hour + 9*time.Second, 6},
		{24*time.Hour + 10*time.Second, 7},
	} {
		if fired := at(step.to); fired != step.fired {
			t.Fatalf("at %v: %d were delivered, not %d", step.to, fired, step.fired)
		}
	}
}

func TestAJobEndsWithItsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		c.do(subscribeOp(Address{Kind: Queue, Name: "q"}))
		m := every(newMessage("job"), schedule.Repeat{Delay: 10_000, Period: 10_000, Count: 9})
		m.Expires = time.Now().Add(35 * time.Second).UnixMilli()
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, m))
		time.Sleep(time.Hour)
		if n := len(bodiesOf(c.take())); n != 3 || len(w.scheduled(ScheduledQuery{})) != 0 {
			t.Errorf("%d came", n)
		}
		w.sound()
	})
}

func TestTheScheduleIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		for i, d := range []time.Duration{time.Second, time.Minute - time.Millisecond, time.Minute, 59 * time.Minute, 2 * time.Hour, 23 * time.Hour, 48 * time.Hour} {
			for _, persistent := range []bool{true, false} {
				m := later("x", d)
				m.Persistent = persistent
				c.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q" + strconv.Itoa(i)}, Message: m})
			}
		}
		c.take()
		time.Sleep(time.Millisecond)
		got, err := w.b.ScheduledCounts(t.Context())
		want := ScheduledCounts{Minute: Count{N: 6}, Hour: Count{N: 2}, Day: Count{N: 4}, Later: Count{N: 2}, Total: 14}
		if err != nil || got != want {
			t.Errorf("expected %+v; saw %+v, %v", want, got, err)
		}
	})
}

func TestASpanIsCountedUpToItsBound(t *testing.T) {
	s := span{count: new(Count)}
	s.add(MaxScheduledCount - 1)
	if *s.count != (Count{N: MaxScheduledCount - 1}) {
		t.Errorf("%+v", *s.count)
	}
	for range 2 {
		s.add(1)
		if *s.count != (Count{N: MaxScheduledCount, AtLeast: true}) {
			t.Errorf("%+v", *s.count)
		}
	}
}

func TestQueriesThatCannotBeMeantAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		for _, q := range []ScheduledQuery{
			{Limit: -1},
			{Limit: MaxScheduled + 1},
			{BodyBytes: -1},
			{BodyBytes: MaxScheduledBody + 1},
			{From: 2, Until: 1},
			{After: "x"},
			{After: "1.1"},
			{After: "1.1.0"},
			{After: "1.01.1"},
			{After: "1s.1.1"},
			{After: "1.1.-1"},
		} {
			var refused *Error
			if _, _, err := w.b.Scheduled(t.Context(), q); !errors.As(err, &refused) || refused.Kind != KindInvalid {
				t.Errorf("%+v: %v", q, err)
			}
		}
		var refused *Error
		if _, err := w.b.Reschedule(t.Context(), "x", schedule.MaxInstant+1); !errors.As(err, &refused) {
			t.Errorf("%v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.b.CancelScheduled(ended, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		w.stop()
		if _, _, err := w.b.Scheduled(t.Context(), ScheduledQuery{}); !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

func TestWhatIsShownIsNotTheLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		c := w.connect("c")
		m := every(newMessage("job"), schedule.Repeat{Period: 10, Count: schedule.Forever})
		m.Persistent = false
		c.do(sendOp(Address{Kind: Queue, Name: "q"}, m))
		c.take()
		for range 20 { // the race detector watches
			for _, s := range w.scheduled(ScheduledQuery{BodyBytes: 3}) {
				if !bytes.Equal(s.Body, []byte("job")) || s.Repeat.Left != schedule.Forever {
					t.Errorf("%+v", s)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}
