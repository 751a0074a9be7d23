package server

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"footfall/frames"
	"github.com/coder/websocket"
)

const (
	opText   = 0x81 // whole messages, as they are on the wire
	opBinary = 0x82
	opPing   = 0x89
)

var overWebSocket = Transport{Name: "ws", WebSocket: &WebSocket{}}

// peer opens a WebSocket in the bubble.
func (w *world) peer() *wsPeer {
	w.t.Helper()
	p, _ := openPeer(w.t, w.listener.dialRoom(1<<20), "")
	return p
}

func TestTheSubprotocolIsTheHighestVersionElseTheFirst(t *testing.T) {
	for _, c := range []struct {
		offers []string
		want   string
	}{
		{nil, ""},
		{[]string{""}, ""},
		{[]string{" , "}, ""},
		{[]string{"v10.stomp, v11.stomp, v12.stomp"}, "v12.stomp"},
		{[]string{"v12.stomp,v11.stomp", "v10.stomp"}, "v12.stomp"},
		{[]string{"mqtt", "v11.stomp"}, "v11.stomp"},
		{[]string{"V11.STOMP"}, "V11.STOMP"},
		{[]string{"wss, ws"}, "wss"},
	} {
		if got := subprotocol(c.offers); got != c.want {
			t.Errorf("of %q %q is chosen, not %q", c.offers, got, c.want)
		}
	}
}

func TestOriginsAreComparedWhole(t *testing.T) {
	const host = "good.example:8080"
	listed := []string{"https://app.example", "http://[2001:db8::1]:81"}
	for _, c := range []struct {
		origin  string
		allowed []string
		secure  bool
		want    bool
	}{
		{"http://good.example:8080", nil, false, true},
		{"HTTP://Good.Example:8080", nil, false, true},
		{"https://good.example:8080", nil, false, true}, // a proxy may have ended TLS
		{"https://good.example:8080", nil, true, true},
		{"http://good.example:8080", nil, true, false},
		{"http://good.example", nil, false, false},
		{"http://good.example:80", nil, false, false},
		{"http://good.example:8080.evil.example", nil, false, false},
		{"http://good.example.evil.example:8080", nil, false, false},
		{"http://evil.example/?http://good.example:8080", nil, false, false},
		{"http://good.example:8080@evil.example", nil, false, false},
		{"http://evilgood.example:8080", nil, false, false},
		{"ftp://good.example:8080", nil, false, false},
		{"null", nil, false, false},
		{"", nil, false, false},
		{"good.example:8080", nil, false, false},
		{"file://", nil, false, false},
		{"https://app.example", listed, false, true},
		{"https://app.example:443", listed, true, true},
		{"https://APP.example", listed, true, true},
		{"http://app.example", listed, false, false},
		{"https://app.example:8443", listed, true, false},
		{"https://sub.app.example", listed, true, false},
		{"http://[2001:DB8::1]:81", listed, true, true},
		{"null", listed, false, false},
		{"null", []string{"*"}, false, true},
		{"http://evil.example", []string{"*"}, false, true},
	} {
		w := &WebSocket{Origins: c.allowed}
		if got := w.allows([]string{c.origin}, host, c.secure); got != c.want {
			t.Errorf("Origin %q, allowed %q, TLS %v: %v", c.origin, c.allowed, c.secure, got)
		}
	}
	if w := (&WebSocket{}); !w.allows([]string{"http://h"}, "h:80", false) || !w.allows([]string{"https://h:443"}, "h", true) || !w.allows([]string{"http://[::1]"}, "[::1]:80", false) {
		t.Error("a port that the scheme implies makes a difference")
	}
	if !(&WebSocket{}).allows(nil, host, false) || (&WebSocket{RequireOrigin: true}).allows(nil, host, false) {
		t.Error("no Origin is treated as if RequireOrigin were the other way round")
	}
	if (&WebSocket{Origins: []string{"*"}}).allows([]string{"http://a", "http://b"}, host, false) {
		t.Error("two Origins are accepted")
	}
}

func TestRequestsThatBecomeNoWebSocket(t *testing.T) {
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"a plain GET", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", http.StatusUpgradeRequired},
		{"a POST", strings.Replace(handshake(""), "GET", "POST", 1), http.StatusMethodNotAllowed},
		{"another path", strings.Replace(handshake(""), "/ws", "/admin", 1), http.StatusNotFound},
		{"a path within", strings.Replace(handshake(""), "/ws", "/ws/../x", 1), http.StatusNotFound},
		{"another origin", handshake("Origin: http://evil.example\r\n"), http.StatusForbidden},
		{"an old version", strings.Replace(handshake(""), "Version: 13", "Version: 8", 1), http.StatusBadRequest},
		{"a bad key", strings.Replace(handshake(""), "AAAAAA", "A", 1), http.StatusBadRequest},
		{"HTTP/1.0", strings.Replace(handshake(""), "HTTP/1.1", "HTTP/1.0", 1), http.StatusUpgradeRequired},
		{"STOMP", connect12, http.StatusBadRequest},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\n\n", http.StatusBadRequest},
		{"a long header", "GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", upgradeBytes), http.StatusRequestHeaderFieldsTooLarge},
		{"many cookies", "GET / HTTP/1.1\r\n" + strings.Repeat("Cookie: a=b\r\n", 2000), http.StatusRequestHeaderFieldsTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Options{}, overWebSocket, func(w *world) {
				client := w.listener.dialRoom(64 << 10)
				got := w.say(client, c.request, fmt.Sprintf("HTTP/1.1 %d ", c.status))
				if !strings.Contains(got, "\r\nConnection: close\r\n") {
					t.Errorf("the answer is %q", got)
				}
				<-time.After(2 * time.Second)
				synctest.Wait()
				if !client.peerClosed() || w.Stats().Closed[endOpen] != 1 {
					t.Errorf("closed: %v, reasons: %v", client.peerClosed(), w.Stats().Closed)
				}
			})
		})
	}
}

func TestARequestForAWebSocketThatTakesLongIsCut(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		client := w.listener.dial()
		for range 9 {
			w.say(client, "G", "")
			<-time.After(time.Second)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if !client.peerClosed() || w.Stats().Closed[endConnect] != 1 {
			t.Errorf("closed: %v, reasons: %v", client.peerClosed(), w.Stats().Closed)
		}
	})
}

func TestEachFrameIsAMessageOfTheKindOfTheFirst(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		for _, kind := range []byte{opText, opBinary} {
			p := w.peer()
			p.write(masked(kind, connect12))
			p.want(kind, "CONNECTED\n")
			other := kind ^ 3
			p.write(masked(other, "SUBSCRIBE\nid:1\ndestination:/topic/a\nreceipt:1\n\n\x00"+strings.Repeat("SEND\ndestination:/topic/a\n\nx\x00\n", 20)))
			p.want(kind, "RECEIPT\n")
			for range 20 {
				if m := p.want(kind, "MESSAGE\n"); strings.Index(m, "\x00") != len(m)-1 {
					t.Fatalf("a message holds %q", m)
				}
			}
			// What is no UTF-8 cannot be text.
			p.write(masked(0x82, "SEND\ndestination:/topic/a\n\n\xff\x00"))
			p.want(opBinary, "MESSAGE\n")
			_ = p.Close()
		}
	})
}

func TestFramesMayBeSplitOverMessagesAnywhere(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		all := connect12 + "SUBSCRIBE\nid:1\ndestination:/topic/a\n\n\x00SEND\ndestination:/topic/a\nk:\u00e9\n\n\U0001f600\x00"
		for _, size := range []int{1, 2, 3, 7} {
			for _, fragments := range []bool{false, true} {
				p := w.peer()
				rest, first := all, byte(0x02) // binary, as it is cut within characters
				for len(rest) > 0 {
					n := min(size, len(rest))
					fin := byte(0x80)
					if fragments && n < len(rest) {
						fin = 0
					}
					p.write(masked(fin|first, rest[:n]))
					rest = rest[n:]
					if fragments {
						first = 0
						p.write(masked(opPing, "between")) // control frames may come in between
					}
				}
				var got []string
				for len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "MESSAGE") {
					f, err := p.frame()
					if err != nil {
						t.Fatalf("%v after %q", err, got)
					}
					if f.first != 0x8A {
						got = append(got, f.payload)
					}
				}
				if len(got) != 2 || !strings.HasSuffix(got[1], "\n\n\U0001f600\x00") {
					t.Errorf("pieces of %d, fragments %v: %q", size, fragments, got)
				}
				_ = p.Close()
			}
		}
	})
}

func TestTheErrorComesBeforeTheCloseFrameAndTheEndAtOnceAfterIt(t *testing.T) {
	for _, c := range []struct {
		name, frame, last string
		status            int
	}{
		{"ERROR", "SEND\ndestination:/x\n\n\x00", "ERROR\n", 1008},
		{"DISCONNECT", "DISCONNECT\nreceipt:r\n\n\x00", "RECEIPT\n", 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Options{}, overWebSocket, func(w *world) {
				p := w.peer()
				p.text(connect12)
				p.want(opText, "CONNECTED\n")
				p.text(c.frame)
				p.want(opText, c.last)
				p.wantClose(c.status)
				began := time.Now()
				p.write(masked(0x88, "\x03\xe8"))
				p.wantEOF()
				if took := time.Since(began); took > 0 {
					t.Errorf("the end came %v after the handshake", took)
				}
			})
		})
	}
}

func TestAClientThatDoesNotAnswerTheCloseFrameIsClosed(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text("SEND\ndestination:/queue/a\n\nx\x00")
		p.want(opText, "ERROR\n")
		p.wantClose(1008)
		began := time.Now()
		p.wantEOF()
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestShutdownSaysGoingAway(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text(connect12)
		p.want(opText, "CONNECTED\n")
		done := make(chan error, 1)
		go func() { done <- w.Shutdown(context.Background()) }()
		if e := p.want(opText, "ERROR\n"); !strings.Contains(e, "shutting down") {
			t.Errorf("the ERROR is %q", e)
		}
		p.wantClose(1001)
		p.write(masked(0x88, "\x03\xe9"))
		p.wantEOF()
		if err := <-done; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
}

func TestShutdownEndsWhatIsNoWebSocketYet(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		client := w.listener.dial()
		w.say(client, "GET /", "")
		if err := w.Shutdown(context.Background()); err != nil || w.Stats().Closed[endShutdown] != 1 {
			t.Errorf("Shutdown: %v, %v", err, w.Stats().Closed)
		}
	})
}

func TestACloseFrameOfTheClientIsAnsweredAndWhatCameBeforeItCounts(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text(connect12 + "SEND\ndestination:/queue/a\n\nx\x00")
		p.want(opText, "CONNECTED\n")
		began := time.Now()
		p.write(masked(0x88, "\x03\xe8bye"))
		p.wantClose(1000)
		p.wantEOF()
		if took := time.Since(began); took > 0 {
			t.Errorf("the end came after %v", took)
		}
		p.write(masked(0x88, "\x03\xe8")) // some clients answer the answer
		_ = p.Close()
		synctest.Wait()
		if requests, _, detached := w.broker.snapshot(1); requests == 0 || detached == 0 {
			t.Errorf("%d requests, detached %d times", requests, detached)
		}
		if n := w.Stats().Closed[endClient]; n != 1 {
			t.Errorf("closed: %v", w.Stats().Closed)
		}
	})
}

func TestHeartBeatsAreMessagesOfOneLineFeed(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text("CONNECT\naccept-version:1.2\nheart-beat:0,1000\n\n\x00")
		p.want(opText, "CONNECTED\n")
		for range 3 {
			began := time.Now()
			if m := p.want(opText, "\n"); m != "\n" || time.Since(began) > 600*time.Millisecond {
				t.Errorf("%q came after %v", m, time.Since(began))
			}
		}
	})
}

func TestASilentWebSocketIsDeadAfterNinetySeconds(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text("CONNECT\naccept-version:1.2\nheart-beat:1000,0\n\n\x00")
		p.want(opText, "CONNECTED\n")
		began := time.Now()
		<-time.After(80 * time.Second)
		p.write(masked(opPing, "alive")) // any octet counts
		p.want(opPong, "alive")
		if e := p.want(opText, "ERROR\n"); !strings.Contains(e, "heart-beat") {
			t.Errorf("the ERROR is %q", e)
		}
		if took := time.Since(began); took != 170*time.Second {
			t.Errorf("it came after %v", took)
		}
		p.wantClose(1008)
		p.write(masked(0x88, "\x03\xf0"))
		p.wantEOF()
	})
}

func TestADeadlineWithinAFrameStillLeadsToAnError(t *testing.T) {
	for name, part := range map[string]string{
		"a header": "\x81", "a payload": masked(opText, "SEND\ndestin")[:10],
		"a message": masked(0x01, "SEND\n"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, overWebSocket, func(w *world) {
				p := w.peer()
				p.text("CONNECT\naccept-version:1.2\nheart-beat:1000,0\n\n\x00")
				p.want(opText, "CONNECTED\n")
				p.write(part)
				p.want(opText, "ERROR\n")
				p.wantClose(1008)
				p.wantEOF()
			})
		})
	}
}

func TestASlowMessageIsALifeSign(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text("CONNECT\naccept-version:1.2\nheart-beat:1000,0\n\n\x00")
		p.want(opText, "CONNECTED\n")
		frame := masked(opText, "SEND\ndestination:/topic/a\nreceipt:r\n\n\x00")
		for i := range len(frame) {
			p.write(frame[i : i+1])
			if i > 5 { // of the payload
				<-time.After(80 * time.Second)
			}
		}
		p.want(opText, "RECEIPT\n")
	})
}

func TestPingsAreAnsweredWithTheirPayload(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.write(masked(opPing, "early"))
		p.want(opPong, "early")
		p.text(connect12)
		p.want(opText, "CONNECTED\n")
		for _, payload := range []string{"", "p", strings.Repeat("x", 125)} {
			p.write(masked(opPing, payload))
			if got := p.want(opPong, payload); got != payload {
				t.Errorf("%q was answered with %q", payload, got)
			}
		}
		p.write(masked(opPing, "one") + masked(opPing, "two"))
		p.want(opPong, "one")
		p.want(opPong, "two")
		// Of very many at once the last has an answer, and nobody waits for room to answer the others.
		p.write(strings.Repeat(masked(opPing, "flood"), 10_000) + masked(opPing, "last"))
		for p.want(opPong, "") != "last" {
		}
	})
}

func TestBadFramesOfAWebSocketEndIt(t *testing.T) {
	for _, c := range []struct {
		name, octets string
		status       int
	}{
		{"unmasked", "\x81\x01\n", 1002},
		{"a reserved bit", masked(0x91, "\n"), 1002},
		{"compressed without having agreed", masked(0xC1, "\n"), 1002},
		{"opcode 3", masked(0x83, "\n"), 1002},
		{"opcode 11", masked(0x8B, "\n"), 1002},
		{"a ping in parts", masked(0x09, "x"), 1002},
		{"a ping of 126 octets", masked(opPing, strings.Repeat("x", 126)), 1002},
		{"a continuation of nothing", masked(0x80, "\n"), 1002},
		{"a message within another", masked(0x01, "\n") + masked(opText, "\n"), 1002},
		{"a length of 2^63", "\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 1002},
		{"a length of 2^64-1", "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", 1002},
		{"a close frame of one octet", masked(0x88, "x"), 1002},
		{"a status that may not be sent", masked(0x88, "\x03\xee"), 1002},
		{"a text that is no UTF-8", masked(opText, "SEND\ndestination:/topic/a\n\n\xff\xfe\x00"), 1007},
		{"a text that ends within a character", masked(opText, "SEND\ndestination:/topic/a\n\n\xe2\x82"), 1007},
		{"a surrogate", masked(opText, "\xed\xa0\x80"), 1007},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Options{}, overWebSocket, func(w *world) {
				p := w.peer()
				p.text(connect12)
				p.want(opText, "CONNECTED\n")
				p.write(c.octets)
				p.wantClose(c.status)
				began := time.Now()
				p.wantEOF()
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %v to close", took)
				}
				if _, _, detached := w.broker.snapshot(1); detached == 0 {
					t.Error("the session was not detached")
				}
				if n := w.Stats().ProtocolErrors["websocket"]; n != 1 {
					t.Errorf("%d errors were counted", n)
				}
			})
		})
	}
}

func TestTextOverSeveralFramesIsCheckedAsOne(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text(connect12)
		p.want(opText, "CONNECTED\n")
		euro := "\u20ac"
		p.write(masked(0x01, "BEGIN\ntransaction:"+euro[:1]) + masked(0x00, euro[1:2]) + masked(0x00, "") + masked(0x80, euro[2:]+"\nreceipt:r\n\n\x00"))
		p.want(opText, "RECEIPT\n")
	})
}

func TestEmptyFragmentsWithoutEndAreNoLoad(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p := w.peer()
		p.text(connect12)
		p.want(opText, "CONNECTED\n")
		p.write(masked(0x01, ""))
		for range 100 {
			p.write(strings.Repeat(masked(0x00, ""), 1000))
		}
		p.write(masked(0x80, "BEGIN\ntransaction:t\nreceipt:r\n\n\x00"))
		p.want(opText, "RECEIPT\n")
	})
}

func TestLimitsHoldOverAWebSocket(t *testing.T) {
	o := Options{Limits: frames.Limits{Body: 1000, Login: 2000, HeaderBytes: 1000}}
	limit := upgradeBytes + 1000 + 1000 + 32
	for _, c := range []struct {
		name    string
		greeted bool
		octets  string
		word    string // in the ERROR, empty for none
		status  int
	}{
		{"before CONNECT", false, strings.Repeat("\n", 2001), "limits.login", 1008},
		{"before CONNECT, in small messages", false, strings.Repeat(masked(opText, "\n"), 2001), "limits.login", 1008},
		{"a body", true, "SEND\ndestination:/topic/a\n\n" + strings.Repeat("x", 1001), "limits.body", 1008},
		{"a message of many frames", true, strings.Repeat("\n", limit+2), "", 1009},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, o, overWebSocket, func(w *world) {
				p := w.peer()
				if c.greeted {
					p.text(connect12)
					p.want(opText, "CONNECTED\n")
				}
				if c.octets[0] == opText {
					p.write(c.octets)
				} else {
					p.text(c.octets)
				}
				if c.word != "" {
					if e := p.want(opText, "ERROR\n"); !strings.Contains(e, c.word) {
						t.Errorf("the ERROR is %q", e)
					}
				}
				p.wantClose(c.status)
			})
		})
	}
}

// deflated compresses as permessage-deflate does.
func deflated(text string) string {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	_, _ = io.WriteString(w, text)
	_ = w.Flush()
	return strings.TrimSuffix(out.String(), "\x00\x00\xff\xff")
}

func TestDeflateIsAgreedOnWhereItIsSwitchedOnAndLimitsCountWhatIsInflated(t *testing.T) {
	const offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		_, r := openPeer(t, w.listener.dial(), offer)
		if got := r.Header.Get("Sec-WebSocket-Extensions"); got != "" {
			t.Errorf("%q was agreed on", got)
		}
	})
	on := Transport{Name: "ws", WebSocket: &WebSocket{Deflate: true}}
	inBubble(t, Options{}, on, func(w *world) {
		p, r := openPeer(t, w.listener.dial(), offer)
		if got := r.Header.Get("Sec-WebSocket-Extensions"); !strings.HasPrefix(got, "permessage-deflate") {
			t.Fatalf("%q was agreed on", got)
		}
		p.write(masked(0xC1, deflated(connect12)))
		p.want(opText, "CONNECTED\n")
		p.write(masked(0xC1, deflated("SEND\ndestination:/topic/a\nreceipt:1\n\n\x00")))
		p.want(opText, "RECEIPT\n")

		bomb := deflated(strings.Repeat("\n", 8<<20))
		if len(bomb) > 16<<10 {
			t.Fatalf("the bomb has %d octets", len(bomb))
		}
		q, _ := openPeer(t, w.listener.dial(), offer)
		q.write(masked(0xC1, bomb))
		if e := q.want(opText, "ERROR\n"); !strings.Contains(e, "limits.login") {
			t.Errorf("the ERROR is %q", e)
		}
		q.wantClose(1008)
	})
}

func TestOnlyMessagesThatWereWhollyWrittenCountOverAWebSocket(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p, _ := openPeer(t, w.listener.dialRoom(1000), "")
		p.text("CONNECT\naccept-version:1.2\n\n\x00")
		p.want(opText, "CONNECTED\n")
		p.text("SUBSCRIBE\nid:1\ndestination:/topic/a\nreceipt:s\n\n\x00")
		p.want(opText, "RECEIPT\n")
		body := strings.Repeat("x", 400)
		sender := w.peer()
		sender.text(connect12)
		sender.want(opText, "CONNECTED\n")
		sender.text(strings.Repeat("SEND\ndestination:/topic/a\n\n"+body+"\x00", 20))
		<-time.After(40 * time.Second)
		synctest.Wait()
		if n := w.Stats().Closed[endWriteTimeout]; n != 1 {
			t.Fatalf("closed: %v", w.Stats().Closed)
		}
		got, _ := p.Conn.(*pipeConn).available()
		whole := strings.Count(string(got), body+"\x00")
		if _, written, _ := w.broker.snapshot(1); written != whole || whole == 0 {
			t.Errorf("%d messages are said to be written, and %d were", written, whole)
		}
	})
}

func TestAClientOfAWebSocketThatTakesALittleInEachTimeoutIsNotCut(t *testing.T) {
	inBubble(t, Options{}, overWebSocket, func(w *world) {
		p, _ := openPeer(t, w.listener.dialRoom(1000), "")
		p.text(connect12)
		p.want(opText, "CONNECTED\n")
		receipt := strings.Repeat("r", 600)
		for range 5 {
			p.text("SEND\ndestination:/topic/a\nreceipt:" + receipt + "\n\n\x00")
		}
		slow := &slowReader{p.Conn}
		p.in.Reset(slow)
		for range 5 {
			p.want(opText, "RECEIPT\nreceipt-id:"+receipt)
		}
	})
}

// slowReader reads a little now and then.
type slowReader struct{ net.Conn }

func (r *slowReader) Read(p []byte) (int, error) {
	<-time.After(25 * time.Second)
	return r.Conn.Read(p[:min(len(p), 100)])
}

func TestAnotherLibrarySpeaksToTheRealBroker(t *testing.T) {
	r := newReal(t, Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.ServeTransport(l, overWebSocket) }()
	defer func() { _ = r.Close(); <-served }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://"+l.Addr().String()+"/stomp", &websocket.DialOptions{Subprotocols: []string{"v11.stomp", "v12.stomp"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := ws.Subprotocol(); got != "v12.stomp" {
		t.Errorf("the subprotocol is %q", got)
	}
	ws.SetReadLimit(-1)
	c := greetedClient(t, websocket.NetConn(ctx, ws, websocket.MessageText), frames.V12)
	body := strings.Repeat("0123456789abcdef", 1<<16)
	c.send("SUBSCRIBE\nid:1\ndestination:/queue/a\nack:client\n\n\x00SEND\ndestination:/queue/a\n\n" + body + "\x00")
	m := c.want(frames.Message, "subscription", "1")
	if string(m.Body) != body {
		t.Errorf("%d octets came back", len(m.Body))
	}
	id, _ := m.Header.Get("ack")
	c.send("ACK\nid:" + id + "\nreceipt:a\n\n\x00DISCONNECT\nreceipt:d\n\n\x00")
	c.want(frames.Receipt, "receipt-id", "a")
	c.want(frames.Receipt, "receipt-id", "d")
	if _, err := c.read(); err != io.EOF {
		t.Errorf("after DISCONNECT came %v", err)
	}
}
