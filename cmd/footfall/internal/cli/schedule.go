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

	"footfall/schedule"
	"github.com/spf13/cobra"
)

func newSchedule(w *world) *cobra.Command {
	return group("schedule", "Look at what waits for its time, and change it",
		"  footfall schedule list --destination /queue/orders\n  footfall schedule cancel 1h.68hlqcqv8.k9z3w2m1\n  footfall schedule next '0 9 * * mon-fri' --zone Europe/Berlin",
		newScheduleList(w), newScheduleCounts(w), newScheduleShow(w), newScheduleCancel(w), newScheduleRun(w), newScheduleReschedule(w), newScheduleNext(w))
}

// scheduledPath is the path of the schedule at the admin server.
const scheduledPath = "/api/v1/scheduled"

// idPath is the path of an id. What looks like a step in the path is written so that it is none.
func idPath(id string) string {
	escaped := url.PathEscape(id)
	if strings.Trim(id, ".") == "" {
		escaped = strings.ReplaceAll(id, ".", "%2E")
	}
	return scheduledPath + "/" + escaped
}

// waiting is what the admin server tells of something that waits for its time.
type waiting struct {
	ID          string
	Destination string
	DeliverAt   time.Time `json:"deliver_at"`
	Repeat      *struct {
		Cron, Zone string
		Delay      int64 `json:"delay_ms"`
		Period     int64 `json:"period_ms"`
		Count      int64
		Left       int64
		Next       []time.Time
	}
	Persistent bool
	Priority   int
	Sent       time.Time
	Expires    *time.Time
	TTL        int64 `json:"ttl_ms"`
	Headers    []struct{ Name, Value string }
	BodyBytes  int64 `json:"body_bytes"`
	Body       *string
	Base64     []byte `json:"body_base64"`
}

// waitingPage is a page of them, as it came and as it is understood.
type waitingPage struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next,omitempty"`
}

func (p *waitingPage) read() ([]waiting, error) {
	list := make([]waiting, len(p.Items))
	for i, item := range p.Items {
		if err := json.Unmarshal(item, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// listed is the output of schedule list as JSON.
type listed struct {
	Items []json.RawMessage `json:"items"`
	// More says that there are more than --limit.
	More bool `json:"more"`
}

func newScheduleList(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what waits for its time, what is due first at the top",
		Example: "  footfall schedule list\n  footfall schedule list --destination /queue/orders --until 2026-12-31T23:59:59Z -o json",
		Args:    cobra.NoArgs,
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	flags := cmd.Flags()
	limit := flags.Int("limit", 100, "list so many at most")
	query := map[string]*string{
		"destination": flags.String("destination", "", "of this destination only: /queue/NAME or /topic/NAME"),
		"id":          flags.String("id", "", "of this id only"),
		"from":        flags.String("from", "", "due at this time or later: 2026-01-31T12:00:00Z, or milliseconds since 1970"),
		"until":       flags.String("until", "", "due at this time or earlier"),
	}
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		if *limit < 1 || *limit > 10_000_000 {
			return usage(errors.New("flag --limit: must be 1 to 10000000"))
		}
		values := url.Values{}
		for name, text := range query {
			if flags.Changed(name) {
				values.Set(name, *text)
			}
		}
		table := newWaitingTable(w.stdout)
		all := listed{Items: []json.RawMessage{}}
		for count := 0; ; {
			values.Set("limit", strconv.Itoa(min(*limit-count, 1000)))
			var page waitingPage
			if err := admin.ask(cmd.Context(), http.MethodGet, scheduledPath, values, nil, &page); err != nil {
				return err
			}
			count += len(page.Items)
			if *output == formatJSON {
				all.Items = append(all.Items, page.Items...)
			} else if err := table.add(&page); err != nil {
				return err
			}
			if all.More = page.Next != ""; !all.More || count >= *limit {
				break
			}
			values.Set("cursor", page.Next)
		}
		if *output == formatJSON {
			return printJSON(w.stdout, all)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		if all.More {
			fmt.Fprintf(w.stderr, "there may be more; --limit is %d\n", *limit)
		}
		return nil
	})
	return cmd
}

// waitingTable prints what waits in columns.
type waitingTable struct{ *tabwriter.Writer }

func newWaitingTable(out io.Writer) waitingTable {
	t := waitingTable{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	fmt.Fprintf(t, "DELIVER AT\tID\tDESTINATION\tOCTETS\tREPEATS\n")
	return t
}

func (t waitingTable) add(page *waitingPage) error {
	list, err := page.read()
	if err != nil {
		return err
	}
	for i := range list {
		m := &list[i]
		if _, err := fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", stamp(m.DeliverAt), escaped(m.ID), escaped(m.Destination), m.BodyBytes, escaped(m.repeats())); err != nil {
			return err
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// repeats tells how a job goes on, in a few words.
func (m *waiting) repeats() string {
	r := m.Repeat
	if r == nil {
		return ""
	}
	var parts []string
	if r.Cron != "" {
		parts = append(parts, r.Cron+" "+r.Zone)
	}
	if r.Count != 0 {
		parts = append(parts, "every "+(time.Duration(r.Period)*time.Millisecond).String())
	}
	if r.Left != schedule.Forever {
		parts = append(parts, strconv.FormatInt(r.Left, 10)+" left")
	}
	return strings.Join(parts, ", ")
}

func newScheduleShow(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show what waits under an id, with its headers and the beginning of its body",
		Example: "  footfall schedule show nightly-report\n  footfall schedule show 1h.68hlqcqv8.k9z3w2m1 --body 65536 -o json",
		Args:    cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	body := cmd.Flags().Int("body", 4096, "octets of the body to show, at most 65536")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		values := url.Values{"body": {strconv.Itoa(*body)}}
		var page waitingPage
		if err := admin.ask(cmd.Context(), http.MethodGet, idPath(args[0]), values, nil, &page); err != nil {
			return err
		}
		if *output == formatJSON {
			return printJSON(w.stdout, listed{Items: page.Items, More: page.Next != ""})
		}
		list, err := page.read()
		if err != nil {
			return err
		}
		for i := range list {
			if i > 0 {
				fmt.Fprintln(w.stdout)
			}
			if err := list[i].print(w.stdout, *body > 0); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func (m *waiting) print(out io.Writer, withBody bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(table, "%s\t%s\n", name, escaped(text)) }
	rows := func(name string, texts []string) {
		for _, text := range texts {
			row(name, text)
			name = ""
		}
	}
	row("id", m.ID)
	row("destination", m.Destination)
	row("deliver at", stamp(m.DeliverAt))
	if r := m.Repeat; r != nil {
		row("repeats", m.repeats())
		next := make([]string, len(r.Next))
		for i, at := range r.Next {
			next[i] = stamp(at)
		}
		rows("next", next)
	}
	row("persistent", strconv.FormatBool(m.Persistent))
	row("priority", strconv.Itoa(m.Priority))
	row("sent", stamp(m.Sent))
	if m.Expires != nil {
		row("expires", stamp(*m.Expires))
	}
	if m.TTL > 0 {
		row("each lives", (time.Duration(m.TTL) * time.Millisecond).String())
	}
	row("body", strconv.FormatInt(m.BodyBytes, 10)+" octets")
	headers := make([]string, len(m.Headers))
	for i, h := range m.Headers {
		headers[i] = h.Name + ": " + h.Value
	}
	rows("headers", headers)
	if err := table.Flush(); err != nil || !withBody || m.BodyBytes == 0 {
		return err
	}
	text := string(m.Base64)
	if m.Body != nil {
		text = *m.Body
	}
	_, err := fmt.Fprintf(out, "\n%s\n", escapedBody(text))
	return err
}
