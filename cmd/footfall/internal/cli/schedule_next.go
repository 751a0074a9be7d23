package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"footfall/schedule"
	"github.com/spf13/cobra"
)

// expression is a schedule or a cron expression.
type expression interface {
	Next(after time.Time, zone *time.Location) (time.Time, bool)
	String() string
}

// nextTimes is the output of schedule next.
type nextTimes struct {
	// Kind is "schedule" or "cron", Expression its canonical form.
	Kind       string   `json:"kind"`
	Expression string   `json:"expression"`
	Zone       string   `json:"zone"`
	Times      []string `json:"times"`
}

func newScheduleNext(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "next EXPRESSION",
		Short: "Tell when a schedule or a cron expression is due next; no broker is asked",
		Long: "Tell when a schedule of seven fields (millisecond second minute hour dayOfMonth month dayOfWeek), or a cron expression of five " +
			"(minute hour dayOfMonth month dayOfWeek), is due next. No broker is asked.",
		Example: "  footfall schedule next '0 9 * * mon-fri' --zone Europe/Berlin\n  footfall schedule next '0 0 0 12 last * *' --count 12",
		Args:    cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	flags := cmd.Flags()
	zone := flags.String("zone", "UTC", "the time zone that it means, such as Europe/Berlin")
	count := flags.Int("count", 10, "how many times")
	from := flags.String("from", "", "after this time: 2026-01-31T12:00:00Z, or milliseconds since 1970; default now")
	cmd.RunE = ran(func(*cobra.Command, []string) error {
		if *count < 1 || *count > 100_000 {
			return usage(errors.New("flag --count: must be 1 to 100000"))
		}
		after := time.Now()
		if *from != "" {
			ms, err := schedule.ParseInstant(*from)
			if err != nil {
				return usage(fmt.Errorf("flag --from: %w", err))
			}
			after = time.UnixMilli(ms)
		}
		in, err := new(schedule.Zones).Load(*zone)
		if err != nil {
			return usage(fmt.Errorf("flag --zone: %w", err))
		}
		kind, e, err := parseExpression(flags.Arg(0))
		if err != nil {
			return usage(err)
		}
		n := nextTimes{Kind: kind, Expression: e.String(), Zone: in.String(), Times: []string{}}
		weekdays := make([]string, 0, *count)
		for at, ok := e.Next(after, in); ok && len(n.Times) < *count; at, ok = e.Next(at, in) {
			n.Times = append(n.Times, at.Format("2006-01-02T15:04:05.000Z07:00"))
			weekdays = append(weekdays, at.Format("Mon"))
		}
		if *output == formatJSON {
			return printJSON(w.stdout, n)
		}
		for i, at := range n.Times {
			if _, err := fmt.Fprintf(w.stdout, "%s %s\n", weekdays[i], at); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

// parseExpression tells the two languages apart by the number of fields.
func parseExpression(text string) (kind string, e expression, err error) {
	fields := len(strings.Fields(text))
	switch {
	case strings.Contains(text, ";") || fields == 7:
		e, err = parsed(schedule.Parse(text))
		return "schedule", e, err
	case fields == 5:
		e, err = parsed(schedule.ParseCron(text))
		return "cron", e, err
	}
	return "", nil, fmt.Errorf("%.80q has %d fields: a schedule has seven, millisecond second minute hour dayOfMonth month dayOfWeek, and a cron expression five, minute hour dayOfMonth month dayOfWeek", text, fields)
}

// parsed keeps a nil pointer from becoming an expression that is not nil.
func parsed[E expression](e E, err error) (expression, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}
