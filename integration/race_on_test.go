//go:build linux && race

package integration

// raced says that the tests, and what they build, look for data races.
const raced = true
