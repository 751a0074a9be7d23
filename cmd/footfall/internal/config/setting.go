package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Setting is one thing that a user may choose, bound to the variable that holds the choice.
type Setting struct {
	// Name is lower-case words with dots between sections and hyphens between words:
	// "stomp.listen".
	Name string
	// Default is the value that counts when nobody sets it, as a user would write it.
	Default string
	// Doc says in one or two sentences what the setting does.
	Doc string
	// Flag is the name of the command-line flag that sets it, empty for none.
	Flag string
	// Secret values are never printed.
	Secret bool

	kind kind
	// form says what a value looks like, for the manual and for errors.
	form string
	// set reads a value and stores it; show writes what is stored.
	set  func(text string) error
	show func() string
	// entries is of a list of mappings, key the name of a setting in such a mapping.
	entries *entries
	key     string
}

// kind is what the file's grammar needs to know of a value.
type kind uint8

const (
	kindText    kind = iota
	kindMeasure      // a text that is a number with a unit, or a word
	kindNumber
	kindSwitch
	kindList
	kindEntries
)

// Env is the name of the environment variable that sets s; empty for what is part of a list of mappings.
func (s *Setting) Env() string {
	if s.key != "" {
		return ""
	}
	return EnvPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.Name))
}

// Form says what a value of s looks like, in a few words.
func (s *Setting) Form() string { return s.form }

// OnFlag gives s a command-line flag of that name.
func (s Setting) OnFlag(name string) Setting {
	s.Flag = name
	return s
}

// AsSecret keeps the value of s from being printed.
func (s Setting) AsSecret() Setting {
	s.Secret = true
	return s
}

// Text is a setting of any text that valid accepts; nil accepts all.
func Text(at *string, name, value, form, doc string, valid func(string) error) Setting {
	return Setting{
		Name: name, Default: value, Doc: doc, kind: kindText, form: form,
		set: func(text string) error {
			if valid != nil {
				if err := valid(text); err != nil {
					return err
				}
			}
			*at = text
			return nil
		},
		show: func() string { return *at },
	}
}

// List is a setting of texts, separated by commas where they are one text. It may be
// empty only if it is so by default.
func List(at *[]string, name, value, form, doc string, valid func(string) error) Setting {
	return Setting{
		Name: name, Default: value, Doc: doc, kind: kindList, form: "list of " + form,
		set: func(text string) error {
			var list []string
			for item := range strings.SplitSeq(text, ",") {
				if item = strings.TrimSpace(item); item == "" {
					continue
				}
				if valid != nil {
					if err := valid(item); err != nil {
						return err
					}
				}
				list = append(list, item)
			}
			if len(list) == 0 && value != "" {
				return errors.New("must not be empty")
			}
			*at = list
			return nil
		},
		show: func() string { return strings.Join(*at, ",") },
	}
}

// Choice is a setting of one of a few words.
func Choice(at *string, name, value, doc string, words ...string) Setting {
	s := Text(at, name, value, strings.Join(words, ", "), doc, func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		return nil
	})
	return s
}

// Switch is a setting that is true or false.
func Switch(at *bool, name, value, doc string) Setting {
	return Setting{
		Name: name, Default: value, Doc: doc, kind: kindSwitch, form: "true or false",
		set: func(text string) error {
			if text != "true" && text != "false" {
				return fmt.Errorf("must be true or false")
			}
			*at = text == "true"
			return nil
		},
		show: func() string { return fmt.Sprint(*at) },
	}
}

// Bounds are the least and greatest value of a number, in its own unit. The zero
// Max is no bound but the variable's own. None and Auto say that the words "none" and "auto" are
// values too, stored as -1 and 0.
type Bounds struct {
	Min, Max   int64
	None, Auto bool
}

// word returns the number that a word stands for.
func (b Bounds) word(text string) (n int64, ok bool) {
	switch {
	case b.None && text == none:
		return -1, true
	case b.Auto && text == auto:
		return 0, true
	}
	return 0, false
}

// integer are the types of variables that hold numbers.
type integer interface{ ~int | ~int64 | ~uint64 }

// Number is a setting of a whole number.
func Number[T integer](at *T, name, value string, bounds Bounds, doc string) Setting {
	s := numeric(at, name, value, bounds, doc, parseNumber, formatNumber)
	s.kind, s.form = kindNumber, bounds.form("number", formatNumber)
	if bounds.None || bounds.Auto {
		s.kind = kindMeasure
	}
	return s
}

// Factor is a setting of a number with at most one decimal. The bounds are in tenths.
func Factor(at *float64, name, value string, bounds Bounds, doc string) Setting {
	var tenths int64
	s := numeric(&tenths, name, value, bounds, doc, parseTenths, formatTenths)
	s.form = bounds.form("number", formatTenths)
	set := s.set
	s.set = func(text string) error {
		if err := set(text); err != nil {
			return err
		}
		*at = float64(tenths) / 10
		return nil
	}
	return s
}

// Size is a setting of a number of octets.
func Size[T integer](at *T, name, value string, bounds Bounds, doc string) Setting {
	s := numeric(at, name, value, bounds, doc, ParseSize, formatSize)
	s.form = bounds.form("size", formatSize)
	return s
}

// Duration is a setting of a length of time. The bounds are in nanoseconds.
func Duration(at *time.Duration, name, value string, bounds Bounds, doc string) Setting {
	s := numeric(at, name, value, bounds, doc, parseDuration, formatDuration)
	s.form = bounds.form("duration", formatDuration)
	return s
}

func numeric[T integer](at *T, name, value string, bounds Bounds, doc string, parse func(string) (int64, error), format func(int64) string) Setting {
	if bounds.Max == 0 {
		bounds.Max = math.MaxInt64
		if _, small := any(at).(*int); small {
			bounds.Max = math.MaxInt
		}
	}
	return Setting{
		Name: name, Default: value, Doc: doc, kind: kindMeasure,
		set: func(text string) error {
			if n, ok := bounds.word(text); ok {
				*at = T(n)
				return nil
			}
			n, err := parse(text)
			if err != nil {
				return err
			}
			if n < bounds.Min || n > bounds.Max {
				return fmt.Errorf("must be %s", bounds.within(format))
			}
			*at = T(n)
			return nil
		},
		show: func() string {
			switch n := int64(*at); {
			case n < 0 && bounds.None:
				return none
			case n == 0 && bounds.Auto:
				return auto
			default:
				return format(n)
			}
		},
	}
}

// none is the value of a number that has no bound, auto of one that the program chooses.
const (
	none = "none"
	auto = "auto"
)

func (b Bounds) within(format func(int64) string) string {
	text := "at least " + format(b.Min)
	if b.Max < math.MaxInt {
		text = format(b.Min) + " to " + format(b.Max)
	}
	if b.None {
		text += ", or " + none
	}
	if b.Auto {
		text += ", or " + auto
	}
	return text
}

func (b Bounds) form(what string, format func(int64) string) string {
	if b.Max == 0 {
		b.Max = math.MaxInt64
	}
	return what + ", " + b.within(format)
}
