package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newConn(w *world) *cobra.Command {
	return group("conn", "Look at connections and consumers, and end connections",
		"  footfall conn list\n  footfall conn consumers --destination /queue/orders\n  footfall conn close 17 --reason maintenance --yes",
		newConnList(w), newConnShow(w), newConnConsumers(w), newConnClose(w))
}

// connectionsPath is the path of connections at the admin server.
const connectionsPath = "/api/v1/connections"

// liveConn is what the admin server tells of a connection.
type liveConn struct {
	ID, Remote, User, Version, Transport string
	ClientID                             string `json:"client_id"`
	Subscriptions, Unacked               int
	UnwrittenBytes                       int64 `json:"unwritten_bytes"`
	Transactions                         int
	Temporaries                          int `json:"temporary_destinations"`
	Blocked                              bool
}

func newConnList(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List connections in the order in which they came", Args: cobra.NoArgs,
		Example: "  footfall conn list\n  footfall conn list -o json",
	}
	list := listFlags(cmd, 1000)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		return list.print(cmd.Context(), w, admin, connectionsPath, url.Values{}, newConnTable(w.stdout), "there are more")
	})
	return cmd
}

// newConnTable prints connections in columns.
func newConnTable(out io.Writer) itemTable {
	return newColumns(out, "ID\tREMOTE\tUSER\tCLIENT-ID\tSTOMP\tTRANSPORT\tSUBSCRIPTIONS\tUNACKED\tBLOCKED", func(c *liveConn) []any {
		return []any{c.ID, c.Remote, c.User, c.ClientID, c.Version, c.Transport, c.Subscriptions, c.Unacked, c.Blocked}
	})
}

func newConnShow(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a connection", Args: cobra.ExactArgs(1),
		Example: "  footfall conn show 17\n  footfall conn show 17 -o json",
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		return show[liveConn](cmd.Context(), w, admin, connectionsPath+"/show", url.Values{"id": {args[0]}}, *output)
	})
	return cmd
}

func (c *liveConn) print(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(t, "%s\t%s\n", name, escaped(text)) }
	row("id", c.ID)
	row("remote", c.Remote)
	row("user", c.User)
	row("client-id", c.ClientID)
	row("stomp", c.Version)
	row("transport", c.Transport)
	row("subscriptions", strconv.Itoa(c.Subscriptions))
	row("unacked", fmt.Sprintf("%d messages", c.Unacked))
	row("not written yet", fmt.Sprintf("%d octets", c.UnwrittenBytes))
	row("transactions", strconv.Itoa(c.Transactions))
	row("temporary destinations", strconv.Itoa(c.Temporaries))
	row("blocked", strconv.FormatBool(c.Blocked))
	return t.Flush()
}

// liveConsumer is what the admin server tells of a consumer.
type liveConsumer struct {
	Connection, Remote, User, Subscription, Destination, Selector, Ack string
	Browser                                                            bool
	Window, Unacked                                                    int
	Delivered                                                          uint64
}

func newConnConsumers(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "consumers", Short: "List consumers and browsers in the order of their connections", Args: cobra.NoArgs,
		Example: "  footfall conn consumers\n  footfall conn consumers --destination /queue/orders -o json",
	}
	list := listFlags(cmd, 1000)
	admin := adminFlags(w, cmd)
	of := cmd.Flags().String("destination", "", "of this one only: /queue/NAME, /topic/NAME or /dsub/OWNER:NAME")
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		values := url.Values{}
		if *of != "" {
			values.Set("destination", *of)
		}
		return list.print(cmd.Context(), w, admin, "/api/v1/consumers", values, newConsumerTable(w.stdout), "there are more")
	})
	return cmd
}

// newConsumerTable prints consumers in columns.
func newConsumerTable(out io.Writer) itemTable {
	return newColumns(out, "CONNECTION\tREMOTE\tSUBSCRIPTION\tDESTINATION\tACK\tBROWSER\tWINDOW\tUNACKED\tDELIVERED\tSELECTOR", func(c *liveConsumer) []any {
		return []any{c.Connection, c.Remote, c.Subscription, c.Destination, c.Ack, c.Browser, c.Window, c.Unacked, c.Delivered, c.Selector}
	})
}

func newConnClose(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "close ID...", Short: "End connections with an ERROR that gives the reason", Args: cobra.MinimumNArgs(1),
		Long:    "End connections with an ERROR that gives the reason. What they have and have not acknowledged goes back to its place. It asks before it does so, unless --yes is given.",
		Example: "  footfall conn close 17\n  footfall conn close 17 18 --reason \"maintenance at noon\" --yes",
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	flags := destructiveFlags(cmd)
	reason := cmd.Flags().String("reason", "", "what the ERROR says, one line of at most 1024 octets")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		if err := flags.check(w); err != nil {
			return err
		}
		if !*flags.yes {
			table := newConnTable(w.stdout)
			err := eachID(args, func(id string) error {
				var raw json.RawMessage
				if err := admin.ask(cmd.Context(), http.MethodGet, connectionsPath+"/show", url.Values{"id": {id}}, nil, &raw); err != nil {
					return err
				}
				return table.add(raw)
			})
			if err = errors.Join(table.Flush(), err); err != nil || *flags.dryRun {
				return err
			}
			if !agreed(w.stdin, w.stderr, "close these?") {
				return errors.New("nothing was closed")
			}
		}
		return eachID(args, func(id string) error {
			var raw json.RawMessage
			change := struct {
				ID     string `json:"id"`
				Reason string `json:"reason,omitempty"`
			}{id, *reason}
			if err := admin.ask(cmd.Context(), http.MethodPost, connectionsPath+"/close", nil, change, &raw); err != nil {
				return err
			}
			if *output == formatJSON {
				return printJSONLine(w.stdout, raw)
			}
			_, err := fmt.Fprintf(w.stdout, "closed %s\n", escaped(id))
			return err
		})
	})
	return cmd
}
