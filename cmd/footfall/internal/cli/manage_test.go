package cli_test

import (
	"regexp"
	"strings"
	"testing"
)

func TestQueuesAndTopicsAreManaged(t *testing.T) {
	s := serve(t, t.TempDir(), "--set", `destinations=[{"match": "/queue/a", "max-messages": 5}]`)
	env := s.scheduleEnv()
	for _, body := range []string{"one", "two"} {
		run(t, "", s.env(), "send", "/queue/a", body).expect(t, 0, "")
	}
	run(t, "", s.env(), "send", "/queue/evil\u202ename", "x").expect(t, 0, "")
	subscribe(t, s, "billing", "invoices", "/topic/t")()
	list := run(t, "", env, "queue", "list").expect(t, 0, "DESTINATION").stdout
	if !regexp.MustCompile(`/queue/a +2 +0 `).MatchString(list) || !strings.Contains(list, `/queue/evil\u202ename`) || strings.Contains(list, "/topic/") {
		t.Errorf("saw %s", list)
	}
	run(t, "", env, "queue", "list", "--name", "a", "--sort", "ready", "--limit", "1", "-o", "json").expect(t, 0, `"more": true`)
	run(t, "", env, "queue", "list", "--sort", "x").expect(t, 2, "sort must be")
	run(t, "", env, "topic", "list").expect(t, 0, "/topic/t")
	run(t, "", env, "queue", "show", "a").expect(t, 0, "5, by /queue/a")
	run(t, "", env, "topic", "show", "/topic/t").expect(t, 0, "durable subscriptions")
	run(t, "", env, "queue", "show", "none").expect(t, 3, "there is no queue")
	run(t, "", env, "queue", "create", "made").expect(t, 0, "made /queue/made\n")
	run(t, "", env, "topic", "create", "made", "-o", "json").expect(t, 0, `{"destination":"/topic/made","made":true}`)
	run(t, "", env, "queue", "create", "made").expect(t, 0, "was there")
	run(t, "", env, "queue", "pause", "a", "consumption").expect(t, 0, "/queue/a: paused is consumption\n")
	run(t, "", env, "queue", "pause", "a", "everything").expect(t, 2, "production, consumption, or all")
	run(t, "", env, "queue", "show", "a").expect(t, 0, "consumption")
	run(t, "", env, "queue", "resume", "a", "all").expect(t, 0, "paused is nothing")
	run(t, "", env, "queue", "purge", "a").expect(t, 2, "--yes is needed")
	run(t, "", env, "queue", "purge", "a", "--dry-run").expect(t, 0, "MESSAGE-ID")
	run(t, "", env, "queue", "purge", "a", "--yes").expect(t, 0, "deleted: 2\n")
	run(t, "", s.env(), "send", "/queue/a", "three").expect(t, 0, "")
	run(t, "", env, "queue", "delete", "a").expect(t, 2, "--yes is needed")
	run(t, "", env, "queue", "delete", "a", "--dry-run").expect(t, 0, "/queue/a")
	run(t, "", env, "queue", "delete", "a", "--yes", "--if-empty").expect(t, 1, "is not empty")
	run(t, "", env, "queue", "delete", "a", "none", "made", "--yes").expect(t, 3, "there is no queue")
	run(t, "", env, "queue", "show", "made").expect(t, 3, "there is no queue")
	run(t, "", env, "topic", "delete", "t", "--yes", "-o", "json").expect(t, 0, `"durable_subscriptions":1`)
	run(t, "", env, "sub", "show", "billing:invoices").expect(t, 3, "there is no durable subscription")
	s.end(t)
}

func TestMessagesAreManaged(t *testing.T) {
	t.Setenv("TZ", "UTC")
	s := serve(t, t.TempDir())
	env := s.scheduleEnv()
	for _, body := range []string{"one\x1b[2J", "two", "three"} {
		run(t, "", s.env(), "send", "/queue/a", body, "--header", "colour=re\x1bd", "--header", "n="+body[:2]).expect(t, 0, "")
	}
	table := run(t, "", env, "msg", "list", "a").expect(t, 0, "SENT").stdout
	ids := regexp.MustCompile(`Z +(4\.[0-9a-z]+) `).FindAllStringSubmatch(table, -1)
	if len(ids) != 3 {
		t.Fatalf("saw %s", table)
	}
	shown := run(t, "", env, "msg", "show", "a", ids[0][1]).expect(t, 0, "priority").stdout
	if !strings.Contains(shown, `colour: re\x1bd`) || !strings.Contains(shown, `one\x1b[2J`) || strings.Contains(shown, "\x1b") {
		t.Errorf("saw %q", shown)
	}
	run(t, "", env, "msg", "show", "a", ids[0][1], "-o", "json").expect(t, 0, `"body": "one\u001b[2J"`)
	run(t, "", env, "msg", "show", "a", "4.1").expect(t, 3, "there is no message")
	run(t, "", env, "msg", "list", "none").expect(t, 3, "there is no queue")
	run(t, "", env, "msg", "list", "a", "--selector", "n =").expect(t, 2, "selector at position")
	run(t, "", env, "msg", "move", "a", "--all", "--yes").expect(t, 2, "--to is needed")
	run(t, "", env, "msg", "move", "a", "--to", "/queue/b", "--yes").expect(t, 2, "what is wanted")
	run(t, "", env, "msg", "move", "a", ids[1][1], "--to", "/queue/b").expect(t, 2, "--yes is needed")
	run(t, "", env, "msg", "move", "a", ids[1][1], "--to", "/queue/b", "--dry-run").expect(t, 0, ids[1][1])
	run(t, "", env, "msg", "move", "a", ids[1][1], "--to", "/queue/b", "--yes").expect(t, 0, "moved: 1\n")
	run(t, "", env, "msg", "move", "a", ids[1][1], "--to", "/queue/b", "--yes").expect(t, 3, "there is no message")
	run(t, "", env, "msg", "copy", "a", "--selector", "n = 'th'", "--to", "/queue/b", "--yes", "-o", "json").expect(t, 0, `"changed": 1`)
	run(t, "", env, "msg", "copy", "a", "--all", "--to", "/topic/nobody", "--yes").expect(t, 0, "without a place to go to: 2")
	run(t, "", env, "msg", "delete", "a", "--all", "--yes").expect(t, 0, "deleted: 2\n")
	run(t, "", s.env(), "receive", "/queue/b", "--count", "2").expect(t, 0, "three")
	s.end(t)
}

func TestConnectionsAreManaged(t *testing.T) {
	s := serve(t, t.TempDir())
	env := s.scheduleEnv()
	subscribe(t, s, "evil\u202ename", "d", "/topic/t") // and stays
	list := run(t, "", env, "conn", "list").expect(t, 0, "CLIENT-ID").stdout
	id := regexp.MustCompile(`(?m)^(\d+) +127\.0\.0\.1:\d+ .*evil\\u202ename +1\.2 `).FindStringSubmatch(list)
	if id == nil {
		t.Fatalf("saw %s", list)
	}
	run(t, "", env, "conn", "show", id[1]).expect(t, 0, "subscriptions")
	run(t, "", env, "conn", "show", id[1], "-o", "json").expect(t, 0, `"version": "1.2"`)
	run(t, "", env, "conn", "show", "99").expect(t, 3, "there is no connection")
	run(t, "", env, "conn", "show", "x").expect(t, 2, "id must be")
	run(t, "", env, "conn", "consumers", "--destination", "/queue/none").expect(t, 0, "SUBSCRIPTION")
	run(t, "", env, "conn", "consumers", "-o", "json").expect(t, 0, `"items"`)
	run(t, "", env, "conn", "close", id[1]).expect(t, 2, "--yes is needed")
	run(t, "", env, "conn", "close", id[1], "--dry-run").expect(t, 0, "127.0.0.1")
	run(t, "", env, "conn", "close", id[1], "--reason", "noon", "--yes").expect(t, 0, "closed "+id[1]+"\n")
	run(t, "", env, "conn", "close", id[1], "--yes").expect(t, 3, "there is no connection")
	s.end(t)
}
