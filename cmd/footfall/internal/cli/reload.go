package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"footfall/admin"
	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
	"github.com/spf13/cobra"
)

// isReloadable tells whether a setting counts without a restart.
func isReloadable(name string) bool {
	return strings.HasPrefix(name, "destinations") || strings.HasPrefix(name, "permissions")
}

// reloader reads the settings of a broker again while it runs.
type reloader struct {
	read  func([]config.Setting) ([]config.Value, error)
	start map[string]string // by name, what it was started with

	mu   sync.Mutex // one at a time
	node *node.Node // nil until it runs
}

// newReloader returns one for a broker that is started with values.
func newReloader(read func([]config.Setting) ([]config.Value, error), values []config.Value) *reloader {
	start := map[string]string{}
	for _, v := range values {
		start[v.Name] = v.Text()
	}
	return &reloader{read: read, start: start}
}

// reload has the lists of destinations and permissions and the file of users count as they are written now. An error refuses all of it.
func (r *reloader) reload(ctx context.Context) (admin.Reloaded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.node == nil {
		return admin.Reloaded{}, errors.New("the broker is starting")
	}
	var o node.Options
	values, err := r.read(node.Settings(&o))
	if err != nil {
		return admin.Reloaded{}, err
	}
	people, err := r.node.ReadPeople(&o)
	if err != nil {
		return admin.Reloaded{}, err
	}
	certificates, err := r.node.ReadCertificates()
	if err != nil {
		return admin.Reloaded{}, err
	}
	if err := r.node.SetDestinations(ctx, &o); err != nil {
		return admin.Reloaded{}, err
	}
	r.node.SetPeople(people)
	done := admin.Reloaded{
		Destinations: len(o.Destinations), Permissions: len(o.Permissions), Users: people.Users(),
		Certificates: certificates.Use(), Restart: []string{},
	}
	for _, v := range values {
		if !isReloadable(v.Name) && v.Text() != r.start[v.Name] {
			done.Restart = append(done.Restart, v.Name)
		}
	}
	return done, nil
}

// runs tells that the node can take settings from now on.
func (r *reloader) runs(n *node.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.node = n
}

// onSignal reloads at each SIGHUP, and tells the log what came of it, until stop is called.
func (r *reloader) onSignal(ctx context.Context, log *slog.Logger) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	var listening sync.WaitGroup
	listening.Go(func() { r.listen(ctx, signals, log) })
	return func() {
		signal.Stop(signals)
		close(signals)
		listening.Wait()
	}
}

func (r *reloader) listen(ctx context.Context, signals <-chan os.Signal, log *slog.Logger) {
	for range signals {
		done, err := r.reload(ctx)
		if err != nil {
			log.Error("settings not reloaded: all is as before", "error", err)
			continue
		}
		log.Info("settings reloaded", "destinations", done.Destinations, "users", done.Users, "permissions", done.Permissions, "certificates", done.Certificates, "need-restart", done.Restart)
	}
}

func newReload(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have a broker read its destinations, users and permissions again",
		Long: "Have a broker that runs read its settings again, from where it read them at its start, as SIGHUP does. The lists of destinations and permissions and the file of users count at once, all of it; " +
			"other settings that changed are named and need a restart. When something is wrong all stays as it was, and exit code 2 tells so.",
		Example: "  footfall config check footfall.yaml && footfall reload\n  footfall reload --admin 127.0.0.1:8161 -o json",
		Args:    cobra.NoArgs,
	}
	output := outputFlag(cmd)
	server := adminFlags(w, cmd)
	cmd.RunE = ran(func(cmd *cobra.Command, _ []string) error {
		var done admin.Reloaded
		if err := server.ask(cmd.Context(), http.MethodPost, "/api/v1/reload", nil, nil, &done); err != nil {
			return err
		}
		if *output == formatJSON {
			return printJSON(w.stdout, done)
		}
		text := fmt.Sprintf("reloaded: %d entries of destinations, %d of permissions and %d users count now\n", done.Destinations, done.Permissions, done.Users)
		if done.Certificates > 0 {
			text += fmt.Sprintf("certificates read again: %d\n", done.Certificates)
		}
		if len(done.Restart) > 0 {
			text += "changed, and in need of a restart: " + escaped(strings.Join(done.Restart, ", ")) + "\n"
		}
		_, err := fmt.Fprint(w.stdout, text)
		return err
	})
	return cmd
}
