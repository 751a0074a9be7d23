package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func newDLQ(w *world) *cobra.Command {
	return group("dlq", "Look at dead letters, send them back or delete them",
		"  footfall dlq list\n  footfall dlq show DLQ.orders\n  footfall dlq retry DLQ.orders --all --rate 100 --yes",
		newDLQList(w), newDLQShow(w), newDLQRetry(w), newDLQPurge(w))
}

// dlqPath is the path of dead letters at the admin server.
const dlqPath = "/api/v1/dlq"

// dead is what the admin server tells of a dead letter.
type dead struct {
	ID           string
	MessageID    string `json:"message_id"`
	Origin       string
	Subscription string
	Reason       string
	Detail       string
	Died         *time.Time
	Deaths       int
	Persistent   bool
	Priority     int
	Sent         time.Time
	Unacked      bool
	Headers      []struct{ Name, Value string }
	BodyBytes    int64 `json:"body_bytes"`
	Body         *string
	Base64       []byte `json:"body_base64"`
}

func newDLQList(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the queues that dead letters go to, with how many they have", Args: cobra.NoArgs,
		Example: "  footfall dlq list\n  footfall dlq list -o json",
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		var list struct {
			Items []struct {
				Queue     string `json:"queue"`
				Ready     int64  `json:"ready"`
				Unacked   int64  `json:"unacked"`
				Bytes     int64  `json:"bytes"`
				Consumers int    `json:"consumers"`
			} `json:"items"`
		}
		if err := admin.ask(cmd.Context(), http.MethodGet, dlqPath, nil, nil, &list); err != nil {
			return err
		}
		if *output == formatJSON {
			return printJSON(w.stdout, list)
		}
		t := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "QUEUE\tREADY\tUNACKED\tOCTETS\tCONSUMERS\n")
		for _, q := range list.Items {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", escaped(q.Queue), q.Ready, q.Unacked, q.Bytes, q.Consumers)
		}
		return t.Flush()
	})
	return cmd
}

// queueName takes /queue/ off the name of a queue.
func queueName(text string) string { return strings.TrimPrefix(text, "/queue/") }

// deadFilter are the flags that narrow a list of dead letters down.
type deadFilter struct{ origin, reason, selector *string }

func deadFlags(cmd *cobra.Command) deadFilter {
	return deadFilter{
		origin:   cmd.Flags().String("origin", "", "only those that died at this destination: /queue/NAME or /topic/NAME"),
		reason:   cmd.Flags().String("reason", "", "only those of this reason: redelivery-limit, rejected, expired, overflow"),
		selector: cmd.Flags().String("selector", "", "only those that this JMS message selector wants"),
	}
}

func newDLQShow(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show QUEUE [ID]", Short: "List the dead letters in a queue, or show one of them with its headers and the beginning of its body", Args: cobra.RangeArgs(1, 2),
		Example: "  footfall dlq show DLQ.orders --reason rejected\n  footfall dlq show DLQ.orders 4.8lk1qjfk2 --body 65536 -o json",
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	filter := deadFlags(cmd)
	limit := cmd.Flags().Int("limit", 100, "list so many at most")
	body := cmd.Flags().Int("body", 4096, "octets of the body of one to show, at most 65536")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		if *limit < 1 || *limit > 10_000_000 {
			return usage(errors.New("flag --limit: must be 1 to 10000000"))
		}
		values := url.Values{"queue": {queueName(args[0])}}
		filter.add(values)
		if len(args) == 2 {
			values.Set("id", args[1])
			values.Set("body", strconv.Itoa(*body))
		}
		items, more, err := deadItems(cmd, admin, values, *limit)
		switch {
		case err != nil:
			return err
		case len(args) == 2 && len(items) == 0:
			return &failure{exitNotFound, fmt.Errorf("there is no dead letter %s in %s", args[1], args[0])}
		case *output == formatJSON:
			return printJSON(w.stdout, listed{Items: items, More: more})
		case len(args) == 2:
			return printDead(w, items[0], *body > 0)
		}
		if err := printDeadTable(w, items); err != nil {
			return err
		}
		if more {
			fmt.Fprintf(w.stderr, "there may be more; --limit is %d\n", *limit)
		}
		return nil
	})
	return cmd
}

func (f deadFilter) add(values url.Values) {
	if *f.origin != "" {
		values.Set("origin", *f.origin)
	}
	if *f.reason != "" {
		values.Set("reason", *f.reason)
	}
	if *f.selector != "" {
		values.Set("selector", *f.selector)
	}
}

// deadItems asks for pages until there are as many as wanted.
func deadItems(cmd *cobra.Command, admin *adminServer, values url.Values, limit int) (items []json.RawMessage, more bool, err error) {
	items = []json.RawMessage{}
	for {
		values.Set("limit", strconv.Itoa(min(limit-len(items), 1000)))
		var page listPage
		if err := admin.ask(cmd.Context(), http.MethodGet, dlqPath+"/messages", values, nil, &page); err != nil {
			return nil, false, err
		}
		items = append(items, page.Items...)
		if page.Next == "" || len(items) >= limit {
			return items, page.Next != "", nil
		}
		values.Set("cursor", page.Next)
	}
}

func printDeadTable(w *world, items []json.RawMessage) error {
	t := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "DIED\tID\tORIGIN\tREASON\tDEATHS\tOCTETS\tDETAIL\n")
	for _, item := range items {
		var d dead
		if err := json.Unmarshal(item, &d); err != nil {
			return err
		}
		died := "-"
		if d.Died != nil {
			died = stamp(*d.Died)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%.60s\n", died, d.ID, escaped(d.Origin), escaped(d.Reason), d.Deaths, d.BodyBytes, escaped(d.Detail))
	}
	return t.Flush()
}

func printDead(w *world, item json.RawMessage, withBody bool) error {
	var d dead
	if err := json.Unmarshal(item, &d); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(t, "%s\t%s\n", name, escaped(text)) }
	row("id", d.ID)
	row("message-id", d.MessageID)
	row("origin", d.Origin)
	if d.Subscription != "" {
		row("subscription", d.Subscription)
	}
	row("reason", d.Reason)
	row("detail", d.Detail)
	if d.Died != nil {
		row("died", stamp(*d.Died))
	}
	row("deaths", strconv.Itoa(d.Deaths))
	row("sent", stamp(d.Sent))
	row("persistent", strconv.FormatBool(d.Persistent))
	row("priority", strconv.Itoa(d.Priority))
	row("unacked", strconv.FormatBool(d.Unacked))
	row("body", strconv.FormatInt(d.BodyBytes, 10)+" octets")
	name := "headers"
	for _, h := range d.Headers {
		row(name, h.Name+": "+h.Value)
		name = ""
	}
	if err := t.Flush(); err != nil || !withBody || d.BodyBytes == 0 {
		return err
	}
	text := string(d.Base64)
	if d.Body != nil {
		text = *d.Body
	}
	_, err := fmt.Fprintf(w.stdout, "\n%s\n", escapedBody(text))
	return err
}
