// Package admin is the HTTP side of a broker: health, readiness, metrics, inspection, management.
//
// The types in reading order: [Options], what it looks at; [Server], which is served,
// shut down and closed as an http.Server is; [Traffic], what a server of connections
// counted; [Commits], the histograms of the store. Inside: health.go, whether the process lives and whether
// it is ready; api.go, the JSON; scheduled.go and scheduled_change.go, what waits for its time, and its changes; metrics.go and the
// tables that list every metric with its help; roles.go, who may ask for what.
//
// It keeps no state of its own: each answer is taken from the broker and the store as
// it is asked for, with a limit to how long that may take. What a request needs is
// in the tables of routes.go and roles.go; one that a browser sends for another site changes nothing.
//
// # Limits
//
// A request has 5 s for its headers, of at most 16 KiB, and its body is a document of at most 4 KiB. At most
// four scrapes of the metrics run at a time, and four requests to the schedule. Metrics of destinations are bounded by
// Options.MetricsDestinations, whatever names clients make up.
package admin
