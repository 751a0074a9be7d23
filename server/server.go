package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"

	"footfall/broker"
)

// ErrServerClosed is returned by Serve after Shutdown or Close.
var ErrServerClosed = errors.New("server: closed")

// Broker is the queue engine as a server needs it; *broker.Broker is one.
type Broker[L Link] interface {
	// Attach makes a session known. What the broker has for it comes to out. After the
	// broker was closed the error is broker.ErrClosed.
	Attach(out broker.Outbox, c broker.Client) (L, error)
}

// Link is a session's side of a Broker; *broker.Conn is one.
type Link interface {
	// ID is unique among the sessions of a broker, and not 0.
	ID() uint64
	// Submit hands over a request, with all that it points to. It may wait. Only the reader calls it.
	Submit(req *broker.Request) error
	// Written tells that so many more messages were wholly handed to the kernel. Only the writer calls it.
	Written(messages int)
	// Detach tells that the session is over. It is called after the last Submit, maybe more than once.
	Detach()
}

// Server serves STOMP to the connections of any number of listeners. Its methods may be called
// from any goroutine.
type Server struct {
	shared sharedState
	attach func(out broker.Outbox, c broker.Client) (Link, error)

	counters counters
	lots     lots
	blocks   blocks

	mu         sync.Mutex
	listeners  map[*listener]struct{}
	transports map[string]*transportCounters
	conns      map[*conn]struct{}
	clientIDs  map[string]*conn // of transports that restrict them
	admission  admission
	closing    bool
	closed     chan struct{}   // closed by Shutdown and Close
	life       context.Context // ends with closed
	end        context.CancelFunc
	idle       chan struct{} // closed when closing and there are no connections
}

// New returns a Server that gives its sessions to b. It has no goroutines
// before Serve.
func New[L Link](b Broker[L], o Options) *Server {
	o = o.withDefaults()
	s := &Server{
		shared: sharedState{options: o, destinations: newDestinations(o.QueuePrefixes, o.TopicPrefixes)},
		attach: func(out broker.Outbox, c broker.Client) (Link, error) {
			link, err := b.Attach(out, c)
			if err != nil {
				return nil, err
			}
			return link, nil
		},
		listeners:  make(map[*listener]struct{}),
		transports: make(map[string]*transportCounters),
		conns:      make(map[*conn]struct{}),
		clientIDs:  make(map[string]*conn),
		admission:  newAdmission(),
		closed:     make(chan struct{}),
		idle:       make(chan struct{}),
	}
	s.shared.denied = &s.counters.denied
	s.life, s.end = context.WithCancel(context.Background())
	_, _ = rand.Read(s.shared.secret[:]) // never fails
	return s
}

// Serve accepts connections from l, which it closes at the end, and serves them as TCP connections. It returns
// when the listener fails, or ErrServerClosed after Shutdown or Close.
func (s *Server) Serve(l net.Listener) error { return s.ServeTransport(l, Transport{}) }

// ServeTransport is Serve for connections that t describes.
func (s *Server) ServeTransport(l net.Listener, t Transport) error {
	own, err := s.listen(l, t.withDefaults())
	if err != nil {
		_ = l.Close()
		return err
	}
	defer s.unlisten(own)
	return s.accept(own)
}

// listener is a listener that is being served.
type listener struct {
	net.Listener
	transport Transport
	counters  *transportCounters
	open      int // connections, guarded by the server's mutex
	once      sync.Once
}

func (l *listener) close() { l.once.Do(func() { _ = l.Listener.Close() }) }

func (s *Server) listen(l net.Listener, t Transport) (*listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, ErrServerClosed
	}
	if s.transports[t.Name] == nil {
		s.transports[t.Name] = new(transportCounters)
	}
	own := &listener{Listener: l, transport: t, counters: s.transports[t.Name]}
	s.listeners[own] = struct{}{}
	return own, nil
}

func (s *Server) unlisten(l *listener) {
	l.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// Shutdown stops accepting, lets each session finish what was read of it, tells it in an ERROR that the broker is
// going away, and waits until all connections are closed. When ctx ends sooner its error is returned, and
// Close remains to be called.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, c := range s.beginClose() {
		c.stop()
	}
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("server: shutdown: %w", ctx.Err())
	}
}

// Close closes all listeners and connections at once and waits for the end of their goroutines.
// What was submitted before counts. A session that waits in Submit is waited for: the broker lets it go when it
// takes the request, or is closed. The error is always nil.
func (s *Server) Close() error {
	for _, c := range s.beginClose() {
		c.abort()
	}
	<-s.idle
	return nil
}

// Recheck ends the sessions whose login is no longer what it was, see auth.Authorizer, with an ERROR that says so: their clients
// can log in again as what they are now. What was read of them before counts. Call it after each change of what Options.Auth knows.
func (s *Server) Recheck() {
	s.mu.Lock()
	conns := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range conns {
		c.recheck(s.shared.options.Auth)
	}
}

// beginClose closes the listeners and returns the connections that there are. No others come.
func (s *Server) beginClose() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.closing = true
		close(s.closed)
		s.end()
		if len(s.conns) == 0 {
			close(s.idle)
		}
	}
	for l := range s.listeners {
		l.close()
	}
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	return conns
}

// add takes a connection in, unless the server is closing or full.
func (s *Server) add(c *conn) *rejection {
	s.mu.Lock()
	defer s.mu.Unlock()
	most, here := s.shared.options.MaxConnections, c.transport.MaxConnections
	switch {
	case s.closing:
		return &rejection{rejectedShutdown, asError(broker.ErrClosed)}
	case len(s.conns) >= most:
		return reject(rejectedConnections, "more than %d connections (limits.connections)", most)
	case here > 0 && c.listener.open >= here:
		return reject(rejectedListener, "more than %d connections to this listener (its max-connections)", here)
	}
	s.conns[c] = struct{}{}
	c.listener.open++
	return nil
}

// claim takes the client-id of a connection for it alone, where its transport restricts them. It is false if another
// connection has it.
func (s *Server) claim(c *conn, id string) bool {
	if !c.transport.RestrictClientIDs || id == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clientIDs[id] != nil {
		return false
	}
	s.clientIDs[id] = c
	return true
}

// remove takes a connection out whose goroutines are at their end.
func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	c.listener.open--
	s.left(c)
	if id := c.greeting.clientID; s.clientIDs[id] == c {
		delete(s.clientIDs, id)
	}
	if s.closing && len(s.conns) == 0 {
		close(s.idle)
	}
}
