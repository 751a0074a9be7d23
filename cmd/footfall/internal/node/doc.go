// Package node is a whole broker in one process: the store, the queue engine, the
// STOMP server and the admin server, opened in this order and closed in the other.
//
// The types in reading order: [Options], all that can be chosen, and [Settings], the
// list of it that flags, environment, file and manual are made of; [Destination], what can be
// chosen of single destinations, and [Explained], what of that counts for one; [Node], a
// broker that runs. memory.go is the policy for the garbage collector.
package node
