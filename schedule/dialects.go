package schedule

// Header is one of the headers of a SEND that say when a message is due, or how long it lives.
type Header uint8

// The headers, in the order in which they count: of several that say when a message is due,
// the first does. From HeaderScheduledID on they say something else.
const (
	HeaderDelay            Header = iota // delay
	HeaderDeliverAt                      // deliver-at
	HeaderDeliverSchedule                // deliver-schedule
	HeaderAMQDelay                       // AMQ_SCHEDULED_DELAY
	HeaderAMQPeriod                      // AMQ_SCHEDULED_PERIOD
	HeaderAMQRepeat                      // AMQ_SCHEDULED_REPEAT
	HeaderAMQCron                        // AMQ_SCHEDULED_CRON
	HeaderAMQTime                        // AMQ_SCHEDULED_TIME
	HeaderArtemis                        // _AMQ_SCHED_DELIVERY
	HeaderJBoss                          // JMS_JBOSS_SCHEDULED_DELIVERY
	HeaderOracle                         // JMS_OracleDelay
	HeaderOpenJMS                        // JMSXRcvTimestamp
	HeaderBEATimeToDeliver               // JMS_BEA_TimeToDeliver
	HeaderBEADeliveryTime                // JMS_BEA_DeliveryTime
	HeaderJMSDeliveryTime                // JMSDeliveryTime
	HeaderJMSDeliveryDelay               // JMSDeliveryDelay
	HeaderXDelay                         // x-delay
	HeaderDeliveryTime                   // DELIVERY_TIME, which counts in a SEND to a delay queue only
	HeaderScheduledID                    // scheduled-id
	HeaderScheduleZone                   // schedule-zone
	HeaderExpires                        // expires
	HeaderTTL                            // ttl
	HeaderExpiration                     // expiration
	HeaderMessageTTL                     // x-message-ttl

	headerCount

	// firstOther is the first one that is not of a due time.
	firstOther = HeaderScheduledID
)

// Form is how the value of a header is written.
type Form uint8

// The forms. FormDuration: see [ParseDelay]. FormInstant: see [ParseInstant]. FormMillis and FormSeconds: whole
// numbers, of a time from now. FormEpoch: a whole number of milliseconds since 1970 in UTC.
// FormSchedule: see [Schedule]. FormCron: see [Cron]. FormCount: a number of deliveries. FormName: a name.
const (
	FormDuration Form = iota + 1
	FormInstant
	FormMillis
	FormSeconds
	FormEpoch
	FormSchedule
	FormCron
	FormCount
	FormName
)

// Dialect is a row of the table of headers.
type Dialect struct {
	Name   string
	Form   Form
	Origin string // the broker or standard whose users write it
}

// Where headers come from.
const (
	ours     = "Footfall"
	activeMQ = "ActiveMQ"
	artemis  = "Artemis"
	webLogic = "WebLogic"
	jms2     = "JMS 2.0"
	rabbitMQ = "RabbitMQ"
)

var dialects = [headerCount]Dialect{
	HeaderDelay:            {"delay", FormDuration, ours},
	HeaderDeliverAt:        {"deliver-at", FormInstant, ours},
	HeaderDeliverSchedule:  {"deliver-schedule", FormSchedule, ours},
	HeaderAMQDelay:         {"AMQ_SCHEDULED_DELAY", FormMillis, activeMQ},
	HeaderAMQPeriod:        {"AMQ_SCHEDULED_PERIOD", FormMillis, activeMQ},
	HeaderAMQRepeat:        {"AMQ_SCHEDULED_REPEAT", FormCount, activeMQ},
	HeaderAMQCron:          {"AMQ_SCHEDULED_CRON", FormCron, activeMQ},
	HeaderAMQTime:          {"AMQ_SCHEDULED_TIME", FormEpoch, artemis},
	HeaderArtemis:          {"_AMQ_SCHED_DELIVERY", FormEpoch, artemis},
	HeaderJBoss:            {"JMS_JBOSS_SCHEDULED_DELIVERY", FormEpoch, "JBoss Messaging"},
	HeaderOracle:           {"JMS_OracleDelay", FormSeconds, "Oracle AQ"},
	HeaderOpenJMS:          {"JMSXRcvTimestamp", FormEpoch, "OpenJMS"},
	HeaderBEATimeToDeliver: {"JMS_BEA_TimeToDeliver", FormMillis, webLogic},
	HeaderBEADeliveryTime:  {"JMS_BEA_DeliveryTime", FormEpoch, webLogic},
	HeaderJMSDeliveryTime:  {"JMSDeliveryTime", FormEpoch, jms2},
	HeaderJMSDeliveryDelay: {"JMSDeliveryDelay", FormMillis, jms2},
	HeaderXDelay:           {"x-delay", FormMillis, rabbitMQ},
	HeaderDeliveryTime:     {"DELIVERY_TIME", FormEpoch, "JMS providers without delays"},
	HeaderScheduledID:      {"scheduled-id", FormName, ours},
	HeaderScheduleZone:     {"schedule-zone", FormName, ours},
	HeaderExpires:          {"expires", FormEpoch, "JMS"},
	HeaderTTL:              {"ttl", FormMillis, "Apollo"},
	HeaderExpiration:       {"expiration", FormMillis, rabbitMQ},
	HeaderMessageTTL:       {"x-message-ttl", FormMillis, rabbitMQ},
}

// Dialect returns the row of h.
func (h Header) Dialect() Dialect { return dialects[h] }

// String returns the name of the header.
func (h Header) String() string { return dialects[h].Name }

// IsRequest tells whether the header is a request to the broker, which the delivered message does
// not carry: if it did, a message that is sent on would be delayed again. Those of a lifetime are
// passed on.
func (h Header) IsRequest() bool { return h < HeaderExpires }

// Headers returns all headers, in the order in which they count.
func Headers() []Header {
	all := make([]Header, headerCount)
	for i := range all {
		all[i] = Header(i)
	}
	return all
}

// Lookup finds the header of a name as it was on the wire. Names are case-sensitive. It does not allocate.
func Lookup(name []byte) (Header, bool) {
	switch string(name) {
	case "delay":
		return HeaderDelay, true
	case "deliver-at":
		return HeaderDeliverAt, true
	case "deliver-schedule":
		return HeaderDeliverSchedule, true
	case "AMQ_SCHEDULED_DELAY":
		return HeaderAMQDelay, true
	case "AMQ_SCHEDULED_PERIOD":
		return HeaderAMQPeriod, true
	case "AMQ_SCHEDULED_REPEAT":
		return HeaderAMQRepeat, true
	case "AMQ_SCHEDULED_CRON":
		return HeaderAMQCron, true
	case "AMQ_SCHEDULED_TIME":
		return HeaderAMQTime, true
	case "_AMQ_SCHED_DELIVERY":
		return HeaderArtemis, true
	case "JMS_JBOSS_SCHEDULED_DELIVERY":
		return HeaderJBoss, true
	case "JMS_OracleDelay":
		return HeaderOracle, true
	case "JMSXRcvTimestamp":
		return HeaderOpenJMS, true
	case "JMS_BEA_TimeToDeliver":
		return HeaderBEATimeToDeliver, true
	case "JMS_BEA_DeliveryTime":
		return HeaderBEADeliveryTime, true
	case "JMSDeliveryTime":
		return HeaderJMSDeliveryTime, true
	case "JMSDeliveryDelay":
		return HeaderJMSDeliveryDelay, true
	case "x-delay":
		return HeaderXDelay, true
	case "DELIVERY_TIME":
		return HeaderDeliveryTime, true
	case "scheduled-id":
		return HeaderScheduledID, true
	case "schedule-zone":
		return HeaderScheduleZone, true
	case "expires":
		return HeaderExpires, true
	case "ttl":
		return HeaderTTL, true
	case "expiration":
		return HeaderExpiration, true
	case "x-message-ttl":
		return HeaderMessageTTL, true
	}
	return 0, false
}
