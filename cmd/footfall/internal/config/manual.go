package config

import (
	"fmt"
	"strings"
)

// Manual renders settings as tables in Markdown, one for each section.
func Manual(settings []Setting) string {
	var out strings.Builder
	section := ""
	for i := range settings {
		s := &settings[i]
		if name, _, _ := strings.Cut(s.Name, "."); name != section {
			section = name
			fmt.Fprintf(&out, "\n### %s\n\n| setting | value | default | what it does |\n|---|---|---|---|\n", section)
		}
		value := s.Default
		if value != "" {
			value = "`" + value + "`"
		}
		doc := s.Doc
		if s.Flag != "" {
			doc += " Flag `--" + s.Flag + "`."
		}
		fmt.Fprintf(&out, "| `%s`<br>`%s` | %s | %s | %s |\n", s.Name, s.Env(), cell(s.form), value, cell(doc))
	}
	return strings.TrimPrefix(out.String(), "\n")
}

// cell keeps a text from ending its cell of the table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
