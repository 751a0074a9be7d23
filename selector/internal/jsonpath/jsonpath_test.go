package jsonpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"footfall/selector/internal/jsonpath"
)

var limits = jsonpath.Limits{Depth: 64, Nodes: 10_000}

func TestFind(t *testing.T) {
	const body = ` {"a": {"b":"x","n":-5.0e1, "ok":true, "nil":null, "a.b":"dot", "q\"\u00e4":"esc\n\u0041"}, "list":[1,[2,"three"],{}], "a":"second", "":"empty", "e":""} `
	d, err := jsonpath.ParseDocument([]byte(body), limits)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"$.a.b": "x", "$.a.n": "-5.0e1", "$.a.ok": "true", "$.a.nil": "none", "$.a['a.b']": "dot", `$.a["a.b"]`: "dot", `$['a']['b']`: "x",
		`$.a['q"ä']`: "esc\nA", "$.list[0]": "1", "$.list[1][1]": "three", "$.list[2]": "none", "$.list[3]": "none", "$.list": "none", "$.list.a": "none",
		"$": "none", "$[0]": "none", "$['']": "empty", "$.e": "", "$.A": "none", "$.a.b.c": "none", "$.a.b[0]": "none",
		"": "error", "a": "error", "$.": "error", "$..a": "error", "$[": "error", "$[]": "error", "$[-1]": "error", "$[1": "error", "$['a": "error", "$['a'": "error",
		"$.*": "error", "$[*]": "error", "$ .a": "error", "$.a b": "error", "$[99999999999]": "error", "$x": "error", "$[?(@.a)]": "error",
	} {
		p, err := jsonpath.Parse(path)
		if err != nil {
			if want != "error" {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		got, ok := p.Find(d)
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestDocumentsBeyondTheLimits(t *testing.T) {
	for what, body := range map[string]string{
		"deep":        strings.Repeat("[", 65) + strings.Repeat("]", 65),
		"deep object": strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65),
		"deep, open":  strings.Repeat("[", 100_000),
		"many":        "[" + strings.Repeat("1,", 10_000) + "1]",
	} {
		if _, err := jsonpath.ParseDocument([]byte(body), limits); err == nil {
			t.Errorf("%s: was read", what)
		}
	}
	if _, err := jsonpath.ParseDocument([]byte(strings.Repeat("[", 64)+strings.Repeat("]", 64)), limits); err != nil {
		t.Error(err)
	}
}

// FuzzDocument: what is JSON to the standard library, and valid UTF-8, is JSON here, and a member is found as there.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,2.5e-3,"x\u00e4"]}}`, `[true,false,null]`, `"a`, "01", "1.", "-", `{"a":1,}`, `{"a" 1}`, "\x00", `"\ud800"`, "[1 2]", "nul", ""} {
		f.Add([]byte(s))
	}
	wide := jsonpath.Limits{Depth: 1000, Nodes: 1 << 20}
	path, err := jsonpath.Parse("$.a")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := jsonpath.ParseDocument(body, wide)
		var v any
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.UseNumber()
		valid := decoder.Decode(&v) == nil && json.Valid(body)
		if err != nil {
			if valid && len(body) < 1000 && strings.ToValidUTF8(string(body), "") == string(body) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		if !valid {
			t.Fatalf("%q is no JSON", body)
		}
		if object, ok := v.(map[string]any); ok && strings.Count(string(body), `"a"`) == 1 && !strings.Contains(string(body), `\`) {
			got, found := path.Find(d)
			if want, is := object["a"].(string); is && (!found || got != want) {
				t.Errorf("%q: %q, want %q", body, got, want)
			}
		}
	})
}
