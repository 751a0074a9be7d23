package server

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFramesInBulkAreSubmittedInFewPieces(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.listener.dialRoom(1 << 20)
		const n = 1000
		w.say(c, connect12+strings.Repeat("SEND\ndestination:/queue/a\n\nx\x00", n), "CONNECTED\n")
		requests, _, _ := w.broker.snapshot(1)
		if requests > n/50 {
			t.Errorf("%d requests for %d frames", requests, n)
		}
		if got := w.Stats().FramesReceived["SEND"]; got != n {
			t.Errorf("%d SENDs were counted", got)
		}
	})
}

func TestALargeBodyArrivesWhole(t *testing.T) {
	body := strings.Repeat("0123456789abcdef\x00", 100_000)
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.listener.dialRoom(4 << 20)
		got := w.say(c, connect12+"SUBSCRIBE\nid:1\ndestination:/topic/a\n\n\x00SEND\ndestination:/topic/a\ncontent-length:1700000\n\n"+body+"\x00", "CONNECTED\n")
		_, message, _ := strings.Cut(got, "MESSAGE\n")
		if _, rest, _ := strings.Cut(message, "\n\n"); rest != body+"\x00\n" {
			t.Errorf("%d octets came back, of %d", len(rest), len(body)+2)
		}
		if _, written, _ := w.broker.snapshot(1); written != 1 {
			t.Errorf("%d messages are said to be written", written)
		}
	})
}

func TestASenderThatDoesNotReadItsReceiptsIsStoppedAndThenCut(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.session()
		frame := []byte("SEND\ndestination:/topic/a\nreceipt:" + strings.Repeat("r", 1000) + "\n\n\x00")
		sent := 0
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		for {
			if _, err := c.Write(frame); err != nil {
				break
			}
			sent += len(frame)
		}
		if sent < outboxBytes || sent > outboxBytes+1<<20 {
			t.Errorf("the sender was stopped after %d octets", sent)
		}
		<-time.After(36 * time.Second)
		synctest.Wait()
		if n := w.Stats().Closed[endWriteTimeout]; n != 1 || !c.peerClosed() {
			t.Errorf("closed: %v", w.Stats().Closed)
		}
		if _, _, detached := w.broker.snapshot(1); detached == 0 {
			t.Error("the session was not detached")
		}
	})
}

func TestAClientThatTakesALittleInEachTimeoutIsNotCut(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.listener.dialRoom(1000)
		w.say(c, connect12, "CONNECTED\n")
		receipt := strings.Repeat("r", 600)
		for range 5 {
			if _, err := c.Write([]byte("SEND\ndestination:/topic/a\nreceipt:" + receipt + "\n\n\x00")); err != nil {
				t.Fatal(err)
			}
		}
		var got strings.Builder
		for got.Len() < 5*len("RECEIPT\nreceipt-id:\n\n\x00\n")+5*len(receipt) {
			<-time.After(25 * time.Second)
			p := make([]byte, 100)
			n, err := c.Read(p)
			if err != nil {
				t.Fatalf("after %d octets: %v", got.Len(), err)
			}
			got.Write(p[:n])
		}
		if n := strings.Count(got.String(), "RECEIPT"); n != 5 {
			t.Errorf("%d receipts came", n)
		}
	})
}

func TestOnlyMessagesOfWhichAllOctetsWereTakenCountAsWritten(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		c := w.listener.dialRoom(2500)
		w.say(c, connect12+"SUBSCRIBE\nid:1\ndestination:/topic/a\n\n\x00", "CONNECTED\n")
		sender := w.session()
		body := strings.Repeat("x", 900)
		w.say(sender, strings.Repeat("SEND\ndestination:/topic/a\n\n"+body+"\x00", 5), "")
		<-time.After(36 * time.Second)
		synctest.Wait()
		if _, written, _ := w.broker.snapshot(1); written != 2 {
			t.Errorf("%d messages are said to be written, of 2500 octets", written)
		}
	})
}

func TestAClientThatIsCutForTakingNothingIsToldBetweenFrames(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		const frame = 500
		c := w.listener.dialRoom(2 * frame)
		w.say(c, connect12, "CONNECTED\n")
		id := strings.Repeat("r", frame-len("RECEIPT\nreceipt-id:\n\n\x00\n"))
		for i := range 3 {
			if _, err := c.Write([]byte("BEGIN\ntransaction:" + string(rune('a'+i)) + "\nreceipt:" + id + "\n\n\x00")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		<-time.After(30*time.Second + complaintTimeout/2)
		got, _ := c.available()
		<-time.After(complaintTimeout)
		more, _ := c.available()
		if _, last, _ := strings.Cut(string(got)+string(more), "ERROR\n"); !strings.Contains(last, "30s") {
			t.Errorf("the end is %.200q", more)
		}
	})
}

func TestAClientThatTakesNoHeartBeatsIsCut(t *testing.T) {
	inBubble(t, Options{}, Transport{}, func(w *world) {
		const room = 100
		c := w.listener.dialRoom(room)
		w.say(c, "CONNECT\naccept-version:1.2\nheart-beat:0,1000\n\n\x00", "CONNECTED\n")
		<-time.After(room*500*time.Millisecond + 30*time.Second)
		synctest.Wait()
		if c.peerClosed() {
			t.Fatal("it is cut too early")
		}
		<-time.After(time.Second)
		synctest.Wait()
		if got, _ := c.available(); !c.peerClosed() || string(got) != strings.Repeat("\n", room) {
			t.Errorf("closed: %v, it said %q", c.peerClosed(), got)
		}
		if n := w.Stats().Closed[endWriteTimeout]; n != 1 {
			t.Errorf("closed: %v", w.Stats().Closed)
		}
	})
}
