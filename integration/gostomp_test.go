//go:build linux

package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3"
	"github.com/go-stomp/stomp/v3/frame"
)

// quiet is the log of a go-stomp client of which nobody wants to hear.
type quiet struct{}

func (quiet) Debugf(string, ...any)   {}
func (quiet) Infof(string, ...any)    {}
func (quiet) Warningf(string, ...any) {}
func (quiet) Errorf(string, ...any)   {}
func (quiet) Debug(string)            {}
func (quiet) Info(string)             {}
func (quiet) Warning(string)          {}
func (quiet) Error(string)            {}

// gostomp connects a go-stomp client. The test's end cuts it off.
func gostomp(t testing.TB, p *process, version stomp.Version, options ...func(*stomp.Conn) error) *stomp.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", p.stomp)
	if err != nil {
		t.Fatal(err)
	}
	return gostompOver(t, nc, version, options...)
}

func gostompOver(t testing.TB, nc io.ReadWriteCloser, version stomp.Version, options ...func(*stomp.Conn) error) *stomp.Conn {
	t.Helper()
	options = append([]func(*stomp.Conn) error{stomp.ConnOpt.AcceptVersion(version), stomp.ConnOpt.Logger(quiet{})}, options...)
	c, err := stomp.Connect(nc, options...)
	if err != nil {
		t.Fatalf("connecting with STOMP %s: %v", version, err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if c.Version() != version {
		t.Fatalf("asked for STOMP %s, got %s", version, c.Version())
	}
	return c
}

// modes of acknowledgement, by what SUBSCRIBE says.
func modes() []stomp.AckMode {
	return []stomp.AckMode{stomp.AckAuto, stomp.AckClient, stomp.AckClientIndividual}
}

func versions() []stomp.Version { return []stomp.Version{stomp.V10, stomp.V11, stomp.V12} }

// matrix runs a test for all versions and modes, against one broker.
func matrix(t *testing.T, test func(t *testing.T, p *process, version stomp.Version, mode stomp.AckMode)) {
	p := start(t, launch{watched: true})
	for _, version := range versions() {
		for _, mode := range modes() {
			t.Run(fmt.Sprintf("STOMP %s %s", version, mode), func(t *testing.T) { test(t, p, version, mode) })
		}
	}
}

// queueOf names a queue that no other test uses.
func queueOf(t testing.TB) string {
	return "/queue/" + strings.NewReplacer("/", ".", " ", "-").Replace(t.Name())
}

// publish sends a message and waits for its RECEIPT.
func publish(t testing.TB, c *stomp.Conn, destination, body string, headers ...string) {
	t.Helper()
	options := []func(*frame.Frame) error{stomp.SendOpt.Receipt}
	for i := 0; i < len(headers); i += 2 {
		options = append(options, stomp.SendOpt.Header(headers[i], headers[i+1]))
	}
	if err := c.Send(destination, "text/plain", []byte(body), options...); err != nil {
		t.Fatalf("sending to %s: %v", destination, err)
	}
}

func subscribe(t testing.TB, c *stomp.Conn, destination string, mode stomp.AckMode, headers ...string) *stomp.Subscription {
	t.Helper()
	var options []func(*frame.Frame) error
	for i := 0; i < len(headers); i += 2 {
		options = append(options, stomp.SubscribeOpt.Header(headers[i], headers[i+1]))
	}
	s, err := c.Subscribe(destination, mode, options...)
	if err != nil {
		t.Fatalf("subscribing to %s: %v", destination, err)
	}
	return s
}

// get returns the next message, which must have that body.
func get(t testing.TB, s *stomp.Subscription, body string) *stomp.Message {
	t.Helper()
	select {
	case m, ok := <-s.C:
		switch {
		case !ok:
			t.Fatalf("waiting for %.40q: the subscription has ended", body)
		case m.Err != nil:
			t.Fatalf("waiting for %.40q: %v", body, m.Err)
		case string(m.Body) != body:
			t.Fatalf("got %.40q (%d octets), want %.40q (%d octets)", m.Body, len(m.Body), body, len(body))
		}
		return m
	case <-time.After(patience):
		t.Fatalf("waiting for %.40q: nothing came", body)
		return nil
	}
}

func ack(t testing.TB, c *stomp.Conn, m *stomp.Message) {
	t.Helper()
	if err := c.Ack(m); err != nil {
		t.Fatalf("ACK of %.40q: %v", m.Body, err)
	}
}

func leave(t testing.TB, c *stomp.Conn) {
	t.Helper()
	if err := c.Disconnect(); err != nil {
		t.Fatalf("DISCONNECT: %v", err)
	}
}

func TestGoStompSendsAndReceives(t *testing.T) {
	matrix(t, func(t *testing.T, p *process, version stomp.Version, mode stomp.AckMode) {
		queue := queueOf(t)
		c := gostomp(t, p, version)
		s := subscribe(t, c, queue, mode)
		bodies := map[string]string{
			"empty":  "",
			"text":   "a text\nof two lines\n",
			"binary": "\x00\x01\xff\x00\n\r\n\x00",
			"large":  strings.Repeat("0123456789abcdef", 2<<20/16),
		}
		for name, body := range bodies {
			publish(t, c, queue, body, "name", name)
			m := get(t, s, body)
			if got := m.Header.Get("name"); got != name {
				t.Errorf("header name is %q, want %q", got, name)
			}
			if got := m.ContentType; got != "text/plain" {
				t.Errorf("content-type is %q", got)
			}
			if m.Destination != queue {
				t.Errorf("destination is %q", m.Destination)
			}
			if m.Header.Get("redelivered") != "" {
				t.Errorf("a first delivery has redelivered:%s", m.Header.Get("redelivered"))
			}
			ack(t, c, m)
		}
		leave(t, c)
		requireEmpty(t, p, version, queue)
	})
}

// requireEmpty demands that nothing is left in a queue: what is sent now is the first to come.
func requireEmpty(t testing.TB, p *process, version stomp.Version, queue string) {
	t.Helper()
	c := gostomp(t, p, version)
	publish(t, c, queue, "the end")
	s := subscribe(t, c, queue, stomp.AckClientIndividual)
	ack(t, c, get(t, s, "the end"))
	leave(t, c)
}

func TestGoStompRedeliversWhatWasNotAcknowledged(t *testing.T) {
	matrix(t, func(t *testing.T, p *process, version stomp.Version, mode stomp.AckMode) {
		queue := queueOf(t)
		sender := gostomp(t, p, version)
		for i := range 6 {
			publish(t, sender, queue, fmt.Sprint(i))
		}
		nc, err := net.Dial("tcp", p.stomp)
		if err != nil {
			t.Fatal(err)
		}
		c := gostompOver(t, nc, version)
		s := subscribe(t, c, queue, mode)
		var got []*stomp.Message
		for i := range 6 {
			got = append(got, get(t, s, fmt.Sprint(i)))
		}
		ack(t, c, got[2])
		// The connection's frames are handled in order, so the ACK counts before the RECEIPT.
		publish(t, c, queue, "6")
		before := p.metrics()["footfall_subscriptions"]
		_ = nc.Close()
		// Until the broker has seen it, what is written to the connection counts as taken.
		await(t, "the broker sees the end of the connection", func() bool { return p.metrics()["footfall_subscriptions"] < before })

		want := map[stomp.AckMode][]string{
			stomp.AckAuto:             {"6"},
			stomp.AckClient:           {"3", "4", "5", "6"},
			stomp.AckClientIndividual: {"0", "1", "3", "4", "5", "6"},
		}[mode]
		if mode == stomp.AckAuto {
			// Message 6 was taken as well if it was written before the connection was gone.
			publish(t, sender, queue, "7")
			want = []string{"7"}
		}
		next := gostomp(t, p, version)
		s = subscribe(t, next, queue, stomp.AckClientIndividual)
		for _, body := range want {
			if mode == stomp.AckAuto {
				m := take(t, s)
				for string(m.Body) == "6" {
					ack(t, next, m)
					m = take(t, s)
				}
				if string(m.Body) != body {
					t.Fatalf("got %q, want %q", m.Body, body)
				}
				ack(t, next, m)
				continue
			}
			m := get(t, s, body)
			if body != "6" && m.Header.Get("redelivered") != "true" {
				t.Errorf("%s came again without redelivered:true", body)
			}
			ack(t, next, m)
		}
		leave(t, next)
		requireEmpty(t, p, version, queue)
	})
}

// take returns the next message.
func take(t testing.TB, s *stomp.Subscription) *stomp.Message {
	t.Helper()
	select {
	case m, ok := <-s.C:
		if !ok || m.Err != nil {
			t.Fatalf("the subscription has ended: %v", m)
		}
		return m
	case <-time.After(patience):
		t.Fatal("no message came")
		return nil
	}
}

func TestGoStompRefusesMessagesWithNack(t *testing.T) {
	matrix(t, func(t *testing.T, p *process, version stomp.Version, mode stomp.AckMode) {
		if mode == stomp.AckAuto {
			return // NACK means nothing there, and the client refuses to send it
		}
		queue := queueOf(t)
		c := gostomp(t, p, version)
		s := subscribe(t, c, queue, mode)
		publish(t, c, queue, "again")
		m := get(t, s, "again")
		err := c.Nack(m)
		if version == stomp.V10 {
			if !errors.Is(err, stomp.ErrNackNotSupported) {
				t.Fatalf("NACK in STOMP 1.0: %v", err)
			}
			ack(t, c, m)
		} else {
			if err != nil {
				t.Fatal(err)
			}
			m = get(t, s, "again")
			if m.Header.Get("redelivered") != "true" {
				t.Error("a refused message came again without redelivered:true")
			}
			ack(t, c, m)
		}
		leave(t, c)
		requireEmpty(t, p, version, queue)
	})
}

func TestGoStompTransactionsAreAllOrNothing(t *testing.T) {
	matrix(t, func(t *testing.T, p *process, version stomp.Version, mode stomp.AckMode) {
		in, out := queueOf(t)+".in", queueOf(t)+".out"
		c := gostomp(t, p, version)
		publish(t, c, in, "job")
		s := subscribe(t, c, in, mode)
		job := get(t, s, "job")

		tx := c.Begin()
		if err := tx.Send(out, "text/plain", []byte("never")); err != nil {
			t.Fatal(err)
		}
		if mode != stomp.AckAuto {
			if err := tx.Ack(job); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Abort(); err != nil {
			t.Fatal(err)
		}

		tx = c.Begin()
		for i := range 3 {
			if err := tx.Send(out, "text/plain", []byte(fmt.Sprint(i)), stomp.SendOpt.Receipt); err != nil {
				t.Fatal(err)
			}
		}
		if mode != stomp.AckAuto {
			if err := tx.Ack(job); err != nil {
				t.Fatal(err)
			}
		}
		watcher := gostomp(t, p, version)
		seen := subscribe(t, watcher, out, stomp.AckAuto)
		publish(t, watcher, out, "before COMMIT")
		get(t, seen, "before COMMIT")
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			get(t, seen, fmt.Sprint(i))
		}
		leave(t, c)
		leave(t, watcher)
		requireEmpty(t, p, version, in)
		requireEmpty(t, p, version, out)
	})
}

func TestGoStompHeadersKeepTheirOctets(t *testing.T) {
	p := start(t, launch{watched: true})
	for _, version := range []stomp.Version{stomp.V11, stomp.V12} {
		t.Run(string(version), func(t *testing.T) {
			queue := queueOf(t)
			c := gostomp(t, p, version)
			s := subscribe(t, c, queue, stomp.AckAuto)
			headers := map[string]string{
				"colon": "a:b::c", "backslash": `a\b\\n`, "line": "a\nb", "blank": " a ", "umlaut": "grüße €",
				"odd:name": "x", "back\\slash": "y", "empty": "",
			}
			var list []string
			for name, value := range headers {
				list = append(list, name, value)
			}
			publish(t, c, queue, "m", list...)
			m := get(t, s, "m")
			for name, want := range headers {
				if got, ok := m.Header.Contains(name); !ok || got != want {
					t.Errorf("header %q is %q (%v), want %q", name, got, ok, want)
				}
			}
			leave(t, c)
		})
	}
}

func TestGoStompRepeatedHeadersStayInOrder(t *testing.T) {
	p := start(t, launch{watched: true})
	c := gostomp(t, p, stomp.V12)
	s := subscribe(t, c, queueOf(t), stomp.AckAuto)
	publish(t, c, queueOf(t), "m", "k", "first", "k", "second")
	m := get(t, s, "m")
	if got := m.Header.GetAll("k"); len(got) != 2 || got[0] != "first" || got[1] != "second" {
		t.Errorf("k is %q", got)
	}
}

func TestGoStompVersionsReadEachOther(t *testing.T) {
	p := start(t, launch{watched: true})
	for _, from := range versions() {
		for _, to := range versions() {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				queue := queueOf(t)
				sender, receiver := gostomp(t, p, from), gostomp(t, p, to)
				s := subscribe(t, receiver, queue, stomp.AckClientIndividual)
				publish(t, sender, queue, "body\x00with NUL", "plain", "value", "priority", "7")
				m := get(t, s, "body\x00with NUL")
				if got := m.Header.Get("plain"); got != "value" {
					t.Errorf("plain is %q", got)
				}
				ack(t, receiver, m)
				leave(t, receiver)
				leave(t, sender)
				requireEmpty(t, p, to, queue)
			})
		}
	}
}

func TestGoStompTopicsReachAllWhoListen(t *testing.T) {
	p := start(t, launch{watched: true})
	topic := "/topic/news"
	sender := gostomp(t, p, stomp.V12)
	publish(t, sender, topic, "before")
	var subscriptions []*stomp.Subscription
	for _, version := range versions() {
		for _, mode := range modes() {
			c := gostomp(t, p, version)
			subscriptions = append(subscriptions, subscribe(t, c, topic, mode))
			// The frames of a connection are handled in order: then it is subscribed.
			publish(t, c, "/queue/aside", "x")
		}
	}
	for i := range 100 {
		publish(t, sender, topic, fmt.Sprint(i))
	}
	for _, s := range subscriptions {
		for i := range 100 {
			m := get(t, s, fmt.Sprint(i))
			ack(t, m.Conn, m)
		}
	}
}

func TestGoStompUnsubscribeEndsDelivery(t *testing.T) {
	matrix(t, func(t *testing.T, p *process, version stomp.Version, mode stomp.AckMode) {
		queue := queueOf(t)
		c := gostomp(t, p, version)
		s := subscribe(t, c, queue, mode)
		publish(t, c, queue, "one")
		ack(t, c, get(t, s, "one"))
		if err := s.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
		publish(t, c, queue, "two")
		next := subscribe(t, c, queue, mode)
		m := get(t, next, "two")
		if m.Header.Get("redelivered") != "" {
			t.Error("what came after UNSUBSCRIBE is a redelivery")
		}
		ack(t, c, m)
		leave(t, c)
	})
}

// stallable is a connection whose writes can be made to vanish, as when a peer hangs.
type stallable struct {
	net.Conn
	stalled chan struct{}
}

// Write implements io.Writer.
func (s *stallable) Write(p []byte) (int, error) {
	select {
	case <-s.stalled:
		return len(p), nil
	default:
		return s.Conn.Write(p)
	}
}

func TestGoStompHeartBeatsKeepAConnectionAndTheirLackEndsIt(t *testing.T) {
	p := start(t, launch{watched: true})
	for _, version := range []stomp.Version{stomp.V11, stomp.V12} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			nc, err := net.Dial("tcp", p.stomp)
			if err != nil {
				t.Fatal(err)
			}
			peer := &stallable{Conn: nc, stalled: make(chan struct{})}
			// go-stomp ends the connection when it hears nothing for its interval and its grace.
			c := gostompOver(t, peer, version,
				stomp.ConnOpt.HeartBeat(500*time.Millisecond, 500*time.Millisecond),
				stomp.ConnOpt.HeartBeatError(time.Second))
			s := subscribe(t, c, queueOf(t), stomp.AckClientIndividual)
			<-time.After(4 * time.Second)
			publish(t, c, queueOf(t), "still here")
			get(t, s, "still here")

			close(peer.stalled)
			began := time.Now()
			select {
			case m := <-s.C:
				if m == nil || m.Err == nil {
					t.Fatalf("waiting for the end, there came %v", m)
				}
				t.Logf("ended after %v: %v", time.Since(began), m.Err)
			case <-time.After(patience):
				t.Fatal("a client that fell silent was not cut off")
			}
			next := gostomp(t, p, version)
			again := subscribe(t, next, queueOf(t), stomp.AckClientIndividual)
			m := get(t, again, "still here")
			if m.Header.Get("redelivered") != "true" {
				t.Error("it came again without redelivered:true")
			}
			ack(t, next, m)
			leave(t, next)
		})
	}
}

func TestGoStompReconnectsAfterARestart(t *testing.T) {
	p := start(t, launch{watched: true})
	c := gostomp(t, p, stomp.V12)
	s := subscribe(t, c, "/queue/jobs", stomp.AckClientIndividual)
	large := bytes.Repeat([]byte{0, 1, 2, 3}, 1<<18)
	for _, body := range []string{"one", "two", string(large)} {
		publish(t, c, "/queue/jobs", body)
	}
	id := get(t, s, "one").Header.Get("message-id")
	p.kill()
	p = p.again()
	c = gostomp(t, p, stomp.V12)
	s = subscribe(t, c, "/queue/jobs", stomp.AckClientIndividual)
	m := get(t, s, "one")
	if m.Header.Get("redelivered") != "true" {
		t.Error("what was delivered before the crash comes without redelivered:true")
	}
	if got := m.Header.Get("message-id"); got != id {
		t.Errorf("message-id was %q, now it is %q", id, got)
	}
	ack(t, c, m)
	ack(t, c, get(t, s, "two"))
	ack(t, c, get(t, s, string(large)))
	leave(t, c)
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}

func TestGoStompErrorsNameWhatWasWrong(t *testing.T) {
	p := start(t, launch{watched: true})
	c := gostomp(t, p, stomp.V12)
	err := c.Send("/nowhere/x", "text/plain", []byte("m"), stomp.SendOpt.Receipt)
	var failure stomp.Error
	if !errors.As(err, &failure) || failure.Frame == nil {
		t.Fatalf("sending to no destination: %v", err)
	}
	if told := failure.Message + string(failure.Frame.Body); !strings.Contains(told, "/nowhere/x") || !strings.Contains(told, "/queue/") {
		t.Errorf("the ERROR does not help: %q", told)
	}
}
