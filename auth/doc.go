// Package auth decides who somebody is and what they may do to a destination.
//
// The types in reading order: [Identity], who somebody is; [Action], what they
// want to do; [Authorizer], who decides; [Open], which lets everybody do
// everything; [Directory], which knows users and rules. Behind that: [Users], the list of users and its file;
// [Rule], who may do what with which [Pattern] of destinations; [Role], what somebody may do with the admin server. Inside: contain.go, whether a set of
// destinations is allowed as a whole; hash.go, the passcodes; throttle.go and workers.go, what logins may cost.
//
// Rules allow and deny. What no rule allows is denied, and what one denies stays so whatever others allow.
//
// Implementations are called by many sessions at once, and may take their time
// over a passcode: the session that asks waits, within its connect timeout, and
// no other does.
//
// # Limits
//
// A few passcodes are hashed at a time, and a bounded number of logins waits for that. Failed logins are limited in rate, by address and by
// name, and the failures of a bounded number of these are remembered. A file of users has at most 16 MiB, and a hash in it bounded costs. Whether
// a set is allowed is decided in a bounded number of steps, or denied.
package auth
