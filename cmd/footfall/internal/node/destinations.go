package node

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"footfall/broker"
	"footfall/cmd/footfall/internal/config"
	"footfall/schedule"
)

// Destination is an item of the list of destinations: what is wanted of those that match. Its fields hold what was
// written, empty for nothing. See broker.Policy.
type Destination struct {
	Match, TimeToDeliver, ScheduleZone, DefaultTTL, MaxTTL, Expired string
	Redelivery
	Quota
}

// none in the place of a value says that there is none, whatever less specific items say.
const none = "none"

func destinations(o *Options) []config.Setting {
	return []config.Setting{
		config.Entries(&o.Destinations, "destinations",
			"What is wanted of single destinations, see [destinations](destinations.md). For each setting the most specific match that has it counts.",
			func(d *Destination) []config.Setting {
				return append([]config.Setting{
					config.Text(&d.Match, "match", "", "/queue/NAME or /topic/NAME",
						"Which destinations. `*` in the place of a level, levels being parted by dots, stands for one level, each of `>`, `#` and `**` for any number of them.", nil),
					config.Text(&d.TimeToDeliver, "time-to-deliver", "", "duration up to ten years, schedule, or none",
						"When messages are due, whatever their senders ask for. 0 is at once, `none` leaves it to the senders.", timeToDeliver),
					config.Text(&d.ScheduleZone, "schedule-zone", "", "name of a time zone",
						"The zone of the schedule in `time-to-deliver`; without it that is `schedule.zone`.", zone),
					config.Text(&d.DefaultTTL, "default-ttl", "", "duration up to ten years, or none",
						"How long a message lives whose sender says nothing about it.", ttl),
					config.Text(&d.MaxTTL, "max-ttl", "", "duration up to ten years, or none",
						"The longest that any message lives.", ttl),
					config.Choice(&d.Expired, "expired", "",
						"What becomes of messages that expire. `discard` drops and counts them, `log` also logs them, `redirect` moves them to the error destination.", "discard", "log", "redirect"),
				}, append(d.Redelivery.settings(), d.Quota.settings()...)...)
			}, checkDestinations),
	}
}

func timeToDeliver(text string) error {
	_, err := parseTimeToDeliver(text, nil)
	return err
}

// parseTimeToDeliver reads an override. A schedule has blanks between its fields, a duration has none.
func parseTimeToDeliver(text string, zone *time.Location) (*broker.Override, error) {
	if text == none {
		return &broker.Override{}, nil
	}
	if strings.ContainsAny(strings.Trim(text, " \t"), " \t;") {
		s, err := schedule.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("must be a duration or a schedule: %w", place(err))
		}
		return &broker.Override{Plan: &schedule.Plan{Kind: schedule.OnSchedule, Schedule: s, Zone: zone}}, nil
	}
	d, err := parseDelay(text)
	switch {
	case err != nil:
		return nil, err
	case d == 0:
		return &broker.Override{Plan: &schedule.Plan{}}, nil
	}
	return &broker.Override{Plan: &schedule.Plan{Kind: schedule.After, Delay: d.Milliseconds()}}, nil
}

// parseDelay reads a duration that is not negative and has a unit, as all durations of settings do.
func parseDelay(text string) (time.Duration, error) {
	text = strings.Trim(text, " \t")
	d, err := schedule.ParseDelay(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("must be a duration as in 90s, 2h30m or 7d: %w", place(err))
	case d < 0:
		return 0, errors.New("must not be negative")
	case d > 0 && strings.Trim(text, "+0123456789") == "":
		return 0, fmt.Errorf("needs a unit: %sms, %ss", text, text)
	}
	return d, nil
}

// place is an error about a text without that text, which is told anyhow.
func place(err error) error {
	var e *schedule.Error
	if errors.As(err, &e) {
		return fmt.Errorf("at position %d %s", e.Offset+1, e.Reason)
	}
	return err
}

func zone(text string) error {
	if text == "" {
		return errors.New("must not be empty")
	}
	if _, err := new(schedule.Zones).Load(text); err != nil {
		return fmt.Errorf("must be a time zone as in Europe/Berlin: %w", place(err))
	}
	return nil
}

func ttl(text string) error {
	_, err := parseTTL(text)
	return err
}

// parseTTL reads a time to live, 0 for none.
func parseTTL(text string) (time.Duration, error) {
	if text == none {
		return 0, nil
	}
	d, err := parseDelay(text)
	if err == nil && d == 0 {
		err = errors.New("must be more than 0, or none")
	}
	return d, err
}

// checkDestinations finds what is wrong with items that each make sense.
func checkDestinations(items []config.Item[Destination]) (list []config.Complaint) {
	policies := make([]broker.Policy, len(items))
	for i := range items {
		d := &items[i].Of
		policies[i] = d.policy(nil)
		if d.ScheduleZone != "" && (policies[i].TimeToDeliver == nil || !isSchedule(policies[i].TimeToDeliver.Plan)) {
			list = append(list, config.Complaint{Item: i, Key: "schedule-zone", Err: errors.New("has no schedule in time-to-deliver beside it")})
		}
	}
	_, err := broker.NewPolicies(policies)
	var all broker.PolicyErrors
	errors.As(err, &all)
	for _, e := range all {
		c := config.Complaint{Item: e.Index, Key: e.Setting, Err: e.Err}
		if e.Other >= 0 {
			c.Err = fmt.Errorf("%w; that is at %s", e.Err, items[e.Other].At)
		}
		list = append(list, c)
	}
	return list
}

func isSchedule(p *schedule.Plan) bool { return p != nil && p.Kind == schedule.OnSchedule }

// policy makes of d, whose values were checked, what the broker wants. The zone is for a schedule without one.
func (d *Destination) policy(defaultZone *time.Location) broker.Policy {
	p := broker.Policy{Match: d.Match}
	if d.TimeToDeliver != "" {
		in := defaultZone
		if d.ScheduleZone != "" {
			in, _ = new(schedule.Zones).Load(d.ScheduleZone)
		}
		p.TimeToDeliver, _ = parseTimeToDeliver(d.TimeToDeliver, in)
	}
	if d.DefaultTTL != "" {
		t, _ := parseTTL(d.DefaultTTL)
		p.DefaultTTL = &t
	}
	if d.MaxTTL != "" {
		t, _ := parseTTL(d.MaxTTL)
		p.MaxTTL = &t
	}
	switch d.Expired {
	case "discard":
		p.Expired = broker.ExpiredDiscard
	case "log":
		p.Expired = broker.ExpiredLog
	case "redirect":
		p.Expired = broker.ExpiredRedirect
	}
	d.Redelivery.apply(&p)
	d.Quota.apply(&p)
	return p
}

// policies compiles the list of destinations.
func (o *Options) policies() ([]broker.Policy, *broker.Policies, error) {
	in, err := new(schedule.Zones).Load(o.Server.Schedule.Zone)
	if err != nil {
		return nil, nil, fmt.Errorf("the zone of schedules: %w", err)
	}
	list := make([]broker.Policy, len(o.Destinations))
	for i := range o.Destinations {
		list[i] = o.Destinations[i].Of.policy(in)
	}
	policies, err := broker.NewPolicies(list)
	return list, policies, err
}
