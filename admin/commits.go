package admin

import (
	"footfall/store"
	"github.com/prometheus/client_golang/prometheus"
)

// Commits are the histograms of a store's commits. Give its Observe to the store as OnCommit.
type Commits struct {
	commit, sync, size prometheus.Histogram
}

// NewCommits returns empty histograms.
func NewCommits() *Commits {
	seconds := prometheus.ExponentialBuckets(50e-6, 2.5, 14) // 50 µs to 7.5 s
	return &Commits{
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "footfall_commit_seconds", Buckets: seconds,
			Help: "Time from a batch of changes being handed to the store to its being on disk, by groups of batches that were written together.",
		}),
		sync: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "footfall_fsync_seconds", Buckets: seconds,
			Help: "The part of footfall_commit_seconds that was spent writing and syncing.",
		}),
		size: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "footfall_batch_size", Buckets: prometheus.ExponentialBuckets(1, 4, 10),
			Help: "Changes that were written together.",
		}),
	}
}

// Observe counts one group of batches. It does not block.
func (c *Commits) Observe(m store.Commit) {
	c.commit.Observe((m.Queued + m.Synced).Seconds())
	c.sync.Observe(m.Synced.Seconds())
	c.size.Observe(float64(m.Ops))
}

// Describe makes Commits a prometheus.Collector.
func (c *Commits) Describe(out chan<- *prometheus.Desc) {
	c.commit.Describe(out)
	c.sync.Describe(out)
	c.size.Describe(out)
}

// Collect makes Commits a prometheus.Collector.
func (c *Commits) Collect(out chan<- prometheus.Metric) {
	c.commit.Collect(out)
	c.sync.Collect(out)
	c.size.Collect(out)
}
