package node

import (
	"fmt"
	"net"

	"footfall/server"
)

// listener is a socket that STOMP clients connect to, and what they find there.
type listener struct {
	net.Listener
	transport server.Transport
}

// listen opens the listeners for STOMP.
func (n *Node) listen() error {
	o := &n.opt
	plain := server.Transport{Name: "tcp", Identity: server.Identity(o.Identity), RestrictClientIDs: o.ClientIDs == "restricted"}
	over := plain
	over.Name, over.MinSilence = "ws", o.WebSocket.MinSilence
	over.WebSocket = &server.WebSocket{
		Paths: o.WebSocket.Paths, Origins: o.WebSocket.Origins,
		RequireOrigin: o.WebSocket.RequireOrigin, Deflate: o.WebSocket.Deflate,
	}
	for _, group := range []struct {
		setting   string
		at        []string
		transport server.Transport
	}{
		{"stomp.listen", o.Stomp, plain},
		{"websocket.listen", o.WebSocket.Listen, over},
	} {
		for _, at := range group.at {
			l, err := net.Listen("tcp", at)
			if err != nil {
				return fmt.Errorf("%s: %w", group.setting, err)
			}
			n.listeners = append(n.listeners, listener{l, group.transport})
			if err := n.protected(group.setting, l.Addr()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stomp returns the addresses of the listeners for STOMP over plain TCP, in the order of the settings.
func (n *Node) Stomp() []net.Addr { return n.addresses("tcp") }

// WebSockets returns those of the listeners for WebSockets.
func (n *Node) WebSockets() []net.Addr { return n.addresses("ws") }

func (n *Node) addresses(transport string) (list []net.Addr) {
	for _, l := range n.listeners {
		if l.transport.Name == transport {
			list = append(list, l.Addr())
		}
	}
	return list
}
