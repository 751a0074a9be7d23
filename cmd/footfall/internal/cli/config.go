package cli

import (
	"fmt"
	"text/tabwriter"

	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
	"github.com/spf13/cobra"
)

func newConfig(w *world) *cobra.Command {
	return group("config", "Look at settings and check files of them",
		"  footfall config print\n  footfall config explain /queue/orders.eu\n  footfall config check footfall.yaml",
		newConfigPrint(w), newConfigExplain(w), newConfigCheck(w))
}

// printedSetting is a setting in the output of config print.
type printedSetting struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Origin  string `json:"origin"`
	Default string `json:"default"`
	Env     string `json:"env"`
}

func newConfigPrint(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "print",
		Short:   "Tell the value of every setting and where it comes from",
		Example: "  footfall config print\n  footfall config print --config footfall.yaml -o json",
		Args:    cobra.NoArgs,
	}
	output := outputFlag(cmd)
	var o node.Options
	load := settingFlags(w, cmd, &o)
	cmd.RunE = ran(func(*cobra.Command, []string) error {
		values, err := load()
		if err != nil {
			return err
		}
		if *output == formatJSON {
			list := make([]printedSetting, len(values))
			for i, v := range values {
				list[i] = printedSetting{v.Name, v.Text(), string(v.Origin), v.Default, v.Env()}
			}
			return printJSON(w.stdout, list)
		}
		table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "SETTING\tVALUE\tORIGIN")
		for _, v := range values {
			fmt.Fprintf(table, "%s\t%s\t%s\n", v.Name, escaped(v.Text()), escaped(string(v.Origin)))
		}
		return table.Flush()
	})
	return cmd
}

func newConfigCheck(w *world) *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Check a file of settings without starting anything",
		Long:    "Check a file of settings without starting anything. Each error is told with line and column; exit code 2 when there is one.",
		Example: "  footfall config check footfall.yaml\n  footfall config check /etc/footfall/footfall.yaml && systemctl restart footfall",
		Args:    cobra.ExactArgs(1),
		RunE: ran(func(_ *cobra.Command, args []string) error {
			var o node.Options
			if _, err := config.Load(node.Settings(&o), config.Sources{File: args[0]}); err != nil {
				return err
			}
			_, err := fmt.Fprintf(w.stdout, "%s: ok\n", escaped(args[0]))
			return err
		}),
	}
}
