package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"footfall/auth"
	"footfall/cmd/footfall/internal/node"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func newUser(w *world) *cobra.Command {
	return group("user", "Add, change, list and remove users",
		"  footfall user add ann --group billing --role operator\n  footfall user passwd ann < passcode.txt\n  footfall user list",
		newUserAdd(w), newUserPasswd(w), newUserList(w), newUserRemove(w))
}

// reloadHint says when a change of the file counts.
const reloadHint = "a broker that runs reads it after: footfall reload"

// userFile gives cmd the flags of the settings, and returns what finds the file of users.
func userFile(w *world, cmd *cobra.Command) (find func() (path string, err error)) {
	var o node.Options
	file := cmd.Flags().String("file", "", "the file of users, in the place of the setting auth.users")
	load := settingFlags(w, cmd, &o)
	return func() (string, error) {
		if *file != "" {
			return *file, nil
		}
		if _, err := load(); err != nil {
			return "", err
		}
		path, _ := o.UsersFile()
		if path == "" {
			return "", usage(errors.New("auth.users is none: name a file there, or with --file"))
		}
		return path, nil
	}
}

func newUserAdd(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a user, and the file of users where it is missing",
		Long: "Add a user, and the file of users where it is missing. The passcode is asked for, twice and without an echo, or read from standard input where that is no terminal: " +
			"the first line. What the user may do with destinations is in the setting permissions; --role is about the admin server.",
		Example: "  footfall user add ann\n  head -c 18 /dev/urandom | base64 | tee passcode.txt | footfall user add shop --group sellers",
		Args:    cobra.ExactArgs(1),
	}
	find := userFile(w, cmd)
	groups := cmd.Flags().StringSlice("group", nil, "a group that the user is in; may be repeated")
	role := cmd.Flags().String("role", "", "what the user may do with the admin server: viewer, operator or admin")
	none := cmd.Flags().Bool("no-passcode", false, "let the user in by a certificate only")
	cmd.RunE = ran(func(_ *cobra.Command, args []string) error {
		user := auth.User{Name: args[0], Groups: *groups, Hash: "!"}
		var err error
		if user.Role, err = auth.ParseRole(*role); err != nil {
			return usage(fmt.Errorf("flag --role: %w", err))
		}
		if err := new(auth.Users).Put(user); err != nil {
			return usage(err)
		}
		path, err := find()
		if err != nil {
			return err
		}
		if list, err := auth.ReadUsers(path); err == nil { // before a passcode is asked for in vain
			if err := isNew(list, user.Name); err != nil {
				return err
			}
		}
		if !*none {
			if user.Hash, err = w.newPasscode(user.Name); err != nil {
				return err
			}
		}
		err = auth.ChangeUsers(path, func(list *auth.Users) error {
			if err := isNew(list, user.Name); err != nil {
				return err
			}
			return list.Put(user)
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w.stdout, "added %s to %s; %s\n", escaped(user.Name), escaped(path), reloadHint)
		return err
	})
	return cmd
}

func isNew(list *auth.Users, name string) error {
	if _, there := list.Find(name); there {
		return &failure{exitConflict, fmt.Errorf("user %s is there already: footfall user passwd %s changes the passcode", name, name)}
	}
	return nil
}

func newUserPasswd(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "passwd NAME",
		Short:   "Give a user another passcode",
		Long:    "Give a user another passcode, which is read as footfall user add reads it. Sessions of the user end when the broker has read the file.",
		Example: "  footfall user passwd ann\n  footfall user passwd shop < passcode.txt",
		Args:    cobra.ExactArgs(1),
	}
	find := userFile(w, cmd)
	cmd.RunE = ran(func(_ *cobra.Command, args []string) error {
		path, err := find()
		if err != nil {
			return err
		}
		if list, err := auth.ReadUsers(path); err != nil {
			return err
		} else if _, err := known(list, args[0]); err != nil {
			return err
		}
		hash, err := w.newPasscode(args[0])
		if err != nil {
			return err
		}
		err = auth.ChangeUsers(path, func(list *auth.Users) error {
			user, err := known(list, args[0])
			if err != nil {
				return err
			}
			user.Hash = hash
			return list.Put(user)
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w.stdout, "changed the passcode of %s in %s; %s\n", escaped(args[0]), escaped(path), reloadHint)
		return err
	})
	return cmd
}

func known(list *auth.Users, name string) (auth.User, error) {
	user, ok := list.Find(name)
	if !ok {
		return user, &failure{exitNotFound, fmt.Errorf("there is no user %s", name)}
	}
	return user, nil
}

// listedUser is a user in the output of user list.
type listedUser struct {
	Name     string   `json:"name"`
	Groups   []string `json:"groups"`
	Role     string   `json:"role"`
	Passcode string   `json:"passcode"`
}

func newUserList(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List users",
		Example: "  footfall user list\n  footfall user list -o json",
		Args:    cobra.NoArgs,
	}
	find := userFile(w, cmd)
	output := outputFlag(cmd)
	cmd.RunE = ran(func(*cobra.Command, []string) error {
		path, err := find()
		if err != nil {
			return err
		}
		users, err := auth.ReadUsers(path)
		if err != nil {
			return err
		}
		list := []listedUser{}
		for _, u := range users.List() {
			list = append(list, listedUser{u.Name, append([]string{}, u.Groups...), u.Role.String(), passcodeKind(u.Hash)})
		}
		if *output == formatJSON {
			return printJSON(w.stdout, list)
		}
		table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "USER\tGROUPS\tROLE\tPASSCODE")
		for _, u := range list {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", escaped(u.Name), escaped(strings.Join(u.Groups, ",")), u.Role, u.Passcode)
		}
		return table.Flush()
	})
	return cmd
}

// passcodeKind says how a passcode is kept, and nothing of it.
func passcodeKind(hash string) string {
	switch {
	case hash == "!":
		return "none"
	case strings.HasPrefix(hash, "$argon2id$"):
		return "argon2id"
	}
	return "bcrypt"
}

func newUserRemove(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove NAME...",
		Short:   "Remove users",
		Long:    "Remove users, all of them or, where one is not there, none. It asks before it does so, unless --yes is given. Their durable subscriptions and messages stay.",
		Example: "  footfall user remove ann\n  footfall user remove --yes shop sensor-7",
		Args:    cobra.MinimumNArgs(1),
	}
	find := userFile(w, cmd)
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	cmd.RunE = ran(func(_ *cobra.Command, args []string) error {
		path, err := find()
		if err != nil {
			return err
		}
		switch {
		case !*yes && !isTerminal(w.stdin):
			return usage(errors.New("flag --yes is needed where there is no terminal to ask at"))
		case !*yes && !agreed(w.stdin, w.stderr, "remove "+escaped(strings.Join(args, ", "))+"?"):
			return errors.New("nobody was removed")
		}
		err = auth.ChangeUsers(path, func(list *auth.Users) error {
			for _, name := range args {
				if !list.Remove(name) {
					return &failure{exitNotFound, fmt.Errorf("there is no user %s", name)}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w.stdout, "removed %s from %s; %s\n", escaped(strings.Join(args, ", ")), escaped(path), reloadHint)
		return err
	})
	return cmd
}

// newPasscode asks for a passcode, or reads it from standard input where nobody can be asked, and returns its hash.
func (w *world) newPasscode(name string) (hash string, err error) {
	passcode, err := w.askPasscode(name)
	if err != nil {
		return "", err
	}
	if hash, err = auth.HashPasscode(passcode); err != nil {
		return "", usage(err)
	}
	return hash, nil
}

func (w *world) askPasscode(name string) (string, error) {
	f, ok := w.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(w.stdin, auth.MaxPasscode+2)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil
	}
	ask := func(text string) (string, error) {
		fmt.Fprint(w.stderr, text)
		octets, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(w.stderr)
		return string(octets), err
	}
	first, err := ask("Passcode for " + escaped(name) + ": ")
	if err != nil {
		return "", err
	}
	second, err := ask("Once more: ")
	if err == nil && first != second {
		err = usage(errors.New("the two passcodes differ"))
	}
	return first, err
}
