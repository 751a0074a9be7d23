package config

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readFile finds the values in the file at path, if there is one.
func readFile(settings []Setting, path string, problems *Errors) map[string]Given {
	if path == "" {
		return nil
	}
	text, err := slurp(path)
	if err != nil {
		problems.add(Origin(path), "", "%w", err)
		return nil
	}
	r := fileReader{path: path, settings: settings, problems: problems, values: map[string]Given{}}
	r.read(string(text))
	return r.values
}

// fileReader walks over a document in YAML, whose mappings are the sections of settings.
// It takes the small part of YAML that a reader of the file sees the meaning of: no anchors, no
// aliases, no tags, one document.
type fileReader struct {
	path     string
	settings []Setting
	problems *Errors
	values   map[string]Given
}

// read takes the values of a file.
func (r *fileReader) read(text string) {
	if root := r.document(text); root != nil && root.Tag != "!!null" {
		r.section(root, "")
	}
}

// document parses the one document of a text, nil if there is none.
func (r *fileReader) document(text string) *yaml.Node {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF): // an empty file sets nothing
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		r.fail(&second, "", "a second document; a file holds one")
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
	return document.Content[0]
}

// syntax reports an error of the YAML reader, which has "yaml: line N: " before its text.
func (r *fileReader) syntax(err error) {
	line := 1
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if n, scanErr := fmt.Sscanf(text, "line %d: ", &line); scanErr == nil && n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	r.problems.add(Origin(fmt.Sprintf("%s:%d:1", r.path, line)), "", "not YAML: %s", text)
}

func (r *fileReader) at(n *yaml.Node) Origin {
	return Origin(fmt.Sprintf("%s:%d:%d", r.path, n.Line, n.Column))
}

func (r *fileReader) fail(n *yaml.Node, name, format string, args ...any) {
	r.problems.add(r.at(n), name, format, args...)
}

// plain refuses what makes a node mean something else than what stands there.
func (r *fileReader) plain(n *yaml.Node, name string) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fail(n, name, "anchors and aliases are not supported")
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, name, "tags are not supported")
	default:
		return true
	}
	return false
}

// section reads a mapping of the settings, or sections, whose names begin with name.
func (r *fileReader) section(n *yaml.Node, name string) {
	if !r.plain(n, name) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, name, "must be a section of settings, %q", "name: value")
		return
	}
	lines := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !r.plain(key, name) {
			continue
		}
		full := key.Value
		if name != "" {
			full = name + "." + key.Value
		}
		if line, twice := lines[key.Value]; twice {
			r.fail(key, full, "set twice, first in line %d", line)
			continue
		}
		lines[key.Value] = key.Line
		r.entry(key, value, full)
	}
}

// entry reads what stands behind one key.
func (r *fileReader) entry(key, value *yaml.Node, full string) {
	if s := find(r.settings, full); s != nil {
		r.value(s, value)
		return
	}
	for i := range r.settings {
		if strings.HasPrefix(r.settings[i].Name, full+".") {
			if value.Tag != "!!null" || !r.plain(value, full) { // a section with all its lines commented out
				r.section(value, full)
			}
			return
		}
	}
	r.fail(key, full, "no such setting%s", suggest(full, names(r.settings)))
}

// value takes the value of a setting.
func (r *fileReader) value(s *Setting, n *yaml.Node) {
	if !r.plain(n, s.Name) {
		return
	}
	given := Given{Text: n.Value, At: r.at(n)}
	if other, twice := r.values[s.Name]; twice { // once as log.level, once as level in log
		r.fail(n, s.Name, "set twice, first at %s", other.At)
		return
	}
	switch {
	case s.kind == kindEntries:
		given.node, given.path = n, r.path
	case n.Kind == yaml.ScalarNode:
		if wrong := s.wrongScalar(n.Tag); wrong != "" {
			r.fail(n, s.Name, "%s%s", wrong, s.saw(n.Value))
			return
		}
	case s.kind == kindList && n.Kind == yaml.SequenceNode:
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			if !r.plain(item, s.Name) {
				return
			}
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" || strings.Contains(item.Value, ",") {
				r.fail(item, s.Name, "an item of the list must be one text without commas")
				return
			}
			items[i] = item.Value
		}
		given.Text = strings.Join(items, ",")
	default:
		r.fail(n, s.Name, "must be a %s", s.form)
		return
	}
	r.values[s.Name] = given
}

// wrongScalar says what is wrong with a value of that YAML type, empty for nothing.
func (s *Setting) wrongScalar(tag string) string {
	switch {
	case tag == "!!null":
		return "has no value"
	case s.kind == kindSwitch && tag != "!!bool":
		return "must be true or false"
	case s.kind == kindNumber && tag != "!!int":
		return "must be a whole number, in digits"
	case s.kind == kindText && tag == "!!bool":
		return "must be a text; put it in quotes"
	}
	return ""
}
