package cli_test

import (
	"regexp"
	"strings"
	"testing"
)

func TestDeadLettersAreListedShownAndChanged(t *testing.T) {
	t.Setenv("TZ", "UTC")
	s := serve(t, t.TempDir(), "--set", `destinations=[{"match": "/queue/>", "expired": "redirect"}]`)
	env := s.scheduleEnv()
	run(t, "", env, "dlq", "list").expect(t, 0, "QUEUE")
	run(t, "", env, "dlq", "show", "DLQ.a").expect(t, 3, "there is no queue")
	// What would expire before it is due is redirected at once.
	for _, body := range []string{"one\x1b[2J", "two", "three"} {
		run(t, "", s.env(), "send", "/queue/a", body, "--delay", "1h", "--header", "ttl=1", "--header", "colour=re\x1bd").expect(t, 0, "")
	}
	list := run(t, "", env, "dlq", "list").expect(t, 0, "DLQ.a").stdout
	if !regexp.MustCompile(`DLQ\.a +3 +0 `).MatchString(list) {
		t.Errorf("saw %s", list)
	}
	table := run(t, "", env, "dlq", "show", "/queue/DLQ.a").expect(t, 0, "expired").stdout
	id := regexp.MustCompile(`Z +(4\.[0-9a-z]+) +/queue/a +expired`).FindStringSubmatch(table)
	if id == nil {
		t.Fatalf("saw %s", table)
	}
	shown := run(t, "", env, "dlq", "show", "DLQ.a", id[1]).expect(t, 0, "/queue/a").stdout
	if !strings.Contains(shown, `colour: re\x1bd`) || !strings.Contains(shown, `one\x1b[2J`) || strings.Contains(shown, "\x1b") {
		t.Errorf("saw %q", shown)
	}
	run(t, "", env, "dlq", "show", "DLQ.a", "--reason", "rejected", "-o", "json").expect(t, 0, `"items": []`)
	run(t, "", env, "dlq", "show", "DLQ.a", "4.1").expect(t, 3, "there is no dead letter")
	run(t, "", env, "dlq", "retry", "DLQ.a").expect(t, 2, "what is wanted")
	run(t, "", env, "dlq", "retry", "DLQ.a", "--all").expect(t, 2, "--yes is needed")
	run(t, "", env, "dlq", "purge", "DLQ.a", "--all", "--yes", "--dry-run").expect(t, 2, "only one of them")
	run(t, "", env, "dlq", "retry", "DLQ.a", "--all", "--yes", "--rate", "-1").expect(t, 2, "flag --rate")
	run(t, "", env, "dlq", "purge", "DLQ.a", "--all", "--dry-run").expect(t, 0, id[1])
	run(t, "", env, "dlq", "retry", "DLQ.a", id[1], "--yes").expect(t, 0, "sent back: 1\n")
	run(t, "", s.env(), "receive", "/queue/a", "--count", "1").expect(t, 0, "one")
	run(t, "", env, "dlq", "retry", "DLQ.a", id[1], "--yes").expect(t, 3, "there is no dead letter")
	run(t, "", env, "dlq", "retry", "DLQ.a", "--selector", "colour =", "--yes").expect(t, 2, "selector at position 9")
	run(t, "", env, "dlq", "purge", "DLQ.a", "--selector", "colour = 'none'", "--yes").expect(t, 0, "deleted: 0\n")
	run(t, "", env, "dlq", "purge", "DLQ.a", "--selector", "colour LIKE 're%'", "--dry-run").expect(t, 0, "expired")
	run(t, "", env, "dlq", "retry", "DLQ.a", "--reason", "expired", "--to", "/queue/late", "--rate", "20", "--yes", "-o", "json").expect(t, 0, `"changed": 2`)
	run(t, "", env, "dlq", "purge", "late", "--all", "--yes").expect(t, 0, "deleted: 2\n")
	run(t, "", env, "dlq", "purge", "none", "--all", "--yes").expect(t, 3, "there is no queue")
	s.end(t)
}
