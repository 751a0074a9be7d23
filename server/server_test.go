package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames/framestest"
)

func TestHostileFramesGetAnErrorAndTheEnd(t *testing.T) {
	for _, bad := range framestest.Hostile() {
		if bad.Client {
			continue
		}
		t.Run(bad.Name, func(t *testing.T) {
			inBubble(t, Options{}, Transport{}, func(w *world) {
				c := w.listener.dialRoom(1 << 20)
				if !bad.First {
					w.say(c, strings.Replace(connect12, "1.2", bad.Version.String(), 1), "CONNECTED\n")
				}
				if _, err := c.Write([]byte(bad.Octets)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				got, ended := c.available()
				if !strings.HasPrefix(string(got), "ERROR\n") || !ended {
					t.Errorf("%.80q is answered with %q, and the side is shut: %v", bad.Octets, got, ended)
				}
				if n := w.Stats().ProtocolErrors[string(bad.Kind)]; n != 1 {
					t.Errorf("%d errors of kind %s were counted", n, bad.Kind)
				}
			})
		})
	}
}

func TestGoodFirstFramesAreAnswered(t *testing.T) {
	for _, good := range framestest.Samples() {
		if good.Client || !good.First {
			continue
		}
		t.Run(good.Name, func(t *testing.T) {
			inBubble(t, Options{}, Transport{}, func(w *world) {
				w.say(w.listener.dial(), good.Octets, "CONNECTED\n")
			})
		})
	}
}

func TestAClientThatEndsWithoutDisconnectIsDetachedAfterWhatItSent(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		var seen []broker.OpKind
		w.broker.onSubmit = func(r *broker.Request) {
			for _, op := range r.Ops {
				seen = append(seen, op.Kind)
			}
		}
		c := w.session()
		if _, err := c.Write([]byte("SUBSCRIBE\nid:1\ndestination:/topic/a\n\n\x00SEND\ndestination:/queue/a\n\nx\x00SEND\ndest")); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		synctest.Wait()
		if len(seen) != 2 || seen[1] != broker.OpSend {
			t.Errorf("operations %v", seen)
		}
		if _, _, detached := w.broker.snapshot(1); detached == 0 {
			t.Error("the session was not detached")
		}
		if n := w.Stats().Closed[endClient]; n != 1 {
			t.Errorf("closed: %v", w.Stats().Closed)
		}
	})
}

func TestShutdownTellsSessionsAndWaitsForThem(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		silent := w.listener.dial()
		talking := w.session()
		sending := w.session()
		w.say(sending, "SEND\ndestination:/queue/a\nreceipt:r\n\nwhole\x00SEND\ndestination:/queue/a\n\nhalf", "RECEIPT\n")
		done := make(chan error, 1)
		go func() { done <- w.Shutdown(context.Background()) }()
		for _, c := range []*pipeConn{silent, talking, sending} {
			synctest.Wait()
			got, ended := c.available()
			if !strings.HasPrefix(string(got), "ERROR\n") || !strings.Contains(string(got), "shutting down") || !ended {
				t.Errorf("the server said %q, and shut its side: %v", got, ended)
			}
		}
		select {
		case err := <-done:
			t.Errorf("Shutdown came back with open connections: %v", err)
		default:
		}
		_ = talking.Close()
		if err := <-done; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if !silent.peerClosed() || !sending.peerClosed() {
			t.Error("connections are open after Shutdown")
		}
		if err := w.Serve(newPipeListener()); !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve after Shutdown: %v", err)
		}
	})
}

func TestShutdownComesBackWithItsContextAndCloseDoesTheRest(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.session()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := w.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		if err := w.Close(); err != nil || !c.peerClosed() {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestShutdownOfAnIdleServer(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		for range 2 {
			if err := w.Shutdown(context.Background()); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		}
	})
}

func TestAClosedBrokerIsAnErrorToItsSessions(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.session()
		w.broker.close()
		if _, err := c.Write([]byte("SEND\ndestination:/queue/a\n\nx\x00")); err != nil {
			t.Fatal(err)
		}
		w.wantEnd(c, "shutting down")
		d := w.listener.dial()
		if _, err := d.Write([]byte(connect12)); err != nil {
			t.Fatal(err)
		}
		w.wantEnd(d, "shutting down")
	})
}

// careless panics when it is asked about a destination.
type careless struct{ auth.Open }

func (careless) Authorize(auth.Identity, auth.Action, string, string) error {
	panic("no such table")
}

func TestAPanicEndsOneConnection(t *testing.T) {
	var log syncBuilder
	inBubble(t, Options{Auth: careless{}, Log: slog.New(slog.NewTextHandler(&log, nil))}, Transport{}, func(w *world) {
		bystander := w.session()
		c := w.session()
		if _, err := c.Write([]byte("SEND\ndestination:/queue/a\n\nx\x00")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !c.peerClosed() || w.Stats().Panics != 1 || w.Stats().Closed[endPanic] != 1 {
			t.Errorf("closed: %v, stats %+v", c.peerClosed(), w.Stats())
		}
		if _, _, detached := w.broker.snapshot(2); detached == 0 {
			t.Error("the session was not detached")
		}
		w.say(bystander, "BEGIN\ntransaction:t\nreceipt:r\n\n\x00", "RECEIPT\n")
	})
	if !strings.Contains(log.String(), "no such table") || !strings.Contains(log.String(), "server_test.go") {
		t.Errorf("the log has neither the fault nor its stack: %s", log.String())
	}
}

func TestAPanicOfAWriterEndsItsConnection(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		client, server := newPipe(64 << 10)
		faults := 0
		server.fault = func(op string) {
			if op == "write" {
				if faults++; faults == 2 {
					panic("second write")
				}
			}
		}
		w.listener.conns <- server
		w.say(client, connect12, "CONNECTED\n")
		if _, err := client.Write([]byte("BEGIN\ntransaction:t\nreceipt:r\n\n\x00")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !client.peerClosed() || w.Stats().Panics != 1 {
			t.Errorf("closed: %v, panics: %d", client.peerClosed(), w.Stats().Panics)
		}
	})
}

// syncBuilder is a strings.Builder for several goroutines.
type syncBuilder struct {
	mu sync.Mutex
	strings.Builder
}

func (b *syncBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func TestOneConnectionTooManyIsClosed(t *testing.T) {
	inBubble(t, Options{MaxConnections: 2}, Transport{}, func(w *world) {
		a := w.session()
		w.session()
		c := w.listener.dial()
		synctest.Wait()
		if n := w.Stats().Rejected["max_connections"]; n != 1 || !c.peerClosed() {
			t.Errorf("rejected: %v, closed: %v", w.Stats().Rejected, c.peerClosed())
		}
		_ = a.Close()
		synctest.Wait()
		w.session()
	})
}

// tired is a listener that fails some times before it accepts.
type tired struct {
	*pipeListener
	faults []error
}

func (l *tired) Accept() (net.Conn, error) {
	if len(l.faults) > 0 {
		err := l.faults[0]
		l.faults = l.faults[1:]
		return nil, err
	}
	return l.pipeListener.Accept()
}

func TestAcceptIsTriedAgainWhenDescriptorsAreOut(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		l := &tired{newPipeListener(), []error{syscall.EMFILE, &net.OpError{Op: "accept", Err: syscall.ENFILE}, syscall.ECONNABORTED}}
		served := make(chan error, 1)
		begun := time.Now()
		go func() { served <- w.ServeTransport(l, Transport{Name: "tired"}) }()
		w.say(l.dial(), connect12, "CONNECTED\n")
		if d := time.Since(begun); d < 35*time.Millisecond || d > 70*time.Millisecond {
			t.Errorf("three failures took %v", d)
		}
		if n := w.Stats().Rejected["accept_failed"]; n != 3 {
			t.Errorf("rejected: %v", w.Stats().Rejected)
		}
		_ = w.Close()
		if err := <-served; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestServeComesBackWhenAListenerFails(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		fault := errors.New("interface is gone")
		l := &tired{newPipeListener(), []error{fault}}
		if err := w.Serve(l); !errors.Is(err, fault) {
			t.Errorf("Serve: %v", err)
		}
		if _, err := l.pipeListener.Accept(); err == nil {
			t.Error("the listener is open")
		}
	})
}

func TestCloseEndsThePauseOfAccept(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		l := &tired{pipeListener: newPipeListener()}
		for range 1000 {
			l.faults = append(l.faults, syscall.EMFILE)
		}
		served := make(chan error, 1)
		go func() { served <- w.Serve(l) }()
		<-time.After(10 * time.Second)
		_ = w.Close()
		if err := <-served; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestCounters(t *testing.T) {
	inBubble(t, Options{}, Transport{Name: "tls"}, func(w *world) {
		c := w.session()
		w.say(c, "SUBSCRIBE\nid:1\ndestination:/topic/a\nreceipt:r1\n\n\x00SEND\ndestination:/topic/a\nreceipt:r2\n\nx\x00", "RECEIPT\n")
		stats := w.Stats()
		tr := stats.Transports["tls"]
		if tr.Open["1.2"] != 1 || tr.Open[""] != 0 || tr.Opened != 1 || tr.OctetsIn == 0 || tr.OctetsOut == 0 || stats.Goroutines != 2 || stats.Logins["ok"] != 1 {
			t.Errorf("stats: %+v", stats)
		}
		for command, n := range map[string]uint64{"CONNECT": 1, "SUBSCRIBE": 1, "SEND": 1} {
			if stats.FramesReceived[command] != n {
				t.Errorf("received: %v", stats.FramesReceived)
			}
		}
		for command, n := range map[string]uint64{"CONNECTED": 1, "RECEIPT": 2, "MESSAGE": 1} {
			if stats.FramesSent[command] != n {
				t.Errorf("sent: %v", stats.FramesSent)
			}
		}
		w.say(c, "DISCONNECT\n\n\x00", "")
		_ = c.Close()
		synctest.Wait()
		if n := w.Stats().Closed[endDisconnect]; n != 1 {
			t.Errorf("closed: %v", w.Stats().Closed)
		}
	})
}

func TestTheLogHasOneLineAtTheEndOfAConnectionAndNoPasscode(t *testing.T) {
	var log syncBuilder
	o := Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Auth: passcodes{login: "ann", passcode: "s3cret"}}
	inBubble(t, o, Transport{}, func(w *world) {
		c := w.listener.dial()
		w.say(c, "CONNECT\nlogin:ann\npasscode:s3cret\n\n\x00", "CONNECTED\n")
		w.say(c, "SEND\ndestination:/x\n\n\x00", "ERROR\n")
		_ = c.Close()
		time.Sleep(time.Second) // of the bubble: there is one such line in a second
		d := w.listener.dial()
		w.say(d, "CONNECT\nlogin:b\x1b[1mob\npasscode:s3cret\n\n\x00", "ERROR\n")
		_ = d.Close()
	})
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("the log has %d lines:\n%s", n, log.String())
	}
	if strings.Contains(log.String(), "s3cret") || strings.Contains(log.String(), "\x1b") {
		t.Errorf("the log has what it must not:\n%s", log.String())
	}
}

func TestASessionThatTheBrokerEndsIsDetachedWithTheError(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.session()
		w.say(c, "ACK\nid:never\n\n\x00", "ERROR\n")
		if _, _, detached := w.broker.snapshot(1); detached == 0 {
			t.Error("the session is not detached while the client is given time to read the ERROR")
		}
		// What still comes is thrown away, and not submitted.
		w.say(c, "SEND\ndestination:/queue/a\n\nx\x00", "")
		if requests, _, _ := w.broker.snapshot(1); requests != 1 {
			t.Errorf("%d requests", requests)
		}
		if err := w.Shutdown(context.Background()); err != nil || !c.peerClosed() {
			t.Errorf("Shutdown: %v", err)
		}
	})
}

func TestTheErrorOfASessionWaitsForTheAnswersBeforeIt(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		release := make(chan struct{})
		w.broker.onSubmit = func(*broker.Request) { <-release }
		c := w.session()
		w.say(c, "SEND\ndestination:/queue/a\nreceipt:r\n\nx\x00BOGUS\n\n\x00", "")
		<-time.After(time.Minute)
		w.say(c, "more", "")
		close(release)
		if got := w.say(c, "still more", "RECEIPT\n"); !strings.Contains(got, "ERROR\n") {
			t.Errorf("the server said %q", got)
		}
	})
}

func TestAListenerMayAskForLongerSilence(t *testing.T) {
	inBubble(t, Options{}, Transport{MinSilence: 90 * time.Second}, func(w *world) {
		c := w.listener.dial()
		w.say(c, "CONNECT\naccept-version:1.2\nheart-beat:1000,0\n\n\x00", "CONNECTED\n")
		<-time.After(90*time.Second - time.Millisecond)
		synctest.Wait()
		if got, ended := c.available(); len(got) > 0 || ended {
			t.Fatalf("the server said %q", got)
		}
		<-time.After(time.Millisecond)
		w.wantEnd(c, "heart-beat")
	})
}

func TestShutdownWhileASessionWaitsForTheBroker(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		release := make(chan struct{})
		c := w.session()
		w.broker.onSubmit = func(*broker.Request) { <-release }
		w.say(c, "SEND\ndestination:/queue/a\nreceipt:r\n\nx\x00", "")
		done := make(chan error, 1)
		go func() { done <- w.Shutdown(context.Background()) }()
		synctest.Wait()
		close(release)
		synctest.Wait()
		got, ended := c.available()
		if !strings.HasPrefix(string(got), "RECEIPT\n") || !strings.Contains(string(got), "shutting down") || !ended {
			t.Errorf("the server said %q, and shut its side: %v", got, ended)
		}
		if err := <-done; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
}
