package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"time"

	"footfall/broker"
	"github.com/coder/websocket"
)

// layered says that there is something between the socket and the frames.
func (c *conn) layered() bool { return c.nc != c.raw }

// open puts the layers of the transport on the socket, all within the connect timeout. It is false when that does not come about.
func (c *conn) open() bool {
	if t := c.transport; t.TLS == nil && t.WebSocket == nil && !t.isProxy(c.raw.RemoteAddr()) {
		return true
	}
	deadline := c.accepted.Add(c.srv.shared.options.ConnectTimeout)
	if !c.arm(deadline) {
		c.because(endShutdown, nil)
		return false
	}
	base := &steady{Conn: c.raw, steadily: steadily{nc: c.raw, timeout: c.srv.shared.options.WriteTimeout}, opening: deadline}
	c.nc = base
	if err := c.layer(); err != nil {
		c.notOpened(err)
		return false
	}
	base.opening = time.Time{}
	return true
}

// layer puts one layer after the other on.
func (c *conn) layer() error {
	t := c.transport
	if t.isProxy(c.raw.RemoteAddr()) {
		nc, err := readProxyHeader(c.nc)
		if err != nil {
			return err
		}
		c.nc = nc
		c.session.remote = remoteOf(nc)
		if r := c.srv.enter(c, nc.RemoteAddr()); r != nil {
			c.srv.rejected(c, r)
			return r.err
		}
	}
	if t.TLS != nil {
		secured := tls.Server(c.nc, t.TLS())
		c.nc = secured
		if err := secured.Handshake(); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		if chains := secured.ConnectionState().VerifiedChains; len(chains) > 0 {
			name, err := t.CertificateUser.name(chains[0][0])
			if err != nil {
				return err
			}
			c.session.certificate = name
		}
	}
	if t.WebSocket != nil {
		ws, err := upgrade(c.nc, t.WebSocket, t.TLS != nil, c.srv.shared.messageLimit())
		if err != nil {
			return err
		}
		c.nc = ws
	}
	return nil
}

// messageLimit is the greatest message of a WebSocket that is read, in octets: room for the greatest frame, and some. It
// is the parser that bounds frames, before CONNECT closer than this.
func (s *sharedState) messageLimit() int64 {
	l := s.options.Limits.WithDefaults()
	return int64(l.Command) + int64(l.HeaderBytes) + int64(l.Body) + upgradeBytes
}

// notOpened ends a connection on which no frame can be read.
func (c *conn) notOpened(err error) {
	reason := endOpen
	var refused *errUpgrade
	switch {
	case c.phaseNow() == stopping:
		reason = endShutdown
	case errors.Is(err, os.ErrDeadlineExceeded):
		reason = endConnect
	}
	var limit *broker.Error
	if errors.As(err, &limit) && c.transport.TLS == nil && c.transport.WebSocket == nil {
		c.refuse(endError, limit)
		return
	}
	c.because(reason, err)
	if errors.As(err, &refused) {
		c.leave()
		c.linger()
	}
}

// answerPing answers a ping of a WebSocket that waits for it. Who owns the writes calls it.
func (c *conn) answerPing() error {
	if ws, ok := c.nc.(*webSocket); ok {
		return ws.pong()
	}
	return nil
}

// heedPings has the writer answer pings, and the session take them for signs of life.
func (c *conn) heedPings() {
	ws, ok := c.nc.(*webSocket)
	if !ok {
		return
	}
	ws.onPing = func() {
		if c.silence > 0 {
			c.arm(time.Now().Add(c.silence))
		}
		signal(c.out.wake)
	}
}

// closeStatus is what the close frame of a WebSocket says. RFC 6455, 7.4.1.
func closeStatus(reason string) websocket.StatusCode {
	switch reason {
	case endDisconnect:
		return websocket.StatusNormalClosure
	case endShutdown:
		return websocket.StatusGoingAway
	case endPanic:
		return websocket.StatusInternalError
	}
	return websocket.StatusPolicyViolation
}
