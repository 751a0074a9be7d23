package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// waitingCounts is what the admin server counts: each without what is due before it.
type waitingCounts struct {
	Overdue, Minute, Hour, Day, Later waitingCount
	Total                             int64
}

// waitingCount is a number; with AtLeast there may be more.
type waitingCount struct {
	Count   int64
	AtLeast bool `json:"at_least"`
}

func (c waitingCount) String() string {
	text := strconv.FormatInt(c.Count, 10)
	if c.AtLeast {
		text += "+"
	}
	return text
}

func newScheduleCounts(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "counts",
		Short:   "Count what waits, by when it is due",
		Example: "  footfall schedule counts\n  footfall schedule counts -o json",
		Args:    cobra.NoArgs,
	}
	output := outputFlag(cmd)
	admin := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		var answer json.RawMessage
		if err := admin.ask(cmd.Context(), http.MethodGet, scheduledPath+"/counts", nil, nil, &answer); err != nil {
			return err
		}
		if *output == formatJSON {
			return printJSON(w.stdout, answer)
		}
		var counts waitingCounts
		if err := json.Unmarshal(answer, &counts); err != nil {
			return err
		}
		return counts.print(w.stdout)
	})
	return cmd
}

func (c *waitingCounts) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "DUE\tCOUNT\n")
	for _, row := range []struct {
		due   string
		count waitingCount
	}{
		{"overdue", c.Overdue},
		{"within a minute", c.Minute},
		{"within an hour", c.Hour},
		{"within a day", c.Day},
		{"later", c.Later},
		{"in all", waitingCount{Count: c.Total}},
	} {
		fmt.Fprintf(table, "%s\t%s\n", row.due, row.count)
	}
	return table.Flush()
}
