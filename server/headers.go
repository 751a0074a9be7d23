package server

// class says what becomes of a header of SEND.
type class uint8

const (
	// passed on as it is: all that nobody here knows
	passedHeader class = iota
	// read, then passed on as it is
	priorityHeader
	persistentHeader
	timestampHeader
	replyToHeader
	dedupHeader
	groupHeader
	groupSeqHeader
	// read and dropped: requests to the broker
	destinationHeader
	transactionHeader
	receiptHeader
	messageIDHeader
	retainHeader
	redeliveryLimitHeader
	// dropped: ours to write, or none of a receiver's business
	droppedHeader
	// of when the message is due or how long it lives: read, and passed on or not, as package schedule says
	timeHeader
)

// isPassedOn says whether receivers see such headers.
func (c class) isPassedOn() bool { return c <= groupSeqHeader }

// isRead says whether the value of such a header means something to the broker.
func (c class) isRead() bool { return c > passedHeader && c < droppedHeader }

// classify tells what becomes of a header of SEND, by its name as it was on the wire. It is the one
// table of header names that a sender cannot pass on. An escaped name is none of these.
func classify(name []byte) class {
	switch string(name) {
	case "destination":
		return destinationHeader // MESSAGE has the text of SUBSCRIBE
	case "transaction":
		return transactionHeader // clients would copy it into their ACK
	case "receipt":
		return receiptHeader
	case "priority":
		return priorityHeader
	case "persistent":
		return persistentHeader // its absence is NON_PERSISTENT to JMS clients
	case "timestamp":
		return timestampHeader
	case "reply-to":
		return replyToHeader
	case "JMSXGroupID", "message_group":
		return groupHeader
	case "JMSXGroupSeq":
		return groupSeqHeader
	case "retain":
		return retainHeader
	case "message-id":
		return messageIDHeader // MESSAGE has ours, or the sender's where it begins with ID:

	case "content-length":
		return droppedHeader // MESSAGE begins with it
	case "subscription", "ack":
		return droppedHeader // MESSAGE has ours; a forged one would be acknowledged in place of it
	case "redelivered", "JMSXDeliveryCount":
		return droppedHeader // only a redelivery has them
	case "browser":
		return droppedHeader // would end a browser
	case "JMSXGroupFirstForConsumer":
		return droppedHeader // only the first message of a group has it
	case "receipt-id":
		return droppedHeader // belongs on RECEIPT
	case "login", "passcode":
		return droppedHeader // secrets
	case "scheduledJobId":
		return droppedHeader // only a message that was delayed has it
	case "original-destination", "original-subscription", "dead-letter-reason", "dead-letter-detail", "dead-letter-time", "dead-letter-count",
		"original-expires", "dlqDeliveryFailureCause", "originalExpiration", "_AMQ_ORIG_ADDRESS", "_AMQ_ORIG_MESSAGE_ID",
		"x-death-reason", "x-first-death-queue":
		return droppedHeader // only a dead letter has them

	// All of schedule.Headers, so that one look-up is enough for a header that is none of them.
	case "delay", "deliver-at", "deliver-schedule",
		"AMQ_SCHEDULED_DELAY", "AMQ_SCHEDULED_PERIOD", "AMQ_SCHEDULED_REPEAT", "AMQ_SCHEDULED_CRON",
		"AMQ_SCHEDULED_TIME", "_AMQ_SCHED_DELIVERY", "JMS_JBOSS_SCHEDULED_DELIVERY", "JMS_OracleDelay", "JMSXRcvTimestamp",
		"JMS_BEA_TimeToDeliver", "JMS_BEA_DeliveryTime", "JMSDeliveryTime", "JMSDeliveryDelay", "x-delay", "DELIVERY_TIME",
		"scheduled-id", "schedule-zone",
		"expires", "ttl", "expiration", "x-message-ttl":
		return timeHeader

	case "redelivery-limit":
		return redeliveryLimitHeader // how often it comes again is between the sender and the broker

	case "dedup-id", "_AMQ_DUPL_ID":
		return dedupHeader // Artemis passes it on
	}
	return passedHeader
}
