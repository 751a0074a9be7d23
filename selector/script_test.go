package selector_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"footfall/selector"
)

// headers are properties in order, all of them texts, and a body. Of repeated ones the first counts.
type headers struct {
	names  []string
	values []selector.Value
	body   []byte
	asked  map[string]int // how often each property was asked for; the body is ""
}

func (h *headers) add(name string, v selector.Value) {
	h.names = append(h.names, name)
	h.values = append(h.values, v)
}

func (h *headers) Property(name string) selector.Value {
	if h.asked != nil {
		h.asked[name]++
	}
	for i, n := range h.names {
		if n == name {
			return h.values[i]
		}
	}
	return selector.Value{}
}

func (h *headers) NextName(pos int) (string, int) {
	if pos >= len(h.names) {
		return "", -1
	}
	return h.names[pos], pos + 1
}

func (h *headers) Body() []byte {
	if h.asked != nil {
		h.asked[""]++
	}
	return h.body
}

// textHeaders makes headers of names and texts in turn.
func textHeaders(pairs ...string) *headers {
	h := &headers{}
	for i := 0; i < len(pairs); i += 2 {
		h.add(pairs[i], selector.Text(pairs[i+1]))
	}
	return h
}

// TestScripts runs testdata/*.txt:
//
//	message          the properties of the messages after it, a "name=value" a line; typed as name:int=, :bool=, :double=, :number=
//	body             the body, as it is
//	eval             selectors, one a line: what each is, or why it is refused
//	normal           selectors, one a line: their normal forms
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		h := &headers{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "message":
				h = &headers{}
				for _, line := range strings.Split(d.Input, "\n") {
					if name, value, ok := strings.Cut(line, "="); ok {
						h.add(typed(t, name, value))
					}
				}
				return ""
			case "body":
				h.body = []byte(d.Input)
				return ""
			}
			var out strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				if line != "" {
					fmt.Fprintf(&out, "%-45s %s\n", line, outcome(t, d.Cmd, line, h))
				}
			}
			return out.String()
		})
	})
}

func typed(t *testing.T, name, value string) (string, selector.Value) {
	name, kind, _ := strings.Cut(name, ":")
	switch kind {
	case "":
		return name, selector.Text(strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(value))
	case "bool":
		return name, selector.Bool(value == "true")
	case "number":
		return name, selector.Number(value)
	}
	var i int64
	var f float64
	if kind == "int" {
		if _, err := fmt.Sscan(value, &i); err != nil {
			t.Fatal(err)
		}
		return name, selector.Int(i)
	}
	if _, err := fmt.Sscan(value, &f); err != nil {
		t.Fatal(err)
	}
	return name, selector.Double(f)
}

func outcome(t *testing.T, command, text string, h *headers) string {
	c := selector.NewCompiler(selector.Options{})
	p, err := c.Compile(text)
	if err != nil {
		var syntax *selector.SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(text) {
			t.Errorf("%s: the error has no place: %#v", text, err)
		}
		return fmt.Sprintf("%d: %s", syntax.Offset, syntax.Message)
	}
	if command == "normal" {
		return p.String()
	}
	var m selector.Message
	m.Reset(h)
	result := p.Eval(&m)
	if p.Match(&m) != (result == selector.True) {
		t.Errorf("%s: Match and Eval contradict each other", text)
	}
	return result.String()
}
