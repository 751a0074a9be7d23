package server

import (
	"strings"
	"testing"

	"footfall/broker"
	"footfall/frames"
	"footfall/frames/framestest"
	"footfall/schedule"
)

// FuzzSession has a session of any version read any octets: it must not panic, and gives each receipt that is asked for one
// answer, in order, up to the frame that ends it. What it hands over makes sense.
func FuzzSession(f *testing.F) {
	for _, s := range framestest.Samples() {
		if !s.Client && !s.First {
			f.Add(uint8(s.Version), []byte(s.Octets))
		}
	}
	f.Add(uint8(2), []byte("BEGIN\ntransaction:t\nreceipt:1\n\n\x00SEND\ndestination:a\ntransaction:t\nreceipt:2\n\nx\x00COMMIT\ntransaction:t\nreceipt:3\n\n\x00"))
	f.Add(uint8(1), []byte("SUBSCRIBE\nid:1\ndestination:/topic/a\nreceipt:1\n\n\x00UNSUBSCRIBE\nid:1\nreceipt:2\n\n\x00DISCONNECT\nreceipt:3\n\n\x00SEND\nreceipt:4\n\n\x00"))
	f.Add(uint8(0), []byte("SEND\ndestination:a\ndelay:5\nreceipt:1\npriority:99\n\nx\x00ACK\nmessage-id:1.1\nreceipt:2\n\n\x00NACK\nrecover:true\nreceipt:3\n\n\x00"))
	for _, headers := range timeSamples {
		f.Add(uint8(2), []byte("SEND\ndestination:a\n"+headers+"receipt:1\n\nx\x00"))
	}
	for _, headers := range managementSamples {
		f.Add(uint8(1), []byte("SEND\ndestination:/topic/ActiveMQ.Scheduler.Management\n"+headers+"receipt:1\n\nx\x00"))
	}
	f.Fuzz(func(t *testing.T, version uint8, octets []byte) {
		v := frames.Version(version % 3)
		asked := receiptsAsked(v, octets)
		s := newTestSession(v, Options{})
		var answered []string
		for _, op := range feedOctets(s, octets) {
			if op.WantReceipt {
				answered = append(answered, op.Receipt)
			}
			for _, send := range append(op.Sends, op) {
				if send.Kind == broker.OpSend {
					checkSend(t, &send)
				}
			}
			if op.Schedule != nil {
				checkCommand(t, &op)
			}
			if op.Kind == broker.OpFail && (op.Err.Message == "" || strings.ContainsAny(op.Err.Message, "\r\n")) {
				t.Errorf("an ERROR with message %q", op.Err.Message)
			}
		}
		if len(answered) > len(asked) || !s.ended && len(answered) < len(asked) {
			t.Fatalf("asked for %q and answered %q", asked, answered)
		}
		for i := range answered {
			if answered[i] != asked[i] {
				t.Fatalf("asked for %q and answered %q", asked, answered)
			}
		}
	})
}

var timeSamples = []string{
	"delay:2h30m\nscheduled-id:j\n", "deliver-at:2030-01-01T00\\c00\\c00Z\n", "deliver-schedule:0 0 0 * * * *\nschedule-zone:Asia/Kolkata\n",
	"AMQ_SCHEDULED_DELAY:5\nAMQ_SCHEDULED_PERIOD:50\nAMQ_SCHEDULED_REPEAT:-1\n", "AMQ_SCHEDULED_CRON:*/5 * * * 1-5\n",
	"AMQ_SCHEDULED_TIME:4000000000000\n_AMQ_SCHED_DELIVERY:4000000000000\nJMS_JBOSS_SCHEDULED_DELIVERY:4000000000000\n",
	"JMS_OracleDelay:5\nJMS_BEA_TimeToDeliver:5000\nJMSDeliveryDelay:5000\nx-delay:5000\n",
	"JMSXRcvTimestamp:4000000000000\nJMS_BEA_DeliveryTime:4000000000000\nJMSDeliveryTime:4000000000000\n",
	"destination:/queue/DELAYED_QUEUE\nJMS_DESTINATION:topic://b\nDELIVERY_TIME:4000000000000\n",
	"expires:4000000000000\nttl:5\nexpiration:6\nx-message-ttl:7\n", "delay:soon\n", "delay:5\nx-delay:6000\n",
}

var managementSamples = []string{
	"AMQ_SCHEDULER_ACTION:REMOVE\nscheduledJobId:a\n", "AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:5\nACTION_END_TIME:9223372036854775807\n",
	"AMQ_SCHEDULER_ACTION:BROWSE\nreply-to:queue://a\n", "AMQ_SCHEDULER_ACTION:STOP\n", "delay:5\n",
}

// checkSend demands that what is handed over of a SEND makes sense.
func checkSend(t *testing.T, op *broker.Op) {
	m := op.Message
	if op.To.Name == "" || m == nil {
		t.Fatalf("a SEND without address or message: %+v", op)
	}
	ways := 0
	for _, given := range []bool{m.Delay != 0, m.DeliverAt != 0, m.Plan != nil} {
		if given {
			ways++
		}
	}
	longest := schedule.MaxDelay.Milliseconds()
	if ways > 1 || m.Delay < 0 || m.Delay > longest || m.DeliverAt < 0 || m.DeliverAt > schedule.MaxInstant {
		t.Errorf("it is due in %d, at %d, by %+v", m.Delay, m.DeliverAt, m.Plan)
	}
	if m.Plan != nil && m.Plan.Kind != schedule.OnSchedule && m.Plan.Kind != schedule.Repeating {
		t.Errorf("a plan of kind %d", m.Plan.Kind)
	}
	if m.ChosenID != (m.ScheduledID != "") || len(m.ScheduledID) > schedule.MaxID {
		t.Errorf("it is scheduled as %q, chosen: %v", m.ScheduledID, m.ChosenID)
	}
	if m.Expires < 0 || m.Expires > schedule.MaxInstant || m.TTL < 0 || m.TTL > schedule.MaxInstant {
		t.Errorf("it expires at %d, in %d", m.Expires, m.TTL)
	}
	for name, _, pos := m.Header.Next(0); pos >= 0; name, _, pos = m.Header.Next(pos) {
		if h, ok := schedule.Lookup(name); ok && h.IsRequest() && h != schedule.HeaderDeliveryTime {
			t.Errorf("%v is passed on", h)
		}
	}
}

// checkCommand demands that a command to the schedule makes sense.
func checkCommand(t *testing.T, op *broker.Op) {
	c := op.Schedule
	switch op.Kind {
	case broker.OpCancel:
		if c.ID == "" {
			t.Error("nothing is named that is to be taken back")
		}
	case broker.OpBrowseSchedule, broker.OpCancelAll:
		if c.From < 0 || c.Until > schedule.MaxInstant || c.From > c.Until || (c.ReplyTo.Name != "") != (op.Kind == broker.OpBrowseSchedule) {
			t.Errorf("a command %d of %+v", op.Kind, c)
		}
	default:
		t.Errorf("an operation of kind %d with a command to the schedule", op.Kind)
	}
}

// feedOctets is feed for octets that may be anything.
func feedOctets(s *session, octets []byte) []broker.Op {
	r := frames.NewReader(strings.NewReader("CONNECT\n\n\x00"+string(octets)), frames.Limits{})
	var list []broker.Op
	var f frames.Frame
	for greeted := false; !s.ended; {
		ok, err := r.Next(&f)
		switch {
		case err != nil:
			s.fail(&f, err)
		case ok && !greeted:
			r.SetVersion(s.version)
			greeted = true
		case ok:
			s.handle(&f)
		case r.Fill() != nil:
			return append(list, ops(s)...)
		}
		if s.full() {
			list = append(list, ops(s)...)
		}
	}
	return append(list, ops(s)...)
}

// receiptsAsked returns the receipt headers of all frames, a bad one that ends them included.
func receiptsAsked(v frames.Version, octets []byte) (asked []string) {
	r := frames.NewReader(strings.NewReader("CONNECT\n\n\x00"+string(octets)), frames.Limits{})
	var f frames.Frame
	for greeted := false; ; {
		ok, err := r.Next(&f)
		if (ok || err != nil) && greeted {
			if raw, has := f.Header.GetRaw("receipt"); has {
				asked = append(asked, string(raw))
			}
		}
		if err != nil {
			return asked
		}
		if ok && !greeted {
			r.SetVersion(v)
			greeted = true
		}
		if !ok && r.Fill() != nil {
			return asked
		}
	}
}
