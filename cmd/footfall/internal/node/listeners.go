package node

import (
	"fmt"
	"net"

	"footfall/server"
)

// listener is a socket that STOMP clients connect to, and what they find there.
type listener struct {
	net.Listener
	kind      string
	transport server.Transport
	certs     *server.Certificates // nil without TLS
}

// listen opens the listeners for STOMP.
func (n *Node) listen() error {
	o := &n.opt
	for _, group := range []struct {
		setting, kind string
		at            []string
	}{
		{"stomp.listen", kindTCP, o.Stomp},
		{"websocket.listen", kindWS, o.WebSocket.Listen},
	} {
		for _, at := range group.at {
			if err := n.listenAs(group.setting, &Listener{Listen: at, Kind: group.kind}); err != nil {
				return err
			}
		}
	}
	for i := range o.Listeners {
		item := &o.Listeners[i]
		if err := n.listenAs(fmt.Sprintf("%s: listeners[%d]", item.At, i), &item.Of); err != nil {
			return err
		}
	}
	return nil
}

// listenAs opens one listener. What goes wrong is told with the setting that asks for it.
func (n *Node) listenAs(setting string, as *Listener) error {
	transport, certs, err := n.opt.transport(as)
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	l, err := as.open()
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	n.listeners = append(n.listeners, listener{l, as.kind(), transport, certs})
	return n.protected(setting, l.Addr())
}

// Listening is a listener that serves.
type Listening struct {
	// Kind is that of the list of listeners: tcp, tls, ws, wss or unix.
	Kind string
	Addr net.Addr
}

// Listening returns the listeners for STOMP, in the order of the settings.
func (n *Node) Listening() []Listening {
	list := make([]Listening, len(n.listeners))
	for i, l := range n.listeners {
		list[i] = Listening{l.kind, l.Addr()}
	}
	return list
}

// Stomp returns the addresses of the listeners for STOMP over plain TCP, WebSockets those for WebSockets.
func (n *Node) Stomp() []net.Addr { return n.addresses(kindTCP) }

// WebSockets returns the addresses of the listeners for WebSockets without TLS.
func (n *Node) WebSockets() []net.Addr { return n.addresses(kindWS) }

func (n *Node) addresses(kind string) (list []net.Addr) {
	for _, l := range n.listeners {
		if l.kind == kind {
			list = append(list, l.Addr())
		}
	}
	return list
}
