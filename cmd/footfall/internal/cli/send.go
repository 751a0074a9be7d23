package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"footfall/cmd/footfall/internal/client"
	"footfall/frames"
	"footfall/schedule"
	"github.com/spf13/cobra"
)

// maxBody bounds a body that is read from standard input, in octets.
const maxBody = 256 << 20

// receiptWindow is how many messages may be on their way without a receipt.
const receiptWindow = 100

type sendOptions struct {
	headers          []string
	delay, deliverAt string
	priority, count  int
	persistent       bool
	receipt          bool
}

// sent is the output of send.
type sent struct {
	Destination string `json:"destination"`
	Messages    int    `json:"messages"`
	// Confirmed says that there was a receipt for each.
	Confirmed   bool     `json:"confirmed"`
	ScheduledID []string `json:"scheduled_ids,omitempty"`
	DeliverAt   []string `json:"deliver_at,omitempty"`
}

func newSend(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "send DESTINATION [BODY]",
		Short: "Send a message",
		Long:  "Send a message and wait for the broker's receipt: for a queue it says that the message is on disk. Without BODY it is read from standard input.",
		Example: `  footfall send /queue/hello "Hello, world"
  footfall send /queue/hello "Good morning" --delay 8h --header lang=en
  tar c . | footfall send /queue/archives`,
		Args: cobra.RangeArgs(1, 2),
	}
	output := outputFlag(cmd)
	dial := connectionFlags(w, cmd)
	var o sendOptions
	flags := cmd.Flags()
	flags.StringArrayVar(&o.headers, "header", nil, "a header, as NAME=VALUE; may be repeated")
	flags.StringVar(&o.delay, "delay", "", "deliver after this time: 500 (milliseconds), 90s, 2h30m, PT5M")
	flags.StringVar(&o.deliverAt, "deliver-at", "", "deliver at this time: 2026-01-31T12:00:00Z, or milliseconds since 1970")
	flags.IntVar(&o.priority, "priority", 4, "priority, 0 to 9, the higher the sooner")
	flags.BoolVar(&o.persistent, "persistent", true, "keep the message over a restart of the broker")
	flags.IntVar(&o.count, "count", 1, "send it so many times")
	flags.BoolVar(&o.receipt, "receipt", true, "wait until the broker confirms it")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		headers, err := o.frameHeaders(args[0], flags.Changed("priority"))
		if err != nil {
			return usage(err)
		}
		body, err := w.body(args[1:])
		if err != nil {
			return err
		}
		c, err := dial(cmd.Context())
		if err != nil {
			return err
		}
		defer c.Abort()
		result, err := send(cmd.Context(), c, headers, body, &o)
		if err != nil {
			return err
		}
		result.Destination = args[0]
		if *output == formatJSON {
			return printJSON(w.stdout, result)
		}
		return result.print(w.stdout)
	})
	return cmd
}

// frameHeaders returns the headers of SEND.
func (o *sendOptions) frameHeaders(destination string, withPriority bool) ([]client.Pair, error) {
	list := []client.Pair{{Name: "destination", Value: destination}}
	switch {
	case o.count < 1 || o.count > 100_000_000:
		return nil, errors.New("flag --count: must be 1 to 100000000")
	case o.priority < 0 || o.priority > 9:
		return nil, errors.New("flag --priority: must be 0 to 9")
	case o.delay != "" && o.deliverAt != "":
		return nil, errors.New("flags --delay and --deliver-at: only one of them can count")
	}
	if o.delay != "" {
		if _, err := schedule.ParseDelay(o.delay); err != nil {
			return nil, fmt.Errorf("flag --delay: %w", err)
		}
		list = append(list, client.Pair{Name: "delay", Value: o.delay})
	}
	if o.deliverAt != "" {
		if _, err := schedule.ParseInstant(o.deliverAt); err != nil {
			return nil, fmt.Errorf("flag --deliver-at: %w", err)
		}
		list = append(list, client.Pair{Name: "deliver-at", Value: o.deliverAt})
	}
	if withPriority {
		list = append(list, client.Pair{Name: "priority", Value: strconv.Itoa(o.priority)})
	}
	if !o.persistent {
		list = append(list, client.Pair{Name: "persistent", Value: "false"})
	}
	for _, h := range o.headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("flag --header: expected NAME=VALUE, not %q", h)
		}
		for _, taken := range []string{"destination", "receipt", "content-length", "transaction"} {
			if name == taken {
				return nil, fmt.Errorf("flag --header: %s is set by this command", name)
			}
		}
		list = append(list, client.Pair{Name: name, Value: value})
	}
	return list, nil
}

// body is the argument that was left, or standard input.
func (w *world) body(args []string) ([]byte, error) {
	if len(args) > 0 {
		return []byte(args[0]), nil
	}
	if isTerminal(w.stdin) {
		fmt.Fprintln(w.stderr, "reading the body from the terminal; end it with Ctrl-D on a line of its own")
	}
	body, err := io.ReadAll(io.LimitReader(w.stdin, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("standard input: %w", err)
	case len(body) > maxBody:
		return nil, usage(fmt.Errorf("standard input: a body has at most %d octets", maxBody))
	}
	return body, nil
}

// send sends count messages, with at most receiptWindow of them unconfirmed.
func send(ctx context.Context, c *client.Client, headers []client.Pair, body []byte, o *sendOptions) (sent, error) {
	result := sent{Messages: o.count, Confirmed: o.receipt}
	for first := 0; first < o.count; first += receiptWindow {
		end := min(first+receiptWindow, o.count)
		for i := first; i < end; i++ {
			all := headers
			if o.receipt {
				all = append(headers[:len(headers):len(headers)], client.Pair{Name: "receipt", Value: strconv.Itoa(i)})
			}
			c.Queue(frames.Send, all, body)
			if err := c.Flush(ctx); err != nil {
				return result, refusalOr(ctx, c, err)
			}
		}
		for i := first; i < end && o.receipt; i++ {
			f, err := c.Receipt(ctx, strconv.Itoa(i))
			if err != nil {
				return result, err
			}
			result.add(f)
		}
	}
	return result, c.Close(ctx)
}

// refusalOr returns the ERROR that a broker left before it ended the connection, else err.
func refusalOr(ctx context.Context, c *client.Client, err error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		_, readErr := c.Read(ctx)
		var refused *client.ServerError
		switch {
		case errors.As(readErr, &refused):
			return refused
		case readErr != nil:
			return err
		}
	}
}

// add notes what a RECEIPT says of a scheduled message. Of many the first few will do.
func (s *sent) add(f *client.Frame) {
	const most = 1000
	if id := f.Get("scheduled-id"); id != "" && len(s.ScheduledID) < most {
		s.ScheduledID = append(s.ScheduledID, id)
		s.DeliverAt = append(s.DeliverAt, instant(f.Get("deliver-at")))
	}
}

// instant writes milliseconds since the epoch as people read them.
func instant(text string) string {
	ms, err := schedule.ParseInstant(text)
	if err != nil {
		return text
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

func (s *sent) print(out io.Writer) error {
	confirmed := ""
	if s.Confirmed {
		confirmed = ", confirmed"
	}
	if _, err := fmt.Fprintf(out, "sent %d message%s to %s%s\n", s.Messages, plural(s.Messages), escaped(s.Destination), confirmed); err != nil {
		return err
	}
	for i, id := range s.ScheduledID {
		if _, err := fmt.Fprintf(out, "scheduled as %s for %s\n", escaped(id), escaped(s.DeliverAt[i])); err != nil {
			return err
		}
	}
	return nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
