// Package broker is the queue engine: destinations, subscriptions, delivery,
// acknowledgement, redelivery, delays.
//
// One goroutine, the loop, owns all state. Sessions hand it [Request] values
// through a bounded inbox; it works in rounds: take what waits, apply it, build
// one durable batch, and let go of what the round produced (receipts, messages,
// errors) when that batch is on disk. The loop never waits for a session, a
// socket or a disk.
//
// The types in reading order: [Address], what a message is sent to; [Message];
// [Op] and [Request], what a session asks for; [Conn], a session as the loop
// knows it; [Outbox] and [Output], what the loop gives back; [Policies], what an operator wants of
// single destinations; [Broker].
package broker
