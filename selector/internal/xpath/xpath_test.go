package xpath_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"footfall/selector/internal/xpath"
)

var limits = xpath.Limits{Depth: 64, Nodes: 10_000}

const order = `<?xml version="1.0"?><!-- c --><order id="o7" s:kind="big" xmlns:s="urn:s"><item n="1"><id>007</id><price>9.50</price></item>` +
	`<item n="2"><id>8</id><price>1.25</price><note/></item><s:item>x<![CDATA[<y>]]>z</s:item><?go fast?></order>`

// show writes a result as its type and value.
func show(r xpath.Result) string {
	switch r.Type {
	case xpath.Boolean:
		return fmt.Sprint(r.Bool)
	case xpath.Number:
		return fmt.Sprint(r.Number)
	case xpath.Text:
		return fmt.Sprintf("%q", r.Text)
	}
	if !r.Bool {
		return "none"
	}
	return r.Text
}

func TestEvaluate(t *testing.T) {
	d, err := xpath.ParseDocument([]byte(order), limits)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ text, want string }{
		{"/order/item[1]/id/text()", "007"},
		{"/order/item[2]/id", "8"},
		{"/order/item[3]", "none"},
		{"/order/@id", "o7"},
		{"/order/@s:kind", "big"},
		{"/order/@*[2]", "big"},
		{"count(/order/@*)", "2"},
		{"//item[id='007']/price", "9.50"},
		{"//item[id = 8]/@n", "2"},
		{"//item[@n=2]/note", ""},
		{"//id[. = '8']", "8"},
		{"//id/..", "0079.50"},
		{"//s:item", "x<y>z"},
		{"//s:*", "x<y>z"},
		{"//*[local-name()='item'][3]", "x<y>z"},
		{"(//*[local-name()='item'])[3]", "x<y>z"},
		{"(//item)[last()]/id", "8"},
		{"//item[last()]/id", "8"},
		{"//item[position()=2]/id", "8"},
		{"count(//item)", "2"},
		{"count(//*)", "9"},
		{"count(//node())", "16"},
		{"sum(//price)", "10.75"},
		{"sum(//price) > 10", "true"},
		{"//price > 9", "true"},
		{"//price < 1", "false"},
		{"//price != 9.5", "true"},
		{"//price = //id", "false"},
		{"//item = true()", "true"},
		{"//nothing = false()", "true"},
		{"1 + 2 * 3 - 4 div 2", "5"},
		{"5 mod 3", "2"},
		{"-5 mod 3", "-2"},
		{"- - 1", "1"},
		{"1 div 0", "+Inf"},
		{"number('x')", "NaN"},
		{"number(' 1.5 ')", "1.5"},
		{"number('1e3')", "NaN"},
		{"2 * * 2", "error"},
		{"/order/*[2]/*[1]", "8"},
		{"//note | //id", "007"},
		{"count(//note | //id | //id)", "3"},
		{"//id[2]", "none"},
		{"/descendant::id[2]", "8"},
		{"//price/preceding-sibling::*[1]", "007"},
		{"//note/preceding-sibling::*[1]", "1.25"},
		{"//note/preceding-sibling::*[last()]", "8"},
		{"//note/preceding::id[1]", "8"},
		{"//note/preceding::id[2]", "007"},
		{"//id[1]/following::id", "8"},
		{"//id/following-sibling::note", ""},
		{"//note/ancestor::*[1]/@n", "2"},
		{"//note/ancestor::*[last()]/@id", "o7"},
		{"count(//note/ancestor-or-self::node())", "4"},
		{"//@n/..", "0079.50"},
		{"//@n[. = 2]/parent::item/id", "8"},
		{"count(//@n/following::*)", "7"},
		{"self::node()", "0079.5081.25x<y>z"},
		{"/", "0079.5081.25x<y>z"},
		{"/comment()", " c "},
		{"//processing-instruction()", "fast"},
		{"//processing-instruction('go')", "fast"},
		{"//processing-instruction('x')", "none"},
		{"name(//s:item)", `"s:item"`},
		{"local-name(//s:item)", `"item"`},
		{"name(//x)", `""`},
		{"string(//id)", `"007"`},
		{"concat('a', 1, true())", `"a1true"`},
		{"starts-with('abc', 'ab')", "true"},
		{"contains(//s:item, '<')", "true"},
		{"substring-before('1/2', '/')", `"1"`},
		{"substring-after('1/2', '/')", `"2"`},
		{"substring-before('12', '/')", `""`},
		{"substring-after('12', '/')", `""`},
		{"substring('12345', 2, 3)", `"234"`},
		{"substring('12345', 1.5, 2.6)", `"234"`},
		{"substring('12345', 0, 3)", `"12"`},
		{"substring('12345', 2)", `"2345"`},
		{"substring('12345', 0 div 0, 3)", `""`},
		{"substring('12345', -42, 1 div 0)", `"12345"`},
		{"string-length('äb')", "2"},
		{"normalize-space('  a  b ')", `"a b"`},
		{"translate('bar', 'abc', 'AB')", `"BAr"`},
		{"translate('-a-', 'a-', 'A')", `"A"`},
		{"boolean(//id)", "true"},
		{"not(//id)", "false"},
		{"boolean('')", "false"},
		{"boolean(0 div 0)", "false"},
		{"floor(-1.5)", "-2"},
		{"ceiling(1.2)", "2"},
		{"round(1.5)", "2"},
		{"round(-1.5)", "-1"},
		{"true() and not(false())", "true"},
		{"false() or 1", "true"},
		{"string(1.0)", `"1"`},
		{"string(0.1)", `"0.1"`},
		{"string(1 div 0)", `"Infinity"`},
		{"string(-0)", `"0"`},
		{"'a' = \"a\"", "true"},
		{"child::order/child::item/child::id", "007"},
		{"//item[id][1]/id", "007"},
		{"/order[item/id = '8']/@id", "o7"},
		{"order/item/id", "007"},
		{".//note", ""},
		{"//item[not(note)]/id", "007"},
		{"count(//item[price > 5 and id])", "1"},
		{"/child::node()[self::order]/@id", "o7"},
		{"/order//id[../@n = 2]", "8"},
		{"//and | //or", "none"},
		{"1 = 1 and 2 = 2", "true"},
		{"-(1)", "-1"},
		{"", "error"},
		{"/order[", "error"},
		{"/order]", "error"},
		{"//", "error"},
		{"foo()", "error"},
		{"matches('a', 'a')", "error"},
		{"count(1)", "error"},
		{"count()", "error"},
		{"1[1]", "error"},
		{"'a'/b", "error"},
		{"1 | 2", "error"},
		{"'a", "error"},
		{"1.2.3", "error"},
		{"$x", "error"},
		{"bad::x", "error"},
		{"a b", "error"},
		{"@", "error"},
		{"concat('a'", "error"},
		{strings.Repeat("(", 40) + "1" + strings.Repeat(")", 40), "error"},
		{strings.Repeat("a[", 40) + "1" + strings.Repeat("]", 40), "error"},
		{strings.Repeat("- ", 1000) + "1", "1"},
	} {
		x, err := xpath.Parse(row.text, 32)
		if err != nil {
			if row.want != "error" {
				t.Errorf("%s: %v", row.text, err)
			}
			continue
		}
		r, ok := x.Evaluate(d, 10_000)
		if got := show(r); !ok || got != row.want {
			t.Errorf("%s: %s %v, want %s", row.text, got, ok, row.want)
		}
	}
}

func TestDocumentsThatAreRefused(t *testing.T) {
	for what, text := range map[string]string{
		"empty": "", "text": "no xml <", "open": "<a>", "crossed": "<a><b></a></b>", "two": "<a/><b/>", "text behind": "<a/>x", "entity": "<a>&x;</a>",
		"document type": `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, "external": `<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>`, "harmless document type": "<!DOCTYPE a><a/>",
		"deep": strings.Repeat("<a>", 65) + strings.Repeat("</a>", 65), "many": "<a>" + strings.Repeat("<b/>", 10_000) + "</a>",
		"attributes": "<a " + strings.Repeat("b='' ", 10_000) + "/>", "UTF-16": `<?xml version="1.0" encoding="UTF-16"?><a/>`, "not UTF-8": "<a>\xff</a>", "only end": "</a>",
	} {
		if _, err := xpath.ParseDocument([]byte(text), limits); err == nil {
			t.Errorf("%s: was read", what)
		}
	}
	for what, text := range map[string]string{
		"deep": strings.Repeat("<a>", 64) + strings.Repeat("</a>", 64), "mark": "\xef\xbb\xbf<a/>", "Latin": "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe4</a>",
		"entities": "<a>&lt;&#65;</a>", "prefix without a name": "<x:a/>",
	} {
		if _, err := xpath.ParseDocument([]byte(text), limits); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestDearExpressionsAreGivenUp has expressions whose work grows with a power of the document.
func TestDearExpressionsAreGivenUp(t *testing.T) {
	wide, err := xpath.ParseDocument([]byte("<a>"+strings.Repeat("<b>text</b>", 4000)+"</a>"), limits)
	if err != nil {
		t.Fatal(err)
	}
	deep, err := xpath.ParseDocument([]byte(strings.Repeat("<a>", 64)+strings.Repeat("</a>", 64)), limits)
	if err != nil {
		t.Fatal(err)
	}
	doubled := "'" + strings.Repeat("x", 100) + "'"
	for range 12 {
		doubled = "concat(" + doubled + "," + doubled + ")"
		if len(doubled) > 8<<10 {
			break
		}
	}
	for _, text := range []string{
		"count(//*[count(//*)>1])", "//b[. = //b[. = //b[. = '']]]", "//*[preceding::*[following::*[preceding::*]]]", "//b = //b[. = 'text']/@x | //b[. < 0]/.. | //b[//b < 0]",
		"//b/following::b/preceding::b", "sum(//b/..)" + strings.Repeat(" + sum(//b/..)", 50),
	} {
		x, err := xpath.Parse(text, 32)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := x.Evaluate(wide, 100_000); ok {
			t.Errorf("%s: was not too dear", text)
		}
	}
	for _, text := range []string{"//*//*//*//*//*//*//*//*", doubled} {
		x, err := xpath.Parse(text, 32)
		if err != nil {
			t.Fatal(err)
		}
		x.Evaluate(deep, 100_000) // whatever it finds, it comes back
	}
}

// FuzzEvaluate: nothing panics, and the work is bounded.
func FuzzEvaluate(f *testing.F) {
	f.Add("//item[id='007']/price", order)
	f.Add("substring(//a, 0 div 0) | x", "<a><b/></a>")
	f.Add("//*[preceding::*][-1 mod 0]/@*/..", "<a b='c'>d<!-- e --></a>")
	f.Fuzz(func(t *testing.T, text, body string) {
		x, err := xpath.Parse(text, 32)
		if err != nil {
			return
		}
		d, err := xpath.ParseDocument([]byte(body), limits)
		if err != nil {
			return
		}
		r, ok := x.Evaluate(d, 10_000)
		if again, same := x.Evaluate(d, 10_000); ok && (show(again) != show(r) || !same) {
			t.Errorf("%s: %v, then %v", text, r, again)
		}
		if ok && r.Type == xpath.Number && math.IsNaN(r.Number) && r.Bool {
			t.Errorf("%s: NaN is true", text)
		}
	})
}
