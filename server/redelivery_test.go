package server

import (
	"strings"
	"testing"
	"time"

	"footfall/broker"
	"footfall/frames"
)

func TestSubscribeSaysHowMessagesComeAgain(t *testing.T) {
	ms := func(n int) *time.Duration { return new(time.Duration(n) * time.Millisecond) }
	for headers, want := range map[string]*broker.Redelivery{
		"":                          nil,
		"redelivery-delay:\n":       nil,
		"redelivery-delay:1500\n":   {Delay: ms(1500)},
		"redelivery-delay:2m\n":     {Delay: ms(120_000)},
		"redelivery-delay:-5\n":     {Delay: ms(0)},
		"redelivery-limit:0\n":      {Limit: new(0)},
		"redelivery-limit:-1\n":     {Limit: new(-1)},
		"redelivery-limit:999999\n": {Limit: new(-1)},
		"redelivery-limit:2\nactivemq.maximumRedeliveries:3\n": {Limit: new(2)},
		"redelivery-limit:\nactivemq.maximumRedeliveries:3\n":  {Limit: new(3)},
		"redelivery-delay:7\nactivemq.redeliveryDelay:8\n":     {Delay: ms(7)},
		"activemq.redeliveryDelay:8\n":                         {Delay: ms(8)},
		"activemq.initialRedeliveryDelay:9\n":                  {Delay: ms(9), First: ms(9)},
		"activemq.initialRedeliveryDelay:200\nactivemq.redeliveryDelay:300\nactivemq.useExponentialBackOff:true\nactivemq.backOffMultiplier:2.5\nactivemq.maximumRedeliveryDelay:500\n": {
			Delay: ms(300), First: ms(200), BackOff: broker.BackOffExponential, Multiplier: 2.5, MaxDelay: ms(500),
		},
		"activemq.useExponentialBackOff:TRUE\n":                                {BackOff: broker.BackOffExponential, Multiplier: 5},
		"activemq.useExponentialBackOff:1\nactivemq.backOffMultiplier:0.5\n":   {BackOff: broker.BackOffExponential, Multiplier: 1},
		"activemq.useExponentialBackOff:1\nactivemq.backOffMultiplier:1e300\n": {BackOff: broker.BackOffExponential, Multiplier: broker.MaxMultiplier},
		"activemq.useExponentialBackOff:false\nactivemq.backOffMultiplier:3\n": nil,
		"activemq.maximumRedeliveryDelay:-1\n":                                 {MaxDelay: ms(0)},
	} {
		op := broker.SubscribeOp{ID: "1", Text: "a", From: broker.Address{Kind: broker.Queue, Name: "a"}, Redelivery: want}
		got := feed(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:1\ndestination:a\n"+headers+"\n^@")
		compare(t, got, []broker.Op{{Kind: broker.OpSubscribe, Subscribe: &op}})
	}
	op := broker.SubscribeOp{ID: "1", Text: "a", From: broker.Address{Kind: broker.Queue, Name: "a"}, AckTimeout: 30 * time.Second}
	compare(t, feed(t, newTestSession(frames.V12, Options{}), "SUBSCRIBE\nid:1\ndestination:a\nack-timeout:30s\n\n^@"), []broker.Op{{Kind: broker.OpSubscribe, Subscribe: &op}})
}

func TestNackSaysWhatBecomesOfTheMessage(t *testing.T) {
	long := strings.Repeat("r", 2*broker.MaxNackReason)
	for headers, want := range map[string]*broker.NackOp{
		"":                                     nil,
		"requeue:true\n":                       nil,
		"requeue:False\n":                      {Dead: true},
		"requeue:\n":                           nil,
		"dead-letter:true\n":                   {Dead: true},
		"dead-letter:0\n":                      nil,
		"delay:0\n":                            {HasDelay: true},
		"delay:300\n":                          {HasDelay: true, Delay: 300},
		"delay:PT5M\n":                         {HasDelay: true, Delay: 300_000},
		"reason:no\\csuch one\n":               {Reason: "no:such one"},
		"requeue:false\nreason:" + long + "\n": {Dead: true, Reason: long[:broker.MaxNackReason]},
	} {
		got := feed(t, newTestSession(frames.V12, Options{}), "NACK\nid:5-1-1\n"+headers+"\n^@")
		ack := broker.AckOp{SubNumber: 1, Number: 1, Text: "5-1-1"}
		compare(t, got, []broker.Op{{Kind: broker.OpNack, Ack: ack, Nack: want}})
	}
}

func TestRecoverAndAckMayHaveTimes(t *testing.T) {
	got := feed(t, newTestSession(frames.V12, Options{}),
		"RECOVER\nredelivery-delay:5\n\n^@NACK\nid:5-1-1\nrecover:true\nredelivery-delay:0\n\n^@ACK\nid:5-1-1\nextend:2m\n\n^@")
	compare(t, got, []broker.Op{
		{Kind: broker.OpRecover, Nack: &broker.NackOp{HasDelay: true, Delay: 5}},
		{Kind: broker.OpRecover, Nack: &broker.NackOp{HasDelay: true}},
		{Kind: broker.OpAck, Ack: broker.AckOp{SubNumber: 1, Number: 1, Text: "5-1-1", Extend: 120_000}},
	})
}

func TestTheSenderLimitsRedeliveries(t *testing.T) {
	for value, want := range map[string]int32{"0": 0, "3": 3, "-1": -1, "99999999999": -1} {
		got := feed(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:a\nredelivery-limit:"+value+"\nk:v\n\nx^@")
		m := got[0].Message
		if !m.HasRedeliveryLimit || m.RedeliveryLimit != want || string(m.Header.Raw) != "k:v\n" {
			t.Errorf("%s: %v %d %q", value, m.HasRedeliveryLimit, m.RedeliveryLimit, m.Header.Raw)
		}
	}
	if m := feed(t, newTestSession(frames.V12, Options{}), "SEND\ndestination:a\nredelivery-limit:\n\nx^@")[0].Message; m.HasRedeliveryLimit {
		t.Error("an empty limit counts")
	}
}

func TestWhatRedeliveryCannotBeIsRefused(t *testing.T) {
	for _, frame := range []string{
		"SEND\ndestination:a\nredelivery-limit:%s\n\n^@=-2",
		"SEND\ndestination:a\nredelivery-limit:%s\n\n^@=many",
		"SUBSCRIBE\nid:1\ndestination:a\nredelivery-limit:%s\n\n^@=1.5",
		"SUBSCRIBE\nid:1\ndestination:a\nactivemq.maximumRedeliveries:%s\n\n^@=x",
		"SUBSCRIBE\nid:1\ndestination:a\nredelivery-delay:%s\n\n^@=soon",
		"SUBSCRIBE\nid:1\ndestination:a\nactivemq.redeliveryDelay:%s\n\n^@=1s5",
		"SUBSCRIBE\nid:1\ndestination:a\nactivemq.initialRedeliveryDelay:%s\n\n^@=x",
		"SUBSCRIBE\nid:1\ndestination:a\nactivemq.maximumRedeliveryDelay:%s\n\n^@=99999999999999",
		"SUBSCRIBE\nid:1\ndestination:a\nactivemq.useExponentialBackOff:%s\n\n^@=maybe",
		"SUBSCRIBE\nid:1\ndestination:a\nactivemq.backOffMultiplier:%s\n\n^@=NaN",
		"SUBSCRIBE\nid:1\ndestination:a\nack-timeout:%s\n\n^@=long",
		"NACK\nid:5-1-1\ndelay:%s\n\n^@=later",
		"NACK\nid:5-1-1\nrequeue:%s\n\n^@=perhaps",
		"NACK\nid:5-1-1\ndead-letter:%s\n\n^@=2",
		"RECOVER\nredelivery-delay:%s\n\n^@=x",
		"ACK\nid:5-1-1\nextend:%s\n\n^@=0",
		"ACK\nid:5-1-1\nextend:%s\n\n^@=-5",
	} {
		text, value, _ := strings.Cut(frame, "=")
		header := text[:strings.Index(text, ":%s")]
		header = header[strings.LastIndexByte(header, '\n')+1:]
		refused(t, newTestSession(frames.V12, Options{}), strings.Replace(text, "%s", value, 1), header, value)
	}
	refused(t, newTestSession(frames.V12, Options{}), "NACK\nid:5-1-1\nrequeue:true\ndead-letter:true\n\n^@", "requeue", "dead-letter", "contradict")
	s := newTestSession(frames.V12, Options{})
	refused(t, s, "BEGIN\ntransaction:t\n\n^@ACK\nid:5-1-1\ntransaction:t\nextend:5\n\n^@", "extend", "transaction")
}
