package cli

import (
	"fmt"
	"text/tabwriter"

	"footfall/cmd/footfall/internal/node"
	"github.com/spf13/cobra"
)

// explained is the output of config explain.
type explained struct {
	Destination string             `json:"destination"`
	Settings    []explainedSetting `json:"settings"`
	Warnings    []string           `json:"warnings"`
}

type explainedSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Match  string `json:"match"` // empty for a default
	Origin string `json:"origin"`
}

func newConfigExplain(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain DEST",
		Short: "Tell what the settings say of a destination, and which entry says it",
		Long: "Tell what the list of destinations in the settings says of /queue/NAME or /topic/NAME, and where each value comes from. " +
			"The destination need not exist, and no broker need run. Exit code 2 when it is none, or a setting is wrong.",
		Example: "  footfall config explain /queue/orders.eu --config footfall.yaml\n  footfall config explain /topic/prices --config footfall.yaml -o json",
		Args:    cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	var o node.Options
	load := settingFlags(w, cmd, &o)
	cmd.RunE = ran(func(_ *cobra.Command, args []string) error {
		if _, err := load(); err != nil {
			return err
		}
		settings, warnings, err := o.Explain(args[0])
		if err != nil {
			return usage(err)
		}
		if *output == formatJSON {
			out := explained{Destination: args[0], Warnings: append([]string{}, warnings...)}
			for _, s := range settings {
				out.Settings = append(out.Settings, explainedSetting{s.Setting, s.Value, s.Match, string(s.Origin)})
			}
			return printJSON(w.stdout, out)
		}
		table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "SETTING\tVALUE\tMATCH\tORIGIN")
		for _, s := range settings {
			match := s.Match
			if match == "" {
				match = "-"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Setting, escaped(s.Value), escaped(match), escaped(string(s.Origin)))
		}
		for _, warning := range warnings {
			fmt.Fprintf(w.stderr, "footfall: warning: %s\n", escaped(warning))
		}
		return table.Flush()
	})
	return cmd
}
