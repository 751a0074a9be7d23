package broker

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"footfall/schedule"
)

func TestDelaysFollowTheFormulas(t *testing.T) {
	d := func(text string) *time.Duration { return new(must(time.ParseDuration(text))) }
	rows := []struct {
		name string
		r    Redelivery
		want []int64 // after the first failures
	}{
		{"by default none", Redelivery{}, []int64{0, 0, 0}},
		{"none", Redelivery{Delay: d("1s"), BackOff: BackOffNone}, []int64{1000, 1000, 1000}},
		{"none, first", Redelivery{Delay: d("1s"), First: d("5s")}, []int64{5000, 1000, 1000}},
		{"linear", Redelivery{Delay: d("1s"), BackOff: BackOffLinear}, []int64{1000, 2000, 3000}},
		{"linear, first", Redelivery{Delay: d("1s"), First: d("100ms"), BackOff: BackOffLinear}, []int64{100, 1100, 2100}},
		{"exponential", Redelivery{Delay: d("1s"), BackOff: BackOffExponential}, []int64{1000, 2000, 4000, 8000}},
		{"exponential by three", Redelivery{Delay: d("1s"), BackOff: BackOffExponential, Multiplier: 3}, []int64{1000, 3000, 9000}},
		{"exponential, first", Redelivery{Delay: d("1s"), First: d("10s"), BackOff: BackOffExponential}, []int64{10000, 20000}},
		{"exponential, at once first", Redelivery{Delay: d("1s"), First: d("0s"), BackOff: BackOffExponential}, []int64{0, 1000, 2000}},
		{"capped", Redelivery{Delay: d("1s"), BackOff: BackOffExponential, MaxDelay: d("3s")}, []int64{1000, 2000, 3000, 3000}},
		{"a cap of none", Redelivery{Delay: d("1s"), BackOff: BackOffLinear, MaxDelay: d("0s")}, []int64{1000, 2000}},
		{"parts of milliseconds are rounded up", Redelivery{Delay: d("1ms"), BackOff: BackOffExponential, Multiplier: 1.5}, []int64{1, 2, 3, 4}},
	}
	for _, row := range rows {
		for i, want := range row.want {
			if got := row.r.delay(i+1, 7); got != want {
				t.Errorf("%s: after failure %d expected %d ms; saw %d", row.name, i+1, want, got)
			}
		}
	}
}

func TestDelaysStayWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string) *time.Duration {
			return new(time.Duration(rapid.Int64Range(0, schedule.MaxDelay.Milliseconds()).Draw(t, name)) * time.Millisecond)
		}
		r := Redelivery{
			Delay: ms("delay"), MaxDelay: ms("max"), Multiplier: rapid.Float64Range(1, MaxMultiplier).Draw(t, "multiplier"),
			BackOff: rapid.SampledFrom([]BackOff{BackOffNone, BackOffLinear, BackOffExponential}).Draw(t, "back-off"),
		}
		n, seed := rapid.IntRange(1, MaxRedeliveryLimit).Draw(t, "failures"), rapid.Uint64().Draw(t, "seed")
		plain := r.delay(n, seed)
		jitter := rapid.Float64Range(0, 1).Draw(t, "jitter")
		r.Jitter = &jitter
		got := r.delay(n, seed)
		most := schedule.MaxDelay.Milliseconds()
		switch {
		case *r.MaxDelay > 0 && plain > r.MaxDelay.Milliseconds():
			t.Fatalf("%d ms are more than the greatest delay, %v", plain, *r.MaxDelay)
		case plain < 0 || plain > most || got > most:
			t.Fatalf("%d and %d ms are out of bounds", plain, got)
		case got < plain || float64(got) > float64(plain)*(1+jitter)+1:
			t.Fatalf("jitter of %v makes %d ms of %d", jitter, got, plain)
		case got != r.delay(n, seed):
			t.Fatal("the same failure of the same message has two delays")
		}
	})
}

func TestJitterDiffersFromMessageToMessage(t *testing.T) {
	second, half := time.Second, 0.5
	r := Redelivery{Delay: &second, Jitter: &half}
	var perTenth [5]int
	const messages = 10_000
	for seq := range uint64(messages) {
		ms := r.delay(1, seedOf(MessageID{Shard: 3, Seq: 1<<44 + seq}))
		perTenth[min((ms-1000)/100, 4)]++
	}
	for i, n := range perTenth {
		if n < messages/10 || n > messages*3/10 {
			t.Errorf("expected the jitter of %d messages to be spread; saw %d in part %d", messages, n, i)
		}
	}
}

func TestWhatAnErrorDestinationIsCalled(t *testing.T) {
	good := map[string]string{ // for /queue/orders.eu
		"/queue/graves": "/queue/graves", "/topic/graves.{name}": "/topic/graves.orders.eu", "/queue/{name}.dead": "/queue/orders.eu.dead", "none": "",
	}
	for text, want := range good {
		e, err := ParseErrorDestination(text)
		if err != nil || e.String() != text {
			t.Errorf("%s: %v %v", text, e, err)
			continue
		}
		if to := e.of(Address{Kind: Queue, Name: "orders.eu"}); want != "" && to.String() != want {
			t.Errorf("%s: expected %s; saw %s", text, want, to)
		}
	}
	for from, want := range map[Address]string{
		{Kind: Queue, Name: "q"}: "/queue/DLQ.q", {Kind: Topic, Name: "t"}: "/queue/DLQ.t", {Kind: Queue, Name: "DLQ.q"}: "/queue/DLQ.q", {Kind: Queue, Name: "DLQ"}: "/queue/DLQ",
		{Kind: Topic, Name: "DLQ.t"}: "/queue/DLQ.DLQ.t", {Kind: Queue, Name: strings.Repeat("n", 1021)}: "/queue/DLQ",
	} {
		if to := DefaultErrorDestination(from).of(from); to.String() != want {
			t.Errorf("%s: expected %s; saw %s", from, want, to)
		}
	}
	for _, text := range []string{"", "graves", "/queue/", "/queue/a.*", "/queue/{name}.{name}", "/dead/x"} {
		if e, err := ParseErrorDestination(text); err == nil {
			t.Errorf("%q is taken as %v", text, e)
		}
	}
}

// TestErrorDestinationsAreMade holds whether clients may make destinations or not.
func TestErrorDestinationsAreMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer func() { w.stop() }()
		w.connect("a").do(Op{Kind: OpSend, To: Address{Kind: Queue, Name: "q"}, Message: newMessage("m")})
		synctest.Wait()
		w.clients["a"].conn.Detach()
		w.opt.NoAutoCreate = true
		w.restart()
		a := w.connect("a")
		a.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: Address{Kind: Queue, Name: "q"}, Mode: AckIndividual}})
		a.take()
		a.do(Op{Kind: OpNack, Ack: AckOp{SubNumber: 1, Number: 1}, Nack: &NackOp{Dead: true}},
			Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "d", From: Address{Kind: Queue, Name: "DLQ.q"}}})
		if outs := a.take(); len(outs) != 1 || show(outs[0]) != "MESSAGE 2.1 m dead:rejected,/queue/q,1" {
			t.Fatalf("expected the dead letter; saw %v", outs)
		}
		if _, ok := w.b.Stats(context.Background()); !ok {
			t.Fatal("the loop does not turn")
		}
	})
}
