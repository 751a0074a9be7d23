package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
)

// columns prints the items of a list as rows of a table.
type columns[T any] struct {
	*tabwriter.Writer
	cells func(*T) []any
}

// newColumns begins a table with these heads, between tabs. Cells that are text are escaped.
func newColumns[T any](out io.Writer, heads string, cells func(*T) []any) columns[T] {
	c := columns[T]{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), cells}
	fmt.Fprintln(c, heads)
	return c
}

func (c columns[T]) add(item json.RawMessage) error {
	v := new(T)
	if err := json.Unmarshal(item, v); err != nil {
		return err
	}
	var row []string
	for _, cell := range c.cells(v) {
		text, ok := cell.(string)
		if !ok {
			text = fmt.Sprint(cell)
		}
		row = append(row, escaped(text))
	}
	_, err := fmt.Fprintln(c, strings.Join(row, "\t"))
	return err
}

// show prints what is at path, as JSON or as a T prints itself.
func show[T any, P interface {
	*T
	print(out io.Writer) error
}](ctx context.Context, w *world, admin *adminServer, path string, values url.Values, output format,
) error {
	var raw json.RawMessage
	if err := admin.ask(ctx, http.MethodGet, path, values, nil, &raw); err != nil {
		return err
	}
	if output == formatJSON {
		return printJSON(w.stdout, raw)
	}
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		return err
	}
	return P(v).print(w.stdout)
}
