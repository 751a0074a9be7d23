package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// world is what a run has of the outside.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
}

// getenv returns the value of an environment variable, empty where it is not set.
func (w *world) getenv(name string) string {
	for _, entry := range slices.Backward(w.env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Run runs the command that args name, without the name of the program, until it ends or ctx
// does, and returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	w := &world{stdin: stdin, stdout: stdout, stderr: stderr, env: env}
	root := newRoot(w)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	var ran *commandError
	if !errors.As(err, &ran) {
		code = exitUsage // cobra found it, before a command ran
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "footfall: %s\n", escaped(strings.TrimSuffix(line, "\n")))
	}
	return code
}

// commandError is an error of a command that ran, as opposed to one of the command line.
type commandError struct{ error }

func (e *commandError) Unwrap() error { return e.error }

// ran makes a command's function one that cobra runs.
func ran(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f(cmd, args); err != nil {
			return &commandError{err}
		}
		return nil
	}
}

// helpTemplate has the examples first: most who ask for help want one.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{if .HasExample}}Examples:
{{.Example}}

{{end}}{{.UsageString}}`

const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}
{{if .HasAvailableSubCommands}}
Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableSubCommands}}
More about a command: {{.CommandPath}} COMMAND --help
{{end}}`

func newRoot(w *world) *cobra.Command {
	root := &cobra.Command{
		Use:   "footfall",
		Short: "A STOMP message broker",
		Long:  "Footfall is a STOMP message broker: queues and topics, on disk before they are acknowledged, with delays.",
		Example: `  footfall serve
  footfall send /queue/hello "Hello, world" --delay 5s
  footfall receive /queue/hello --count 1`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          ran(func(cmd *cobra.Command, _ []string) error { return cmd.Help() }),
	}
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(newServe(w), newSend(w), newReceive(w), newTransfer(w), newSchedule(w), newDestination(w, "queue"), newDestination(w, "topic"), newMsg(w), newConn(w), newSub(w), newDLQ(w), newUser(w), newACL(w), newReload(w), newConfig(w), newStore(w), newVersion(w))
	return root
}

// noSuchCommand is for commands that are only parents: what is left of the line is no command.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		hint = "; did you mean " + strings.Join(names, " or ") + "?"
	}
	return fmt.Errorf("there is no command %q in %s%s", args[0], cmd.CommandPath(), hint)
}

// group returns a command that is nothing but the parent of others.
func group(use, short, example string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: noSuchCommand,
		RunE: ran(func(cmd *cobra.Command, _ []string) error { return cmd.Help() }),
	}
	c.AddCommand(children...)
	return c
}
