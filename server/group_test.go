package server

import (
	"strings"
	"testing"

	"footfall/broker"
	"footfall/frames"
)

func TestMessageGroupsAreReadAndPassedOn(t *testing.T) {
	for headers, want := range map[string]struct {
		group string
		end   bool
	}{
		"JMSXGroupID:g\nJMSXGroupSeq:1\n":          {"g", false},
		"message_group:g\n":                        {"g", false},
		"JMSXGroupID:a\\cb\nJMSXGroupSeq:-1\n":     {"a:b", true},
		"message_group:first\nJMSXGroupID:later\n": {"first", false},
		"JMSXGroupID:g\nJMSXGroupSeq:x\n":          {"g", false},
		"JMSXGroupID:\nJMSXGroupSeq:-1\n":          {"", false},
	} {
		got := feed(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:/queue/a\n"+headers+"\n^@")
		m := got[0].Message
		if m == nil || m.Group != want.group || m.GroupEnd != want.end || string(m.Header.Raw) != headers {
			t.Errorf("%q: %+v, not %+v", headers, m, want)
		}
	}
	refused(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:a\nJMSXGroupID:"+strings.Repeat("g", 1025)+"\n\n^@", "JMSXGroupID", "1025")
}

func TestOnlyTheBrokerSaysWhoseGroupItIs(t *testing.T) {
	got := feed(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:a\nJMSXGroupFirstForConsumer:true\n\n^@")
	m := got[0].Message
	if len(m.Header.Raw) != 0 {
		t.Errorf("passed on: %q", m.Header.Raw)
	}
	r := newRendering(frames.V11, 5, []byte("a"), []byte("s"), broker.AckAuto)
	m.HasTimestamp = true
	if text := string(r.appendMessage(nil, frames.V11, &broker.Output{Message: m, GroupFirst: true})); !strings.Contains(text, "\nJMSXGroupFirstForConsumer:true\n") {
		t.Errorf("rendered as %q", text)
	}
}

func TestRetainSaysWhatATopicKeeps(t *testing.T) {
	for headers, want := range map[string]broker.Retain{
		"": broker.RetainNone, "retain:\n": broker.RetainNone, "retain:set\n": broker.RetainSet, "retain:remove\n": broker.RetainRemove,
	} {
		m := feed(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:/topic/a\n"+headers+"\n^@")[0].Message
		if m.Retain != want || len(m.Header.Raw) != 0 {
			t.Errorf("%q: %v, passed on %q", headers, m.Retain, m.Header.Raw)
		}
	}
	refused(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:/topic/a\nretain:yes\n\n^@", "retain", `"yes"`)
}
