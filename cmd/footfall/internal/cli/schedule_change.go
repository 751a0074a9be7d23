package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"footfall/schedule"
	"github.com/spf13/cobra"
)

// change is the output of a change: how many messages and jobs of each id it touched.
type change struct {
	ID          string `json:"id"`
	Cancelled   int    `json:"cancelled,omitempty"`
	Run         int    `json:"run,omitempty"`
	Rescheduled int    `json:"rescheduled,omitempty"`
}

func newScheduleCancel(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cancel ID...",
		Short:   "Take back what waits under an id",
		Long:    "Take back what waits under an id, at all destinations. It asks before it does so, unless --yes is given.",
		Example: "  footfall schedule cancel nightly-report\n  footfall schedule cancel --yes 1h.68hlqcqv8.k9z3w2m1 1h.68hlqcqv9.k9z3w2m1",
		Args:    cobra.MinimumNArgs(1),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	dryRun := cmd.Flags().Bool("dry-run", false, "only list what would be taken back")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		switch {
		case *yes && *dryRun:
			return usage(errors.New("flags --yes and --dry-run: only one of them can count"))
		case *dryRun:
			return preview(cmd.Context(), w, admin, args, *output, w.stdout)
		case !*yes && !isTerminal(w.stdin):
			return usage(errors.New("flag --yes is needed where there is no terminal to ask at"))
		case !*yes:
			if err := preview(cmd.Context(), w, admin, args, formatText, w.stderr); err != nil {
				return err
			}
			if !confirmed(w.stdin, w.stderr) {
				return errors.New("nothing was taken back")
			}
		}
		return eachID(args, func(id string) error {
			c := change{ID: id}
			if err := admin.ask(cmd.Context(), http.MethodDelete, idPath(id), nil, nil, &c); err != nil {
				return err
			}
			return c.print(w, *output, "took back %d under %s\n", c.Cancelled)
		})
	})
	return cmd
}

// preview lists what waits under some ids.
func preview(ctx context.Context, w *world, admin *adminServer, ids []string, output format, out io.Writer) error {
	table := newWaitingTable(out)
	err := eachID(ids, func(id string) error {
		var page listPage
		if err := admin.ask(ctx, http.MethodGet, idPath(id), url.Values{"body": {"0"}, "limit": {"1000"}}, nil, &page); err != nil {
			return err
		}
		if output == formatJSON {
			return printJSONLine(w.stdout, listed{Items: page.Items, More: page.Next != ""})
		}
		return addAll(table, page.Items)
	})
	if output == formatJSON {
		return err
	}
	return errors.Join(table.Flush(), err)
}

// confirmed asks at the terminal.
func confirmed(in io.Reader, out io.Writer) bool { return agreed(in, out, "take this back?") }

// agreed asks a question at the terminal.
func agreed(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question+" [y/N] ")
	line, _ := bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

// eachID calls f for each id, and goes on where there is none. Any other error ends it.
func eachID(ids []string, f func(id string) error) error {
	var missing []error
	for _, id := range ids {
		err := f(id)
		var other *failure
		switch {
		case errors.As(err, &other) && other.code == exitNotFound:
			missing = append(missing, err)
		case err != nil:
			return errors.Join(append(missing, err)...)
		}
	}
	return errors.Join(missing...)
}

func (c *change) print(w *world, output format, text string, n int) error {
	if output == formatJSON {
		return printJSONLine(w.stdout, c)
	}
	_, err := fmt.Fprintf(w.stdout, text, n, escaped(c.ID))
	return err
}

func newScheduleRun(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "run ID",
		Short:   "Deliver what waits under an id now",
		Long:    "Deliver what waits under an id now. Of a repeating job that is a delivery more: it goes on as before.",
		Example: "  footfall schedule run nightly-report\n  footfall schedule run 1h.68hlqcqv8.k9z3w2m1 -o json",
		Args:    cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		c := change{ID: args[0]}
		if err := admin.ask(cmd.Context(), http.MethodPost, idPath(args[0])+"/run", nil, nil, &c); err != nil {
			return err
		}
		return c.print(w, *output, "delivered %d under %s\n", c.Run)
	})
	return cmd
}

func newScheduleReschedule(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reschedule ID TIME",
		Short: "Deliver what waits under an id at another time",
		Long: "Deliver what waits under an id at another time, in RFC 3339 or in milliseconds since 1970. It keeps its id. " +
			"Of a repeating job that moves the next delivery only.",
		Example: "  footfall schedule reschedule nightly-report 2026-12-24T18:00:00+01:00\n  footfall schedule reschedule 1h.68hlqcqv8.k9z3w2m1 1798131600000",
		Args:    cobra.ExactArgs(2),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		at, err := schedule.ParseInstant(args[1])
		if err != nil {
			return usage(fmt.Errorf("TIME: %w", err))
		}
		c := change{ID: args[0]}
		if err := admin.ask(cmd.Context(), http.MethodPatch, idPath(args[0]), nil, map[string]int64{"deliver_at": at}, &c); err != nil {
			return err
		}
		return c.print(w, *output, "moved %d under %s\n", c.Rescheduled)
	})
	return cmd
}
