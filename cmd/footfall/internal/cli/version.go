package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// build is what is known of the program.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild reads what the compiler put into the program.
func thisBuild() build {
	b := build{Version: "dev", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	// Between releases the compiler makes a version up, which says less than the revision does.
	if v := info.Main.Version; v != "" && v != "(devel)" && !strings.HasPrefix(v, "v0.0.0-") {
		b.Version = strings.TrimPrefix(v, "v")
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

// String returns the build on one line.
func (b build) String() string {
	text := "footfall " + b.Version
	if b.Revision != "" {
		text += " (" + b.Revision + ")"
	}
	return text + " " + b.Go + " " + b.Platform
}

func newVersion(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Tell the version of this program",
		Example: "  footfall version\n  footfall version -o json",
		Args:    cobra.NoArgs,
	}
	output := outputFlag(cmd)
	cmd.RunE = ran(func(*cobra.Command, []string) error {
		if *output == formatJSON {
			return printJSON(w.stdout, thisBuild())
		}
		_, err := fmt.Fprintln(w.stdout, thisBuild())
		return err
	})
	return cmd
}
