// Package store keeps messages and what belongs to them: batches go in, each one
// atomic and durable when its outcome comes back, and what lives comes out in
// pages. It knows no protocol and no rule of delivery.
//
// The types in reading order: [Shard], [Seq], [BacklogID], the names of things;
// [RefKey] and [DueKey], the two places a message can be in; [Backlog], the
// counters and marks that make a start independent of what is stored; [Batch],
// the only way to change anything; [Store] on disk and [Memory] without one; [Check].
//
// # One door
//
// Every change goes through Submit. Batches are physical and blind: final keys and
// values, nothing is read, timed or chosen when one is applied. Each carries, for every
// shard that it touches, a header {version, epoch, seq, previous checksum, checksum} that is
// kept in the shard's meta record and checked when it is applied, so that a log that
// lost its middle, or a writer of an older epoch, is found out.
//
// A batch is one atomic unit whatever its size, up to MaxBatchBytes: Pebble writes it as one record of its
// log, and one that is larger than half a memtable becomes a memtable by itself. A transaction
// therefore needs no commit mark of its own. It is in memory up to three times while it is written.
//
// # Order and visibility
//
// Outcomes come in the order of Submit. A scan may see a batch before its outcome:
// whoever scans must not act on what has no outcome yet. A page is of one moment.
//
// # Goroutines
//
// A Store has three of its own. One takes all batches that wait, merges small ones and
// writes them; one waits for them to be synced, in order, and gives the outcomes, so
// that the next are written meanwhile; one keeps the high-water mark. Close ends them.
//
// # The high-water mark
//
// The file MARK says what was once on disk: the epoch, and the number of batches of each
// shard. It is written at Open, at Close, and at most once a second between, always behind what
// was synced. A database that is behind its mark is refused: Pebble notices damage in a log only in
// front of what later records prove to be synced, and the last records have none behind them. What
// was written in the last second before a crash, and damaged in it, can be lost without notice.
//
// # Failure
//
// A write or sync that failed is never tried again: Options.Fatal is called once and no
// further outcome is given. So is a read that failed or found what was never written. Two
// failures are none: a mark that is not written, which is only old, and a table that is not
// written in the background, which Pebble tries again while the log still has its content.
//
// # Limits
//
// Memory is that of MemTableBytes, four times at most, of CacheBytes, of the batches that were
// submitted and have no outcome, and of the pages asked for. It does not depend on what is stored.
package store
