package config

import (
	"fmt"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Sources are where values are looked for.
type Sources struct {
	// Flags holds the values given on the command line, by the names of settings.
	Flags map[string]Given
	// Env holds the environment as NAME=value.
	Env []string
	// File is the path of the file, empty for none.
	File string
	// Known are the names of variables with EnvPrefix that belong to somebody else.
	Known []string
}

// Given is a value with the place it was given at.
type Given struct {
	Text string
	At   Origin

	node *yaml.Node // of a list of mappings in the file at path
	path string
}

// Origin says where a value came from: "default", "flag --data", "env FOOTFALL_DATA_DIR" or
// "footfall.yaml:3:9".
type Origin string

// Default is the origin of what nobody set.
const Default Origin = "default"

// Value is a setting with its value and where that came from.
type Value struct {
	*Setting
	Origin Origin
}

// Text returns the value as a user would write it; of a secret only whether there is one.
func (v Value) Text() string {
	text := v.show()
	if v.Secret && text != "" {
		return "(secret)"
	}
	return text
}

// Load fills the variables that settings are bound to, and returns their values in the
// order of settings, the values in a list of mappings behind the list. On an error, which is of type [Errors], some are filled and some not.
func Load(settings []Setting, sources Sources) ([]Value, error) {
	var problems Errors
	file := readFile(settings, sources.File, &problems)
	env := readEnv(settings, sources, &problems)
	for name, given := range sources.Flags {
		if find(settings, name) == nil {
			problems.add(given.At, name, "no such setting%s", suggest(name, names(settings)))
		}
	}
	values := make([]Value, 0, len(settings))
	for i := range settings {
		s := &settings[i]
		given := Given{Text: s.Default, At: Default}
		for _, source := range []map[string]Given{file, env, sources.Flags} {
			if g, ok := source[s.Name]; ok {
				given = g
				// What is overridden must make sense too, or it breaks the day it counts.
				s.take(g, &problems)
			}
		}
		if given.At == Default {
			s.take(given, &problems)
		}
		values = append(values, Value{Setting: s, Origin: given.At})
		if s.entries != nil {
			values = append(values, s.entries.values()...)
		}
	}
	return values, problems.err()
}

// take stores a value.
func (s *Setting) take(given Given, problems *Errors) {
	if s.entries != nil && given.At != Default {
		s.entries.read(given, problems)
		return
	}
	if err := s.set(given.Text); err != nil {
		problems.add(given.At, s.Name, "%w%s", err, s.saw(given.Text))
	}
}

// saw quotes a value for an error, unless it is a secret.
func (s *Setting) saw(text string) string {
	if s.Secret {
		return ""
	}
	const most = 80
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("; it is %q", text)
}

func find(settings []Setting, name string) *Setting {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

func names(settings []Setting) []string {
	list := make([]string, len(settings))
	for i := range settings {
		list[i] = settings[i].Name
	}
	return list
}

// MaxFile is the greatest size of a file, in octets.
const MaxFile = 1 << 20

// slurp reads a whole file of at most MaxFile octets.
func slurp(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s is larger than %s", path, formatSize(MaxFile))
	}
	return text, nil
}
