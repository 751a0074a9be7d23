package admin

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"time"

	"footfall/broker"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// prefix begins the name of every metric of ours.
const prefix = "footfall_"

// maxScrapes bounds the scrapes under way at a time, each of which asks the loop.
const maxScrapes = 4

func (s *Server) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		s.opt.Commits,
		newCollector(s),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		Timeout:             10 * time.Second,
		ErrorLog:            promLog{s},
	})
}

// promLog is where the registry tells what it could not collect.
type promLog struct{ s *Server }

func (l promLog) Println(v ...any) { l.s.opt.Log.Error("metrics: not all were collected", "error", v) }

// collector reads all metrics off the broker, the store and the traffic at each scrape.
type collector struct {
	s     *Server
	descs map[string]*prometheus.Desc // by name without prefix
}

func newCollector(s *Server) *collector {
	c := &collector{s: s, descs: map[string]*prometheus.Desc{}}
	c.describe("build_info", "1, with the version of the program.", "version", "revision", "goversion")
	c.describe("up_seconds", "How long the process has run.")
	c.describe("ready", "1 when the process may be sent work, as /readyz tells.")
	c.describe("alarm", "1 while senders wait, by what they wait for.", "kind")
	c.describe("connections", "Open connections, by transport and STOMP version.", "transport", "version")
	c.describe("certificate_expiry_seconds", "When the certificate of a listener expires, in seconds since 1970.", "listener")
	c.describe("connection_panics_total", "Connections that ended by a fault of the program; always 0.")
	c.describe("log_lines_left_out_total", "Lines about connections that were not logged, as others of their kind were in the same second.")
	c.describe("disk_free_bytes", "Octets free for the store; absent when it cannot be told.")
	c.describe("metrics_destinations_hidden", "Destinations without metrics of their own, as there are more than admin.metrics-destinations.")
	for _, m := range brokerMetrics() {
		c.describe(m.name, m.help, labelName(m.label)...)
	}
	for _, m := range storeMetrics() {
		c.describe(m.name, m.help, labelName(m.label)...)
	}
	for _, m := range trafficMetrics() {
		c.describe(m.name, m.help, m.label)
	}
	for _, m := range destinationMetrics() {
		c.describe(m.name, m.help, "kind", "destination")
	}
	return c
}

func (c *collector) describe(name, help string, labels ...string) {
	c.descs[name] = prometheus.NewDesc(prefix+name, help, labels, nil)
}

func labelName(label string) []string {
	if name, _, ok := strings.Cut(label, "="); ok {
		return []string{name}
	}
	return nil
}

func labelValue(label string) []string {
	if _, value, ok := strings.Cut(label, "="); ok {
		return []string{value}
	}
	return nil
}

// Describe makes collector a prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect makes collector a prometheus.Collector. What does not answer is left out.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	put := func(name string, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(c.descs[name], kind, value, labels...)
	}
	o := &c.s.opt
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	put("build_info", gauge, 1, clean(o.Version), clean(o.Revision), runtime.Version())
	put("up_seconds", gauge, time.Since(o.Started).Seconds())
	stats, ok := c.s.stats(ctx)
	put("ready", gauge, truth(c.s.readiness(stats, ok).Ready))

	st := o.Store.Stats()
	for _, m := range storeMetrics() {
		put(m.name, m.kind, m.value(&st), labelValue(m.label)...)
	}
	if free, err := o.Store.DiskFree(); err == nil {
		put("disk_free_bytes", gauge, float64(free))
	}
	traffic := o.Traffic()
	for _, m := range trafficMetrics() {
		for label, n := range m.of(&traffic) {
			put(m.name, counter, float64(n), clean(label))
		}
	}
	for link, n := range traffic.Open {
		put("connections", gauge, float64(n), clean(link.Transport), clean(link.Version))
	}
	for listener, at := range traffic.CertificateExpiry {
		put("certificate_expiry_seconds", gauge, float64(at), clean(listener))
	}
	put("connection_panics_total", counter, float64(traffic.Panics))
	put("log_lines_left_out_total", counter, float64(traffic.LogLinesLeftOut))

	if !ok {
		return
	}
	for _, m := range brokerMetrics() {
		put(m.name, m.kind, m.value(&stats), labelValue(m.label)...)
	}
	for _, a := range alarms() {
		put("alarm", gauge, truth(a.on(&stats, st.Stalled)), a.kind)
	}
	c.collectDestinations(ctx, put)
}

// other is the label of all destinations that have no metrics of their own. No
// destination is called so: their labels begin with a slash.
const other = "_other"

// collectDestinations gives the most active destinations metrics of their own, and sums
// up the gauges of the others. Counters are not summed up: the sum would fall
// whenever a destination leaves it, which readers take for a restart.
func (c *collector) collectDestinations(ctx context.Context, put func(string, prometheus.ValueType, float64, ...string)) {
	list, _, err := c.s.opt.Broker.Destinations(ctx, broker.DestinationQuery{})
	if err != nil {
		return
	}
	rest := map[broker.Kind]*broker.DestinationStats{broker.Queue: {}, broker.Topic: {}, broker.Durable: {}}
	shown := map[string]bool{}
	hidden := 0
	for i := range list {
		d := &list[i]
		label := clean(d.Address.String())
		if len(shown) == c.s.opt.MetricsDestinations || shown[label] {
			sum := rest[d.Address.Kind]
			if sum == nil {
				continue
			}
			sum.Ready += d.Ready
			sum.Unacked += d.Unacked
			sum.Bytes += d.Bytes
			sum.Consumers += d.Consumers
			hidden++
			continue
		}
		shown[label] = true
		for _, m := range destinationMetrics() {
			put(m.name, m.kind, m.value(d), d.Address.Kind.String(), label)
		}
	}
	for kind, sum := range rest {
		for _, m := range destinationMetrics() {
			if m.kind == gauge {
				put(m.name, m.kind, m.value(sum), kind.String(), other)
			}
		}
	}
	put("metrics_destinations_hidden", gauge, float64(hidden))
}

// clean makes a label value of any octets.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
