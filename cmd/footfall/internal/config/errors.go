package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that was wrong with a setting.
type Error struct {
	// At is where: "flag --data", "env FOOTFALL_DATA_DIR" or "footfall.yaml:3:9".
	At Origin
	// Name is the setting, empty where there is none.
	Name string
	// Err says what.
	Err error
}

// Error returns "where: setting: what".
func (e *Error) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s: %v", e.At, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.At, e.Name, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Errors is all that was wrong, in the order of reading.
type Errors []*Error

// Error returns one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors one by one.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}
	return list
}

func (e *Errors) add(at Origin, name, format string, args ...any) {
	*e = append(*e, &Error{At: at, Name: name, Err: fmt.Errorf(format, args...)})
}

// err returns e, or nil when nothing was wrong.
func (e Errors) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// IsUsage tells whether err is what a user wrote, rather than what the machine did.
func IsUsage(err error) bool {
	var all Errors
	return errors.As(err, &all)
}

// suggest returns "; did you mean X?" with the closest of names, or nothing when none is close.
func suggest(name string, names []string) string {
	if len(names) == 0 || len(name) > 200 {
		return ""
	}
	closest := slices.MinFunc(names, func(a, b string) int {
		return cmp.Compare(distance(name, a), distance(name, b))
	})
	if distance(name, closest) > max(2, len(name)/3) {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", closest)
}

// distance is the number of octets to insert, delete or replace to make a of b (Levenshtein's).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
