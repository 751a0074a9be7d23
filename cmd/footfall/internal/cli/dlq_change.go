package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// deadChange is what the admin server is asked to do.
type deadChange struct {
	Queue    string `json:"queue"`
	ID       string `json:"id,omitempty"`
	Origin   string `json:"origin,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Selector string `json:"selector,omitempty"`
	All      bool   `json:"all,omitempty"`
	To       string `json:"to,omitempty"`
	Limit    int    `json:"limit"`
	Cursor   string `json:"cursor,omitempty"`
}

// deadChanged is its answer, and the output: what was done in all.
type deadChanged struct {
	Changed  int    `json:"changed"`
	Unacked  int    `json:"unacked"`
	Homeless int    `json:"homeless"`
	Next     string `json:"next,omitempty"`
}

func newDLQRetry(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "retry QUEUE [ID]...", Short: "Send dead letters back to where they died",
		Long: "Send dead letters back to where they died, or to another destination: those of the ids, those of an origin or a reason or that a selector wants, or all. " +
			"It asks before it does so, unless --yes is given. What a consumer has, and what nobody knows the origin of, stays. When it is ended on the way, what was sent back is so.",
		Example: "  footfall dlq retry DLQ.orders 4.8lk1qjfk2\n  footfall dlq retry DLQ.orders --reason expired --to /queue/late --yes\n  footfall dlq retry DLQ.orders --all --rate 100",
		Args:    cobra.MinimumNArgs(1),
	}
	to := cmd.Flags().String("to", "", "send them there: /queue/NAME or /topic/NAME")
	rate := cmd.Flags().Int("rate", 0, "so many in a second at most; 0 for as many as can be")
	changeDead(w, cmd, "retry", "sent back", func() (string, int, error) {
		if *rate < 0 || *rate > 1_000_000 {
			return "", 0, usage(errors.New("flag --rate: must be 0 to 1000000"))
		}
		return *to, *rate, nil
	})
	return cmd
}

func newDLQPurge(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "purge QUEUE [ID]...", Short: "Delete dead letters",
		Long: "Delete dead letters: those of the ids, those of an origin or a reason or that a selector wants, or all. It asks before it does so, unless --yes is given. " +
			"What a consumer has stays.",
		Example: "  footfall dlq purge DLQ.orders --reason expired\n  footfall dlq purge DLQ.orders --all --yes",
		Args:    cobra.MinimumNArgs(1),
	}
	changeDead(w, cmd, "purge", "deleted", func() (string, int, error) { return "", 0, nil })
	return cmd
}

// changeDead gives a command what retry and purge have in common.
func changeDead(w *world, cmd *cobra.Command, action, done string, flags func() (to string, rate int, err error)) {
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	filter := deadFlags(cmd)
	all := cmd.Flags().Bool("all", false, "all of the queue")
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	dryRun := cmd.Flags().Bool("dry-run", false, "only list what it would be about")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		to, rate, err := flags()
		if err != nil {
			return err
		}
		c := deadChange{Queue: queueName(args[0]), Origin: *filter.origin, Reason: *filter.reason, Selector: *filter.selector, All: *all, To: to}
		ids, filtered := args[1:], c.Origin != "" || c.Reason != "" || c.Selector != ""
		switch {
		case len(ids) > 0 && (filtered || c.All), filtered && c.All, len(ids) == 0 && !filtered && !c.All:
			return usage(errors.New("what is wanted: either ids, or --origin, --reason and --selector, or --all"))
		case *yes && *dryRun:
			return usage(errors.New("flags --yes and --dry-run: only one of them can count"))
		case !*yes && !*dryRun && !isTerminal(w.stdin):
			return usage(errors.New("flag --yes is needed where there is no terminal to ask at"))
		}
		if !*yes {
			if err := previewDead(w, cmd, admin, &c, ids); err != nil || *dryRun {
				return err
			}
			if !agreed(w.stdin, w.stderr, action+" these?") {
				return errors.New("nothing was " + done)
			}
		}
		r := pagedChange{w: w, cmd: cmd, admin: admin, path: dlqPath + "/" + action, rate: rate, done: done, quiet: !isTerminal(w.stderr)}
		if err := r.run(c, ids); err != nil {
			return err
		}
		return r.print(*output)
	})
}

// previewDead lists what a change would be about, a hundred of it at most.
func previewDead(w *world, cmd *cobra.Command, admin *adminServer, c *deadChange, ids []string) error {
	values := url.Values{"queue": {c.Queue}}
	for name, text := range map[string]string{"origin": c.Origin, "reason": c.Reason, "selector": c.Selector} {
		if text != "" {
			values.Set(name, text)
		}
	}
	if len(ids) == 0 {
		items, more, err := deadItems(cmd, admin, values, 100)
		if err != nil {
			return err
		}
		if more {
			defer fmt.Fprintln(w.stderr, "and more")
		}
		return printDeadTable(w, items)
	}
	for _, id := range ids {
		values.Set("id", id)
		items, _, err := deadItems(cmd, admin, values, 1)
		if err == nil && len(items) == 0 {
			err = &failure{exitNotFound, fmt.Errorf("there is no dead letter %s in %s", id, c.Queue)}
		}
		if err = cmp.Or(err, printDeadTable(w, items)); err != nil {
			return err
		}
	}
	return nil
}

// pagedChange does a change, page by page.
type pagedChange struct {
	w     *world
	cmd   *cobra.Command
	admin *adminServer
	path  string
	rate  int
	done  string
	quiet bool
	sum   deadChanged
}

func (r *pagedChange) run(c deadChange, ids []string) error {
	change := func(id string) error {
		c.ID = id
		return r.pages(1000, func(limit int, cursor string) any {
			c.Limit, c.Cursor = limit, cursor
			return &c
		})
	}
	if len(ids) == 0 {
		return change("")
	}
	return eachID(ids, change)
}

// pages goes on until there are no more, at the rate that is wanted, and tells how far it is. document makes what is asked for.
func (r *pagedChange) pages(limit int, document func(limit int, cursor string) any) error {
	if r.rate > 0 {
		limit = min(limit, max(r.rate/10, 1))
	}
	for cursor := ""; ; {
		began := time.Now()
		var page deadChanged
		if err := r.admin.ask(r.cmd.Context(), http.MethodPost, r.path, nil, document(limit, cursor), &page); err != nil {
			return err
		}
		r.sum.Changed += page.Changed
		r.sum.Unacked += page.Unacked
		r.sum.Homeless += page.Homeless
		if !r.quiet {
			fmt.Fprintf(r.w.stderr, "\r%s: %d ", r.done, r.sum.Changed)
		}
		if cursor = page.Next; cursor == "" {
			if !r.quiet {
				fmt.Fprintln(r.w.stderr)
			}
			return nil
		}
		if r.rate > 0 {
			pause := time.Duration(page.Changed)*time.Second/time.Duration(r.rate) - time.Since(began)
			select {
			case <-time.After(pause):
			case <-r.cmd.Context().Done():
				return r.cmd.Context().Err()
			}
		}
	}
}

// print tells what was done in all.
func (r *pagedChange) print(output format) error {
	if output == formatJSON {
		return printJSON(r.w.stdout, r.sum)
	}
	fmt.Fprintf(r.w.stdout, "%s: %d", r.done, r.sum.Changed)
	if r.sum.Unacked > 0 {
		fmt.Fprintf(r.w.stdout, ", with consumers: %d", r.sum.Unacked)
	}
	if r.sum.Homeless > 0 {
		fmt.Fprintf(r.w.stdout, ", without a place to go to: %d", r.sum.Homeless)
	}
	_, err := fmt.Fprintln(r.w.stdout)
	return err
}
