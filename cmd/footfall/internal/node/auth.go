package node

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"footfall/auth"
	"footfall/cmd/footfall/internal/config"
)

// autoUsers is the value of auth.users for the file defaultUsers, where there is one.
const (
	autoUsers    = "auto"
	defaultUsers = "footfall.users"
)

// Permission is an item of the list of permissions: who may do what, or may not, with which destinations. Its fields hold what was
// written. See auth.Rule.
type Permission struct {
	Match            string
	Who, Allow, Deny []string
}

func users(o *Options) []config.Setting {
	return []config.Setting{
		config.Text(&o.Users, "auth.users", autoUsers, "path, auto or none",
			"The file of users, see [security](security.md). `auto` is `./"+defaultUsers+"` where there is one. A path must exist. `none`: there are no users.", path),
		config.Choice((*string)(&o.Auth.Anonymous), "auth.anonymous", string(auth.AnonymousAuto),
			"Who is let in without a login. `auto`: who is on this machine, as long as there are no users. `never`: nobody. `local`: who is on this machine; when there are users, with what the rules for `anonymous` allow. "+
				"`everywhere`: the same from all machines.",
			string(auth.AnonymousAuto), string(auth.AnonymousNever), string(auth.AnonymousLocal), string(auth.AnonymousEverywhere)),
		config.Number(&o.Auth.Hashing, "auth.hashing", "auto", config.Bounds{Min: 1, Max: 256, Auto: true},
			"How many passcodes are hashed at a time, each with some 19 MiB. `auto` is half as many as there are processors."),
		config.Number(&o.Auth.Queue, "auth.queue", "1024", config.Bounds{Min: 1, Max: 1 << 20},
			"How many logins may wait for that. One more is refused."),
		config.Number(&o.Auth.Failures, "auth.failures", "30", config.Bounds{Min: 1, Max: 1 << 20},
			"How many failed logins from an address are looked at, at once and then a minute. Under a name it is five times as many."),
		config.Entries(&o.Permissions, "permissions",
			"Who may do what with which destinations, see [security](security.md). When there are users, what no item allows is denied, and what one denies stays so.",
			func(p *Permission) []config.Setting {
				return []config.Setting{
					config.Text(&p.Match, "match", "", "/KIND/NAME, or >",
						"Which destinations. KIND is `queue`, `topic`, `dsub`, `temp-queue` or `temp-topic`. `*` in the place of a level, levels being parted by dots, stands for one level, each of `>`, `#` and `**` for any number of them; `{user}` for the user's name. `>` alone is everything.", nil),
					config.List(&p.Who, "who", "", "users, @groups, everyone, anonymous",
						"Whom it is about. `everyone` are all who have logged in, `anonymous` those who were let in without.", auth.CheckWho),
					config.List(&p.Allow, "allow", "", strings.Join(auth.ActionNames(), ", ")+", all", "What they may do.", action),
					config.List(&p.Deny, "deny", "", strings.Join(auth.ActionNames(), ", ")+", all", "What they may not, whatever other items allow.", action),
				}
			}, checkPermissions),
	}
}

func action(text string) error {
	_, err := auth.ParseActions([]string{text})
	return err
}

// checkPermissions finds what is wrong with items that each make sense.
func checkPermissions(items []config.Item[Permission]) (list []config.Complaint) {
	for i := range items {
		if _, key, err := ruleOf(&items[i]); err != nil {
			list = append(list, config.Complaint{Item: i, Key: key, Err: err})
		}
	}
	return list
}

// ruleOf makes the rule of an item. An error is about one of its keys, or about all of it.
func ruleOf(item *config.Item[Permission]) (r auth.Rule, key string, err error) {
	p := &item.Of
	r = auth.Rule{Who: p.Who, At: string(item.At)}
	if r.Match, err = auth.ParsePattern(p.Match); err != nil {
		return r, "match", err
	}
	if r.Allow, err = auth.ParseActions(p.Allow); err != nil {
		return r, "allow", err
	}
	if r.Deny, err = auth.ParseActions(p.Deny); err != nil {
		return r, "deny", err
	}
	return r, "", r.Check()
}

// Rules returns the list of permissions of o, which was checked.
func (o *Options) Rules() ([]auth.Rule, error) {
	rules := make([]auth.Rule, len(o.Permissions))
	for i := range o.Permissions {
		var err error
		if rules[i], _, err = ruleOf(&o.Permissions[i]); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// UsersFile is the path of the file of users of o, empty for none. With auto it is the one that would be looked for, and need not exist.
func (o *Options) UsersFile() (path string, mustExist bool) {
	switch o.Users {
	case none, "":
		return "", false
	case autoUsers:
		return defaultUsers, false
	}
	return o.Users, true
}

// ReadUsers reads the file of users of o, nil where there is none.
func (o *Options) ReadUsers() (*auth.Users, error) {
	path, mustExist := o.UsersFile()
	if path == "" {
		return nil, nil
	}
	list, err := auth.ReadUsers(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !mustExist:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("auth.users: %w; footfall user add NAME makes it", err)
	case err != nil:
		return nil, fmt.Errorf("auth.users: %w", err)
	}
	return list, nil
}

// directory makes what decides about logins.
func (n *Node) directory() error {
	o := n.opt.Auth
	o.Now = time.Now
	n.auth = auth.NewDirectory(o)
	people, err := n.opt.ReadUsers()
	if err != nil {
		return err
	}
	rules, err := n.opt.Rules()
	if err != nil {
		return err
	}
	n.auth.Set(people, rules)
	return nil
}

// ErrExposed says that a listener could be reached from other machines, and that nobody would have to log in.
var ErrExposed = errors.New("there are no users, and so everybody who reaches it could do everything")

// protected tells whether an address may be listened on: where there are no users only this machine may reach it, unless
// somebody wants it otherwise.
func (n *Node) protected(setting string, at net.Addr) error {
	if n.auth.HasUsers() || n.opt.Auth.Anonymous == auth.AnonymousEverywhere || n.opt.Auth.Anonymous == auth.AnonymousNever {
		return nil
	}
	if tcp, ok := at.(*net.TCPAddr); !ok || tcp.IP.IsLoopback() {
		return nil
	}
	file, _ := n.opt.UsersFile()
	if file == "" {
		file = "a file of auth.users"
	}
	return fmt.Errorf("%s: %s can be reached from other machines: %w. Make a user with `footfall user add NAME`, in %s, and say in `permissions` what users may do; "+
		"or listen on 127.0.0.1; or let in everybody, with auth.anonymous=everywhere", setting, at, ErrExposed, file)
}

// People are users and permissions that were read and do not count yet.
type People struct {
	users *auth.Users
	rules []auth.Rule
}

// Users is how many users there are.
func (p *People) Users() int {
	if p.users == nil {
		return 0
	}
	return len(p.users.List())
}

// ReadPeople reads the file of users again, that of the start, and the permissions of o. Users that are gone altogether, file and all, are an
// error, as without any everything would be open.
func (n *Node) ReadPeople(o *Options) (*People, error) {
	list, err := n.opt.ReadUsers()
	if err != nil {
		return nil, err
	}
	if list == nil && n.auth.HasUsers() {
		file, _ := n.opt.UsersFile()
		return nil, fmt.Errorf("auth.users: %w", &fs.PathError{Op: "open", Path: file, Err: os.ErrNotExist})
	}
	rules, err := o.Rules()
	if err != nil {
		return nil, err
	}
	return &People{list, rules}, nil
}

// SetPeople has users and permissions count from now on. Sessions of users that are gone, or have changed in what they may do, end.
func (n *Node) SetPeople(p *People) {
	n.auth.Set(p.users, p.rules)
	n.server.Recheck()
}
