// Package schedule tells when something is due.
//
// The types in reading order:
//
//   - [ParseDelay] reads a time from now, [ParseInstant] a time on the calendar. Both give whole
//     milliseconds, the grain of everything that is stored, and round up: nothing is due early.
//   - [Schedule] and [Cron] are sets of times, in the languages of WebLogic and of Unix. Their Next
//     finds the time after another one, in a zone, without allocating, in a bounded number of steps. [Zones]
//     finds zones by name.
//   - [Header] is the table of the headers, of several brokers, by which a SEND says when its message
//     is due; [Request] collects them and resolves them to a [Plan]. [Lifetime] is when a message expires.
//   - [Repeat] is what a repeating job repeats, and [Job] one that is under way, as it is stored.
//
// Zones that change their clocks follow one rule: a time is due at the first instant at which the
// wall clock has reached it. A time that the clock skips is due when it jumps, together with all
// others that it skips; one that it shows twice is due at the first.
//
// The package is pure. It has no goroutine and no timer, it never asks the clock, and but for the
// zones in a Zones, which its caller owns, it holds no state. All its values may be read by several
// goroutines at once, and Zones may be used by several. A text that is longer than its limit,
// [MaxText], [MaxCron], [MaxSchedule] or [MaxID], is refused before it is looked at, and an [Error]
// names the place in the text that was wrong.
package schedule
