// Package server takes connections and speaks STOMP on them: it turns the frames
// of a session into requests to the broker, and what the broker has for a session
// into frames.
//
// The types in reading order: [Options] and [Transport], what can be set; [Server],
// which is served, shut down and closed as an http.Server is; [Broker] and [Link],
// the queue engine as a server needs it; [Stats]. Inside: conn, one connection;
// session, a state machine from frames to operations, which has no connection
// and is given its clock; outbox, what the broker left for the writer; render.go and errors.go, the
// frames that go out; open.go and webSocket, what may lie between a socket and frames.
//
// # Ownership
//
// Each connection has two goroutines. The reader owns the session, reads, and until
// CONNECTED was sent also writes. From then on the writer owns all writes and
// the heart-beats. A listener has one goroutine more, that of Serve. Whoever starts a
// goroutine waits for its end: the reader for its writer, the server for its readers.
//
// # Order
//
// What a session asks for goes to the broker in the order of its frames, and so do
// its faults: a bad frame becomes an operation that fails at its place, so
// that the answers to what came before it come before the ERROR. After it nothing
// more of that connection is parsed.
//
// # Limits
//
// A frame is limited by Options.Limits while it is read. A session that does not read its answers is not
// read either, once outboxReceipts of them or outboxBytes wait for it; messages are
// bounded by the broker. Transactions, subscriptions and remembered destinations have limits of their own.
package server
