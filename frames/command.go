package frames

// Command is the first line of a frame.
type Command uint8

// The commands of clients, then those of servers. Recover is Footfall's own.
const (
	Connect Command = iota + 1
	Stomp
	Send
	Subscribe
	Unsubscribe
	Ack
	Nack
	Recover
	Begin
	Commit
	Abort
	Disconnect
	Connected
	Message
	Receipt
	Failure // ERROR; the name Error is the type's
)

// String returns the command as it stands on the wire, and nothing for what is no command.
func (c Command) String() string {
	if c > Failure {
		return ""
	}
	return [...]string{
		"", "CONNECT", "STOMP", "SEND", "SUBSCRIBE", "UNSUBSCRIBE", "ACK", "NACK", "RECOVER",
		"BEGIN", "COMMIT", "ABORT", "DISCONNECT", "CONNECTED", "MESSAGE", "RECEIPT", "ERROR",
	}[c]
}

// parseCommand returns 0 for what is no command.
func parseCommand(line []byte) Command {
	// STOMP 1.2 Augmented BNF: commands are case-sensitive and stand alone in their line.
	switch string(line) {
	case "SEND":
		return Send
	case "ACK":
		return Ack
	case "MESSAGE":
		return Message
	case "NACK":
		return Nack
	case "CONNECT":
		return Connect
	case "STOMP":
		return Stomp
	case "SUBSCRIBE":
		return Subscribe
	case "UNSUBSCRIBE":
		return Unsubscribe
	case "RECOVER":
		return Recover
	case "BEGIN":
		return Begin
	case "COMMIT":
		return Commit
	case "ABORT":
		return Abort
	case "DISCONNECT":
		return Disconnect
	case "CONNECTED":
		return Connected
	case "RECEIPT":
		return Receipt
	case "ERROR":
		return Failure
	}
	return 0
}

// ofServer says that servers send the command.
func (c Command) ofServer() bool { return c >= Connected }

// hasBody says that frames of the command may have a body.
func (c Command) hasBody() bool {
	// STOMP 1.2 Body: only SEND, MESSAGE and ERROR may have one.
	return c == Send || c == Message || c == Failure
}

// literal says that the command's headers know no escapes.
func (c Command) literal() bool {
	// STOMP 1.2 Value Encoding: CONNECT and CONNECTED are not escaped, to stay readable by 1.0;
	// STOMP 1.2 CONNECT: STOMP is handled in the same manner.
	return c == Connect || c == Stomp || c == Connected
}
