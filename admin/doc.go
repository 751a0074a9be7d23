// Package admin is the HTTP side of a broker: health, readiness, metrics, inspection.
//
// The types in reading order: [Options], what it looks at; [Server], which is served,
// shut down and closed as an http.Server is; [Traffic], what a server of connections
// counted; [Commits], the histograms of the store. Inside: health.go, whether the process lives and whether
// it is ready; api.go, the JSON; metrics.go and the tables that list every metric with its help.
//
// It keeps no state of its own: each answer is taken from the broker and the store as
// it is asked for, with a limit to how long that may take. All that it serves is read-only.
//
// # Limits
//
// A request has 5 s for its headers, of at most 16 KiB, and its body is not read. At most
// four scrapes of the metrics run at a time. Metrics of destinations are bounded by
// Options.MetricsDestinations, whatever names clients make up.
package admin
