// Package auth decides who somebody is and what they may do to a destination.
//
// The types in reading order: [Identity], who somebody is; [Action], what they
// want to do; [Authorizer], who decides; [Open], which lets everybody do
// everything.
//
// Implementations are called by many sessions at once, and may take their time
// over a passcode: the session that asks waits, within its connect timeout, and
// no other does.
package auth
