package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

// listPage is a page of a list of the admin server, each item as it came.
type listPage struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next,omitempty"`
}

// listed is the output of a list as JSON.
type listed struct {
	Items []json.RawMessage `json:"items"`
	// More says that there are more than --limit.
	More bool `json:"more"`
}

// itemTable prints a list in columns.
type itemTable interface {
	add(item json.RawMessage) error
	Flush() error
}

// listing prints a list that the admin server gives in pages.
type listing struct {
	limit  *int
	output *format
}

// listFlags adds the flags of a list.
func listFlags(cmd *cobra.Command, limit int) listing {
	return listing{cmd.Flags().Int("limit", limit, "list so many at most"), outputFlag(cmd)}
}

// print prints what is at path, as JSON or in a table. beyond tells that there is more than the limit.
func (l listing) print(ctx context.Context, w *world, admin *adminServer, path string, values url.Values, table itemTable, beyond string) error {
	if *l.limit < 1 || *l.limit > 10_000_000 {
		return usage(errors.New("flag --limit: must be 1 to 10000000"))
	}
	all := listed{Items: []json.RawMessage{}}
	for count := 0; ; {
		values.Set("limit", strconv.Itoa(min(*l.limit-count, 1000)))
		var page listPage
		if err := admin.ask(ctx, http.MethodGet, path, values, nil, &page); err != nil {
			return err
		}
		count += len(page.Items)
		if *l.output == formatJSON {
			all.Items = append(all.Items, page.Items...)
		} else if err := addAll(table, page.Items); err != nil {
			return err
		}
		if all.More = page.Next != ""; !all.More || count >= *l.limit {
			break
		}
		values.Set("cursor", page.Next)
	}
	if *l.output == formatJSON {
		return printJSON(w.stdout, all)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if all.More {
		fmt.Fprintf(w.stderr, "%s; --limit is %d\n", beyond, *l.limit)
	}
	return nil
}

func addAll(table itemTable, items []json.RawMessage) error {
	for _, item := range items {
		if err := table.add(item); err != nil {
			return err
		}
	}
	return nil
}
