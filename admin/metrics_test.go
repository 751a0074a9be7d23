package admin

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"footfall/broker"
	"footfall/store"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
)

var update = flag.Bool("update", false, "write the tables of docs/metrics.md anew")

// full is a fake with a value for every metric.
func full() (*fake, Options) {
	f := &fake{list: []broker.DestinationStats{
		{Address: broker.Address{Kind: broker.Queue, Name: "orders"}, Ready: 1, Unacked: 2, Bytes: 3, Consumers: 4, Received: 5, Delivered: 6, Acked: 7},
		{Address: broker.Address{Kind: broker.Topic, Name: "prices"}, Ready: 10, Consumers: 40},
	}}
	o := f.options()
	one := map[string]uint64{"x": 1}
	o.Traffic = func() Traffic {
		return Traffic{
			Open: map[Link]int{{"tcp", "1.2"}: 1}, Opened: one, Closed: one, Rejected: one, FramesReceived: one, FramesSent: one,
			BytesReceived: one, BytesSent: one, ProtocolErrors: one, Logins: one, Denied: one, CertificateReloads: one, CertificateExpiry: map[string]int64{"127.0.0.1:1": 1},
		}
	}
	return f, o
}

// families are what /metrics serves of ours, by name.
func families(t *testing.T, o Options) map[string]*dto.MetricFamily {
	t.Helper()
	s := New(o)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(s), s.opt.Commits)
	list, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]*dto.MetricFamily{}
	for _, f := range list {
		m[f.GetName()] = f
	}
	return m
}

func TestEveryMetricIsServedAndNamedByTheRules(t *testing.T) {
	_, o := full()
	s := New(o)
	c := newCollector(s)
	served := families(t, o)
	for name := range c.descs {
		if served[prefix+name] == nil {
			t.Errorf("%s is described, and not served", name)
		}
	}
	if want := len(c.descs) + 3; len(served) != want {
		t.Errorf("expected %d names; saw %d", want, len(served))
	}
	list := make([]*dto.MetricFamily, 0, len(served))
	for _, f := range served {
		list = append(list, f)
	}
	problems, err := promlint.NewWithMetricFamilies(list).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestTheManualListsEveryMetric(t *testing.T) {
	const path, begin, end = "../docs/metrics.md", "<!-- metrics -->\n", "<!-- end of metrics -->\n"
	_, o := full()
	served := families(t, o)
	var table strings.Builder
	table.WriteString("| metric | type | labels | what it tells |\n|---|---|---|---|\n")
	names := make([]string, 0, len(served))
	for name := range served {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f := served[name]
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	old, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has lost its marks", path)
	}
	if old == table.String() {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what is served; write it anew with: go test ./admin -update", path)
}

// value returns the metric of that name with those labels, "a=b,c=d" in the order of names.
func value(t *testing.T, served map[string]*dto.MetricFamily, name, labels string) (float64, bool) {
	t.Helper()
	for _, m := range served[prefix+name].GetMetric() {
		var pairs []string
		for _, l := range m.GetLabel() {
			pairs = append(pairs, l.GetName()+"="+l.GetValue())
		}
		if strings.Join(pairs, ",") == labels {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue(), true
		}
	}
	return 0, false
}

func TestNumbersReachTheirMetrics(t *testing.T) {
	f, o := full()
	f.stats = broker.Stats{ReceivedQueue: 11, ReceivedTopic: 12, Ready: 13, ScheduledLag: 1500 * time.Millisecond, DiskLow: true}
	f.store = store.Stats{Stalls: 14, DiskBytes: 15, Failed: true}
	served := families(t, o)
	rows := []struct {
		name, labels string
		want         float64
	}{
		{"messages_received_total", "kind=queue", 11},
		{"messages_received_total", "kind=topic", 12},
		{"messages_ready", "", 13},
		{"scheduled_lag_seconds", "", 1.5},
		{"alarm", "kind=disk", 1},
		{"alarm", "kind=memory", 0},
		{"store_write_stalls_total", "", 14},
		{"store_bytes", "", 15},
		{"store_failed", "", 1},
		{"ready", "", 0},
		{"connections", "transport=tcp,version=1.2", 1},
		{"destination_messages_ready", "destination=/queue/orders,kind=queue", 1},
		{"destination_messages_received_total", "destination=/queue/orders,kind=queue", 5},
		{"destination_consumers", "destination=/topic/prices,kind=topic", 40},
		{"destination_messages_ready", "destination=_other,kind=queue", 0},
	}
	for _, row := range rows {
		if got, ok := value(t, served, row.name, row.labels); !ok || got != row.want {
			t.Errorf("%s{%s}: expected %v; saw %v, %v", row.name, row.labels, row.want, got, ok)
		}
	}
}

func TestDestinationsBeyondTheLimitAreSummedUp(t *testing.T) {
	for _, limit := range []int{-1, 1, 200, MaxMetricsDestinations, MaxMetricsDestinations + 1} {
		f, o := full()
		f.list = destinations(5000)
		o.MetricsDestinations = limit
		served := families(t, o)
		shown := min(max(limit, 0), MaxMetricsDestinations)
		series := 0
		for name, family := range served {
			if strings.HasPrefix(name, prefix+"destination_") {
				series += len(family.GetMetric())
			}
		}
		if want := 7*shown + 3*4; series != want || series > 10_000 {
			t.Errorf("limit %d: expected %d series; saw %d", limit, want, series)
		}
		if got, _ := value(t, served, "destination_messages_ready", "destination=_other,kind=queue"); got != float64(5000-shown) {
			t.Errorf("limit %d: expected the rest summed up to %d; saw %v", limit, 5000-shown, got)
		}
		if got, _ := value(t, served, "metrics_destinations_hidden", ""); got != float64(5000-shown) {
			t.Errorf("limit %d: saw %v hidden", limit, got)
		}
	}
}

func TestHostileNamesLeaveTheMetricsWellFormed(t *testing.T) {
	hostile := []string{
		"a\"b", "a\\b", "a\nb", "a\r\nb 1\n# TYPE x counter", "\xff\xfe", "\xfe\xff", "\x00", "{le=\"1\"}", "_other",
		"\u202e", strings.Repeat("x", 1024), "",
	}
	f, o := full()
	f.list = nil
	for _, name := range hostile {
		f.list = append(f.list, broker.DestinationStats{Address: broker.Address{Kind: broker.Queue, Name: name}, Ready: 1})
	}
	served := families(t, o) // a pedantic registry: twins and invalid labels are errors
	sum := 0.0
	for _, m := range served[prefix+"destination_messages_ready"].GetMetric() {
		sum += m.GetGauge().GetValue()
	}
	if sum != float64(len(hostile)) {
		t.Errorf("expected all %d in some series; saw %v", len(hostile), sum)
	}
	text := get(t, New(o), "/metrics").Body.String()
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "# TYPE x") || strings.HasPrefix(line, "b") {
			t.Errorf("a name begins a line: %q", line)
		}
	}
}

func TestAStuckLoopLeavesTheOtherMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := full()
		f.stuck = true
		served := families(t, o)
		if served[prefix+"messages_ready"] != nil || served[prefix+"store_bytes"] == nil {
			t.Error("expected the store's metrics alone")
		}
		if got, ok := value(t, served, "ready", ""); !ok || got != 0 {
			t.Errorf("ready: saw %v, %v", got, ok)
		}
	})
}

func TestCommitsAreObservedInSeconds(t *testing.T) {
	_, o := full()
	o.Commits = NewCommits()
	o.Commits.Observe(store.Commit{Ops: 100, Queued: 250 * time.Millisecond, Synced: time.Second})
	served := families(t, o)
	for name, want := range map[string]float64{"commit_seconds": 1.25, "fsync_seconds": 1, "batch_size": 100} {
		h := served[prefix+name].GetMetric()[0].GetHistogram()
		if h.GetSampleCount() != 1 || h.GetSampleSum() != want {
			t.Errorf("%s: expected one of %v; saw %v", name, want, h)
		}
	}
}
