package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"footfall/cmd/footfall/internal/client"
	"footfall/frames"
	"github.com/spf13/cobra"
)

type receiveOptions struct {
	count   int
	timeout time.Duration
	ack     string
	headers bool
	extra   []string
	wanted  string
	output  format
}

func newReceive(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "receive DESTINATION",
		Short: "Receive messages",
		Long: "Receive messages and print their bodies, one after the other, until it is interrupted. " +
			"A message is acknowledged when it has been printed, and goes to somebody else if that does not happen.",
		Example: `  footfall receive /queue/hello --count 1
  footfall receive /topic/prices --timeout 1m -o json
  footfall receive /queue/orders --selector "region IN ('EU', 'US') AND price > 100"`,
		Args: cobra.ExactArgs(1),
	}
	output := outputFlag(cmd)
	dial := connectionFlags(w, cmd)
	var o receiveOptions
	flags := cmd.Flags()
	flags.IntVar(&o.count, "count", 0, "end after so many messages; 0 for no end")
	flags.DurationVar(&o.timeout, "timeout", 0, "end when no message came for this time; 0 for no end. With --count: exit code 6 if fewer came")
	flags.StringVar(&o.ack, "ack", "client-individual", "auto, client or client-individual. With auto a message may be lost on its way, and with --count more may be taken than are printed")
	flags.BoolVar(&o.headers, "headers", false, "print the headers too")
	flags.StringVar(&o.wanted, "selector", "", "which messages are wanted, as a JMS message selector; empty for all")
	flags.StringArrayVar(&o.extra, "header", nil, "a header of SUBSCRIBE, as NAME=VALUE; may be repeated")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		o.output = *output
		headers, err := o.frameHeaders(args[0])
		if err != nil {
			return usage(err)
		}
		c, err := dial(cmd.Context())
		if err != nil {
			return err
		}
		defer c.Abort()
		return receive(cmd.Context(), c, headers, &o, w)
	})
	return cmd
}

// subscribed is the receipt id of SUBSCRIBE.
const subscribed = "subscribed"

// frameHeaders returns the headers of SUBSCRIBE.
func (o *receiveOptions) frameHeaders(destination string) ([]client.Pair, error) {
	switch {
	case o.count < 0:
		return nil, errors.New("flag --count: must not be negative")
	case o.timeout < 0:
		return nil, errors.New("flag --timeout: must not be negative")
	case o.ack != "auto" && o.ack != "client" && o.ack != "client-individual":
		return nil, errors.New("flag --ack: must be auto, client or client-individual")
	}
	list := []client.Pair{{Name: "id", Value: "0"}, {Name: "destination", Value: destination}, {Name: "ack", Value: o.ack}, {Name: "receipt", Value: subscribed}}
	if o.count > 0 && o.ack != "auto" {
		list = append(list, client.Pair{Name: "prefetch-count", Value: strconv.Itoa(o.window())})
	}
	if o.wanted != "" {
		list = append(list, client.Pair{Name: "selector", Value: o.wanted})
	}
	for _, h := range o.extra {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("flag --header: expected NAME=VALUE, not %q", h)
		}
		list = append(list, client.Pair{Name: name, Value: value})
	}
	return list, nil
}

// window is how many messages may be here without an acknowledgement.
func (o *receiveOptions) window() int { return min(o.count, 20) }

// receive prints messages until there were enough of them, none came in time, or ctx ended.
func receive(ctx context.Context, c *client.Client, headers []client.Pair, o *receiveOptions, w *world) error {
	c.Queue(frames.Subscribe, headers, nil)
	if err := c.Flush(ctx); err != nil {
		return err
	}
	if _, err := c.Receipt(ctx, subscribed); err != nil {
		if ctx.Err() != nil { // interrupted
			return goodbye(ctx, c)
		}
		return err
	}
	r := receiver{c: c, o: o}
	for n := 0; o.count == 0 || n < o.count; n++ {
		f, err := next(ctx, c, o.timeout)
		switch {
		case err != nil && ctx.Err() != nil: // interrupted
			return r.finish(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			if err := r.finish(ctx); err != nil || o.count == 0 {
				return err
			}
			return &failure{exitUnreachable, fmt.Errorf("%d of %d messages came, and none more for %v", n, o.count, o.timeout)}
		case err != nil:
			return err
		}
		if err := o.print(f, w.stdout); err != nil {
			return err
		}
		if err := r.printed(ctx, f); err != nil {
			return err
		}
	}
	return r.finish(ctx)
}

// receiver acknowledges what was printed. With a count it keeps the acknowledgements of the last window of messages
// until the subscription has ended: each would have the broker deliver one more, which nobody would
// print and which the next consumer would see marked as redelivered.
type receiver struct {
	c     *client.Client
	o     *receiveOptions
	acked int
	held  []string // ack ids that were printed and not acknowledged
}

func (r *receiver) printed(ctx context.Context, f *client.Frame) error {
	if r.o.ack == "auto" {
		return nil
	}
	id := f.Get("ack")
	if id == "" {
		return errors.New("the broker sent a message without an ack header")
	}
	r.held = append(r.held, id)
	if r.o.count > 0 && r.acked >= r.o.count-r.o.window() {
		return nil
	}
	r.ack(1)
	// An interruption must not come between what was printed and its acknowledgement.
	ctx, cancel := farewell(ctx)
	defer cancel()
	return r.c.Flush(ctx)
}

// ack queues the acknowledgement of the oldest n that are held.
func (r *receiver) ack(n int) {
	for _, id := range r.held[:n] {
		r.c.Queue(frames.Ack, []client.Pair{{Name: "id", Value: id}}, nil)
	}
	r.acked += n
	r.held = r.held[n:]
}

// finish ends the subscription, acknowledges what was printed, and then says goodbye.
func (r *receiver) finish(ctx context.Context) error {
	r.c.Queue(frames.Unsubscribe, []client.Pair{{Name: "id", Value: "0"}}, nil)
	r.ack(len(r.held))
	return goodbye(ctx, r.c)
}

// goodbye ends the session, also when ctx has ended; its receipt says that all
// acknowledgements are on disk.
func goodbye(ctx context.Context, c *client.Client) error {
	ctx, cancel := farewell(ctx)
	defer cancel()
	return c.Close(ctx)
}

// farewell is time for last words, also when ctx has ended.
func farewell(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// next waits for a message, at most timeout if that is not 0.
func next(ctx context.Context, c *client.Client, timeout time.Duration) (*client.Frame, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	for {
		f, err := c.Read(ctx)
		if err != nil || f.Command == frames.Message {
			return f, err
		}
	}
}

// received is a message in the output of receive, one on each line.
type received struct {
	Destination string      `json:"destination"`
	MessageID   string      `json:"message_id"`
	Redelivered bool        `json:"redelivered"`
	Headers     [][2]string `json:"headers"`
	// Body is the body if it is text, BodyBase64 if it is not.
	Body       *string `json:"body,omitempty"`
	BodyBase64 []byte  `json:"body_base64,omitempty"`
}

func (o *receiveOptions) print(f *client.Frame, out io.Writer) error {
	if o.output == formatJSON {
		return printLine(f, out)
	}
	var text strings.Builder
	if o.headers {
		for _, h := range f.Headers {
			fmt.Fprintf(&text, "%s: %s\n", escaped(h.Name), escaped(h.Value))
		}
		text.WriteByte('\n')
	}
	if isTerminal(out) {
		text.WriteString(escapedBody(string(f.Body)))
	} else {
		text.Write(f.Body)
	}
	text.WriteByte('\n')
	_, err := io.WriteString(out, text.String())
	return err
}

func printLine(f *client.Frame, out io.Writer) error {
	r := received{
		Destination: f.Get("destination"), MessageID: f.Get("message-id"), Redelivered: f.Get("redelivered") == "true",
		Headers: make([][2]string, len(f.Headers)),
	}
	for i, h := range f.Headers {
		r.Headers[i] = [2]string{h.Name, h.Value}
	}
	if utf8.Valid(f.Body) {
		body := string(f.Body)
		r.Body = &body
	} else {
		r.BodyBase64 = f.Body
	}
	return printJSONLine(out, r)
}
