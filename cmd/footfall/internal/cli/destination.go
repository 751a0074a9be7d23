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
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// destinationsPath is the path of queues and topics at the admin server.
const destinationsPath = "/api/v1/destinations"

// newDestination makes the commands about queues, or those about topics.
func newDestination(w *world, kind string) *cobra.Command {
	commands := []*cobra.Command{
		newDestinationList(w, kind), newDestinationShow(w, kind), newDestinationCreate(w, kind), newDestinationDelete(w, kind),
		newDestinationPause(w, kind, "pause"), newDestinationPause(w, kind, "resume"),
	}
	if kind == "queue" {
		commands = append(commands, newQueuePurge(w))
	}
	return group(kind, "Look at "+kind+"s, make them, pause them and delete them",
		fmt.Sprintf("  footfall %[1]s list --sort ready\n  footfall %[1]s show orders\n  footfall %[1]s pause orders production\n  footfall %[1]s delete orders --yes", kind), commands...)
}

// destinationText makes /queue/NAME of a name; that form is taken as it is.
func destinationText(kind, name string) string {
	if strings.HasPrefix(name, "/"+kind+"/") {
		return name
	}
	return "/" + kind + "/" + name
}

// destinationItem is what the admin server tells of a queue or a topic.
type destinationItem struct {
	Destination, Kind, Name    string
	Ready, Unacked, Bytes      int64
	Consumers                  int
	Received, Delivered, Acked uint64
	Created                    time.Time

	Paused   []string
	Browsers int
	Durables int `json:"durable_subscriptions"`
	Kept     bool
	Policy   []struct{ Setting, Value, Match string }
}

func newDestinationList(w *world, kind string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List " + kind + "s with what they hold", Args: cobra.NoArgs,
		Example: fmt.Sprintf("  footfall %[1]s list --sort ready --limit 20\n  footfall %[1]s list --name orders -o json", kind),
	}
	list := listFlags(cmd, 1000)
	admin := adminFlags(w, cmd)
	name := cmd.Flags().String("name", "", "only those with this text in their name")
	sort := cmd.Flags().String("sort", "name", "order: name, activity, ready, unacked, bytes or consumers; all but names the greatest first")
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		values := url.Values{"kind": {kind}, "sort": {*sort}}
		if *name != "" {
			values.Set("name", *name)
		}
		return list.printOffset(cmd.Context(), w, admin, destinationsPath, values, newDestinationTable(w.stdout))
	})
	return cmd
}

// printOffset is print for a list whose pages begin at an offset.
func (l listing) printOffset(ctx context.Context, w *world, admin *adminServer, path string, values url.Values, table itemTable) error {
	if *l.limit < 1 || *l.limit > 10_000_000 {
		return usage(errors.New("flag --limit: must be 1 to 10000000"))
	}
	all := listed{Items: []json.RawMessage{}}
	for {
		values.Set("limit", strconv.Itoa(min(*l.limit-len(all.Items), 1000)))
		values.Set("offset", strconv.Itoa(len(all.Items)))
		var page struct {
			Total int               `json:"total"`
			Items []json.RawMessage `json:"items"`
		}
		if err := admin.ask(ctx, http.MethodGet, path, values, nil, &page); err != nil {
			return err
		}
		all.Items = append(all.Items, page.Items...)
		if all.More = page.Total > len(all.Items); !all.More || len(page.Items) == 0 || len(all.Items) >= *l.limit {
			break
		}
	}
	if *l.output == formatJSON {
		return printJSON(w.stdout, all)
	}
	if err := errors.Join(addAll(table, all.Items), table.Flush()); err != nil {
		return err
	}
	if all.More {
		fmt.Fprintf(w.stderr, "there are more; --limit is %d\n", *l.limit)
	}
	return nil
}

// newDestinationTable prints destinations in columns.
func newDestinationTable(out io.Writer) itemTable {
	return newColumns(out, "DESTINATION\tREADY\tUNACKED\tOCTETS\tCONSUMERS\tRECEIVED\tDELIVERED\tACKED", func(d *destinationItem) []any {
		return []any{d.Destination, d.Ready, d.Unacked, d.Bytes, d.Consumers, d.Received, d.Delivered, d.Acked}
	})
}

func newDestinationShow(w *world, kind string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a " + kind + " with the settings that count for it", Args: cobra.ExactArgs(1),
		Example: fmt.Sprintf("  footfall %[1]s show orders\n  footfall %[1]s show orders -o json", kind),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		raw, d, err := showDestination(cmd.Context(), admin, destinationText(kind, args[0]))
		if err != nil {
			return err
		}
		if *output == formatJSON {
			return printJSON(w.stdout, raw)
		}
		return d.print(w.stdout)
	})
	return cmd
}

func showDestination(ctx context.Context, admin *adminServer, text string) (raw json.RawMessage, d destinationItem, err error) {
	if err := admin.ask(ctx, http.MethodGet, destinationsPath+"/show", url.Values{"destination": {text}}, nil, &raw); err != nil {
		return nil, d, err
	}
	return raw, d, json.Unmarshal(raw, &d)
}

func (d *destinationItem) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(table, "%s\t%s\n", name, escaped(text)) }
	row("destination", d.Destination)
	row("created", stamp(d.Created))
	row("paused", strings.Join(d.Paused, ", "))
	row("ready", fmt.Sprintf("%d messages", d.Ready))
	row("unacked", fmt.Sprintf("%d messages", d.Unacked))
	row("octets", strconv.FormatInt(d.Bytes, 10))
	row("consumers", fmt.Sprintf("%d, and %d browsers", d.Consumers, d.Browsers))
	if d.Kind == "topic" {
		row("durable subscriptions", strconv.Itoa(d.Durables))
	}
	row("since the start", fmt.Sprintf("%d received, %d delivered, %d acknowledged", d.Received, d.Delivered, d.Acked))
	for _, p := range d.Policy {
		text := p.Value
		if p.Match != "" {
			text += ", by " + p.Match
		}
		row(p.Setting, text)
	}
	return table.Flush()
}

func newDestinationCreate(w *world, kind string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a " + kind, Args: cobra.ExactArgs(1),
		Long:    "Make a " + kind + ", also where delivery.auto-create is off. That it is there already is no error.",
		Example: fmt.Sprintf("  footfall %s create orders", kind),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		var made struct {
			Destination string `json:"destination"`
			Made        bool   `json:"made"`
		}
		if err := admin.ask(cmd.Context(), http.MethodPost, destinationsPath+"/make", nil, destinationChange{Destination: destinationText(kind, args[0])}, &made); err != nil {
			return err
		}
		switch {
		case *output == formatJSON:
			return printJSONLine(w.stdout, made)
		case made.Made:
			fmt.Fprintf(w.stdout, "made %s\n", escaped(made.Destination))
		default:
			fmt.Fprintf(w.stdout, "%s was there\n", escaped(made.Destination))
		}
		return nil
	})
	return cmd
}

// destinationChange is what the admin server is asked to do with a destination.
type destinationChange struct {
	Destination string   `json:"destination"`
	IfUnused    bool     `json:"if_unused,omitempty"`
	IfEmpty     bool     `json:"if_empty,omitempty"`
	Paused      []string `json:"paused,omitempty"`
}

func newDestinationPause(w *world, kind, action string) *cobra.Command {
	about := map[string]string{"pause": "Put a stop to production, consumption or both of a ", "resume": "Let what is paused go on at a "}[action]
	cmd := &cobra.Command{
		Use: action + " NAME production|consumption|all", Short: about + kind, Args: cobra.ExactArgs(2),
		Long: about + kind + ". While production is paused senders wait as for a full queue, and are refused in the end; while consumption is paused " +
			"consumers get nothing. It counts after a restart too.",
		Example: fmt.Sprintf("  footfall %s %s orders production\n  footfall %[1]s %[2]s orders all", kind, action),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		var now struct {
			Destination string   `json:"destination"`
			Paused      []string `json:"paused"`
		}
		change := destinationChange{Destination: destinationText(kind, args[0]), Paused: strings.Split(args[1], ",")}
		if err := admin.ask(cmd.Context(), http.MethodPost, destinationsPath+"/"+action, nil, change, &now); err != nil {
			return err
		}
		if *output == formatJSON {
			return printJSONLine(w.stdout, now)
		}
		text := "nothing"
		if len(now.Paused) > 0 {
			text = strings.Join(now.Paused, ", ")
		}
		fmt.Fprintf(w.stdout, "%s: paused is %s\n", escaped(now.Destination), text)
		return nil
	})
	return cmd
}

// destructive are the flags of what cannot be undone.
type destructive struct{ yes, dryRun *bool }

func destructiveFlags(cmd *cobra.Command) destructive {
	return destructive{cmd.Flags().Bool("yes", false, "do not ask"), cmd.Flags().Bool("dry-run", false, "only list what it would be about")}
}

func (d destructive) check(w *world) error {
	switch {
	case *d.yes && *d.dryRun:
		return usage(errors.New("flags --yes and --dry-run: only one of them can count"))
	case !*d.yes && !*d.dryRun && !isTerminal(w.stdin):
		return usage(errors.New("flag --yes is needed where there is no terminal to ask at"))
	}
	return nil
}

// destinationGone is the answer to a deletion.
type destinationGone struct {
	Destination string `json:"destination"`
	Messages    int64  `json:"messages"`
	Consumers   int    `json:"consumers"`
	Durables    int    `json:"durable_subscriptions"`
}

func newDestinationDelete(w *world, kind string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME...", Short: "Delete " + kind + "s with all that they have", Args: cobra.MinimumNArgs(1),
		Long: "Delete " + kind + "s with all that they have: messages, what waits for its time there, durable subscriptions. The connections of their consumers end with an ERROR. " +
			"It asks before it does so, unless --yes is given. A later SEND or SUBSCRIBE makes them anew.",
		Example: fmt.Sprintf("  footfall %[1]s delete orders\n  footfall %[1]s delete orders.old --yes --if-unused --if-empty", kind),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	flags := destructiveFlags(cmd)
	unused := cmd.Flags().Bool("if-unused", false, "not where there are consumers or durable subscriptions")
	empty := cmd.Flags().Bool("if-empty", false, "not where there are messages")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		if err := flags.check(w); err != nil {
			return err
		}
		if !*flags.yes {
			if err := previewDestinations(cmd.Context(), w, admin, kind, args); err != nil || *flags.dryRun {
				return err
			}
			if !agreed(w.stdin, w.stderr, "delete these?") {
				return errors.New("nothing was deleted")
			}
		}
		return eachID(args, func(name string) error {
			var gone destinationGone
			change := destinationChange{Destination: destinationText(kind, name), IfUnused: *unused, IfEmpty: *empty}
			if err := admin.ask(cmd.Context(), http.MethodPost, destinationsPath+"/delete", nil, change, &gone); err != nil {
				return err
			}
			if *output == formatJSON {
				return printJSONLine(w.stdout, gone)
			}
			fmt.Fprintf(w.stdout, "deleted %s: %d messages, %d consumers, %d durable subscriptions\n", escaped(gone.Destination), gone.Messages, gone.Consumers, gone.Durables)
			return nil
		})
	})
	return cmd
}

// previewDestinations lists what would be deleted.
func previewDestinations(ctx context.Context, w *world, admin *adminServer, kind string, names []string) error {
	table := newDestinationTable(w.stdout)
	err := eachID(names, func(name string) error {
		raw, _, err := showDestination(ctx, admin, destinationText(kind, name))
		if err != nil {
			return err
		}
		return table.add(raw)
	})
	return errors.Join(table.Flush(), err)
}

func newQueuePurge(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "purge NAME", Short: "Delete the messages of a queue that no consumer has", Args: cobra.ExactArgs(1),
		Long: "Delete the messages of a queue that no consumer has; the queue stays, and what waits for its time. It asks before it does so, unless --yes is given. " +
			"When it is ended on the way, what was deleted is so.",
		Example: "  footfall queue purge orders\n  footfall queue purge orders --yes",
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	flags := destructiveFlags(cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		return runMsgChange(w, cmd, admin, flags, *output, msgChange{From: destinationText("queue", args[0]), All: true}, nil, "delete", "deleted")
	})
	return cmd
}
