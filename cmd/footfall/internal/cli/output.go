package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// format is the value of -o.
type format string

const (
	formatText format = "text"
	formatJSON format = "json"
)

// String, Set and Type make format a flag's value.
func (f *format) String() string { return string(*f) }

// Set takes a format by its name.
func (f *format) Set(text string) error {
	if format(text) != formatText && format(text) != formatJSON {
		return fmt.Errorf("must be text or json")
	}
	*f = format(text)
	return nil
}

// Type is shown in the help.
func (f *format) Type() string { return "text|json" }

// outputFlag gives cmd the flag -o.
func outputFlag(cmd *cobra.Command) *format {
	f := formatText
	cmd.Flags().VarP(&f, "output", "o", "format of the output")
	return &f
}

// printJSON writes v as a document of its own.
func printJSON(out io.Writer, v any) error { return writeJSON(out, v, "  ") }

// printJSONLine writes v as one line.
func printJSONLine(out io.Writer, v any) error { return writeJSON(out, v, "") }

func writeJSON(out io.Writer, v any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(out, escapedJSON(text.String()))
	return err
}

// escapedJSON writes what is not printable as JSON's own escapes. The encoder has done so with
// the control characters of ASCII only, and outside of strings JSON is ASCII.
func escapedJSON(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			out.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// isTerminal tells whether what is written to out may move a cursor.
func isTerminal(out any) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// escaped returns text with everything in it that is not printable written as an escape:
// control characters, marks that turn the direction of writing, octets that are no UTF-8.
func escaped(text string) string { return escape(text, "") }

// escapedBody is escaped, but leaves line ends and tabs as they are.
func escapedBody(text string) string { return escape(text, "\n\t") }

func escape(text, keep string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case strconv.IsPrint(r) || strings.ContainsRune(keep, r):
			out.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return out.String()
}
