package server

import (
	"fmt"
	"testing"
	"time"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
	"footfall/schedule"
)

const managementText = "/topic/ActiveMQ.Scheduler.Management"

func TestCommandsToTheSchedule(t *testing.T) {
	all := broker.ScheduleOp{Until: schedule.MaxInstant}
	replies := broker.Address{Kind: broker.Queue, Name: "replies"}
	hour, day := fromNoon(time.Hour), fromNoon(24*time.Hour)
	for _, row := range []struct {
		headers string
		kind    broker.OpKind
		want    broker.ScheduleOp
	}{
		{"AMQ_SCHEDULER_ACTION:REMOVE\nscheduledJobId:2.a\n", broker.OpCancel, broker.ScheduleOp{ID: "2.a"}},
		{"AMQ_SCHEDULER_ACTION:REMOVE\nscheduledJobId:ID\\cx 1\nscheduledJobId:other\n", broker.OpCancel, broker.ScheduleOp{ID: "ID:x 1"}},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\n", broker.OpCancelAll, all},
		{fmt.Sprintf("AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:%d\nACTION_END_TIME:%d\n", hour, day), broker.OpCancelAll, broker.ScheduleOp{From: hour, Until: day}},
		{fmt.Sprintf("AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_END_TIME: %d\n", day), broker.OpCancelAll, broker.ScheduleOp{Until: day}},
		{fmt.Sprintf("AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:%d\n", day), broker.OpCancelAll, broker.ScheduleOp{From: day, Until: schedule.MaxInstant}},
		{fmt.Sprintf("AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:%d\nACTION_END_TIME:%d\n", day, day), broker.OpCancelAll, broker.ScheduleOp{From: day, Until: day}},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:-9223372036854775808\nACTION_END_TIME:9223372036854775807\n", broker.OpCancelAll, all},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:-99999999999999999999\nACTION_END_TIME:99999999999999999999\n", broker.OpCancelAll, all},
		{"AMQ_SCHEDULER_ACTION:BROWSE\nreply-to:/queue/replies\n", broker.OpBrowseSchedule, broker.ScheduleOp{Until: schedule.MaxInstant, ReplyTo: replies}},
		{
			fmt.Sprintf("reply-to:queue\\c//replies\nACTION_END_TIME:%d\nACTION_START_TIME:%d\nAMQ_SCHEDULER_ACTION:BROWSE\nAMQ_SCHEDULER_ACTION:REMOVEALL\n", day, hour),
			broker.OpBrowseSchedule,
			broker.ScheduleOp{From: hour, Until: day, ReplyTo: replies},
		},
		// What JMS clients write by default delays nothing.
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\npersistent:true\npriority:4\nexpires:0\nJMSDeliveryTime:0\ntimestamp:1\n", broker.OpCancelAll, all},
	} {
		for _, to := range []string{managementText, "topic\\c//ActiveMQ.Scheduler.Management", "/topic/activemq.scheduler.management", "/queue/ActiveMQ.Scheduler.Management"} {
			s := newTestSession(frames.V12, Options{})
			got := feed(t, s, "SEND\ndestination:"+to+"\nreceipt:r\\c1\n"+row.headers+"\nbody^@")
			compare(t, got, []broker.Op{{Kind: row.kind, WantReceipt: true, Receipt: `r\c1`, Schedule: &row.want}})
		}
	}
}

func TestCommandsThatCannotBeMeantAreRefused(t *testing.T) {
	for _, row := range []struct {
		headers string
		words   []string
	}{
		{"AMQ_SCHEDULER_ACTION:EXPLODE\n", []string{"AMQ_SCHEDULER_ACTION", `"EXPLODE"`, "REMOVEALL"}},
		{"AMQ_SCHEDULER_ACTION:browse\nreply-to:a\n", []string{"AMQ_SCHEDULER_ACTION", `"browse"`}},
		{"AMQ_SCHEDULER_ACTION:\n", []string{"AMQ_SCHEDULER_ACTION", `""`}},
		{"AMQ_SCHEDULER_ACTION:BROWSE\n", []string{`"BROWSE"`, "reply-to"}},
		{"AMQ_SCHEDULER_ACTION:BROWSE\nreply-to:\n", []string{"reply-to", "empty"}},
		{"AMQ_SCHEDULER_ACTION:BROWSE\nreply-to:/nowhere/x\n", []string{"reply-to", `"/nowhere/x"`}},
		{"AMQ_SCHEDULER_ACTION:BROWSE\nreply-to:/topic/a.>\n", []string{"reply-to", "wildcard"}},
		{"AMQ_SCHEDULER_ACTION:BROWSE\nreply-to:/temp-queue/\n", []string{"reply-to", "/temp-queue/", "no name"}},
		{"AMQ_SCHEDULER_ACTION:BROWSE\nreply-to:secret\n", []string{"reply-to", `"secret"`, "may not send"}},
		{"AMQ_SCHEDULER_ACTION:REMOVE\n", []string{`"REMOVE"`, "scheduledJobId"}},
		{"AMQ_SCHEDULER_ACTION:REMOVE\nscheduledJobId:\n", []string{`"REMOVE"`, "scheduledJobId"}},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:soon\n", []string{"ACTION_START_TIME", `"soon"`}},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_END_TIME:\n", []string{"ACTION_END_TIME", `""`}},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:5\nACTION_END_TIME:4\n", []string{"ACTION_START_TIME 5", "ACTION_END_TIME 4"}},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\ndelay:5\n", []string{"AMQ_SCHEDULER_ACTION", "delay"}},
		{"AMQ_SCHEDULER_ACTION:REMOVEALL\ndelay:soon\n", []string{"delay", `"soon"`}},
	} {
		for _, v := range allVersions {
			s := newTestSession(v, Options{Auth: &ruledBy{fault: auth.ErrDenied}})
			refused(t, s, "SEND\ndestination:"+managementText+"\n"+row.headers+"\n^@", row.words...)
		}
	}
	refused(t, newTestSession(frames.V12, Options{}), "BEGIN\ntransaction:t\n\n^@SEND\ndestination:"+managementText+
		"\ntransaction:t\nAMQ_SCHEDULER_ACTION:REMOVEALL\n\n^@", "AMQ_SCHEDULER_ACTION", `"REMOVEALL"`, `transaction "t"`)
	refused(t, newTestSession(frames.V12, Options{NoScheduleManagement: true}), "SEND\ndestination:"+managementText+
		"\nAMQ_SCHEDULER_ACTION:REMOVEALL\n\n^@", "AMQ_SCHEDULER_ACTION", `"REMOVEALL"`, "schedule.management")
}

// mayNotManage lets all send and receive, and few manage.
type mayNotManage struct{ auth.Open }

func (mayNotManage) Authorize(id auth.Identity, a auth.Action, kind, name string) error {
	if a == auth.Manage && (kind != "topic" || name != "ActiveMQ.Scheduler.Management" || id.User != "boss") {
		return auth.ErrDenied
	}
	return nil
}

func TestOnlyThoseWhoMayManageCommandTheSchedule(t *testing.T) {
	const frame = "SEND\ndestination:" + managementText + "\nAMQ_SCHEDULER_ACTION:%s\nreply-to:a\nscheduledJobId:j\n\n^@"
	for _, action := range []string{"BROWSE", "REMOVE", "REMOVEALL"} {
		s := newTestSession(frames.V12, Options{Auth: mayNotManage{}})
		refused(t, s, fmt.Sprintf(frame, action), "may not manage", managementText)
		s = newTestSession(frames.V12, Options{Auth: mayNotManage{}})
		s.identity.User = "boss"
		if list := feed(t, s, fmt.Sprintf(frame, action)); s.ended || len(list) != 1 {
			t.Errorf("%s by one who may: %+v", action, list)
		}
	}
}

func TestWithoutACommandTheManagementTopicIsATopicAndElsewhereACommandIsAHeader(t *testing.T) {
	s := newTestSession(frames.V12, Options{Auth: mayNotManage{}})
	list := feed(t, s, "SEND\ndestination:"+managementText+"\nACTION_END_TIME:x\ndelay:5\n\n^@SUBSCRIBE\nid:1\ndestination:"+managementText+
		"\n\n^@SEND\ndestination:/queue/a\nAMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:5\n\n^@")
	if len(list) != 3 || list[0].Kind != broker.OpSend || list[1].Kind != broker.OpSubscribe || list[2].Kind != broker.OpSend {
		t.Fatalf("%+v", list)
	}
	if m := list[0].Message; list[0].To.Name != managementName || m.Delay != 5 || string(m.Header.Raw) != "ACTION_END_TIME:x\n" {
		t.Errorf("%+v", m)
	}
	if m := list[2].Message; string(m.Header.Raw) != "AMQ_SCHEDULER_ACTION:REMOVEALL\nACTION_START_TIME:5\n" {
		t.Errorf("%+v", m)
	}
}
