package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"footfall/cmd/footfall/internal/client"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// defaultServer is where a broker with no settings is.
const defaultServer = "127.0.0.1:61613"

// connectionFlags gives cmd the flags that say which broker is meant, and returns what connects to it.
func connectionFlags(w *world, cmd *cobra.Command) (dial func(context.Context) (*client.Client, error)) {
	server := cmd.Flags().String("server", "", "address of the broker (env "+envServer+"; default "+defaultServer+")")
	login := loginFlags(w, cmd)
	patience := cmd.Flags().Duration("connect-timeout", 10*time.Second, "how long to wait for the broker's answers")
	return func(ctx context.Context) (*client.Client, error) {
		o := client.Options{
			Address: cmp.Or(*server, w.getenv(envServer), defaultServer), Timeout: *patience,
		}
		if *patience <= 0 {
			return nil, usage(errors.New("flag --connect-timeout: must be above 0"))
		}
		var err error
		if o.Login, o.Passcode, err = login(); err != nil {
			return nil, err
		}
		c, err := client.Dial(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("cannot connect to %s: %w", o.Address, err)
		}
		return c, nil
	}
}

// loginFlags gives cmd the flags that say who asks, and returns what reads them. A passcode is never one of them: others on the machine
// see the arguments of a program.
func loginFlags(w *world, cmd *cobra.Command) (read func() (login, passcode string, err error)) {
	login := cmd.Flags().String("login", "", "name to log in with (env "+envLogin+")")
	file := cmd.Flags().String("passcode-file", "", "file that holds the passcode (env "+envPasscode+" holds it, or "+envPasscodeFile+" names the file)")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "user" { // as other tools have it
			name = "login"
		}
		return pflag.NormalizedName(name)
	})
	return func() (string, string, error) {
		passcode := w.getenv(envPasscode)
		if path := cmp.Or(*file, w.getenv(envPasscodeFile)); path != "" {
			text, err := os.ReadFile(path)
			if err != nil {
				return "", "", err
			}
			passcode = strings.TrimRight(string(text), "\r\n")
		}
		return cmp.Or(*login, w.getenv(envLogin)), passcode, nil
	}
}
