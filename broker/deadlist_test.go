package broker

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"footfall/store/storetest"
)

// graveyard makes a broker with dead letters in /queue/DLQ.q: m0, m1 to m4 with a large body, one that is not persistent and one of another queue.
func graveyard(t *testing.T, opt Options) *world {
	opt.Policies = scriptPolicies("/queue/p error-destination=/queue/DLQ.q\n")
	w := newDiskWorld(t, opt, storetest.NewDisk(t))
	a := w.connect("a")
	a.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}, Mode: AckClient}})
	a.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "p", From: Address{Kind: Queue, Name: "p"}, Mode: AckIndividual, Redelivery: &Redelivery{Limit: new(0)}}})
	for i := range 6 {
		m := newMessage(fmt.Sprintf("m%d.", i))
		if i == 1 {
			m.Body = append(m.Body, make([]byte, 300_000)...)
		}
		m.Persistent = i != 5
		a.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: m})
	}
	a.do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "p"}, Message: newMessage("p.")})
	a.take()
	a.do(Op{Kind: OpNack, Ack: AckOp{SubNumber: 1, Number: 6}, Nack: &NackOp{Dead: true, Reason: "why"}}, Op{Kind: OpNack, Ack: AckOp{SubNumber: 2, Number: 1}})
	a.take()
	return w
}

func (w *world) dead(t *testing.T, q DeadQuery) (names []string, list []DeadLetter) {
	t.Helper()
	for {
		page, next, err := w.b.DeadLetters(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page {
			names = append(names, bodyName(d.Body))
		}
		list = append(list, page...)
		if q.After = next; next == "" {
			return names, list
		}
	}
}

func (w *world) entire(t *testing.T) {
	t.Helper()
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	if rep, err := w.store.Check(); err != nil || !rep.OK() {
		t.Fatalf("the store: %v %v", err, rep)
	}
}

func TestDeadLettersAreListedSentBackAndDeleted(t *testing.T) {
	for _, backlog := range []int{1, 2048} {
		synctest.Test(t, func(t *testing.T) {
			w := graveyard(t, Options{BacklogMessages: backlog})
			defer func() { w.stop() }()
			queues, err := w.b.DeadQueues(t.Context())
			if err != nil || len(queues) != 1 || queues[0].Address.Name != "DLQ.q" || queues[0].Ready != 7 {
				t.Fatalf("%v %v", queues, err)
			}
			for _, limit := range []int{1, 3, 1000} {
				names, list := w.dead(t, DeadQuery{Queue: "DLQ.q", Limit: limit, BodyBytes: 10})
				if !slices.Equal(names, []string{"m0", "m1", "m2", "m3", "m4", "m5", "p"}) {
					t.Fatalf("by %d: %v", limit, names)
				}
				if d := list[1]; d.Origin != "/queue/q" || d.Reason != "rejected" || d.Detail != "why" || d.Deaths != 1 || d.BodySize != 300_003 || d.Died == 0 {
					t.Fatalf("%+v", d)
				}
			}
			_, list := w.dead(t, DeadQuery{Queue: "DLQ.q", BodyBytes: 10})
			if names, _ := w.dead(t, DeadQuery{Queue: "DLQ.q", DeadFilter: DeadFilter{Reason: "redelivery-limit"}, BodyBytes: 10}); !slices.Equal(names, []string{"p"}) {
				t.Fatalf("by reason: %v", names)
			}
			chosen := DeadFilter{Selector: `"dead-letter-reason" LIKE 'redelivery%' AND "dead-letter-count" = 1`}
			if names, _ := w.dead(t, DeadQuery{Queue: "DLQ.q", DeadFilter: chosen, BodyBytes: 10}); !slices.Equal(names, []string{"p"}) {
				t.Fatalf("by selector: %v", names)
			}
			if _, err := w.b.PurgeDead(t.Context(), DeadQuery{Queue: "DLQ.q", DeadFilter: DeadFilter{Selector: "a ="}}); err == nil {
				t.Fatal("a selector that is none was taken")
			}
			// One back to its origin, where its consumer has it again.
			back, err := w.b.RetryDead(t.Context(), DeadQuery{Queue: "DLQ.q", DeadFilter: DeadFilter{ID: list[1].ID}}, nil)
			if err != nil || back.Changed != 1 || back.Next != "" {
				t.Fatalf("%+v %v", back, err)
			}
			if outs := w.clients["a"].take(); len(outs) != 1 || bodyName(outs[0].Message.Body) != "m1" || outs[0].Redelivered {
				t.Fatalf("%v", outs)
			}
			w.entire(t)
			// All of one origin elsewhere, page by page.
			q, moved := DeadQuery{Queue: "DLQ.q", DeadFilter: DeadFilter{Origin: "/queue/q"}, Limit: 2}, 0
			for {
				done, err := w.b.RetryDead(t.Context(), q, &Address{Kind: Queue, Name: "elsewhere"})
				if err != nil {
					t.Fatal(err)
				}
				moved += done.Changed
				if q.After = done.Next; q.After == "" {
					break
				}
			}
			if names, _ := w.dead(t, DeadQuery{Queue: "elsewhere", BodyBytes: 10}); moved != 5 || !slices.Equal(names, []string{"m0", "m2", "m3", "m4", "m5"}) {
				t.Fatalf("%d moved: %v", moved, names)
			}
			w.entire(t)
			// What a consumer has stays; a second death is told.
			w.clients["a"].do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "d", From: Address{Kind: Queue, Name: "DLQ.q"}, Mode: AckIndividual}})
			w.clients["a"].take()
			if done, err := w.b.PurgeDead(t.Context(), DeadQuery{Queue: "DLQ.q"}); err != nil || done.Unacked != 1 || done.Changed != 0 {
				t.Fatalf("%+v %v", done, err)
			}
			w.clients["a"].do(Op{Kind: OpNack, Ack: AckOp{SubNumber: 1, Number: 7}, Nack: &NackOp{Dead: true}})
			outs := w.clients["a"].take()
			if len(outs) != 1 || bodyName(outs[0].Message.Body) != "m1" {
				t.Fatalf("%v", outs)
			}
			if n := deathsOf(outs[0].Message); n != 2 {
				t.Fatalf("%d deaths", n)
			}
			// There it comes from nowhere else, and what is elsewhere can be deleted.
			if done, err := w.b.PurgeDead(t.Context(), DeadQuery{Queue: "elsewhere"}); err != nil || done.Changed != 5 {
				t.Fatalf("%+v %v", done, err)
			}
			if names, _ := w.dead(t, DeadQuery{Queue: "elsewhere"}); len(names) != 0 {
				t.Fatalf("left: %v", names)
			}
			w.entire(t)
		})
	}
}

func TestWhatIsAskedOfDeadLettersIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer func() { w.stop() }()
		w.connect("a").do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: newMessage("m")})
		synctest.Wait()
		for _, q := range []DeadQuery{
			{Queue: "none"},
			{Queue: "q", Limit: 1001},
			{Queue: "q", Limit: -1},
			{Queue: "q", BodyBytes: -1},
			{Queue: "q", After: "x"},
			{Queue: "q", DeadFilter: DeadFilter{ID: "4"}},
			{Queue: "q", DeadFilter: DeadFilter{ID: "10.1"}},
		} {
			if _, _, err := w.b.DeadLetters(t.Context(), q); err == nil {
				t.Errorf("%+v is answered", q)
			}
		}
		// It is no dead letter, so that nobody knows where it came from.
		if done, err := w.b.RetryDead(t.Context(), DeadQuery{Queue: "q"}, nil); err != nil || done.Homeless != 1 || done.Changed != 0 {
			t.Errorf("%+v %v", done, err)
		}
	})
}
