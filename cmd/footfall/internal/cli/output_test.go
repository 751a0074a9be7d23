package cli

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestNothingThatMovesACursorIsPrinted(t *testing.T) {
	rows := []struct{ in, want, body string }{
		{"plain text, äöü €", "plain text, äöü €", "plain text, äöü €"},
		{"\x1b[31mred\x07", `\x1b[31mred\a`, `\x1b[31mred\a`},
		{"a\nb\tc\rd", `a\nb\tc\rd`, "a\nb\tc\\rd"},
		{"\x00\x7f\u0085", `\x00\x7f\u0085`, `\x00\x7f\u0085`},
		{"\u202eevil\u2066", `\u202eevil\u2066`, `\u202eevil\u2066`},
		{"\u2028", `\u2028`, `\u2028`},
		{"\xff\xfe", `\xff\xfe`, `\xff\xfe`},
		{"\uFFFD", "\uFFFD", "\uFFFD"},
	}
	for _, row := range rows {
		if got := escaped(row.in); got != row.want {
			t.Errorf("%q: expected %q; saw %q", row.in, row.want, got)
		}
		if got := escapedBody(row.in); got != row.body {
			t.Errorf("%q: expected %q; saw %q", row.in, row.body, got)
		}
	}
}

func FuzzJSONIsSafeAndTheSame(f *testing.F) {
	f.Add("a\x1b\x7f\u009b\u202e\U000e0001<&>\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		for _, print := range []func(io.Writer, any) error{printJSON, printJSONLine} {
			var out strings.Builder
			if err := print(&out, map[string]string{"k": text}); err != nil {
				t.Fatal(err)
			}
			for _, r := range out.String() {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Fatalf("%q: %q", text, out.String())
				}
			}
			var back map[string]string
			if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back["k"] != text {
				t.Fatalf("%q: %v, %q", text, err, out.String())
			}
		}
	})
}

func FuzzEscaped(f *testing.F) {
	f.Add("a\x1b\xff\u202e\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := escaped(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q: %q", text, got)
		}
	})
}
