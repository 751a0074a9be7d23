package node

import (
	"errors"
	"math"
	"strings"
	"time"

	"footfall/cmd/footfall/internal/config"
	"footfall/server"
)

// Schedule are the settings of delays and schedules that are no options of another package as they are.
type Schedule struct {
	// DelayQueues are as in server.Options, or the one word "none".
	DelayQueues []string
	// Management tells whether the schedule is managed by messages.
	Management bool
}

func scheduling(o *Options) []config.Setting {
	s := &o.Server.Schedule
	return []config.Setting{
		config.Number(&s.MaxRepeats, "schedule.max-repeats", "1000", config.Bounds{Min: 1, Max: math.MaxInt32},
			"The greatest `AMQ_SCHEDULED_REPEAT`. Without end, -1, is always allowed."),
		config.Duration(&s.MinPeriod, "schedule.min-period", "10ms", span(time.Millisecond, 24*time.Hour),
			"The shortest time between two repeats."),
		config.Duration(&s.Skew, "schedule.skew", "5s", span(time.Millisecond, time.Hour),
			"How far a delay and a time in one SEND may be apart and still mean the same, as the sender's clock is not the broker's."),
		config.Text(&s.Zone, "schedule.zone", "UTC", "name of a time zone, as Europe/Berlin",
			"The time zone of schedules and cron expressions whose senders name none with `schedule-zone`.", zone),
		config.List(&o.Schedule.DelayQueues, "schedule.delay-queues", "DELAYED_QUEUE", "name, or none",
			"Queues that take messages for other destinations and times, in the headers `JMS_DESTINATION` and `DELIVERY_TIME`. Names without a prefix.", queueName),
		config.Switch(&o.Schedule.Management, "schedule.management", "true",
			"List and take back what is scheduled by messages to `ActiveMQ.Scheduler.Management`. The admin server does so either way."),
	}
}

func queueName(text string) error {
	if strings.HasPrefix(text, "/") {
		return errors.New("must be the name of a queue, without /queue/")
	}
	return nil
}

// apply puts s into the options of a server.
func (s *Schedule) apply(o *server.Options) {
	o.NoScheduleManagement = !s.Management
	if o.DelayQueues = s.DelayQueues; len(s.DelayQueues) == 1 && s.DelayQueues[0] == none {
		o.DelayQueues = []string{}
	}
}
