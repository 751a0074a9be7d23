package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Item is one mapping of the list that is the value of a setting of [Entries].
type Item[T any] struct {
	// Of holds the values of its keys; what is not given is zero.
	Of T
	// At is where the item stands.
	At Origin

	given []Value
}

// Origin returns where the value of a key stands, or the item itself if it has no such key.
func (i *Item[T]) Origin(key string) Origin {
	for _, v := range i.given {
		if v.key == key {
			return v.Origin
		}
	}
	return i.At
}

// Complaint is something that is wrong with an item, found when the whole list was read.
type Complaint struct {
	// Item is the index of the item, Key one of its keys; empty for the item as a whole.
	Item int
	Key  string
	Err  error
}

// Entries is a setting of a list of mappings, each with the same keys, which are settings of their own, bound to the
// fields of a T. The first key is required, and all others may be left out. What check complains of is told
// where it stands. In a flag and in the environment the list is written as in the file, on one line: JSON will do.
func Entries[T any](at *[]Item[T], name, doc string, keys func(*T) []Setting, check func([]Item[T]) []Complaint) Setting {
	return Setting{
		Name: name, Default: none, Doc: doc, kind: kindEntries, form: "list of mappings, or none",
		show: func() string {
			if n := len(*at); n > 1 {
				return fmt.Sprintf("%d entries", n)
			} else if n == 1 {
				return "1 entry"
			}
			return none
		},
		set: func(string) error { *at = nil; return nil }, // the default
		entries: &entries{
			keys: keys(new(T)),
			read: func(given Given, problems *Errors) {
				before := len(*problems)
				*at = readItems(name, given, keys, problems)
				if len(*problems) > before {
					return // what check said might follow from that
				}
				for _, c := range check(*at) {
					item, full := &(*at)[c.Item], itemName(name, c.Item)
					if c.Key != "" {
						full += "." + c.Key
					}
					problems.add(item.Origin(c.Key), full, "%w", c.Err)
				}
			},
			values: func() (all []Value) {
				for _, item := range *at {
					all = append(all, item.given...)
				}
				return all
			},
		},
	}
}

// entries is what a setting of Entries has beside the other settings.
type entries struct {
	keys   []Setting
	read   func(Given, *Errors)
	values func() []Value
}

func itemName(name string, index int) string { return fmt.Sprintf("%s[%d]", name, index) }

// readItems reads the value of the setting of that name.
func readItems[T any](name string, given Given, keys func(*T) []Setting, problems *Errors) (items []Item[T]) {
	r := fileReader{path: given.path, problems: problems}
	n := given.node
	if n == nil {
		r.path = string(given.At)
		n = r.document(given.Text)
	}
	switch {
	case n == nil || n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == none): // null: all its lines are commented out
		return nil
	case n.Kind != yaml.SequenceNode:
		r.fail(n, name, "must be a list of mappings, each with a line %q", "- "+keys(new(T))[0].Name+": ...")
		return nil
	}
	items = make([]Item[T], len(n.Content))
	for i, node := range n.Content {
		items[i].At = r.at(node)
		items[i].given = r.item(node, itemName(name, i), keys(&items[i].Of))
	}
	return items
}

// item reads one mapping, and returns the values of the keys that it has.
func (r *fileReader) item(n *yaml.Node, name string, keys []Setting) (given []Value) {
	for i := range keys {
		keys[i].key = keys[i].Name
		keys[i].Name = name + "." + keys[i].Name
	}
	if n.Kind != yaml.MappingNode && n.Kind != yaml.AliasNode {
		r.fail(n, name, "must be a mapping, with a line %q", keys[0].key+": ...")
		return nil
	}
	r.settings, r.values = keys, map[string]Given{}
	before := len(*r.problems)
	r.section(n, name)
	if _, ok := r.values[keys[0].Name]; !ok && len(*r.problems) == before {
		r.fail(n, name, "has no %s", keys[0].key)
	}
	for i := range keys {
		s := &keys[i]
		g, ok := r.values[s.Name]
		if !ok {
			continue
		}
		if err := s.set(g.Text); err != nil {
			r.problems.add(g.At, s.Name, "%w%s", err, s.saw(g.Text))
		}
		given = append(given, Value{Setting: s, Origin: g.At})
	}
	return slices.Clip(given)
}
