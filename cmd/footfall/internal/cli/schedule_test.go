package cli_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"footfall/cmd/footfall/internal/cli"
)

// scheduleEnv lets the commands find both sides of the broker.
func (s *serving) scheduleEnv() []string { return append(s.env(), "FOOTFALL_ADMIN="+s.admin) }

// sendNamed schedules a message for a time that does not come.
func sendNamed(t *testing.T, s *serving, to, body, id string, more ...string) {
	t.Helper()
	args := append([]string{"send", to, body, "--deliver-at", "2100-06-01T12:00:00Z", "--header", "scheduled-id=" + id}, more...)
	run(t, "", s.env(), args...).expect(t, 0, "scheduled as ")
}

func TestTheScheduleIsListedShownAndChanged(t *testing.T) {
	s := serve(t, t.TempDir())
	env := s.scheduleEnv()
	sendNamed(t, s, "/queue/a", "hello\x1b[2J", "evil\u202eid", "--header", "colour=re\x1bd")
	sendNamed(t, s, "/topic/b", "hello", "other")
	got := run(t, "", env, "schedule", "list").expect(t, 0, "DELIVER AT").stdout
	for _, want := range []string{`2100-06-01T12:00:00\.000Z  evil\\u202eid  /queue/a +9`, `2100-06-01T12:00:00\.000Z  other +/topic/b +5`} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("expected %s in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("control characters reach the terminal: %q", got)
	}
	run(t, "", env, "schedule", "list", "--destination", "/topic/b").expect(t, 0, "other")
	got = run(t, "", env, "schedule", "list", "--limit", "1").expect(t, 0, "DELIVER AT").stderr
	if !strings.Contains(got, "there may be more") {
		t.Errorf("saw %q", got)
	}
	run(t, "", env, "schedule", "list", "--until", "2099-01-01T00:00:00Z", "-o", "json").expect(t, 0, `"items": [],`)
	run(t, "", env, "schedule", "list", "-o", "json").expect(t, 0, `"id": "evil\u202eid"`)

	shown := run(t, "", env, "schedule", "show", "evil\u202eid").expect(t, 0, "/queue/a").stdout
	if !strings.Contains(shown, `colour: re\x1bd`) || !strings.Contains(shown, `hello\x1b[2J`) || strings.ContainsAny(shown, "\x1b\u202e") {
		t.Errorf("saw %q", shown)
	}
	run(t, "", env, "schedule", "show", "other", "-o", "json", "--body", "2").expect(t, 0, `"body": "he"`)

	run(t, "", env, "schedule", "reschedule", "other", "2101-01-01T00:00:00+01:00").expect(t, 0, "moved 1 under other\n")
	run(t, "", env, "schedule", "show", "other").expect(t, 0, "2100-12-31T23:00:00.000Z")
	run(t, "", env, "schedule", "run", "evil\u202eid").expect(t, 0, `delivered 1 under evil\u202eid`)
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1").expect(t, 0, "hello")
	run(t, "", env, "schedule", "run", "evil\u202eid").expect(t, 3, "nothing waits for its time under the id")
	s.end(t)
}

func TestAJobIsShownWithWhatIsToCome(t *testing.T) {
	s := serve(t, t.TempDir())
	env := s.scheduleEnv()
	run(t, "", s.env(), "send", "/queue/a", "x", "--header", "AMQ_SCHEDULED_CRON=0 9 * * mon-fri", "--header", "schedule-zone=Europe/Berlin", "--header", "scheduled-id=cron").
		expect(t, 0, "scheduled as cron")
	run(t, "", s.env(), "send", "/queue/a", "x", "--header", "AMQ_SCHEDULED_DELAY=3600000", "--header", "AMQ_SCHEDULED_PERIOD=90000", "--header", "AMQ_SCHEDULED_REPEAT=9",
		"--header", "scheduled-id=ten").expect(t, 0, "scheduled as ten")
	run(t, "", env, "schedule", "list").expect(t, 0, "0 9 * * 1-5 Europe/Berlin")
	got := run(t, "", env, "schedule", "show", "ten").expect(t, 0, "every 1m30s, 10 left").stdout
	if !regexp.MustCompile(`next +\d{4}-\S+Z\n +\d{4}`).MatchString(got) {
		t.Errorf("saw %s", got)
	}
	s.end(t)
}

func TestCancelAsksFirst(t *testing.T) {
	s := serve(t, t.TempDir())
	env := s.scheduleEnv()
	ids := []string{"a", "b/..", ".."}
	for _, id := range ids {
		sendNamed(t, s, "/queue/a", "x", id)
	}
	run(t, "y\n", env, "schedule", "cancel", "a").expect(t, 2, "flag --yes is needed")
	run(t, "", env, "schedule", "cancel", "a", "--yes", "--dry-run").expect(t, 2, "only one of them")
	run(t, "", env, "schedule", "cancel", "--dry-run", "a", "b/..").expect(t, 0, "b/..")
	run(t, "", env, "schedule", "cancel", "--dry-run", "a", "unknown").expect(t, 3, `nothing waits for its time under the id "unknown"`)
	run(t, "", env, "schedule", "cancel", "--yes", "unknown", "a").expect(t, 3, "unknown")
	run(t, "", env, "schedule", "cancel", "--yes", "b/..", "..", "-o", "json").expect(t, 0, `{"id":"..","cancelled":1}`)
	for _, id := range ids {
		run(t, "", env, "schedule", "show", id).expect(t, 3, "nothing waits")
	}
	s.end(t)
}

func TestTheScheduleIsCounted(t *testing.T) {
	s := serve(t, t.TempDir())
	for _, delay := range []string{"50s", "50m", "55m", "20h"} {
		run(t, "", s.env(), "send", "/queue/a", "x", "--delay", delay).expect(t, 0, "scheduled as ")
	}
	sendNamed(t, s, "/queue/a", "x", "far")
	want := `DUE              COUNT
overdue          0
within a minute  1
within an hour   2
within a day     1
later            1
in all           5
`
	if got := run(t, "", s.scheduleEnv(), "schedule", "counts").expect(t, 0, "DUE").stdout; got != want {
		t.Errorf("saw\n%s", got)
	}
	got := run(t, "", s.scheduleEnv(), "schedule", "counts", "-o", "json").expect(t, 0, `"hour": {`).stdout
	var counts map[string]any
	if err := json.Unmarshal([]byte(got), &counts); err != nil || counts["total"] != 5.0 || len(counts) != 6 {
		t.Errorf("%v, saw %s", err, got)
	}
	s.end(t)
}

func TestACountThatWasNotEndedSaysSo(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"overdue":{"count":0},"minute":{"count":7},"hour":{"count":100000,"at_least":true},"day":{"count":1},"later":{"count":2},"total":250000}`))
	}))
	defer other.Close()
	got := run(t, "", nil, "schedule", "counts", "--admin", other.URL).expect(t, 0, "DUE").stdout
	for _, want := range []string{"within a minute  7\n", "within an hour   100000+\n", "in all           250000\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("expected %q in\n%s", want, got)
		}
	}
	run(t, "", nil, "schedule", "counts", "--admin", other.URL, "more").expect(t, 2, "unknown command")
}

// terminal is a device that is taken for a terminal, and has nothing to say.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestCancelDoesNothingWithoutAnAnswer(t *testing.T) {
	s := serve(t, t.TempDir())
	sendNamed(t, s, "/queue/a", "x", "a")
	var stdout, stderr strings.Builder
	code := cli.Run(t.Context(), []string{"schedule", "cancel", "a"}, terminal(t), &stdout, &stderr, s.scheduleEnv())
	if code != 1 || !strings.Contains(stderr.String(), "take this back? [y/N]") || !strings.Contains(stderr.String(), "nothing was taken back") {
		t.Errorf("%d %s", code, stderr.String())
	}
	run(t, "", s.scheduleEnv(), "schedule", "show", "a").expect(t, 0, "/queue/a")
	s.end(t)
}

func TestNextTellsWhenAnExpressionIsDue(t *testing.T) {
	rows := []struct {
		args []string
		want string
	}{
		{
			[]string{"0 9 * * mon-fri", "--zone", "Europe/Berlin", "--from", "2026-03-27T07:00:00Z", "--count", "3"},
			"Fri 2026-03-27T09:00:00.000+01:00\nMon 2026-03-30T09:00:00.000+02:00\nTue 2026-03-31T09:00:00.000+02:00\n",
		},
		{
			[]string{"0 0 0 12 last * *", "--from", "2026-01-01T00:00:00Z", "--count", "2"},
			"Sat 2026-01-31T12:00:00.000Z\nSat 2026-02-28T12:00:00.000Z\n",
		},
		{
			[]string{"0 0 0 1 * * 2-6; 0 0 0 2 * * 1,7", "--from", "2026-01-02T12:00:00Z", "--count", "2"},
			"Sat 2026-01-03T02:00:00.000Z\nSun 2026-01-04T02:00:00.000Z\n",
		},
	}
	for _, row := range rows {
		if got := run(t, "", nil, append([]string{"schedule", "next"}, row.args...)...).expect(t, 0, "T").stdout; got != row.want {
			t.Errorf("%q: saw\n%s", row.args, got)
		}
	}
	got := run(t, "", nil, "schedule", "next", "0 9 * * mon-fri", "-o", "json", "--from", "0", "--count", "1").expect(t, 0, `"kind": "cron"`).stdout
	if !strings.Contains(got, `"expression": "0 9 * * 1-5"`) || !strings.Contains(got, `"1970-01-01T09:00:00.000Z"`) {
		t.Errorf("saw %s", got)
	}
	run(t, "", nil, "schedule", "next", "* * * * *").expect(t, 0, "Z\n")
	for text, want := range map[string]string{
		"* * * *": "has 4 fields", "@daily": "has 1 fields", "61 * * * *": "at position 1", "0 0 0 25 * * *": "at position 7", "0 0 31 2 *": "no such day",
	} {
		run(t, "", nil, "schedule", "next", text).expect(t, 2, want)
	}
	for _, flag := range [][]string{{"--zone", "Mars/North"}, {"--count", "0"}, {"--from", "tomorrow"}} {
		run(t, "", nil, append([]string{"schedule", "next", "* * * * *"}, flag...)...).expect(t, 2, "flag "+flag[0])
	}
}

func TestWrongUseOfTheSchedule(t *testing.T) {
	s := serve(t, t.TempDir())
	env := s.scheduleEnv()
	for want, args := range map[string][]string{
		"destination must be /queue/NAME": {"list", "--destination", "orders"}, "flag --limit": {"list", "--limit", "0"}, "from: ": {"list", "--from", "soon"},
		"body must be one number": {"show", "a", "--body", "100000"}, "TIME: ": {"reschedule", "a", "soon"}, "arg": {"cancel"}, "flag --timeout": {"run", "a", "--timeout", "0s"},
		"admin address must be": {"list", "--admin", "ftp://x"},
	} {
		run(t, "", env, append([]string{"schedule"}, args...)...).expect(t, 2, want)
	}
	s.end(t)
}

func TestAnAdminServerThatIsNotThereOrIsNone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	run(t, "", nil, "schedule", "list", "--admin", address, "--timeout", "50ms").expect(t, 6, "cannot ask http://"+address)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, "", nil, "schedule", "list", "--admin", "http://"+address).expect(t, 6, "connection refused")

	var status int
	var body string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://example.invalid/")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer other.Close()
	for _, row := range []struct {
		status int
		body   string
		code   int
		want   string
	}{
		{200, "<html>", 1, "does not answer as a broker's admin address does"},
		{404, "not found", 1, "does not answer as a broker's admin address does: 404"},
		{302, "", 1, "302"},
		{503, `{"error":"the broker is closed"}`, 6, "the broker is closed"},
		{500, `{"error":"evil\u001b"}`, 1, `evil\x1b`},
	} {
		status, body = row.status, row.body
		run(t, "", nil, "schedule", "list", "--admin", other.URL).expect(t, row.code, row.want)
	}
}

func TestTheSettingsOfTheScheduleReachTheServer(t *testing.T) {
	s := serve(t, t.TempDir(), "--set", "schedule.management=false", "--set", "schedule.max-repeats=5", "--set", "schedule.delay-queues=none", "--set", "schedule.zone=Asia/Tokyo")
	run(t, "", s.env(), "send", "/topic/ActiveMQ.Scheduler.Management", "", "--header", "AMQ_SCHEDULER_ACTION=REMOVEALL").expect(t, 1, "schedule.management")
	run(t, "", s.env(), "send", "/queue/a", "x", "--header", "AMQ_SCHEDULED_REPEAT=6", "--header", "AMQ_SCHEDULED_PERIOD=1000").expect(t, 1, "AMQ_SCHEDULED_REPEAT")
	run(t, "", s.env(), "send", "/queue/DELAYED_QUEUE", "kept", "--header", "JMS_DESTINATION=/queue/a", "--header", "DELIVERY_TIME=1").expect(t, 0, "confirmed")
	run(t, "", s.env(), "receive", "/queue/DELAYED_QUEUE", "--count", "1").expect(t, 0, "kept")
	sent := run(t, "", s.env(), "send", "/queue/a", "x", "--header", "deliver-schedule=0 0 0 9 * * *", "-o", "json").expect(t, 0, "deliver_at")
	var result struct {
		Due []string `json:"deliver_at"`
	}
	if err := json.Unmarshal([]byte(sent.stdout), &result); err != nil || len(result.Due) != 1 || !strings.HasSuffix(result.Due[0], "T00:00:00.000Z") {
		t.Errorf("%v %s", err, sent.stdout)
	}
	s.end(t)
}
