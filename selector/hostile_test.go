package selector_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"footfall/selector"
)

// TestHostileSelectorsAreRefused: each limit is told by its number, before anything grows.
func TestHostileSelectorsAreRefused(t *testing.T) {
	items := func(n int) string { return strings.Repeat("1,", n-1) + "1" }
	for _, row := range []struct{ text, message string }{
		{strings.Repeat("a = 1 AND ", 10_000) + "a = 1", "longer than 16384 octets"},
		{strings.Repeat("a=1 AND ", 1000) + "a=1", "more than 2048 operators, names and literals"},
		{strings.Repeat("(", 65) + "a = 1" + strings.Repeat(")", 65), "nested more than 64 deep"},
		{strings.Repeat("NOT ", 65) + "a = 1", "nested more than 64 deep"},
		{strings.Repeat("- ", 65) + "a = 1", "nested more than 64 deep"},
		{strings.Repeat("(", 10_000), "nested more than 64 deep"},
		{"a IN (" + items(1025) + ")", "more than 1024 values"},
		{"a LIKE '%" + strings.Repeat("_", 4097) + "%'", "more than 4096 characters in a row"},
		{"a LIKE '" + strings.Repeat("_", 4097) + "'", "more than 4096 characters in a row"},
		{"XPATH '" + strings.Repeat("(", 100) + "'", "nested more than 64 deep"},
		{"a = '\xff'", "expected UTF-8"},
		{"T(java.lang.Runtime).getRuntime().exec('x')", "expected"},
	} {
		c := selector.NewCompiler(selector.Options{})
		_, err := c.Compile(row.text)
		var syntax *selector.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(syntax.Message, row.message) {
			t.Errorf("%.40s: %v, want %s", row.text, err, row.message)
		} else if syntax.Offset > len(row.text) || strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 300 {
			t.Errorf("%.40s: at %d: %v", row.text, syntax.Offset, err)
		}
		if c.Len() != 0 {
			t.Errorf("%.40s: something is left of it", row.text)
		}
	}
}

// TestLimitsAreSettings: what the defaults refuse compiles with higher limits, and what they allow does not with lower ones.
func TestLimitsAreSettings(t *testing.T) {
	for _, row := range []struct {
		text      string
		wide, low selector.Options
	}{
		{"a = '" + strings.Repeat("x", 16<<10) + "'", selector.Options{MaxText: 17 << 10}, selector.Options{}},
		{strings.Repeat("a=1 AND ", 1000) + "a=1", selector.Options{MaxNodes: 5000}, selector.Options{}},
		{strings.Repeat("(", 65) + "a = 1" + strings.Repeat(")", 65), selector.Options{MaxDepth: 65}, selector.Options{}},
		{"a IN (1, 2, 3)", selector.Options{}, selector.Options{MaxList: 2}},
		{"XPATH '/a'", selector.Options{}, selector.Options{NoContent: true}},
		{"JSON_VALUE('$.a') = 1", selector.Options{}, selector.Options{NoContent: true}},
		{"JMS_BEA_SELECT('xpath', '/a') = 1", selector.Options{}, selector.Options{NoContent: true}},
	} {
		compile(t, selector.NewCompiler(row.wide), row.text)
		if _, err := selector.NewCompiler(row.low).Compile(row.text); err == nil {
			t.Errorf("%.40s: compiles within %+v", row.text, row.low)
		}
	}
}

// TestBodiesBeyondTheLimits are NULL, whatever they hold.
func TestBodiesBeyondTheLimits(t *testing.T) {
	xml, json := "JMS_BEA_SELECT('xpath', '//a[last()]') IS NOT NULL", "JSON_VALUE('$[0]') IS NOT NULL"
	for _, row := range []struct {
		what, text, body string
		limits           selector.Options
	}{
		{"XML", xml, "<b><a>x</a></b>", selector.Options{MaxBody: 14}},
		{"XML", xml, "<b><a>x</a></b>", selector.Options{MaxBodyDepth: 1}},
		{"XML", xml, "<b><a>x</a></b>", selector.Options{MaxBodyNodes: 3}},
		{"XML", xml, "<b><a>x</a></b>", selector.Options{MaxSteps: 5}},
		{"JSON", json, `["x",[1]]`, selector.Options{MaxBody: 8}},
		{"JSON", json, `["x",[1]]`, selector.Options{MaxBodyDepth: 1}},
		{"JSON", json, `["x",[1]]`, selector.Options{MaxBodyNodes: 3}},
	} {
		h := &headers{body: []byte(row.body)}
		var m selector.Message
		m.Reset(h)
		if !compile(t, selector.NewCompiler(selector.Options{}), row.text).Match(&m) {
			t.Errorf("%s: not found within the defaults", row.what)
		}
		if compile(t, selector.NewCompiler(row.limits), row.text).Match(&m) && row.limits.MaxBodyDepth+row.limits.MaxBodyNodes == 0 {
			t.Errorf("%s: found beyond %+v", row.what, row.limits)
		}
		m.Reset(h) // parsed anew, within the lower limits
		if compile(t, selector.NewCompiler(row.limits), row.text).Match(&m) {
			t.Errorf("%s: found beyond %+v", row.what, row.limits)
		}
	}
}

// TestLongestPatterns match long texts, in a time that the benchmark tells.
func TestLongestPatterns(t *testing.T) {
	h := textHeaders("x", strings.Repeat("a", 64<<10)+"b")
	var m selector.Message
	m.Reset(h)
	c := selector.NewCompiler(selector.Options{MaxText: 64 << 10})
	for text, want := range map[string]bool{
		"x LIKE '" + strings.Repeat("%a", 2000) + "'":             false,
		"x LIKE '" + strings.Repeat("%a", 2000) + "%b'":           true,
		"x LIKE '%" + strings.Repeat("a", 4000) + "_b%'":          true,
		"x LIKE '%" + strings.Repeat("_", 4095) + "a%'":           true,
		"x LIKE '%" + strings.Repeat("a_", 2000) + "c%'":          false,
		"x LIKE '" + strings.Repeat("_", 4000) + "%b'":            true,
		"x LIKE '%" + strings.Repeat("_", 4000) + "'":             true,
		"x LIKE '" + strings.Repeat("_%", 2000) + "b'":            true,
		"x LIKE '%a" + strings.Repeat("_", 63) + "b'":             true,
		"x LIKE '%a" + strings.Repeat("_", 63) + "b_'":            false,
		fmt.Sprintf("x LIKE '%%%s%%'", strings.Repeat("_", 64)):   true,
		fmt.Sprintf("x LIKE '%%c%s%%'", strings.Repeat("_", 127)): false,
	} {
		if got := compile(t, c, text).Match(&m); got != want {
			t.Errorf("%.40s: %v, want %v", text, got, want)
		}
	}
}

// FuzzCompile: a text is refused with a place in it, or has a normal form that is its own, and is one thing for a message.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"a = 'x' AND NOT (b > 2 OR c IN ('x', 1)) -- d", "a LIKE '%x!_%' ESCAPE '!' OR b BETWEEN -1 AND 0x1F", "(a = 1) <> (b IS NULL)",
		"JMS_BEA_SELECT('xpath', '//b[1]') = 1 OR XPATH '/a' AND JSON_VALUE('$.a[0]') > 1.5e3", `"a-b" = 1 AND a-b * 2.50 - -1 = 07`, "1/0 = a", "'", "/*", "a = 1e99999", "- - - a = 1",
	} {
		f.Add(s, "x1", "<a><b>1</b></a>")
	}
	c := selector.NewCompiler(selector.Options{MaxSteps: 2000})
	wide := selector.NewCompiler(selector.Options{MaxText: 1 << 20, MaxNodes: 1 << 20, MaxDepth: 1 << 10, MaxList: 1 << 20, MaxSteps: 2000})
	f.Fuzz(func(t *testing.T, text, value, body string) {
		p, err := c.Compile(text)
		if err != nil {
			var syntax *selector.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(text) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("%q: %#v", text, err)
			}
			return
		}
		defer c.Release(p)
		q, err := wide.Compile(p.String())
		if err != nil || q.String() != p.String() {
			t.Fatalf("%q: normal form %q, of which it is %v, %v", text, p, q, err)
		}
		defer wide.Release(q)
		h := textHeaders("a", value, "b", "2", "c", " true")
		h.body = []byte(body)
		var m, n selector.Message
		m.Reset(h)
		n.Reset(h)
		got := p.Eval(&m)
		if p.Match(&m) != (got == selector.True) || q.Eval(&n) != got {
			t.Errorf("%q of %q: %v, and its normal form %q: %v", text, value, got, q, q.Eval(&n))
		}
		var x selector.Index[int]
		x.Add(p, 1)
		found := selector.False
		x.Match(&m, func(int) { found = selector.True })
		if (found == selector.True) != (got == selector.True) {
			t.Errorf("%q of %q: %v, and by the index %v", text, value, got, found)
		}
		x.Remove(p, 1)
	})
}
