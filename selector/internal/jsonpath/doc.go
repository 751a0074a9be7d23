// Package jsonpath finds single values in JSON documents from strangers.
//
// [ParseDocument] checks a document, within limits, and notes where its values are; nothing is copied. [Parse] reads a path: "$", then ".name",
// "['name']" or "[0]" as often as wanted. [Path.Find] follows it. Of members with one name the first counts.
//
// Paths and documents are immutable and may be used by several goroutines at once.
package jsonpath
