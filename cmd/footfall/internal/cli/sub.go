package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func newSub(w *world) *cobra.Command {
	return group("sub", "Look at durable subscriptions, and delete them",
		"  footfall sub list --topic /topic/prices\n  footfall sub show billing:invoices\n  footfall sub delete --yes billing:invoices",
		newSubList(w), newSubShow(w), newSubDelete(w))
}

// subscriptionsPath is the path of durable subscriptions at the admin server.
const subscriptionsPath = "/api/v1/subscriptions"

func subscriptionPath(id string) string { return subscriptionsPath + "/" + url.PathEscape(id) }

// durableSub is what the admin server tells of a durable subscription.
type durableSub struct {
	ID, Owner, Name, Topic, Selector, User string
	NoLocal                                bool   `json:"no_local"`
	ClientID                               string `json:"client_id"`
	Created                                time.Time
	Ready, Unacked, Bytes                  int64
	Received, Delivered, Acked             uint64
	Consumers                              []struct {
		Subscription, Remote, User string
		ClientID                   string `json:"client_id"`
		Unacked                    int
		Delivered                  uint64
	}
}

func newSubList(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List durable subscriptions in the order of their names",
		Example: "  footfall sub list\n  footfall sub list --topic /topic/prices -o json",
		Args:    cobra.NoArgs,
	}
	list := listFlags(cmd, 1000)
	admin := adminFlags(w, cmd)
	topic := cmd.Flags().String("topic", "", "to this topic only: /topic/NAME")
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		values := url.Values{}
		if *topic != "" {
			values.Set("topic", *topic)
		}
		return list.print(cmd.Context(), w, admin, subscriptionsPath, values, newSubTable(w.stdout), "there are more")
	})
	return cmd
}

// newSubTable prints durable subscriptions in columns.
func newSubTable(out io.Writer) itemTable {
	return newColumns(out, "SUBSCRIPTION\tTOPIC\tREADY\tUNACKED\tOCTETS\tCONSUMERS\tSELECTOR", func(s *durableSub) []any {
		return []any{s.ID, s.Topic, s.Ready, s.Unacked, s.Bytes, len(s.Consumers), s.Selector}
	})
}

func newSubShow(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show SUBSCRIPTION",
		Short:   "Show a durable subscription with its consumers",
		Example: "  footfall sub show billing:invoices\n  footfall sub show billing:invoices -o json",
		Args:    cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		return show[durableSub](cmd.Context(), w, admin, subscriptionPath(args[0]), nil, *output)
	})
	return cmd
}

func (s *durableSub) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(table, "%s\t%s\n", name, escaped(text)) }
	row("subscription", s.ID)
	row("topic", s.Topic)
	if s.Selector != "" {
		row("selector", s.Selector)
	}
	row("no-local", strconv.FormatBool(s.NoLocal))
	row("user", s.User)
	row("client-id", s.ClientID)
	row("created", stamp(s.Created))
	row("ready", fmt.Sprintf("%d messages", s.Ready))
	row("unacked", fmt.Sprintf("%d messages", s.Unacked))
	row("octets", strconv.FormatInt(s.Bytes, 10))
	row("since the start", fmt.Sprintf("%d received, %d delivered, %d acknowledged", s.Received, s.Delivered, s.Acked))
	for _, c := range s.Consumers {
		row("consumer", fmt.Sprintf("%s, subscription %s, user %q, client-id %q: %d delivered, %d unacked", c.Remote, strconv.Quote(c.Subscription), c.User, c.ClientID, c.Delivered, c.Unacked))
	}
	return table.Flush()
}

func newSubDelete(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete SUBSCRIPTION...",
		Short: "Delete durable subscriptions with all that they keep",
		Long: "Delete durable subscriptions with all that they keep. It asks before it does so, unless --yes is given. " +
			"One that is in use is not deleted, unless --force ends the connections of its consumers.",
		Example: "  footfall sub delete billing:invoices\n  footfall sub delete --yes --force billing:invoices billing:orders",
		Args:    cobra.MinimumNArgs(1),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	dryRun := cmd.Flags().Bool("dry-run", false, "only list what would be deleted")
	force := cmd.Flags().Bool("force", false, "also where somebody consumes it")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		switch {
		case *yes && *dryRun:
			return usage(errors.New("flags --yes and --dry-run: only one of them can count"))
		case *dryRun:
			return subPreview(cmd.Context(), admin, args, *output, w.stdout)
		case !*yes && !isTerminal(w.stdin):
			return usage(errors.New("flag --yes is needed where there is no terminal to ask at"))
		case !*yes:
			if err := subPreview(cmd.Context(), admin, args, formatText, w.stderr); err != nil {
				return err
			}
			if !agreed(w.stdin, w.stderr, "delete this?") {
				return errors.New("nothing was deleted")
			}
		}
		values := url.Values{}
		if *force {
			values.Set("force", "true")
		}
		return eachID(args, func(id string) error {
			d := deleted{ID: id}
			if err := admin.ask(cmd.Context(), http.MethodDelete, subscriptionPath(id), values, nil, &d); err != nil {
				return err
			}
			if *output == formatJSON {
				return printJSONLine(w.stdout, d)
			}
			_, err := fmt.Fprintf(w.stdout, "deleted %s\n", escaped(id))
			return err
		})
	})
	return cmd
}

// deleted is the output of a deletion as JSON.
type deleted struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// subPreview lists some durable subscriptions.
func subPreview(ctx context.Context, admin *adminServer, ids []string, output format, out io.Writer) error {
	table := newSubTable(out)
	err := eachID(ids, func(id string) error {
		var raw json.RawMessage
		if err := admin.ask(ctx, http.MethodGet, subscriptionPath(id), nil, nil, &raw); err != nil {
			return err
		}
		if output == formatJSON {
			return printJSONLine(out, raw)
		}
		return table.add(raw)
	})
	if output == formatJSON {
		return err
	}
	return errors.Join(table.Flush(), err)
}
