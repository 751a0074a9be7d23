package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/tabwriter"
	"time"

	"footfall/broker"
	"footfall/store"
	"github.com/spf13/cobra"
)

func newStore(w *world) *cobra.Command {
	return group("store", "Look into the data directory of a broker that does not run",
		"  footfall store check ./data\n  footfall store stats ./data",
		newStoreCheck(w), newStoreStats(w))
}

// checked is the output of store check.
type checked struct {
	OK           bool     `json:"ok"`
	Problems     []string `json:"problems"`
	MoreProblems int      `json:"more_problems"`
	Destinations uint64   `json:"destinations"`
	Messages     uint64   `json:"messages"`
	Scheduled    uint64   `json:"scheduled"`
	Bytes        uint64   `json:"bytes"`
}

func newStoreCheck(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check DIR",
		Short:   "Check that everything in a data directory is whole",
		Long:    "Check that every message is in exactly one place and that all counters are right. Nothing is changed. Exit code 70 when something is wrong, 5 when a broker uses the directory.",
		Example: "  footfall store check ./data\n  footfall store check ./data -o json",
		Args:    cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	cmd.RunE = ran(func(_ *cobra.Command, args []string) error {
		if err := isDirectory(args[0]); err != nil {
			return err
		}
		report, err := store.Check(args[0])
		if err != nil {
			return err
		}
		if *output == formatJSON {
			err = printJSON(w.stdout, checked{
				report.OK(), append([]string{}, report.Problems...), report.More,
				report.Destinations, report.Messages, report.Due, report.Bytes,
			})
		} else {
			_, err = fmt.Fprint(w.stdout, escapedBody(report.String()))
		}
		return errors.Join(err, report.Err())
	})
	return cmd
}

// isDirectory makes sure that there is something to look into.
func isDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %q: %w", path, fs.ErrNotExist)
	case err != nil:
		return err
	case !info.IsDir():
		return &failure{exitNotFound, fmt.Errorf("%q is not a directory", path)}
	}
	return nil
}

// storeStats is the output of store stats.
type storeStats struct {
	FormatVersion uint32       `json:"format_version"`
	Epoch         uint32       `json:"epoch"`
	Created       time.Time    `json:"created"`
	Clean         bool         `json:"clean"`
	Destinations  uint64       `json:"destinations"`
	Scheduled     uint64       `json:"scheduled"`
	FirstDue      *time.Time   `json:"first_due,omitempty"`
	LastDue       *time.Time   `json:"last_due,omitempty"`
	Records       []records    `json:"records"`
	Largest       []storedDest `json:"largest_destinations"`
}

type records struct {
	Kind    string `json:"kind"`
	Records uint64 `json:"records"`
	Bytes   uint64 `json:"bytes"`
}

type storedDest struct {
	Destination string `json:"destination"`
	Messages    uint64 `json:"messages"`
	Bytes       uint64 `json:"bytes"`
}

func newStoreStats(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats DIR",
		Short:   "Count what is in a data directory",
		Example: "  footfall store stats ./data\n  footfall store stats ./data --top 100 -o json",
		Args:    cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	top := cmd.Flags().Int("top", 10, "how many of the largest destinations to list")
	cmd.RunE = ran(func(_ *cobra.Command, args []string) error {
		if *top < 0 || *top > 1_000_000 {
			return usage(errors.New("flag --top: must be 0 to 1000000"))
		}
		if err := isDirectory(args[0]); err != nil {
			return err
		}
		found, err := store.ReadStats(args[0], *top)
		if err != nil {
			return err
		}
		stats := statsOf(found)
		if *output == formatJSON {
			return printJSON(w.stdout, stats)
		}
		return stats.print(w)
	})
	return cmd
}

func statsOf(found store.DirStats) storeStats {
	s := storeStats{
		FormatVersion: found.FormatVersion, Epoch: found.Epoch, Created: time.UnixMilli(found.Created).UTC(), Clean: found.Clean,
		Destinations: found.Destinations, Scheduled: found.Scheduled,
		Records: make([]records, len(found.Kinds)), Largest: make([]storedDest, len(found.Top)),
	}
	if found.Scheduled > 0 {
		first, last := time.UnixMilli(found.FirstDue).UTC(), time.UnixMilli(found.LastDue).UTC()
		s.FirstDue, s.LastDue = &first, &last
	}
	for i, k := range found.Kinds {
		s.Records[i] = records{k.Kind, k.Records, k.KeyBytes + k.ValueBytes}
	}
	for i, d := range found.Top {
		address := broker.Address{Kind: broker.Kind(d.Kind), Name: d.Name}
		s.Largest[i] = storedDest{address.String(), d.Messages, d.Bytes}
	}
	return s
}

func (s *storeStats) print(w *world) error {
	table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	closed := "in good order"
	if !s.Clean {
		closed = "not in good order; the next start recovers"
	}
	fmt.Fprintf(table, "made\t%s\nformat version\t%d\nstarts\t%d\nclosed\t%s\n", s.Created.Format(time.RFC3339), s.FormatVersion, s.Epoch, closed)
	fmt.Fprintf(table, "destinations\t%d\nscheduled messages\t%d\n", s.Destinations, s.Scheduled)
	if s.FirstDue != nil {
		fmt.Fprintf(table, "first and last due\t%s, %s\n", s.FirstDue.Format(time.RFC3339), s.LastDue.Format(time.RFC3339))
	}
	fmt.Fprintf(table, "\nRECORDS\tCOUNT\tOCTETS\n")
	for _, r := range s.Records {
		fmt.Fprintf(table, "%s\t%d\t%d\n", escaped(r.Kind), r.Records, r.Bytes)
	}
	fmt.Fprintf(table, "\nLARGEST DESTINATIONS\tMESSAGES\tOCTETS\n")
	for _, d := range s.Largest {
		fmt.Fprintf(table, "%s\t%d\t%d\n", escaped(d.Destination), d.Messages, d.Bytes)
	}
	return table.Flush()
}
