package cli

import (
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

func newMsg(w *world) *cobra.Command {
	return group("msg", "Look at messages in queues and durable subscriptions, move, copy and delete them",
		"  footfall msg list orders\n  footfall msg show orders 4.8lk1qjfk2\n  footfall msg move orders --selector \"region = 'eu'\" --to /queue/orders.eu --yes",
		newMsgList(w), newMsgShow(w), newMsgChange(w, "move", "moved"), newMsgChange(w, "copy", "copied"), newMsgChange(w, "delete", "deleted"))
}

// messagesPath is the path of messages at the admin server.
const messagesPath = "/api/v1/messages"

// queued is what the admin server tells of a message.
type queued struct {
	ID         string
	MessageID  string `json:"message_id"`
	Priority   int
	Persistent bool
	Sent       time.Time
	Expires    *time.Time
	Deliveries int
	Failures   int
	Group      string
	Unacked    bool
	Headers    []struct{ Name, Value string }
	BodyBytes  int64 `json:"body_bytes"`
	Body       *string
	Base64     []byte `json:"body_base64"`
}

// sourceText makes /queue/NAME of a name; the long forms are taken as they are.
func sourceText(text string) string {
	if strings.HasPrefix(text, "/dsub/") {
		return text
	}
	return destinationText("queue", text)
}

func newMsgList(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list QUEUE", Short: "List messages in the order of delivery", Args: cobra.ExactArgs(1),
		Long:    "List the messages of a queue, or of a durable subscription as /dsub/OWNER:NAME, in the order in which they would be delivered. What waits for its time is not among them.",
		Example: "  footfall msg list orders --limit 20\n  footfall msg list /dsub/billing:invoices --selector \"amount > 100\" -o json",
	}
	list := listFlags(cmd, 100)
	admin := adminFlags(w, cmd)
	selector := cmd.Flags().String("selector", "", "only those that this JMS message selector wants")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		values := url.Values{"from": {sourceText(args[0])}}
		if *selector != "" {
			values.Set("selector", *selector)
		}
		return list.print(cmd.Context(), w, admin, messagesPath, values, newMsgTable(w.stdout), "there may be more")
	})
	return cmd
}

// newMsgTable prints messages in columns.
func newMsgTable(out io.Writer) itemTable {
	return newColumns(out, "SENT\tID\tMESSAGE-ID\tPRIORITY\tOCTETS\tDELIVERIES\tUNACKED", func(m *queued) []any {
		return []any{stamp(m.Sent), m.ID, m.MessageID, m.Priority, m.BodyBytes, m.Deliveries, m.Unacked}
	})
}

func newMsgShow(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show QUEUE ID", Short: "Show a message with its headers and the beginning of its body", Args: cobra.ExactArgs(2),
		Example: "  footfall msg show orders 4.8lk1qjfk2\n  footfall msg show orders 4.8lk1qjfk2 --body 65536 -o json",
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	body := cmd.Flags().Int("body", 4096, "octets of the body to show, at most 65536")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		values := url.Values{"from": {sourceText(args[0])}, "id": {args[1]}, "body": {strconv.Itoa(*body)}}
		var page listPage
		if err := admin.ask(cmd.Context(), http.MethodGet, messagesPath, values, nil, &page); err != nil {
			return err
		}
		switch {
		case len(page.Items) == 0:
			return &failure{exitNotFound, fmt.Errorf("there is no message %s in %s", args[1], args[0])}
		case *output == formatJSON:
			return printJSON(w.stdout, page.Items[0])
		}
		var m queued
		if err := json.Unmarshal(page.Items[0], &m); err != nil {
			return err
		}
		return m.print(w.stdout, *body > 0)
	})
	return cmd
}

func (m *queued) print(out io.Writer, withBody bool) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(t, "%s\t%s\n", name, escaped(text)) }
	row("id", m.ID)
	row("message-id", m.MessageID)
	row("sent", stamp(m.Sent))
	if m.Expires != nil {
		row("expires", stamp(*m.Expires))
	}
	row("priority", strconv.Itoa(m.Priority))
	row("persistent", strconv.FormatBool(m.Persistent))
	row("deliveries", fmt.Sprintf("%d, of which %d failed", m.Deliveries, m.Failures))
	row("unacked", strconv.FormatBool(m.Unacked))
	if m.Group != "" {
		row("group", m.Group)
	}
	row("body", strconv.FormatInt(m.BodyBytes, 10)+" octets")
	name := "headers"
	for _, h := range m.Headers {
		row(name, h.Name+": "+h.Value)
		name = ""
	}
	if err := t.Flush(); err != nil || !withBody || m.BodyBytes == 0 {
		return err
	}
	text := string(m.Base64)
	if m.Body != nil {
		text = *m.Body
	}
	_, err := fmt.Fprintf(out, "\n%s\n", escapedBody(text))
	return err
}

// msgChange is what the admin server is asked to do.
type msgChange struct {
	From     string `json:"from"`
	ID       string `json:"id,omitempty"`
	Selector string `json:"selector,omitempty"`
	All      bool   `json:"all,omitempty"`
	To       string `json:"to,omitempty"`
	Limit    int    `json:"limit"`
	Cursor   string `json:"cursor,omitempty"`
}

func newMsgChange(w *world, action, done string) *cobra.Command {
	about := map[string]string{"move": "Move messages to another destination", "copy": "Copy messages to another destination", "delete": "Delete messages"}[action]
	to := ""
	example := fmt.Sprintf("  footfall msg %s orders 4.8lk1qjfk2 4.8lk1qjfk3 --yes\n  footfall msg %[1]s orders --selector \"region = 'eu'\" --dry-run\n  footfall msg %[1]s orders --all --yes", action)
	if action != "delete" {
		example = fmt.Sprintf("  footfall msg %s orders 4.8lk1qjfk2 --to /queue/other --yes\n  footfall msg %[1]s orders --selector \"region = 'eu'\" --to /queue/orders.eu", action)
	}
	cmd := &cobra.Command{
		Use: action + " QUEUE [ID]...", Short: about, Args: cobra.MinimumNArgs(1), Example: example,
		Long: about + ": those of the ids, those that a selector wants, or all. It asks before it does so, unless --yes is given. What a consumer has stays. " +
			"When it is ended on the way, what was done is done.",
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	flags := destructiveFlags(cmd)
	selector := cmd.Flags().String("selector", "", "those that this JMS message selector wants")
	all := cmd.Flags().Bool("all", false, "all of the queue")
	if action != "delete" {
		cmd.Flags().StringVar(&to, "to", "", "where they go: /queue/NAME or /topic/NAME")
	}
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		c := msgChange{From: sourceText(args[0]), Selector: *selector, All: *all, To: to}
		ids, wanted := args[1:], 0
		for _, is := range []bool{len(ids) > 0, c.Selector != "", c.All} {
			if is {
				wanted++
			}
		}
		switch {
		case wanted != 1:
			return usage(errors.New("what is wanted: either ids, or --selector, or --all"))
		case action != "delete" && to == "":
			return usage(errors.New("flag --to is needed"))
		}
		return runMsgChange(w, cmd, admin, flags, *output, c, ids, action, done)
	})
	return cmd
}

func runMsgChange(w *world, cmd *cobra.Command, admin *adminServer, flags destructive, output format, c msgChange, ids []string, action, done string) error {
	if err := flags.check(w); err != nil {
		return err
	}
	if !*flags.yes {
		if err := previewMessages(w, cmd, admin, c, ids); err != nil || *flags.dryRun {
			return err
		}
		if !agreed(w.stdin, w.stderr, action+" these?") {
			return errors.New("nothing was " + done)
		}
	}
	r := pagedChange{w: w, cmd: cmd, admin: admin, path: messagesPath + "/" + action, done: done, quiet: !isTerminal(w.stderr)}
	change := func(id string) error {
		c.ID = id
		return r.pages(1000, func(limit int, cursor string) any {
			c.Limit, c.Cursor = limit, cursor
			return &c
		})
	}
	err := error(nil)
	if len(ids) == 0 {
		err = change("")
	} else {
		err = eachID(ids, change)
	}
	if err != nil {
		return err
	}
	return r.print(output)
}

// previewMessages lists what a change would be about, a hundred of it at most.
func previewMessages(w *world, cmd *cobra.Command, admin *adminServer, c msgChange, ids []string) error {
	table := newMsgTable(w.stdout)
	values := url.Values{"from": {c.From}, "limit": {"100"}}
	if c.Selector != "" {
		values.Set("selector", c.Selector)
	}
	if len(ids) == 0 {
		ids = []string{""}
	}
	more := false
	err := eachID(ids, func(id string) error {
		if id != "" {
			values.Set("id", id)
		}
		var page listPage
		if err := admin.ask(cmd.Context(), http.MethodGet, messagesPath, values, nil, &page); err != nil {
			return err
		}
		if id != "" && len(page.Items) == 0 {
			return &failure{exitNotFound, fmt.Errorf("there is no message %s in %s", id, c.From)}
		}
		more = page.Next != ""
		return addAll(table, page.Items)
	})
	if err = errors.Join(table.Flush(), err); err == nil && more {
		fmt.Fprintln(w.stderr, "and maybe more")
	}
	return err
}
