package broker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bodies lists what a page of messages shows.
func bodies(list []QueuedMessage) string {
	var texts []string
	for _, m := range list {
		text := string(m.Body)
		if m.Unacked {
			text += "*"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

func TestMessagesAreListedMovedCopiedAndDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{BacklogMessages: 4})
		defer w.stop()
		ctx := context.Background()
		q, r := Address{Kind: Queue, Name: "q"}, Address{Kind: Queue, Name: "r"}
		c := w.connectAs("c", Client{ClientID: "c"})
		for i, body := range strings.Fields("a b c d e f g h i j") {
			m := newMessage(body)
			m.Persistent = i%3 != 0
			if body == "j" {
				m.TTL = time.Hour.Milliseconds()
			}
			if i%2 == 1 {
				m.Priority = 5
			}
			c.do(Op{Kind: OpSend, To: q, Message: m})
		}
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: q, Mode: AckClient, Window: 1}})
		if got := len(c.take()); got != 1 {
			t.Fatalf("%d deliveries", got)
		}
		list := func(query MessageQuery) (string, string) {
			t.Helper()
			query.BodyBytes = 10
			list, next, err := w.b.Messages(ctx, query)
			if err != nil {
				t.Fatal(err)
			}
			return bodies(list), next
		}
		expect := func(from Address, want string) {
			t.Helper()
			if got, next := list(MessageQuery{From: from}); got != want || next != "" {
				t.Fatalf("%s has %s and not %s, next %q", from, got, want, next)
			}
			if err := w.check(); err != nil {
				t.Fatal(err)
			}
			if rep, err := w.store.Check(); err != nil || !rep.OK() {
				t.Fatal(err, rep)
			}
		}
		expect(q, "b* d f h j a c e g i")
		if got, next := list(MessageQuery{From: q, Limit: 3}); got != "b* d f" || next == "" {
			t.Fatalf("a page of three has %s, next %q", got, next)
		} else if got, _ := list(MessageQuery{From: q, Limit: 3, After: next}); got != "h j a" {
			t.Fatalf("the next page has %s", got)
		}
		if got, _ := list(MessageQuery{From: q, Selector: "JMSPriority = 5"}); got != "b* d f h j" {
			t.Fatalf("a selector finds %s", got)
		}
		one, _, err := w.b.Messages(ctx, MessageQuery{From: q, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		changed := func(what string, want MessagesChanged, got MessagesChanged, err error) {
			t.Helper()
			if got.Next = ""; err != nil || got != want {
				t.Fatalf("%s: %+v and not %+v, %v", what, got, want, err)
			}
		}
		got, err := w.b.MoveMessages(ctx, MessageQuery{From: q, ID: one[1].ID}, r)
		changed("move one", MessagesChanged{Changed: 1}, got, err)
		got, err = w.b.MoveMessages(ctx, MessageQuery{From: q, ID: one[1].ID}, r)
		changed("move it again", MessagesChanged{}, got, err)
		got, err = w.b.MoveMessages(ctx, MessageQuery{From: q, ID: one[0].ID}, r)
		changed("move what a consumer has", MessagesChanged{Unacked: 1}, got, err)
		got, err = w.b.CopyMessages(ctx, MessageQuery{From: q, Selector: "JMSPriority = 5"}, r)
		changed("copy", MessagesChanged{Changed: 3, Unacked: 1}, got, err)
		expect(q, "b* f h j a c e g i")
		expect(r, "d f h j")
		copies, _, _ := w.b.Messages(ctx, MessageQuery{From: r})
		originals, _, _ := w.b.Messages(ctx, MessageQuery{From: q})
		if copies[0].MessageID != one[1].MessageID || copies[1].MessageID == originals[1].MessageID || copies[3].Expires != originals[3].Expires || copies[3].Expires == 0 {
			t.Fatalf("a moved message has another id, or a copy has not, or lives as long as it likes: %+v %+v", copies, originals)
		}
		got, err = w.b.DeleteMessages(ctx, MessageQuery{From: q, Selector: "JMSPriority = 4"})
		changed("delete", MessagesChanged{Changed: 5}, got, err)
		expect(q, "b* f h j")
		got, err = w.b.MoveMessages(ctx, MessageQuery{From: r}, Address{Kind: Topic, Name: "nobody"})
		changed("move to nobody", MessagesChanged{Homeless: 4}, got, err)
		topic := Address{Kind: Topic, Name: "t"}
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "d", From: topic, Durable: SubscriptionName{"c", "d"}, Mode: AckClient, Window: 1}})
		got, err = w.b.MoveMessages(ctx, MessageQuery{From: r}, topic)
		changed("move to a topic", MessagesChanged{Changed: 4}, got, err)
		dsub := SubscriptionName{"c", "d"}.Address()
		expect(dsub, "d* f h j")
		time.Sleep(2 * time.Hour)
		expect(dsub, "d* f h")
		expect(r, "")
		for _, query := range []MessageQuery{
			{From: q, Limit: 1001},
			{From: q, BodyBytes: 1 << 20},
			{From: q, ID: "x"},
			{From: q, After: "x"},
			{From: q, Selector: "="},
			{From: topic},
			{From: Address{Kind: Queue, Name: "none"}},
		} {
			if _, _, err := w.b.Messages(ctx, query); !errors.As(err, new(*Error)) {
				t.Errorf("%+v: %v", query, err)
			}
		}
		if _, err := w.b.MoveMessages(ctx, MessageQuery{From: q}, q); !errors.As(err, new(*Error)) {
			t.Errorf("a move to itself: %v", err)
		}
	})
}

func TestConnectionsAreListedAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		defer w.stop()
		ctx := context.Background()
		q := Address{Kind: Queue, Name: "q"}
		a, b := w.connectAs("a", Client{Remote: "a", User: "ann"}), w.connect("b")
		a.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", From: q, Mode: AckClient, Window: 7, Selector: "JMSPriority = 4"}})
		b.do(Op{Kind: OpSend, To: q, Message: newMessage("m")})
		synctest.Wait()
		list, next, err := w.b.Connections(ctx, PageQuery{Limit: 1})
		if err != nil || len(list) != 1 || next != list[0].ID || list[0].Client.User != "ann" || list[0].Subscriptions != 1 || list[0].Unacked != 1 {
			t.Fatalf("%+v, next %d, %v", list, next, err)
		}
		list, next, err = w.b.Connections(ctx, PageQuery{After: next})
		if err != nil || len(list) != 1 || next != 0 || list[0].Client.Remote != "b" {
			t.Fatalf("%+v, next %d, %v", list, next, err)
		}
		consumers, next, err := w.b.Consumers(ctx, &q, PageQuery{})
		want := LiveConsumer{Connection: a.conn.ID(), Client: Client{Remote: "a", User: "ann"}, ID: "s", Destination: q, Selector: "JMSPriority = 4", Mode: AckClient, Window: 7, Unacked: 1, Delivered: 1}
		if err != nil || next != 0 || len(consumers) != 1 || consumers[0] != want {
			t.Fatalf("%+v, next %d, %v", consumers, next, err)
		}
		if consumers, _, err := w.b.Consumers(ctx, &Address{Kind: Topic, Name: "q"}, PageQuery{}); err != nil || len(consumers) != 0 {
			t.Fatalf("%+v %v", consumers, err)
		}
		a.take()
		if _, err := w.b.CloseConnection(ctx, a.conn.ID(), "maintenance\nat noon"); err != nil {
			t.Fatal(err)
		}
		if outs := a.take(); len(outs) != 1 || show(outs[0]) != "ERROR closed: an operator closed the connection: maintenance at noon" {
			t.Fatalf("it got %v", outs)
		}
		for _, err := range []error{
			func() error { _, err := w.b.CloseConnection(ctx, a.conn.ID(), ""); return err }(),
			func() error { _, err := w.b.Connection(ctx, 1000); return err }(),
			func() error { _, _, err := w.b.Connections(ctx, PageQuery{Limit: -1}); return err }(),
		} {
			if !errors.As(err, new(*Error)) {
				t.Errorf("saw %v", err)
			}
		}
	})
}
