package broker

import "time"

// OpKind says what an Op asks for.
type OpKind uint8

// The kinds of operations, with the fields of Op that each uses beside Receipt.
const (
	// OpSend stores Message and gives it to the consumers of To. With a
	// transaction (Tx not 0) it is never submitted by itself but as part of OpCommit.
	OpSend OpKind = iota + 1
	// OpSubscribe adds Subscribe.
	OpSubscribe
	// OpUnsubscribe ends the subscription Sub. With Durable it deletes that durable subscription, and Sub need not exist.
	OpUnsubscribe
	// OpAck and OpNack settle the delivery that Ack names, at once (Tx 0) or when Tx commits.
	OpAck
	OpNack
	// OpRecover puts back what is unacknowledged of Sub, or of all subscriptions where Sub is empty. Of Nack only the delay counts.
	OpRecover
	// OpCommit does all of Sends and what was settled with Tx, in one atomic step; without a Tx it is one SEND to several destinations.
	OpCommit
	// OpAbort makes what was settled with Tx pending again.
	OpAbort
	// OpCancel takes back what is scheduled under the name Schedule.ID, of any destination; that there
	// is nothing is no error.
	OpCancel
	// OpCancelAll takes back all that is due from Schedule.From to Schedule.Until.
	OpCancelAll
	// OpBrowseSchedule sends a copy of each message that is due in that span to Schedule.ReplyTo.
	OpBrowseSchedule
	// OpReceipt does nothing but ask for a receipt in its turn, as BEGIN or a
	// SEND in a transaction does.
	OpReceipt
	// OpDisconnect ends the session in good order: after its receipt comes OutputClose.
	OpDisconnect
	// OpFail ends the session with Err, after the answers to all that came before.
	OpFail
)

// Op is one step that a session asks for. It is a union: Kind says which fields count.
type Op struct {
	Kind OpKind
	// WantReceipt and Receipt: the receipt id that answers this Op, octet for octet as
	// it was on the wire.
	WantReceipt bool
	Receipt     string

	To      Address
	Message *Message
	// NoCreate refuses OpSend where To is a queue that does not exist.
	NoCreate bool

	Subscribe *SubscribeOp
	// Sub is the key of a subscription, see SubscribeOp.ID.
	Sub string
	// Durable names the durable subscription that OpUnsubscribe deletes.
	Durable SubscriptionName

	Ack AckOp
	// Nack is what OpNack or OpRecover asks for beside; nil for nothing. It is not changed.
	Nack *NackOp

	Schedule *ScheduleOp

	// Tx is the session's number of the transaction, from 1; 0 for none.
	Tx    uint64
	Sends []Op

	Err *Error
}

// sends tells whether op is a SEND, to one destination or to several.
func (op *Op) sends() bool { return op.Kind == OpSend || op.Kind == OpCommit && op.Tx == 0 }

// ScheduleOp is what the management of the schedule asks for.
type ScheduleOp struct {
	ID string
	// From and Until are times of delivery in milliseconds since the epoch, both inclusive.
	From, Until int64
	ReplyTo     Address
}

// AckMode is how a subscription's messages are acknowledged.
type AckMode uint8

// The modes. AckAuto: taken when its octets were handed to the kernel. AckClient:
// an ACK covers all earlier deliveries of the subscription. AckIndividual: one delivery each.
const (
	AckAuto AckMode = iota
	AckClient
	AckIndividual
)

// SubscribeOp is what a SUBSCRIBE asks for.
type SubscribeOp struct {
	// ID is the key of the subscription on its connection; a second live one with
	// the same key is refused.
	ID string
	// Text is the destination text of SUBSCRIBE, shown as destination of its messages where From is one destination.
	Text string
	// From is what is subscribed to. Its name may be one with wildcards, see HasWildcard: then that is all topics that match, those too that are made
	// later; the loop puts it into a canonical form.
	From Address
	// Parts takes the place of Text and From for a subscription to several destinations at once. They share the window, and the order of their deliveries is
	// the one that AckClient means. It is neither Durable nor Shared unless all of them are topics that are not temporary, and Browse is nil.
	Parts []Source
	// Selector says which messages are wanted, in the language of package selector; blank for all.
	Selector string
	Mode     AckMode
	// Window bounds the unacknowledged deliveries: messages and octets of body and headers, 0
	// for the default; Options.MaxWindow and MaxWindowBytes bound them. A message that is larger than the octets by itself still passes, alone.
	Window      int
	WindowBytes int64
	// Durable names the durable subscription to the topic From that messages are taken of: it is made if it does not exist, and made
	// anew if it is to another topic, or has another Selector or NoLocal. From may be of kind Durable instead, and the subscription exist.
	Durable SubscriptionName
	// Shared names a backlog of the topic From that all who give the same name share, for as long as one of them is there.
	Shared SubscriptionName
	// Priority: consumers of a higher one are served first, as long as they have room. 0 is that of most.
	Priority int32
	// Exclusive: of the consumers that ask for it one gets all, and no other anything, until it leaves.
	Exclusive bool
	// NoLocal leaves out what the connection itself sends to the topic From.
	NoLocal bool
	// Browse looks at the queue From and takes nothing; nil: it is consumed.
	Browse *BrowseOp
	// Redelivery is what the consumer wants of messages that it does not take; nil for nothing.
	Redelivery *Redelivery
	// AckTimeout is how long a delivery may be pending before it is taken back; 0 for without end. That of the destination
	// counts before it.
	AckTimeout time.Duration
	// NoCreate refuses it where From is a queue, or Durable a durable subscription, that does not exist. Parts have their own.
	NoCreate bool
	// Tag is the session's own, given back in Output.Tag.
	Tag any
}

// Source is one of the destinations of a subscription to several.
type Source struct {
	// Text is what the client calls it.
	Text    string
	Address Address
	// NoCreate refuses it where Address is a queue that does not exist.
	NoCreate bool
}

// AckOp names a delivery, in one of three ways; the first that is set counts.
type AckOp struct {
	// Sub and Number are those of Output: the n-th delivery of the n-th subscription of this connection.
	SubNumber, Number uint64
	// UserID is the sender's own message id, MessageID that of the broker.
	UserID    string
	MessageID MessageID
	// Sub narrows the last two to one subscription, by its key; empty for any on the connection.
	Sub string
	// Invalid says that the text cannot be an id that this connection was given, in
	// the words of the client, for the ERROR.
	Invalid string

	// Credit grants that many messages more than the window. With it and no
	// delivery named nothing is settled.
	Credit int
	// Extend, of an ACK, acknowledges nothing: what is named has so many milliseconds more, from now on, before it is
	// taken back as not acknowledged in time.
	Extend int64
	// Text is what the client named, for the ERROR.
	Text string
}

// Request is what a session hands over in one piece. The Ops are done in order.
// It and all that it points to belong to the loop after Submit.
type Request struct {
	Ops []Op
	// Bytes is about how much memory it holds, for the bounds of the inbox.
	Bytes int
}

// OutputKind says what an Output is.
type OutputKind uint8

// The kinds of outputs.
const (
	OutputMessage OutputKind = iota + 1
	OutputReceipt
	// OutputError is the last thing that a connection gets; it is closed after it.
	OutputError
	// OutputClose ends a connection in good order.
	OutputClose
	// OutputBrowserEnd tells a browser that it was shown all.
	OutputBrowserEnd
)

// Output is one thing that the loop has for a connection.
type Output struct {
	Kind OutputKind
	// Receipt is the receipt id that OutputReceipt, or OutputError where WantReceipt says
	// so, answers.
	Receipt     string
	WantReceipt bool

	// OutputMessage:

	Message *Message
	Tag     any // SubscribeOp.Tag
	// SubNumber and Number name the delivery in an ACK, see AckOp.
	SubNumber, Number uint64
	// Destination is the destination text of the SEND, for a subscription to more than one destination; else it is empty, and SubscribeOp.Text does.
	Destination string
	// Seq is the number of the message in the queue that it is browsed in, which rises with each that comes; else 0.
	Seq uint64
	// GroupFirst says that the consumer gets the messages of the group of this one from here on.
	GroupFirst bool
	// Deliveries is the number of earlier deliveries of this message.
	Deliveries  uint32
	Redelivered bool
	// HideUserID says that another delivery with the sender's id of this message is
	// pending on the connection, so that ours is to be shown: ids must tell them apart.
	HideUserID bool

	// Duplicate, of OutputReceipt, says that the SEND was taken before, and was not now.
	Duplicate bool

	// OutputReceipt of a scheduled SEND:

	ScheduledID string
	DeliverAt   int64

	Err *Error
}

// Outbox takes what the loop has for one connection.
type Outbox interface {
	// Put appends outputs, in order. It must neither block nor keep the slice. Only the
	// loop calls it. What is outstanding is bounded by Options.OutboxBytes and the windows.
	Put(outputs []Output)
}
