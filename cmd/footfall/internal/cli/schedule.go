package cli

import (
	"encoding/json"
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

func newScheduleList(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what waits for its time, what is due first at the top",
		Example: "  footfall schedule list\n  footfall schedule list --destination /queue/orders --until 2026-12-31T23:59:59Z -o json",
		Args:    cobra.NoArgs,
	}
	list := listFlags(cmd, 100)
	admin := adminFlags(w, cmd)
	flags := cmd.Flags()
	query := map[string]*string{
		"destination": flags.String("destination", "", "of this destination only: /queue/NAME or /topic/NAME"),
		"id":          flags.String("id", "", "of this id only"),
		"from":        flags.String("from", "", "due at this time or later: 2026-01-31T12:00:00Z, or milliseconds since 1970"),
		"until":       flags.String("until", "", "due at this time or earlier"),
	}
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		values := url.Values{}
		for name, text := range query {
			if flags.Changed(name) {
				values.Set(name, *text)
			}
		}
		return list.print(cmd.Context(), w, admin, scheduledPath, values, newWaitingTable(w.stdout), "there may be more")
	})
	return cmd
}

// newWaitingTable prints what waits in columns.
func newWaitingTable(out io.Writer) itemTable {
	return newColumns(out, "DELIVER AT\tID\tDESTINATION\tOCTETS\tREPEATS", func(m *waiting) []any {
		return []any{stamp(m.DeliverAt), m.ID, m.Destination, m.BodyBytes, m.repeats()}
	})
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
		var page listPage
		if err := admin.ask(cmd.Context(), http.MethodGet, idPath(args[0]), values, nil, &page); err != nil {
			return err
		}
		if *output == formatJSON {
			return printJSON(w.stdout, listed{Items: page.Items, More: page.Next != ""})
		}
		for i, item := range page.Items {
			if i > 0 {
				fmt.Fprintln(w.stdout)
			}
			var m waiting
			if err := json.Unmarshal(item, &m); err != nil {
				return err
			}
			if err := m.print(w.stdout, *body > 0); err != nil {
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
