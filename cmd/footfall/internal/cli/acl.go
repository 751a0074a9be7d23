package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"footfall/auth"
	"footfall/cmd/footfall/internal/node"
	"github.com/spf13/cobra"
)

func newACL(w *world) *cobra.Command {
	return group("acl", "Ask what users may do", "  footfall acl test ann send /queue/orders.eu", newACLTest(w))
}

// testedPermission is the output of acl test as JSON.
type testedPermission struct {
	User        string       `json:"user"`
	Action      string       `json:"action"`
	Destination string       `json:"destination"`
	Allowed     bool         `json:"allowed"`
	Reason      string       `json:"reason"`
	Rules       []testedRule `json:"rules"`
}

// testedRule is a rule that decides.
type testedRule struct {
	At    string   `json:"at"`
	Match string   `json:"match"`
	Who   []string `json:"who"`
}

func newACLTest(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test USER ACTION DESTINATION",
		Short: "Tell whether a user may do something, and which rule decides",
		Long: "Tell whether a user may do something to a destination, by the settings and the file of users as they are written now, and which rule decides. Exit code 0 if so, 4 if not. " +
			"ACTION is " + strings.Join(auth.ActionNames(), ", ") + ". DESTINATION is /queue/NAME, /topic/NAME, /dsub/OWNER:NAME, /temp-queue/NAME or /temp-topic/NAME; one with wildcards stands for all that it matches. " +
			"The user anonymous is one without a login.",
		Example: "  footfall acl test ann send /queue/orders.eu\n  footfall acl test ann receive '/topic/prices.>' --config footfall.yaml -o json",
		Args:    cobra.ExactArgs(3),
	}
	var o node.Options
	output := outputFlag(cmd)
	load := settingFlags(w, cmd, &o)
	cmd.RunE = ran(func(_ *cobra.Command, args []string) error {
		action, err := auth.ParseAction(args[1])
		if err != nil {
			return usage(fmt.Errorf("the action %w", err))
		}
		if _, err := load(); err != nil {
			return err
		}
		decision, err := decide(&o, args[0], action, args[2])
		if err != nil {
			return err
		}
		if *output == formatJSON {
			err = printJSON(w.stdout, tested(args, decision))
		} else {
			err = printDecision(w, decision)
		}
		if err == nil && !decision.Allowed {
			err = &failure{exitDenied, errors.New("denied")}
		}
		return err
	})
	return cmd
}

// decide asks as a broker with these settings would.
func decide(o *node.Options, user string, action auth.Action, destination string) (auth.Decision, error) {
	users, err := o.ReadUsers()
	if err != nil {
		return auth.Decision{}, err
	}
	rules, err := o.Rules()
	if err != nil {
		return auth.Decision{}, err
	}
	directory := auth.NewDirectory(auth.Options{Now: func() time.Time { return time.Time{} }}) // nobody logs in
	directory.Set(users, rules)
	decision, err := directory.Explain(user, action, destination)
	if errors.Is(err, auth.ErrNoUser) {
		return decision, &failure{exitNotFound, err}
	}
	if err != nil {
		return decision, usage(err)
	}
	return decision, nil
}

func tested(args []string, d auth.Decision) testedPermission {
	t := testedPermission{User: args[0], Action: args[1], Destination: args[2], Allowed: d.Allowed, Reason: d.Reason, Rules: []testedRule{}}
	for _, r := range d.Rules {
		t.Rules = append(t.Rules, testedRule{r.At, r.Match.String(), r.Who})
	}
	return t
}

func printDecision(w *world, d auth.Decision) error {
	word := "denied"
	if d.Allowed {
		word = "allowed"
	}
	text := word + ": " + d.Reason + "\n"
	for _, r := range d.Rules {
		text += fmt.Sprintf("  %s: %s for %s\n", escaped(r.At), escaped(r.Match.String()), escaped(strings.Join(r.Who, ", ")))
	}
	_, err := fmt.Fprint(w.stdout, text)
	return err
}
