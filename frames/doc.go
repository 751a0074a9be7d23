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
//
// # Memory
//
// A Reader has one read buffer, of 4 KiB at first and 64 KiB under load, and more
// only while header lines need it. Frames that fit are views into it and allocate
// nothing. The body of a larger frame gets memory of its own, which doubles
// with what arrives, whatever content-length announces, and becomes the
// caller's. A search for the end of a line or body goes on where it stopped when octets ran out.
//
// # Leniency
//
// The rules of the specification are tagged in the code with their version and section.
// Beyond them a Reader accepts, in every version: NULs between frames, raw colons in
// values, a content-length on frames without a body, header octets that are no UTF-8, and
// CRLF in the first frame; in 1.0 also CRLF anywhere. What frames come out, and which
// error ends them, does not depend on how the octets were cut into reads.
package frames
