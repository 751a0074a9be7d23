package server

import (
	"crypto/tls"
	"net/netip"
	"time"
)

// Identity is as whom a broker introduces itself in the server header of CONNECTED.
// Some clients, stompjms above all, choose their dialect by it.
type Identity string

// The identities. All dialects are understood whatever the identity.
const (
	// IdentityAuto is Footfall to all but connections that look like stompjms,
	// which gets Apollo: to a name it does not know it offers neither durable subscriptions nor browsers.
	IdentityAuto Identity = "auto"
	// IdentityFootfall is our own: footfall/VERSION.
	IdentityFootfall Identity = "footfall"
	// IdentityApollo is apache-apollo/1.7.1+footfall-VERSION, with a host-id.
	IdentityApollo Identity = "apollo"
	// IdentityActiveMQ is ActiveMQ/5.18.0+footfall-VERSION.
	IdentityActiveMQ Identity = "activemq"
	// IdentityRabbitMQ is RabbitMQ/3.13.0+footfall-VERSION.
	IdentityRabbitMQ Identity = "rabbitmq"
)

// Transport describes the connections of one listener: what lies between the socket and the frames, and what
// its clients are told and allowed. What lies there is put on in this order: the PROXY header, TLS, WebSocket.
type Transport struct {
	// Name is its label in metrics: "tcp".
	Name string
	// Identity is as whom the broker introduces itself: IdentityAuto.
	Identity Identity
	// MinSilence is how long a client may be silent at least before it is dead, whatever
	// heart-beats were agreed on. For WebSocket it is 90 s: browsers throttle background tabs to a beat a minute.
	MinSilence time.Duration
	// RestrictClientIDs refuses CONNECT with the client-id of a connection that is open.
	RestrictClientIDs bool
	// MaxConnections bounds the connections that are open on the listener at a time: 0 for as many as
	// Options.MaxConnections allows.
	MaxConnections int
	// Proxies are the networks of proxies. Connections from there must begin with a PROXY header of version 1 or 2, which
	// tells the address of the client; from others it is not taken.
	Proxies []netip.Prefix
	// TLS gives the configuration of a new connection, so that certificates can change: nil for no TLS.
	TLS func() *tls.Config
	// CertificateUser is what of a client's certificate is the name of the user: UserCommonName.
	CertificateUser CertificateUser
	// WebSocket says that STOMP is spoken in the messages of a WebSocket: nil for octets on the socket.
	WebSocket *WebSocket
}

func (t Transport) withDefaults() Transport {
	def(&t.Name, "tcp")
	def(&t.Identity, IdentityAuto)
	def(&t.CertificateUser, UserCommonName)
	if t.WebSocket != nil {
		def(&t.MinSilence, webSocketSilence)
		w := t.WebSocket.withDefaults()
		t.WebSocket = &w
	}
	return t
}

// webSocketSilence is the least silence after which a client of a WebSocket is dead.
const webSocketSilence = 90 * time.Second
