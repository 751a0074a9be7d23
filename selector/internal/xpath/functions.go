package xpath

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (e *evaluator) call(t *tree, c context) value {
	switch t.word {
	case "last":
		return numberValue(float64(c.size))
	case "position":
		return numberValue(float64(c.position))
	case "true", "false":
		return boolValue(t.word == "true")
	}
	args := make([]value, len(t.args), 3)
	for i, a := range t.args {
		args[i] = e.value(a, c)
	}
	if len(args) == 0 {
		args = append(args, value{nodes: []int32{c.node}})
	}
	switch t.word {
	case "count":
		return numberValue(float64(len(args[0].nodes)))
	case "sum":
		return numberValue(e.sum(args[0].nodes))
	case "name", "local-name":
		return textValue(e.name(args[0].nodes, t.word == "local-name"))
	case "boolean":
		return boolValue(args[0].asBool())
	case "not":
		return boolValue(!args[0].asBool())
	case "number":
		return numberValue(e.number(args[0]))
	case "floor":
		return numberValue(math.Floor(e.number(args[0])))
	case "ceiling":
		return numberValue(math.Ceil(e.number(args[0])))
	case "round":
		return numberValue(round(e.number(args[0])))
	case "substring":
		return textValue(e.substring(args))
	}
	return e.textCall(t.word, args)
}

// textCall calls the functions all of whose arguments are texts.
func (e *evaluator) textCall(name string, args []value) value {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = e.asText(a)
		if !e.spend(len(texts[i]) / octets) {
			return value{}
		}
	}
	switch name {
	case "concat":
		return textValue(strings.Join(texts, ""))
	case "starts-with":
		return boolValue(strings.HasPrefix(texts[0], texts[1]))
	case "contains":
		return boolValue(strings.Contains(texts[0], texts[1]))
	case "substring-before":
		before, _, found := strings.Cut(texts[0], texts[1])
		if !found {
			before = ""
		}
		return textValue(before)
	case "substring-after":
		_, after, _ := strings.Cut(texts[0], texts[1])
		return textValue(after)
	case "string-length":
		return numberValue(float64(utf8.RuneCountInString(texts[0])))
	case "normalize-space":
		return textValue(strings.Join(strings.FieldsFunc(texts[0], isBlank), " "))
	case "translate":
		return textValue(translate(texts[0], texts[1], texts[2]))
	default: // string
		return textValue(texts[0])
	}
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

func (e *evaluator) sum(nodes []int32) (sum float64) {
	for _, n := range nodes {
		if e.steps < 0 {
			return 0
		}
		sum += toNumber(e.text(n))
	}
	return sum
}

// name returns the name of the first node.
func (e *evaluator) name(nodes []int32, local bool) string {
	if len(nodes) == 0 {
		return ""
	}
	name := e.document.nodes[nodes[0]].name
	if _, after, ok := strings.Cut(name, ":"); ok && local {
		return after
	}
	return name
}

// substring follows XPath 1.0, 4.2: characters whose position is from the rounded second argument on, for as many as
// the rounded third says.
func (e *evaluator) substring(args []value) string {
	s := e.asText(args[0])
	e.spend(len(s) / octets)
	first := round(e.number(args[1]))
	end := math.Inf(1)
	if len(args) == 3 {
		end = first + round(e.number(args[2]))
	}
	start, stop, position := len(s), len(s), 1.0
	for i := range s {
		if position >= first && position < end {
			start = min(start, i)
		} else if start < len(s) {
			stop = i
			break
		}
		position++
	}
	return s[start:stop]
}

// translate replaces each character that is in from by the one at its place in to, or by nothing.
func translate(s, from, to string) string {
	places := map[rune]rune{}
	targets := []rune(to)
	for i, r := range []rune(from) {
		if _, ok := places[r]; ok {
			continue
		}
		if places[r] = -1; i < len(targets) {
			places[r] = targets[i]
		}
	}
	return strings.Map(func(r rune) rune {
		if to, ok := places[r]; ok {
			return to
		}
		return r
	}, s)
}

// round rounds to the next whole number, a half up.
func round(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) >= 1<<52 {
		return f
	}
	return math.Floor(f + 0.5)
}

func (v value) asBool() bool {
	switch v.kind {
	case Nodes:
		return len(v.nodes) > 0
	case Number:
		return v.number != 0 && !math.IsNaN(v.number)
	case Text:
		return v.text != ""
	default:
		return v.bool
	}
}

func (e *evaluator) asText(v value) string {
	switch v.kind {
	case Nodes:
		if len(v.nodes) == 0 {
			return ""
		}
		return e.text(v.nodes[0])
	case Boolean:
		return strconv.FormatBool(v.bool)
	case Text:
		return v.text
	}
	switch {
	case math.IsInf(v.number, 1):
		return "Infinity"
	case math.IsInf(v.number, -1):
		return "-Infinity"
	case v.number == 0:
		return "0"
	}
	return strconv.FormatFloat(v.number, 'f', -1, 64)
}

func (e *evaluator) number(v value) float64 {
	switch v.kind {
	case Number:
		return v.number
	case Boolean:
		if v.bool {
			return 1
		}
		return 0
	}
	s := e.asText(v)
	e.spend(len(s) / octets)
	return toNumber(s)
}

// toNumber reads a number as XPath writes them: no exponent, no plus.
func toNumber(s string) float64 {
	s = strings.TrimFunc(s, isBlank)
	for i := range len(s) {
		if !isDigit(s[i]) && s[i] != '.' && (s[i] != '-' || i > 0) {
			return math.NaN()
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}
