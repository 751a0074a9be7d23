// Package client is a small STOMP client for the command line: one connection, used by
// one goroutine, with each step bounded by a context.
//
// The types in reading order: [Options]; [Client]; [Frame], what a server said, as text; [ServerError], its refusal.
package client
