package node_test

import (
	"strings"
	"testing"

	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
)

func TestSettingsOfTheScheduleAreCheckedAtTheStart(t *testing.T) {
	rows := []struct{ name, text, wrong string }{
		{"schedule.zone", "Europe/Berlin", ""},
		{"schedule.zone", "Europe/Nowhere", "no time zone has this name"},
		{"schedule.zone", "Local", "no time zone has this name"},
		{"schedule.zone", "../etc/passwd", "no time zone has this name"},
		{"schedule.delay-queues", "none", ""},
		{"schedule.delay-queues", "later,LATER.2", ""},
		{"schedule.delay-queues", "/queue/later", "without /queue/"},
		{"schedule.delay-queues", "", "must not be empty"},
		{"schedule.max-repeats", "1", ""},
		{"schedule.max-repeats", "0", "must be 1 to"},
		{"schedule.min-period", "999us", "must be 1ms to 24h"},
		{"schedule.skew", "0s", "must be 1ms to 1h"},
		{"schedule.management", "no", "must be true or false"},
	}
	for _, row := range rows {
		var o node.Options
		_, err := config.Load(node.Settings(&o), config.Sources{Flags: map[string]config.Given{row.name: {Text: row.text, At: "flag"}}})
		if row.wrong == "" && err != nil || row.wrong != "" && (err == nil || !strings.Contains(err.Error(), row.wrong)) {
			t.Errorf("%s=%s: expected %q; saw %v", row.name, row.text, row.wrong, err)
		}
	}
}
