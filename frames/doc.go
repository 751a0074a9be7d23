// Package frames turns octets into STOMP 1.0, 1.1 and 1.2 frames and back.
//
// The types in reading order: [Version] and [Command]; [Header], the header
// block of a frame as it lies on the wire; [Frame]; [Limits]; [Reader], which
// takes octets in and gives frames out; the Append functions, which render
// frames; [Error], a breach of the protocol or of a limit.
//
// The package is a pure codec: no goroutine, no lock, no clock, no connection,
// and no idea of what a destination is. A Reader belongs to one goroutine.
//
// Header octets are never decoded unless somebody asks. A block that came from a
// session is passed to another one as it is where both use the same escapes,
// see [Header.AppendTo].
package frames
