package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestALineForEachClassAndSecond(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	var l logLines
	begin := time.Unix(1_700_000_000, 0)
	for _, step := range []struct {
		at    time.Duration
		class string
		lines string
	}{
		{0, "a", "msg=a n=1\n"},
		{0, "a", ""},
		{0, "b", "msg=b n=1\n"},
		{999 * time.Millisecond, "a", ""},
		{time.Second, "a", "msg=a n=1 left_out=2\n"},
		{1500 * time.Millisecond, "b", "msg=b n=1\n"},
		{1500 * time.Millisecond, "a", ""},
		{-time.Hour, "a", "msg=a n=1 left_out=1\n"}, // the clock was set back
		{10 * time.Second, "a", "msg=a n=1\n"},
	} {
		out.Reset()
		l.line(step.class, begin.Add(step.at), log.Info, step.class, "n", 1)
		if out.String() != step.lines {
			t.Errorf("%s at %v: %q, want %q", step.class, step.at, out.String(), step.lines)
		}
	}
	if n := l.leftOut.Load(); n != 3 {
		t.Errorf("%d lines were left out", n)
	}
}

func TestErrorsOfManyConnectionsAreFewLines(t *testing.T) {
	var out syncBuilder
	inBubble(t, Options{Log: slog.New(slog.NewTextHandler(&out, nil))}, Transport{}, func(w *world) {
		for range 20 {
			c := w.session()
			w.say(c, "NONSENSE\n\n\x00", "ERROR\n")
			_ = c.Close()
			synctest.Wait()
		}
		if n := w.Stats().LogLinesLeftOut; n != 19 || w.Stats().Closed[endError] != 20 {
			t.Errorf("%d lines were left out, closed: %v", n, w.Stats().Closed)
		}
	})
	if n := strings.Count(out.String(), "connection closed"); n != 1 {
		t.Errorf("the log has %d lines:\n%s", n, out.String())
	}
}
