// Package storetest helps to test what is built on store, and what store is: [Run] is
// what every kind of store must do, [Disk] a disk that can fail and crash.
//
// A Disk lives in memory and its stores start nothing that wakes by itself, so both
// may be used inside a synctest bubble.
package storetest
