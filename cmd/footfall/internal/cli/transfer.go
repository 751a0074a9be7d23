package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"footfall/cmd/footfall/internal/client"
	"footfall/frames"
	"footfall/schedule"
	"github.com/spf13/cobra"
)

// transferWindow is how many messages of a transfer may be on their way.
const transferWindow = 100

// transferPause is how long a transfer waits for one more message before it sends on what it has.
const transferPause = 20 * time.Millisecond

// transferPatience bounds the time for a batch, also when the transfer is interrupted.
const transferPatience = time.Minute

type transferOptions struct {
	source, destination string
	from                client.Options
	passcodeFile        string
	wanted              string
	extra               []string
	timeout             time.Duration
	output              format
}

// transferred is the output of transfer.
type transferred struct {
	From        string `json:"from"`
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Messages    int    `json:"messages"`
}

func newTransfer(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "transfer SOURCE [DESTINATION]",
		Short: "Bring messages from another broker",
		Long: "Take the messages of SOURCE from another broker, of any make that speaks STOMP 1.2, and send them to DESTINATION, or to what has the same name, here. " +
			"Each is acknowledged there when it is confirmed here: a break leaves it there, or in both places, never in none. It ends when no message came for a time.",
		Example: `  footfall transfer /queue/orders --from old.example:61613
  footfall transfer /queue/orders /queue/orders.old --from old.example:61613 --from-login admin --from-host /`,
		Args: cobra.RangeArgs(1, 2),
	}
	output := outputFlag(cmd)
	dial := connectionFlags(w, cmd)
	var o transferOptions
	flags := cmd.Flags()
	flags.StringVar(&o.from.Address, "from", "", "address of the other broker")
	flags.StringVar(&o.from.Host, "from-host", "", "its virtual host; default the host of --from")
	flags.StringVar(&o.from.Login, "from-login", "", "name to log in with there")
	flags.StringVar(&o.passcodeFile, "from-passcode-file", "", "file that holds the passcode for it (or env "+envFromPasscode+")")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Second, "end when no message came for this time")
	flags.StringVar(&o.wanted, "selector", "", "which messages are wanted, as a selector of the other broker; empty for all")
	flags.StringArrayVar(&o.extra, "header", nil, "a header of SUBSCRIBE, as NAME=VALUE; may be repeated")
	cmd.RunE = ran(func(cmd *cobra.Command, args []string) error {
		o.source, o.destination, o.output = args[0], args[len(args)-1], *output
		return o.run(cmd.Context(), w, dial)
	})
	return cmd
}

func (o *transferOptions) run(ctx context.Context, w *world, dial func(context.Context) (*client.Client, error)) error {
	headers, err := o.subscribe()
	if err != nil {
		return usage(err)
	}
	o.from.Passcode = w.getenv(envFromPasscode)
	if o.passcodeFile != "" {
		text, err := os.ReadFile(o.passcodeFile)
		if err != nil {
			return err
		}
		o.from.Passcode = strings.TrimRight(string(text), "\r\n")
	}
	there, err := client.Dial(ctx, o.from)
	if err != nil {
		return fmt.Errorf("cannot connect to %s: %w", o.from.Address, err)
	}
	defer there.Abort()
	here, err := dial(ctx)
	if err != nil {
		return err
	}
	defer here.Abort()
	there.Queue(frames.Subscribe, headers, nil)
	if err := there.Flush(ctx); err != nil {
		return refusalOr(ctx, there, err)
	}
	t := transfer{there: there, here: here, o: o}
	err = t.all(ctx)
	result := transferred{o.from.Address, o.source, o.destination, t.moved}
	if printErr := result.print(w.stdout, o.output); err == nil {
		err = printErr
	}
	return err
}

// subscribe returns the headers of SUBSCRIBE. RabbitMQ has to be told how many messages are wanted at a time; the
// others have bounds of their own, and do not know that header.
func (o *transferOptions) subscribe() ([]client.Pair, error) {
	switch {
	case o.from.Address == "":
		return nil, errors.New("flag --from: the address of the other broker is wanted")
	case o.timeout <= 0:
		return nil, errors.New("flag --timeout: must be above 0")
	}
	list := []client.Pair{
		{Name: "id", Value: "0"},
		{Name: "destination", Value: o.source},
		{Name: "ack", Value: "client-individual"},
		{Name: "prefetch-count", Value: strconv.Itoa(transferWindow)},
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

// transfer is one under way.
type transfer struct {
	there, here *client.Client
	o           *transferOptions
	moved       int
}

// all moves batch after batch, until none came in time or ctx ended. A batch that was begun is finished.
func (t *transfer) all(ctx context.Context) error {
	for {
		batch, err := t.batch(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err := t.move(ctx, batch); err != nil {
			return err
		}
		if len(batch) == 0 || ctx.Err() != nil {
			return errors.Join(goodbye(ctx, t.there), goodbye(ctx, t.here))
		}
	}
}

// batch returns the messages that are there; none when there were none for the timeout.
func (t *transfer) batch(ctx context.Context) ([]*client.Frame, error) {
	var batch []*client.Frame
	for wait := t.o.timeout; len(batch) < transferWindow; wait = transferPause {
		f, err := next(ctx, t.there, wait)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return batch, nil
		case err != nil:
			return batch, err
		}
		batch = append(batch, f)
	}
	return batch, nil
}

// move sends a batch here, and acknowledges there what was confirmed, up to the first that was not.
func (t *transfer) move(ctx context.Context, batch []*client.Frame) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), transferPatience)
	defer cancel()
	for i, f := range batch {
		t.here.Queue(frames.Send, t.o.send(f, strconv.Itoa(t.moved+i)), f.Body)
	}
	failed := t.here.Flush(ctx)
	if failed != nil {
		failed = refusalOr(ctx, t.here, failed)
	}
	for i := 0; i < len(batch) && failed == nil; i++ {
		if _, failed = t.here.Receipt(ctx, strconv.Itoa(t.moved)); failed == nil {
			t.there.Queue(frames.Ack, []client.Pair{{Name: "id", Value: batch[i].Get("ack")}}, nil)
			t.moved++
		}
	}
	err := t.there.Flush(ctx)
	if failed != nil && err == nil {
		err = goodbye(ctx, t.there) // what was confirmed here is acknowledged there, whatever came next
	}
	return errors.Join(failed, err)
}

// send returns the headers of SEND: those of the message, but for what the other broker said of its delivery, what
// asked for a delay that is over, and addresses for replies that end with the other broker's connections.
func (o *transferOptions) send(f *client.Frame, receipt string) []client.Pair {
	list := []client.Pair{{Name: "destination", Value: o.destination}, {Name: "receipt", Value: receipt}}
	for _, h := range f.Headers {
		request, known := schedule.Lookup([]byte(h.Name))
		switch {
		case known && request.IsRequest() && h.Name != "DELIVERY_TIME":
			continue
		case h.Name == "reply-to" && isTemporary(h.Value):
			continue
		case isOfDeath(h.Name):
			h.Name = "old-" + h.Name
		}
		switch h.Name {
		case "destination", "subscription", "ack", "redelivered", "content-length", "receipt", "receipt-id", "transaction":
			continue
		}
		list = append(list, h)
	}
	return list
}

// isOfDeath says whether a header tells of a dead letter what it died of. Only a broker writes them, so that they are kept under another name.
func isOfDeath(name string) bool {
	switch name {
	case "original-destination", "original-subscription", "original-expires", "originalExpiration", "dlqDeliveryFailureCause",
		"dead-letter-reason", "dead-letter-detail", "dead-letter-time", "dead-letter-count",
		"_AMQ_ORIG_ADDRESS", "_AMQ_ORIG_MESSAGE_ID", "x-first-death-queue", "x-death-reason":
		return true
	}
	return false
}

// isTemporary says whether an address for replies is of a connection with the broker that wrote it.
func isTemporary(address string) bool {
	for _, prefix := range [...]string{"/temp-queue/", "/temp-topic/", "/remote-temp-queue/", "/remote-temp-topic/", "/reply-queue/", "temp-queue://", "temp-topic://"} {
		if strings.HasPrefix(address, prefix) {
			return true
		}
	}
	return false
}

func (r *transferred) print(out io.Writer, as format) error {
	if as == formatJSON {
		return printJSON(out, r)
	}
	_, err := fmt.Fprintf(out, "moved %d message%s from %s at %s to %s\n", r.Messages, plural(r.Messages), escaped(r.Source), escaped(r.From), escaped(r.Destination))
	return err
}
