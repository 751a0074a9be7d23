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
// # Order and visibility
//
// Outcomes come in the order of Submit. A scan may see a batch before its outcome:
// whoever scans must not act on what has no outcome yet.
//
// # Failure
//
// A write or sync that failed is never tried again: Options.Fatal is called once and no
// further outcome is given.
package store
