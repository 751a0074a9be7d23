// Package cli is the command line of footfall. [Run] is a whole run of it, with the
// outside world as arguments, so that tests run it in their own process.
//
// Data goes to standard output, everything else to standard error. What comes from other people's messages never
// reaches a terminal with control characters in it. Each command is a file; run.go is what they share,
// exit.go the exit codes, output.go the ways to print.
package cli
