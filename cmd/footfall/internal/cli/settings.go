package cli

import (
	"fmt"
	"strings"

	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
	"github.com/spf13/cobra"
)

// Variables of the environment that are no settings of the broker.
const (
	envConfig       = config.EnvPrefix + "CONFIG"
	envServer       = config.EnvPrefix + "SERVER"
	envAdmin        = config.EnvPrefix + "ADMIN"
	envLogin        = config.EnvPrefix + "LOGIN"
	envPasscode     = config.EnvPrefix + "PASSCODE"
	envPasscodeFile = config.EnvPrefix + "PASSCODE_FILE"
	envFromPasscode = config.EnvPrefix + "FROM_PASSCODE"
)

func otherVariables() []string {
	return []string{envConfig, envServer, envAdmin, envLogin, envPasscode, envPasscodeFile, envFromPasscode}
}

// settingFlags gives cmd the flags of the settings that have one, and --config and --set,
// and returns what loads all settings into options.
func settingFlags(w *world, cmd *cobra.Command, o *node.Options) (load func() ([]config.Value, error)) {
	read := settingReader(w, cmd)
	return func() ([]config.Value, error) { return read(node.Settings(o)) }
}

// settingReader gives cmd the same flags, and returns what loads a list of settings, again and again.
func settingReader(w *world, cmd *cobra.Command) (read func([]config.Setting) ([]config.Value, error)) {
	settings := node.Settings(new(node.Options))
	var file string
	var assignments []string
	given := map[string]*[]string{}
	cmd.Flags().StringVar(&file, "config", "", "read settings from this file (env "+envConfig+")")
	for i := range settings {
		s := &settings[i]
		if s.Flag == "" {
			continue
		}
		given[s.Name] = cmd.Flags().StringArray(s.Flag, nil, fmt.Sprintf("%s; default %s (setting %s)", s.Form(), s.Default, s.Name))
	}
	cmd.Flags().StringArrayVar(&assignments, "set", nil, "any other setting, as NAME=VALUE; may be repeated")
	return func(settings []config.Setting) ([]config.Value, error) {
		flags := map[string]config.Given{}
		for i := range settings {
			s := &settings[i]
			if values := given[s.Name]; values != nil && len(*values) > 0 {
				flags[s.Name] = config.Given{Text: strings.Join(*values, ","), At: config.Origin("flag --" + s.Flag)}
			}
		}
		for _, a := range assignments {
			name, value, ok := strings.Cut(a, "=")
			if !ok {
				return nil, usage(fmt.Errorf("flag --set: expected NAME=VALUE, not %q", a))
			}
			if other, twice := flags[name]; twice {
				return nil, usage(fmt.Errorf("flag --set: %s is set twice, also by %s", name, other.At))
			}
			flags[name] = config.Given{Text: value, At: "flag --set"}
		}
		from := file
		if from == "" {
			from = w.getenv(envConfig)
		}
		return config.Load(settings, config.Sources{Flags: flags, Env: w.env, File: from, Known: otherVariables()})
	}
}
