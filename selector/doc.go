// Package selector is about message selectors: the conditions, in the SQL-92 subset of JMS 3.1, by which a
// consumer says what it wants of a destination.
//
// A selector is parsed once and matched many times. Parsing is bounded in length, depth and
// nodes, and its errors name the position; matching is without mutable state, in time linear in
// the message, and never fails: what cannot be compared is unknown, by three-valued logic. Names are those of the
// caller, which maps them to headers: the package knows no protocol.
package selector
