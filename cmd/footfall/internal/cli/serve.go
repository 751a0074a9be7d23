package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"footfall/cmd/footfall/internal/node"
	"github.com/spf13/cobra"
)

func newServe(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start a broker",
		Long: "Start a broker and run it until SIGTERM or SIGINT, which ends it in good order; a second one ends it at once. SIGHUP has it read its destinations, users and permissions again. " +
			"All settings: footfall config print.",
		Example: `  footfall serve
  footfall serve --data /var/lib/footfall --stomp :61613 --set limits.body=16MiB`,
		Args: cobra.NoArgs,
	}
	var o node.Options
	read := settingReader(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		values, err := read(node.Settings(&o))
		if err != nil {
			return err
		}
		return serve(cmd.Context(), o, w, newReloader(read, values))
	})
	return cmd
}

// serve runs a broker until ctx ends or something fails.
func serve(ctx context.Context, o node.Options, w *world, r *reloader) error {
	log, err := logger(w.stderr, o.LogLevel, o.LogFormat)
	if err != nil {
		return err
	}
	b := thisBuild()
	n, err := node.Start(o, node.Program{Version: b.Version, Revision: b.Revision, Log: log, Getenv: w.getenv, Reload: r.reload})
	if err != nil {
		return err
	}
	r.runs(n)
	defer r.onSignal(ctx, log)()
	if o.LogFormat == "json" {
		announce(log, n, &o, b)
	} else {
		banner(w.stdout, n, &o, b)
	}
	warn(log, n)
	notify(w, log, "READY=1")
	select {
	case err = <-n.Failed():
		if errors.Is(err, node.ErrFatal) {
			farewell, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			n.Abandon(farewell)
			return fatal(err)
		}
		log.Error("stopping", "error", err)
	case <-ctx.Done():
		log.Info("stopping: connections are told, what they sent is put on disk; a second signal ends this at once", "timeout", o.ShutdownTimeout)
	}
	notify(w, log, "STOPPING=1")
	if err := errors.Join(err, shutdown(ctx, n, &o)); err != nil {
		return err
	}
	log.Info("stopped in good order")
	return nil
}

// fatal is the end of the process after a failure with node.ErrFatal.
func fatal(err error) error { return &failure{exitStore, fmt.Errorf("stopping: %w", err)} }

// shutdown ends the node in good order, unless it fails on the way.
func shutdown(ctx context.Context, n *node.Node, o *node.Options) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.ShutdownTimeout)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- n.Close(ctx) }()
	for {
		select {
		case err := <-ended:
			return err
		case err := <-n.Failed():
			if errors.Is(err, node.ErrFatal) {
				return fatal(err) // the end of the process ends the rest
			}
		}
	}
}

func logger(out io.Writer, level, format string) (*slog.Logger, error) {
	var o slog.HandlerOptions
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, err
	}
	o.Level = l
	if format == "json" {
		return slog.New(slog.NewJSONHandler(out, &o)), nil
	}
	return slog.New(slog.NewTextHandler(out, &o)), nil
}

// banner says where things are and what to try next.
func banner(out io.Writer, n *node.Node, o *node.Options, b build) {
	var text strings.Builder
	fmt.Fprintf(&text, "\nFootfall %s\n\n", b.Version)
	for _, l := range n.Listening() {
		fmt.Fprintf(&text, "  %-7s %s\n", places[l.Kind].title, escaped(places[l.Kind].scheme+l.Addr.String()))
	}
	if at := n.Admin(); at != nil {
		fmt.Fprintf(&text, "  admin   http://%s\n", at)
	}
	r := n.Recovered()
	fmt.Fprintf(&text, "  data    %s: %d destinations, %d messages, %d scheduled\n", escaped(absolute(o.Store.Dir)), r.Destinations, r.Messages, r.Scheduled)
	fmt.Fprintf(&text, "  started in %v\n", n.Took().Round(time.Millisecond))
	if len(n.Stomp()) > 0 {
		program, server := programName(), serverFlag(n.Stomp()[0])
		if !n.IsOpen() {
			server += " --login NAME"
		}
		fmt.Fprintf(&text, "\nTry, in another terminal:\n\n")
		fmt.Fprintf(&text, "  %s send%s /queue/hello \"Hello, world\"\n", program, server)
		fmt.Fprintf(&text, "  %s send%s /queue/hello \"Hello again\" --delay 5s\n", program, server)
		fmt.Fprintf(&text, "  %s receive%s /queue/hello --count 2\n", program, server)
	}
	text.WriteByte('\n')
	_, _ = io.WriteString(out, text.String()) // a broker runs without its banner
}

// places are how listeners are shown, by kind.
var places = map[string]struct{ title, scheme string }{
	"tcp": {"STOMP", ""}, "tls": {"TLS", ""}, "ws": {"WS", "ws://"}, "wss": {"WSS", "wss://"}, "unix": {"Unix", ""},
}

// programName is how the user called this program.
func programName() string {
	if strings.ContainsRune(os.Args[0], filepath.Separator) {
		return os.Args[0]
	}
	return "footfall"
}

// serverFlag is what send and receive need to find the broker at an address.
func serverFlag(at net.Addr) string {
	text := at.String()
	if a, err := netip.ParseAddrPort(text); err == nil && a.Addr().IsUnspecified() {
		text = fmt.Sprintf("127.0.0.1:%d", a.Port())
	}
	if text == defaultServer {
		return ""
	}
	return " --server " + text
}

func absolute(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		return full
	}
	return dir
}

// announce is the banner as a record of the log.
func announce(log *slog.Logger, n *node.Node, o *node.Options, b build) {
	adminAt := ""
	if at := n.Admin(); at != nil {
		adminAt = at.String()
	}
	r := n.Recovered()
	log.Info("started", "version", b.Version, "stomp", texts(n.Stomp()), "listeners", others(n), "admin", adminAt, "data", absolute(o.Store.Dir),
		"destinations", r.Destinations, "messages", r.Messages, "scheduled", r.Scheduled, "took", n.Took())
}

func texts(list []net.Addr) []string {
	all := make([]string, len(list))
	for i, at := range list {
		all[i] = at.String()
	}
	return all
}

// others are the listeners beside those for plain TCP.
func others(n *node.Node) []string {
	list := []string{}
	for _, l := range n.Listening() {
		if l.Kind != "tcp" {
			list = append(list, l.Kind+" "+l.Addr.String())
		}
	}
	return list
}

// warn tells what others can reach.
func warn(log *slog.Logger, n *node.Node) {
	var list []net.Addr
	if n.IsOpen() {
		for _, l := range n.Listening() {
			list = append(list, l.Addr)
		}
		if at := n.Admin(); at != nil {
			list = append(list, at)
		}
	}
	for _, at := range list {
		if a, err := netip.ParseAddrPort(at.String()); err == nil && !a.Addr().Unmap().IsLoopback() {
			log.Warn("this address can be reached from other machines, and nobody has to log in", "address", at.String())
		}
	}
}
