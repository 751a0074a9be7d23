package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a file of users: its octets, those of a line, and those of a name.
const (
	MaxUsersFile = 16 << 20
	maxUserLine  = 4096
	maxUserName  = 256
)

// User is somebody who may log in.
type User struct {
	Name string
	// Hash is that of the passcode, as HashPasscode and bcrypt write it, or "!" for none: then only a certificate lets in.
	Hash   string
	Groups []string
	Role   Role
}

// Users is a list of users as it is kept in a file: a line NAME:HASH:GROUPS:ROLE for each, groups with commas between, of which
// the last two parts may be left out. So a file of htpasswd -B is one too. Blank lines, and those that begin with #, say nothing, and stay when the
// list is changed.
type Users struct {
	lines []userLine
}

// userLine is a line of the file, with the user that it is about if there is one.
type userLine struct {
	text string
	user *User
	hash *hash // nil for none
}

// LineError is what is wrong with a line of a file of users, counted from 1.
type LineError struct {
	Line int
	Err  error
}

// Error returns "line N: what is wrong".
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }

// ParseUsers reads the text of a file. One bad line, and it has none of them.
func ParseUsers(text string) (*Users, error) {
	u := new(Users)
	if len(text) > MaxUsersFile {
		return nil, fmt.Errorf("has more than %d octets", MaxUsersFile)
	}
	at := map[string]int{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		read, err := parseUserLine(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, &LineError{n, err}
		}
		if read.user != nil {
			if first, twice := at[read.user.Name]; twice {
				return nil, &LineError{n, fmt.Errorf("user %q is in line %d already", read.user.Name, first)}
			}
			at[read.user.Name] = n
		}
		u.lines = append(u.lines, read)
	}
	return u, nil
}

func parseUserLine(text string) (userLine, error) {
	line := userLine{text: text}
	switch {
	case len(text) > maxUserLine:
		return line, fmt.Errorf("has more than %d octets", maxUserLine)
	case !utf8.ValidString(text):
		return line, errors.New("is not valid UTF-8")
	case strings.ContainsFunc(text, isUnprintable):
		return line, errors.New("has a character that is not printable: a carriage return, a tab, a mark of the byte order")
	case text == "" || text[0] == '#':
		return line, nil
	}
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 4 {
		return line, errors.New("is not of the form NAME:HASH:GROUPS:ROLE")
	}
	user := &User{Name: parts[0], Hash: parts[1]}
	if err := CheckName(user.Name); err != nil {
		return line, fmt.Errorf("the name %w", err)
	}
	if user.Hash != noPasscode {
		var err error
		if line.hash, err = parseHash(user.Hash); err != nil {
			return line, err
		}
	}
	if len(parts) > 2 && parts[2] != "" {
		user.Groups = strings.Split(parts[2], ",")
		for _, group := range user.Groups {
			if err := CheckName(group); err != nil {
				return line, fmt.Errorf("the group %q %w", group, err)
			}
		}
	}
	if len(parts) > 3 {
		var err error
		if user.Role, err = ParseRole(parts[3]); err != nil {
			return line, fmt.Errorf("the role %w", err)
		}
	}
	line.user = user
	return line, nil
}

// isUnprintable tells what has no place in a file that people read.
func isUnprintable(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// CheckName tells what is wrong with the name of a user or of a group. What has a meaning in patterns, in lists or in the file has no place
// in it.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case len(name) > maxUserName:
		return fmt.Errorf("has more than %d octets", maxUserName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }):
		return errors.New("has a blank or a character that is not printable")
	case strings.ContainsAny(name, `:,*>#{}\`):
		return errors.New(`has one of the characters : , * > # { } \`)
	case strings.HasPrefix(name, groupMark):
		return fmt.Errorf("begins with %s, which marks groups", groupMark)
	case name == everyone || name == anonymous:
		return errors.New("is a word with a meaning of its own")
	}
	return nil
}

// Text is the text of the file.
func (u *Users) Text() string {
	var b strings.Builder
	for _, line := range u.lines {
		b.WriteString(line.text + "\n")
	}
	return b.String()
}

// List returns the users in the order of the file.
func (u *Users) List() []User {
	var list []User
	for _, line := range u.lines {
		if line.user != nil {
			list = append(list, *line.user)
		}
	}
	return list
}

// Find returns the user of that name.
func (u *Users) Find(name string) (User, bool) {
	if i := u.index(name); i >= 0 {
		return *u.lines[i].user, true
	}
	return User{}, false
}

func (u *Users) index(name string) int {
	return slices.IndexFunc(u.lines, func(l userLine) bool { return l.user != nil && l.user.Name == name })
}

// Put adds a user, or has a user of the same name be as this one.
func (u *Users) Put(user User) error {
	for _, group := range user.Groups {
		if err := CheckName(group); err != nil { // it may have a comma in it
			return fmt.Errorf("the group %q %w", group, err)
		}
	}
	if err := CheckName(user.Name); err != nil {
		return fmt.Errorf("the name %w", err)
	}
	text := user.Name + ":" + user.Hash
	if groups, role := strings.Join(user.Groups, ","), user.Role.String(); role != "" {
		text += ":" + groups + ":" + role
	} else if groups != "" {
		text += ":" + groups
	}
	line, err := parseUserLine(text)
	if err != nil {
		return err
	}
	if i := u.index(user.Name); i >= 0 {
		u.lines[i] = line
	} else {
		u.lines = append(u.lines, line)
	}
	return nil
}

// Remove takes a user away. It is false when there is none of that name.
func (u *Users) Remove(name string) bool {
	i := u.index(name)
	if i < 0 {
		return false
	}
	u.lines = slices.Delete(u.lines, i, i+1)
	return true
}
