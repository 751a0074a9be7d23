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
)

// defaultServer is where a broker with no settings is.
const defaultServer = "127.0.0.1:61613"

// connectionFlags gives cmd the flags that say which broker is meant, and returns what connects to it.
func connectionFlags(w *world, cmd *cobra.Command) (dial func(context.Context) (*client.Client, error)) {
	server := cmd.Flags().String("server", "", "address of the broker (env "+envServer+"; default "+defaultServer+")")
	login := cmd.Flags().String("login", "", "name to log in with (env "+envLogin+")")
	passcode := cmd.Flags().String("passcode-file", "", "file that holds the passcode (env "+envPasscode+" holds it, or "+envPasscodeFile+" names the file)")
	patience := cmd.Flags().Duration("connect-timeout", 10*time.Second, "how long to wait for the broker's answers")
	return func(ctx context.Context) (*client.Client, error) {
		o := client.Options{
			Address: cmp.Or(*server, w.getenv(envServer), defaultServer),
			Login:   cmp.Or(*login, w.getenv(envLogin)), Timeout: *patience,
		}
		if *patience <= 0 {
			return nil, usage(errors.New("flag --connect-timeout: must be above 0"))
		}
		o.Passcode = w.getenv(envPasscode)
		if file := cmp.Or(*passcode, w.getenv(envPasscodeFile)); file != "" {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			o.Passcode = strings.TrimRight(string(text), "\r\n")
		}
		c, err := client.Dial(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("cannot connect to %s: %w", o.Address, err)
		}
		return c, nil
	}
}
