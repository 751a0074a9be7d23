package server

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestBooleans(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "TRUE": true, "True": true, "1": true, "false": false, "False": false, "0": false} {
		if got, ok := parseBool(text); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "yes", "2", " true", "t", "01"} {
		if got, ok := parseBool(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "007": 7, "2147483647": math.MaxInt32, "2147483648": math.MaxInt32, strings.Repeat("9", 100): math.MaxInt32} {
		if got, ok := parseCount(text); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "+1", " 1", "1e3", "0x1", "١"} {
		if got, ok := parseCount(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestPrioritiesAreBroughtIntoTheirRange(t *testing.T) {
	for text, want := range map[string]uint8{"0": 0, "4": 4, "9": 9, "10": 9, "999999999999": 9, "-1": 0, "-99": 0} {
		if got, ok := parsePriority(text); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-", "high", "4.0", "--1", "+4"} {
		if got, ok := parsePriority(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestQuotesAreShortPrintableAndOnOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `""`,
		`a\b:"c"`:                `"a\b:"c""`,
		"é\U0001F600":            "\"é\U0001F600\"",
		"a\r\n\x00\x1b":          `"a\r\n\x00\x1b"`,
		"\xff\u202e\u0085":       `"\xff\u202e\u0085"`,
		strings.Repeat("x", 100): `"` + strings.Repeat("x", 80) + `" and 20 octets more`,
	} {
		if got := quote(text); got != want {
			t.Errorf("%q is quoted as %s", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		q := quote(text)
		if !utf8.ValidString(q) || strings.ContainsAny(q, "\r\n\x00") || len(q) > 6*quoteLimit+40 {
			t.Fatalf("%q is quoted as %q", text, q)
		}
	})
}

func TestAckIDsAreReadBackAndNothingElseIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := func(n string) uint64 { return rapid.Uint64().Draw(t, n) }
		conn, sub, number := id("conn"), id("sub"), id("number")
		text := ackID(conn, sub, number)
		if s, n, ok := parseAckID(conn, text); !ok || s != sub || n != number {
			t.Fatalf("%q is read as %d, %d, %v", text, s, n, ok)
		}
		if _, _, ok := parseAckID(conn+1, text); ok {
			t.Fatalf("%q is taken for one of connection %d", text, conn+1)
		}
	})
	for _, text := range []string{"", "-", "--", "5-1", "5-1-", "5--1", "5-1-1-", "5-1-+1", "5-1-A", "5-1-01", "05-1-1", " 5-1-1", "5-1-1 ", "5-1-3w5e11264sgsg", "5.1.1"} {
		if s, n, ok := parseAckID(5, text); ok {
			t.Errorf("%q is read as %d, %d", text, s, n)
		}
	}
}
