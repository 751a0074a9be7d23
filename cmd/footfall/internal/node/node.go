package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"footfall/admin"
	"footfall/auth"
	"footfall/broker"
	"footfall/server"
	"footfall/store"
)

// Node is a broker that runs.
type Node struct {
	opt    Options
	store  *store.Store
	broker *broker.Broker
	auth   *auth.Directory
	server *server.Server
	admin  *admin.Server // nil for none

	listeners []listener
	log       *slog.Logger
	closing   chan struct{} // closed by Close

	certificateReloads, certificateFailures atomic.Uint64

	adminAt   net.Listener
	serving   sync.WaitGroup
	closed    sync.Once
	draining  atomic.Bool
	explains  atomic.Pointer[Options]
	failed    chan error // of size 1: the first failure
	recovered Recovered
	took      time.Duration
}

// Recovered is what was found in the store at the start.
type Recovered struct {
	Destinations        int
	Messages, Scheduled uint64
}

// Start opens a broker: store, queue engine, listeners, admin, in this order. Whatever
// was opened before an error is closed again. Errors of the store are those of store.Open.
func Start(o Options, p Program) (n *Node, err error) {
	started := time.Now()
	tune(&o, p.Getenv, containerMemory())
	warnOfFiles(p.Log, o.Server.MaxConnections)
	n = &Node{opt: o, log: p.Log, failed: make(chan error, 1), closing: make(chan struct{})}
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.Background(), o.ShutdownTimeout)
			defer cancel()
			err = errors.Join(err, n.Close(ctx))
			n = nil
		}
	}()
	if err := n.directory(); err != nil {
		return n, err
	}
	n.explains.Store(&o)
	commits := admin.NewCommits()
	if err := n.open(p, commits); err != nil {
		return n, err
	}
	if err := n.listen(); err != nil {
		return n, err
	}
	if o.Admin != "none" {
		if n.adminAt, err = net.Listen("tcp", o.Admin); err != nil {
			return n, fmt.Errorf("admin.listen: %w", err)
		}
		if err := n.protected("admin.listen", n.adminAt.Addr()); err != nil {
			_ = n.adminAt.Close()
			return n, err
		}
		n.admin = admin.New(admin.Options{
			Broker: n.broker, Store: n.store, Auth: n.auth, Commits: commits, Traffic: n.traffic, Unready: n.unready, Reload: p.Reload,
			Explain: n.explain, Version: p.Version, Revision: p.Revision, Started: started,
			Hosts: o.AdminHosts, MetricsDestinations: o.MetricsDestinations, Log: p.Log,
		})
		n.serve("admin", n.adminAt, n.admin.Serve, admin.ErrServerClosed)
	}
	for _, l := range n.listeners {
		n.serve(l.transport.Name, l, func(at net.Listener) error { return n.server.ServeTransport(at, l.transport) }, server.ErrServerClosed)
	}
	n.warnOfCertificates(started)
	n.serving.Go(n.watchCertificates)
	n.took = time.Since(started)
	return n, nil
}

// open opens what needs no network.
func (n *Node) open(p Program, commits *admin.Commits) (err error) {
	so := n.opt.Store
	so.Log, so.Fatal, so.OnCommit = p.Log, n.fatal, commits.Observe
	if n.store, err = store.Open(so); err != nil {
		return err
	}
	bo := n.opt.Broker
	bo.Log, bo.Fatal, bo.DiskFree, bo.Reclaim = p.Log, n.fatal, n.store.DiskFree, n.store.Reclaim
	bo.NoAutoCreate = !n.opt.AutoCreate
	bo.SharedTemporaries = n.opt.TemporarySharing == "user"
	bo.ExclusiveDurables = n.opt.Sharing == "exclusive"
	if bo.VirtualTopics, err = virtualTopics(n.opt.VirtualTopics); err != nil {
		return err
	}
	bo.Selectors.NoContent = !n.opt.ContentSelectors
	if _, bo.Policies, err = n.opt.policies(); err != nil {
		return err
	}
	bo.TransactionActions, bo.TransactionBytes = n.opt.Server.TransactionActions, int64(n.opt.Server.TransactionBytes)
	n.recovered = recoveredFrom(n.store.Recovered())
	n.broker = broker.New(n.store, bo)

	vo := n.opt.Server
	vo.Log, vo.Version, vo.HostID = p.Log, p.Version, n.store.Recovered().HostID
	vo.Auth = n.auth
	n.opt.Schedule.apply(&vo)
	n.server = server.New(n.broker, vo)
	return nil
}

func recoveredFrom(r store.Recovered) Recovered {
	f := Recovered{Destinations: len(r.Destinations)}
	for _, b := range r.Backlogs {
		for _, lane := range b.Lanes {
			f.Messages += lane.Count
		}
	}
	for _, s := range r.Schedules {
		f.Scheduled += s.Count
	}
	return f
}

// serve runs a listener; its end before that of the node is a failure.
func (n *Node) serve(name string, l net.Listener, serve func(net.Listener) error, closed error) {
	n.serving.Go(func() {
		if err := serve(l); !errors.Is(err, closed) {
			n.fail(fmt.Errorf("%s listener %s: %w", name, l.Addr(), err))
		}
	})
}

// fail tells of the first failure; it does not block.
func (n *Node) fail(err error) {
	select {
	case n.failed <- err:
	default:
	}
}

// fatal is fail for what leaves no orderly end.
func (n *Node) fatal(err error) { n.fail(fmt.Errorf("%w: %w", ErrFatal, err)) }

// ErrFatal is in a failure after which what is in memory and what is on disk may differ. All that is left is to
// end the process, without another word to the store.
var ErrFatal = errors.New("nothing can be promised any more")

// Failed gives the first failure after which the node cannot go on: a listener's, or one with ErrFatal.
func (n *Node) Failed() <-chan error { return n.failed }

// Abandon tells the clients of a node that failed with ErrFatal that it is over, as far as that
// can be said before ctx ends. Nothing more is put on disk, and no RECEIPT is given.
func (n *Node) Abandon(ctx context.Context) {
	n.draining.Store(true)
	_ = n.server.Shutdown(ctx)
}

// Admin returns the address of the admin server, nil for none.
func (n *Node) Admin() net.Addr {
	if n.adminAt == nil {
		return nil
	}
	return n.adminAt.Addr()
}

// IsOpen tells whether everybody is let in and may do everything, as there are no users.
func (n *Node) IsOpen() bool {
	return !n.auth.HasUsers() && n.opt.Auth.Anonymous != auth.AnonymousNever
}

// Recovered returns what was found in the store at the start.
func (n *Node) Recovered() Recovered { return n.recovered }

// Took is how long the start took.
func (n *Node) Took() time.Duration { return n.took }

func (n *Node) unready() []string {
	if n.draining.Load() {
		return []string{"draining"}
	}
	return nil
}

// Close ends the node in good order: no connection is accepted any more, sessions are told, what they sent
// is finished and put on disk, and the admin server ends last. Sessions have three quarters of the time until the
// deadline of ctx; those that take longer are cut. What has a RECEIPT is on disk either way.
func (n *Node) Close(ctx context.Context) error {
	n.draining.Store(true)
	n.closed.Do(func() { close(n.closing) })
	var errs []error
	if n.server != nil {
		errs = append(errs, n.closeSessions(ctx))
	}
	for _, l := range n.listeners {
		_ = l.Close() // those that were never served
	}
	if n.broker != nil {
		errs = append(errs, n.broker.Close(ctx))
	}
	if n.store != nil {
		errs = append(errs, within(ctx, n.store.Close))
	}
	if n.admin != nil {
		if err := n.admin.Shutdown(ctx); err != nil {
			errs = append(errs, n.admin.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	n.serving.Wait()
	return nil
}

func (n *Node) closeSessions(ctx context.Context) error {
	patience := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, time.Until(deadline)/4*3)
		defer cancel()
	}
	// What the sessions that end first give back must not go to those that end next: it would only seem to have failed there.
	if n.broker != nil {
		n.broker.Drain(patience)
	}
	if err := n.server.Shutdown(patience); err != nil {
		return n.server.Close() // it is no failure that a client was cut
	}
	return nil
}

// within calls f, and gives up waiting for it when ctx ends.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("store: close: %w", ctx.Err())
	}
}
