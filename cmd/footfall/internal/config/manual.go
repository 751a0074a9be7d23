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
		if s.entries != nil {
			section = s.Name
			s.manual(&out)
			continue
		}
		if name, _, _ := strings.Cut(s.Name, "."); name != section {
			section = name
			fmt.Fprintf(&out, "\n### %s\n\n| setting | value | default | what it does |\n|---|---|---|---|\n", section)
		}
		doc := s.Doc
		if s.Flag != "" {
			doc += " Flag `--" + s.Flag + "`."
		}
		fmt.Fprintf(&out, "| `%s`<br>`%s` | %s | %s | %s |\n", s.Name, s.Env(), cell(s.form), code(s.Default), cell(doc))
	}
	return strings.TrimPrefix(out.String(), "\n")
}

// manual renders a list of mappings as a section of its own.
func (s *Setting) manual(out *strings.Builder) {
	fmt.Fprintf(out, "\n### %s\n\n`%s`, `%s`: %s\n\n| in each item | value | what it does |\n|---|---|---|\n", s.Name, s.Name, s.Env(), s.Doc)
	for _, key := range s.entries.keys {
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", key.Name, cell(key.form), cell(key.Doc))
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell keeps a text from ending its cell of the table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
