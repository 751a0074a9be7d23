package server

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
	"footfall/schedule"
)

var allVersions = []frames.Version{frames.V10, frames.V11, frames.V12}

// from noon on, in milliseconds since the epoch.
func fromNoon(d time.Duration) int64 { return noon.Add(d).UnixMilli() }

func fromNoonText(d time.Duration) string { return strconv.FormatInt(fromNoon(d), 10) }

// header writes a header line by the rules of a version.
func header(v frames.Version, name, value string) string {
	return string(frames.AppendHeader(nil, v, name, value))
}

// sent returns the message of a SEND to a queue with these headers, names and values in turn.
func sent(t *testing.T, v frames.Version, headers ...string) *broker.Message {
	t.Helper()
	s := newTestSession(v, Options{})
	block := ""
	for i := 0; i < len(headers); i += 2 {
		block += header(v, headers[i], headers[i+1])
	}
	list := feed(t, s, "SEND\ndestination:/queue/a\nk:v\n"+block+"j:w\n\nx^@")
	if len(list) != 1 || list[0].Kind != broker.OpSend {
		t.Errorf("%v: %q gives %+v", v, headers, list)
		return &broker.Message{}
	}
	return list[0].Message
}

func TestOneTableOfHeadersSaysWhatTheyMean(t *testing.T) {
	for _, h := range schedule.Headers() {
		if c := classify([]byte(h.String())); c != timeHeader {
			t.Errorf("%v is of class %d", h, c)
		}
	}
}

// dialectRows ask for a delivery in a minute, or another time that is told, by each header.
var dialectRows = []struct {
	headers   []string
	delay, at int64
}{
	{[]string{"delay", "60000"}, 60000, 0},
	{[]string{"delay", "1m"}, 60000, 0},
	{[]string{"delay", "PT1M"}, 60000, 0},
	{[]string{"delay", "0.0001s"}, 1, 0},
	{[]string{"deliver-at", fromNoonText(time.Minute)}, 0, fromNoon(time.Minute)},
	{[]string{"deliver-at", "2026-12-01T13:01:00+01:00"}, 0, fromNoon(time.Minute)},
	{[]string{"AMQ_SCHEDULED_DELAY", "60000"}, 60000, 0},
	{[]string{"AMQ_SCHEDULED_DELAY", "60000", "AMQ_SCHEDULED_PERIOD", "5", "AMQ_SCHEDULED_REPEAT", "0"}, 60000, 0},
	{[]string{"AMQ_SCHEDULED_TIME", fromNoonText(time.Minute)}, 0, fromNoon(time.Minute)},
	{[]string{"_AMQ_SCHED_DELIVERY", fromNoonText(time.Minute)}, 0, fromNoon(time.Minute)},
	{[]string{"JMS_JBOSS_SCHEDULED_DELIVERY", fromNoonText(time.Minute)}, 0, fromNoon(time.Minute)},
	{[]string{"JMS_OracleDelay", "60"}, 60000, 0},
	{[]string{"JMSXRcvTimestamp", fromNoonText(time.Minute)}, 0, fromNoon(time.Minute)},
	{[]string{"JMS_BEA_TimeToDeliver", "60000"}, 60000, 0},
	{[]string{"JMS_BEA_DeliveryTime", fromNoonText(time.Minute)}, 0, fromNoon(time.Minute)},
	{[]string{"JMSDeliveryTime", fromNoonText(time.Minute)}, 0, fromNoon(time.Minute)},
	{[]string{"JMSDeliveryDelay", "60000"}, 60000, 0},
	{[]string{"x-delay", "60000"}, 60000, 0},
	{[]string{"x-delay", "4294968296"}, 4294968296, 0},
	// Several that agree; the first of the table counts, wherever it stands.
	{[]string{"x-delay", "60000", "AMQ_SCHEDULED_DELAY", "60000", "delay", "1m"}, 60000, 0},
	{[]string{"deliver-at", fromNoonText(time.Minute + time.Second), "delay", "60000"}, 60000, 0},
	// STOMP 1.2 Repeated Header Entries: the first counts.
	{[]string{"delay", "60000", "delay", "soon"}, 60000, 0},
	// At once.
	{[]string{"delay", "0"}, 0, 0},
	{[]string{"delay", "-1"}, 0, 0},
	{[]string{"deliver-at", "1"}, 0, 0},
	{[]string{"AMQ_SCHEDULED_DELAY", ""}, 0, 0},
	{[]string{"AMQ_SCHEDULED_PERIOD", "0"}, 0, 0},
	{[]string{"JMSDeliveryTime", "0"}, 0, 0},
	{[]string{"JMS_OracleDelay", "-5"}, 0, 0},
	{[]string{"schedule-zone", "Mars/Phobos"}, 0, 0},
}

func TestEveryDialectOfDelaySaysWhenAndIsNotPassedOn(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range dialectRows {
		for _, v := range allVersions {
			m := sent(t, v, row.headers...)
			if m.Delay != row.delay || m.DeliverAt != row.at || m.Plan != nil || m.ScheduledID != "" {
				t.Errorf("%v: %q: %+v", v, row.headers, m)
			}
			if got := string(m.Header.Raw); got != "k:v\nj:w\n" {
				t.Errorf("%v: %q is passed on as %q", v, row.headers, got)
			}
		}
		for i := 0; i < len(row.headers); i += 2 {
			seen[row.headers[i]] = true
		}
	}
	for _, row := range planRows {
		for i := 0; i < len(row.headers); i += 2 {
			seen[row.headers[i]] = true
		}
	}
	for _, h := range schedule.Headers() {
		if h.IsRequest() && h != schedule.HeaderDeliveryTime && h != schedule.HeaderScheduledID && !seen[h.String()] {
			t.Errorf("no row has %v", h)
		}
	}
}

var planRows = []struct {
	headers []string
	kind    schedule.PlanKind
	first   time.Duration
}{
	{[]string{"deliver-schedule", "0 0 0 * * * *"}, schedule.OnSchedule, time.Hour},
	{[]string{"deliver-schedule", "0 0 0 0 * * *", "schedule-zone", "Europe/Berlin"}, schedule.OnSchedule, 11 * time.Hour},
	{[]string{"AMQ_SCHEDULED_DELAY", "300", "AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", "3"}, schedule.Repeating, 300 * time.Millisecond},
	{[]string{"AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", "-1"}, schedule.Repeating, 200 * time.Millisecond},
	{[]string{"AMQ_SCHEDULED_CRON", "*/20 * * * *"}, schedule.Repeating, 20 * time.Minute},
}

func TestSchedulesAndRepeatsAreHandedOverAsPlans(t *testing.T) {
	for _, row := range planRows {
		for _, v := range allVersions {
			m := sent(t, v, row.headers...)
			if m.Plan == nil || m.Plan.Kind != row.kind || m.Delay != 0 || m.DeliverAt != 0 || string(m.Header.Raw) != "k:v\nj:w\n" {
				t.Errorf("%v: %q: %+v", v, row.headers, m)
				continue
			}
			if due, ok := m.Plan.Due(noon); !ok || due != fromNoon(row.first) {
				t.Errorf("%v: %q is due at %d", v, row.headers, due)
			}
		}
	}
}

func TestAChosenIDCountsForAMessageOfAnyTime(t *testing.T) {
	for _, row := range []struct {
		headers []string
		id      string
	}{
		{[]string{"delay", "5", "scheduled-id", "j:1"}, "j:1"},
		{[]string{"deliver-schedule", "0 0 0 * * * *", "scheduled-id", "j"}, "j"},
		{[]string{"scheduled-id", "j"}, "j"},
		{[]string{"delay", "-5", "scheduled-id", "j"}, "j"},
		{[]string{"delay", "5", "scheduled-id", ""}, ""},
		{[]string{"delay", "5", "scheduled-id", strings.Repeat("x", schedule.MaxID)}, strings.Repeat("x", schedule.MaxID)},
	} {
		m := sent(t, frames.V12, row.headers...)
		if m.ScheduledID != row.id || m.ChosenID != (row.id != "") || string(m.Header.Raw) != "k:v\nj:w\n" {
			t.Errorf("%q: %+v", row.headers, m)
		}
		if m.Plan != nil && m.Plan.ID != row.id {
			t.Errorf("%q: the plan is of %q", row.headers, m.Plan.ID)
		}
	}
}

func TestLifetimesAreReadAndPassedOnAsTheyWereSent(t *testing.T) {
	soon := fromNoonText(time.Minute)
	for _, row := range []struct {
		headers      []string
		expires, ttl int64
	}{
		{[]string{"expires", soon}, fromNoon(time.Minute), 0},
		{[]string{"expires", "1"}, 1, 0},
		{[]string{"ttl", "200"}, 0, 200},
		{[]string{"expiration", "200"}, 0, 200},
		{[]string{"x-message-ttl", "200"}, 0, 200},
		{[]string{"ttl", "300", "expiration", "200", "expires", soon}, fromNoon(time.Minute), 200},
		{[]string{"ttl", "300", "ttl", "200"}, 0, 300},
		// Never.
		{[]string{"expires", "0", "ttl", "0", "expiration", "-1"}, 0, 0},
		{[]string{"expires", "9223372036854775807"}, 0, 0},
	} {
		for _, v := range allVersions {
			passedOn := "k:v\n"
			for i := 0; i < len(row.headers); i += 2 {
				passedOn += header(v, row.headers[i], row.headers[i+1])
			}
			m := sent(t, v, row.headers...)
			if m.Expires != row.expires || m.TTL != row.ttl || m.Delay != 0 || m.DeliverAt != 0 {
				t.Errorf("%v: %q: %+v", v, row.headers, m)
			}
			if got := string(m.Header.Raw); got != passedOn+"j:w\n" {
				t.Errorf("%v: %q is passed on as %q", v, row.headers, got)
			}
		}
	}
	m := sent(t, frames.V12, "delay", "600", "ttl", "300")
	if m.Delay != 600 || m.TTL != 300 || string(m.Header.Raw) != "k:v\nttl:300\nj:w\n" {
		t.Errorf("a delay and a shorter life: %+v", m)
	}
}

func TestTimesThatCannotBeKeptAreRefusedByHeaderAndValue(t *testing.T) {
	const unlike = "contradict each other"
	minute := fromNoonText(time.Minute)
	for _, row := range []struct {
		headers []string
		words   []string
	}{
		{[]string{"delay", "soon"}, []string{`delay "soon" at position 1`}},
		{[]string{"delay", ""}, []string{`delay ""`}},
		{[]string{"deliver-at", "never"}, []string{`deliver-at "never"`}},
		{[]string{"deliver-at", "2026-13-01T00:00:00Z"}, []string{"deliver-at", "2026-13-01", "month"}},
		{[]string{"deliver-schedule", "0 60 0 0 * * *"}, []string{"deliver-schedule", `"0 60 0 0 * * *"`, "second"}},
		{[]string{"deliver-schedule", "0 0 0 0 * * *", "schedule-zone", "Mars/Phobos"}, []string{"schedule-zone", "Mars/Phobos"}},
		{[]string{"AMQ_SCHEDULED_DELAY", "x"}, []string{`AMQ_SCHEDULED_DELAY "x"`}},
		{[]string{"AMQ_SCHEDULED_PERIOD", "1s"}, []string{`AMQ_SCHEDULED_PERIOD "1s"`}},
		{[]string{"AMQ_SCHEDULED_PERIOD", "1", "AMQ_SCHEDULED_REPEAT", "1"}, []string{`AMQ_SCHEDULED_PERIOD "1"`, "10 ms"}},
		{[]string{"AMQ_SCHEDULED_PERIOD", "100", "AMQ_SCHEDULED_REPEAT", "1001"}, []string{`AMQ_SCHEDULED_REPEAT "1001"`, "1000"}},
		{[]string{"AMQ_SCHEDULED_DELAY", "5", "AMQ_SCHEDULED_REPEAT", "1"}, []string{`AMQ_SCHEDULED_REPEAT "1"`, "AMQ_SCHEDULED_PERIOD"}},
		{[]string{"AMQ_SCHEDULED_CRON", "0 0 30 2 *"}, []string{"AMQ_SCHEDULED_CRON", "0 0 30 2 *"}},
		{[]string{"AMQ_SCHEDULED_TIME", "1e400"}, []string{`AMQ_SCHEDULED_TIME "1e400"`}},
		{[]string{"_AMQ_SCHED_DELIVERY", "x"}, []string{`_AMQ_SCHED_DELIVERY "x"`}},
		{[]string{"JMS_JBOSS_SCHEDULED_DELIVERY", "x"}, []string{`JMS_JBOSS_SCHEDULED_DELIVERY "x"`}},
		{[]string{"JMS_OracleDelay", "one"}, []string{`JMS_OracleDelay "one"`}},
		{[]string{"JMSXRcvTimestamp", "x"}, []string{`JMSXRcvTimestamp "x"`}},
		{[]string{"JMS_BEA_TimeToDeliver", "--1"}, []string{`JMS_BEA_TimeToDeliver "--1"`}},
		{[]string{"JMS_BEA_DeliveryTime", "x"}, []string{`JMS_BEA_DeliveryTime "x"`}},
		{[]string{"JMSDeliveryTime", "99999999999999999999999"}, []string{"JMSDeliveryTime", "99999999999999999999999"}},
		{[]string{"JMSDeliveryDelay", "x"}, []string{`JMSDeliveryDelay "x"`}},
		{[]string{"x-delay", "soon"}, []string{`x-delay "soon"`}},
		{[]string{"delay", "5", "scheduled-id", strings.Repeat("x", schedule.MaxID+1)}, []string{"scheduled-id", "256"}},
		{[]string{"expires", "tomorrow"}, []string{`expires "tomorrow"`}},
		{[]string{"ttl", "soon"}, []string{`ttl "soon"`}},
		{[]string{"expiration", "1s5"}, []string{`expiration "1s5"`}},
		{[]string{"x-message-ttl", "x"}, []string{`x-message-ttl "x"`}},
		// Each header is read, also where another one counts.
		{[]string{"delay", "5", "x-delay", "soon"}, []string{`x-delay "soon"`}},
		{[]string{"delay", "1000", "x-delay", "9000"}, []string{`delay "1000"`, `x-delay "9000"`, unlike}},
		{[]string{"JMSDeliveryTime", fromNoonText(time.Hour), "AMQ_SCHEDULED_DELAY", "60000"}, []string{"AMQ_SCHEDULED_DELAY", "JMSDeliveryTime", unlike}},
		{[]string{"deliver-at", minute, "JMSDeliveryTime", fromNoonText(2 * time.Minute)}, []string{"deliver-at", minute, "JMSDeliveryTime", unlike}},
		{[]string{"delay", "200", "AMQ_SCHEDULED_PERIOD", "200", "AMQ_SCHEDULED_REPEAT", "3"}, []string{"delay", "AMQ_SCHEDULED_REPEAT", unlike}},
	} {
		for _, v := range allVersions {
			block := ""
			for i := 0; i < len(row.headers); i += 2 {
				block += header(v, row.headers[i], row.headers[i+1])
			}
			refused(t, newTestSession(v, Options{}), "SEND\ndestination:a\n"+block+"\n^@", append(row.words, "SEND with ")...)
			// In a transaction it is refused as soon.
			refused(t, newTestSession(v, Options{}), "BEGIN\ntransaction:t\n\n^@SEND\ndestination:a\ntransaction:t\n"+block+"\n^@", row.words...)
		}
	}
}

func TestOptionsBoundSchedules(t *testing.T) {
	const repeats = "SEND\ndestination:a\nAMQ_SCHEDULED_PERIOD:50\nAMQ_SCHEDULED_REPEAT:5\n\n^@"
	const twoTimes = "SEND\ndestination:a\ndelay:60000\ndeliver-at:%s\n\n^@"
	for _, o := range []schedule.Options{{MaxRepeats: 5}, {MinPeriod: 50 * time.Millisecond}, {}} {
		if s := newTestSession(frames.V12, Options{Schedule: o}); feed(t, s, repeats)[0].Kind != broker.OpSend {
			t.Errorf("%+v refuses it", o)
		}
	}
	refused(t, newTestSession(frames.V12, Options{Schedule: schedule.Options{MaxRepeats: 4}}), repeats, "AMQ_SCHEDULED_REPEAT", "4")
	refused(t, newTestSession(frames.V12, Options{Schedule: schedule.Options{MinPeriod: time.Second}}), repeats, "AMQ_SCHEDULED_PERIOD", "1000 ms")
	refused(t, newTestSession(frames.V12, Options{Schedule: schedule.Options{Skew: time.Millisecond}}),
		fmt.Sprintf(twoTimes, fromNoonText(61*time.Second)), "contradict", "deliver-at")
	s := newTestSession(frames.V12, Options{Schedule: schedule.Options{Zone: "Asia/Kolkata"}})
	m := feed(t, s, "SEND\ndestination:a\ndeliver-schedule:0 0 0 18 * * *\n\n^@")[0].Message
	if due, _ := m.Plan.Due(noon); due != fromNoon(30*time.Minute) {
		t.Errorf("a schedule of Kolkata is due at %v", time.UnixMilli(due).UTC())
	}
}

func TestAWrongZoneInTheOptionsIsNoSendersFault(t *testing.T) {
	s := newTestSession(frames.V12, Options{Schedule: schedule.Options{Zone: "Mars/Phobos"}})
	list := feed(t, s, "SEND\ndestination:a\ndeliver-schedule:0 0 0 18 * * *\n\n^@")
	if e := list[0].Err; e == nil || e.Kind != kindInternal {
		t.Errorf("%+v", list)
	}
}

func TestInATransactionADelayCountsFromCommit(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	list := feed(t, s, "BEGIN\ntransaction:t\n\n^@SEND\ndestination:a\ntransaction:t\ndelay:500\n\n^@"+
		"SEND\ndestination:a\ntransaction:t\ndeliver-schedule:0 0 0 * * * *\n\n^@COMMIT\ntransaction:t\n\n^@")
	if len(list) != 1 || list[0].Kind != broker.OpCommit || len(list[0].Sends) != 2 {
		t.Fatalf("%+v", list)
	}
	first, second := list[0].Sends[0].Message, list[0].Sends[1].Message
	if first.Delay != 500 || first.DeliverAt != 0 {
		t.Errorf("the delay is not left to the broker: %+v", first)
	}
	commit := noon.Add(90 * time.Minute)
	if due, _ := second.Plan.Due(commit); due != fromNoon(2*time.Hour) {
		t.Errorf("at %v the schedule is due at %v", commit, time.UnixMilli(due).UTC())
	}
}

func TestASendThatNamesNoTimeDoesNotAskTheClock(t *testing.T) {
	s := newTestSession(frames.V12, Options{})
	asked := 0
	s.clock = func() time.Time { asked++; return noon }
	feed(t, s, "SEND\ndestination:a\nDELIVERY:5\npriority:4\n\n^@SEND\ndestination:/queue/DELAYED_QUEUE\n\n^@SUBSCRIBE\nid:1\ndestination:a\n\n^@")
	if asked != 0 {
		t.Errorf("the clock was asked %d times", asked)
	}
	if feed(t, s, "SEND\ndestination:a\ndelay:5\n\n^@"); asked != 1 {
		t.Errorf("for a delay the clock was asked %d times", asked)
	}
}

func TestADelayQueueForwards(t *testing.T) {
	due := fromNoonText(time.Minute)
	for _, row := range []struct {
		to   string
		want broker.Address
	}{
		{"/queue/b", broker.Address{Kind: broker.Queue, Name: "b"}},
		{"b", broker.Address{Kind: broker.Queue, Name: "b"}},
		{"queue://b", broker.Address{Kind: broker.Queue, Name: "b"}},
		{"/topic/b", broker.Address{Kind: broker.Topic, Name: "b"}},
		{"topic://b", broker.Address{Kind: broker.Topic, Name: "b"}},
		{"jms.topic.b", broker.Address{Kind: broker.Topic, Name: "b"}},
		{"/queue/DELAYED_QUEUE", broker.Address{Kind: broker.Queue, Name: "DELAYED_QUEUE"}},
	} {
		for _, v := range allVersions {
			s := newTestSession(v, Options{})
			frame := "SEND\nk:v\nDELIVERY_TIME:" + due + "\ndestination:%s\n" + header(v, "JMS_DESTINATION", row.to) + "JMS_DESTINATION:again\nj:w\n\nbody^@"
			for _, queue := range []string{"/queue/DELAYED_QUEUE", "DELAYED_QUEUE", "queue://DELAYED_QUEUE"} {
				list := feed(t, s, fmt.Sprintf(frame, queue))
				if len(list) != 1 || list[0].Kind != broker.OpSend || list[0].To != row.want {
					t.Errorf("%v: to %q by %s: %+v", v, row.to, queue, list)
					continue
				}
				m := list[0].Message
				if m.DeliverAt != fromNoon(time.Minute) || m.Destination != row.to || string(m.Header.Raw) != "k:v\nj:w\n" || string(m.Body) != "body" {
					t.Errorf("%v: to %q: %+v", v, row.to, m)
				}
			}
		}
	}
}

func TestWhatADelayQueueCannotForwardIsRefused(t *testing.T) {
	const frame = "SEND\ndestination:/queue/DELAYED_QUEUE\n%s\n^@"
	due := "DELIVERY_TIME:" + fromNoonText(time.Minute) + "\n"
	for _, row := range []struct {
		headers string
		words   []string
	}{
		{due, []string{"DELAYED_QUEUE", "without JMS_DESTINATION"}},
		{"JMS_DESTINATION:a\n", []string{"DELAYED_QUEUE", "without DELIVERY_TIME"}},
		{due + "JMS_DESTINATION:\n", []string{"JMS_DESTINATION", "empty"}},
		{due + "JMS_DESTINATION:/nowhere/x\n", []string{"JMS_DESTINATION", `"/nowhere/x"`}},
		{due + "JMS_DESTINATION:/topic/a.*\n", []string{"JMS_DESTINATION", `"/topic/a.*"`, "wildcard"}},
		{due + "JMS_DESTINATION:secret\n", []string{"JMS_DESTINATION", `"secret"`, "may not send"}},
		{"JMS_DESTINATION:a\nDELIVERY_TIME:soon\n", []string{"DELIVERY_TIME", `"soon"`}},
		{due + "JMS_DESTINATION:a\ndelay:5\n", []string{"DELIVERY_TIME", "delay", "contradict"}},
	} {
		refused(t, newTestSession(frames.V12, Options{Auth: &ruledBy{fault: auth.ErrDenied}}), fmt.Sprintf(frame, row.headers), row.words...)
	}
}

func TestElsewhereTheHeadersOfADelayQueueAreOrdinaryOnes(t *testing.T) {
	for _, row := range []struct {
		o    Options
		text string
		kept string
	}{
		{Options{}, "destination:/queue/DELAYED_QUEUE\nk:v\n", "k:v\n"},
		{Options{}, "destination:/topic/DELAYED_QUEUE\nJMS_DESTINATION:a\nDELIVERY_TIME:soon\n", "JMS_DESTINATION:a\nDELIVERY_TIME:soon\n"},
		{Options{}, "destination:a\nJMS_DESTINATION:b\nDELIVERY_TIME:4000000000000\nDELIVERY_TIME:2\n", "JMS_DESTINATION:b\nDELIVERY_TIME:4000000000000\nDELIVERY_TIME:2\n"},
		{Options{DelayQueues: []string{}}, "destination:/queue/DELAYED_QUEUE\nJMS_DESTINATION:b\nDELIVERY_TIME:soon\n", "JMS_DESTINATION:b\nDELIVERY_TIME:soon\n"},
		{Options{DelayQueues: []string{"later"}}, "destination:/queue/DELAYED_QUEUE\nJMS_DESTINATION:b\n", "JMS_DESTINATION:b\n"},
	} {
		list := feed(t, newTestSession(frames.V12, row.o), "SEND\n"+row.text+"\n^@")
		if m := list[0].Message; m == nil || m.DeliverAt != 0 || string(m.Header.Raw) != row.kept || list[0].To.Name == "b" {
			t.Errorf("%q: %+v", row.text, list)
		}
	}
	s := newTestSession(frames.V12, Options{DelayQueues: []string{"later", "soon"}})
	list := feed(t, s, "SEND\ndestination:soon\nJMS_DESTINATION:b\nDELIVERY_TIME:1\n\n^@")
	if m := list[0].Message; m == nil || m.DeliverAt != 0 || list[0].To.Name != "b" {
		t.Errorf("a time that is past: %+v", list)
	}
}
