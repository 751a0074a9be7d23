package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"footfall/broker"
	"footfall/frames"
)

// greet reads CONNECT and answers it. It is true when there is a session.
func (c *conn) greet() bool {
	var f frames.Frame
	if !c.readFirst(&f) {
		return false
	}
	c.received[f.Command]++
	g, err := c.login(&f)
	if err != nil {
		if c.session.loginResult != "" {
			c.srv.counters.logins.add(c.session.loginResult)
		}
		c.refuse(endError, err)
		return false
	}
	c.srv.counters.logins.add(loginOK)
	c.greeting = g
	if r := c.srv.login(c, g.identity.User); r != nil {
		c.srv.rejected(c, r)
		c.refuse(endError, r.err)
		return false
	}
	if !c.srv.claim(c, g.clientID) {
		c.refuse(endError, refusal(kindLogin, "client-id %s is that of another connection (stomp.client-ids)", quote(g.clientID)))
		return false
	}
	link, err := c.srv.attach(c.out, broker.Client{
		User: g.identity.User, Remote: c.session.remote, ClientID: g.clientID,
		Version: g.version.String(), Transport: c.transport.Name,
	})
	if err != nil {
		c.refuse(endShutdown, err)
		return false
	}
	c.link, c.session.id = link, link.ID()
	c.counters.open[inGreeting].Add(-1)
	c.counters.open[g.version].Add(1)
	c.in.SetVersion(g.version)
	c.silence = g.beats.silence(c.srv.shared.options.HeartBeatTolerance, c.transport.MinSilence)
	if err := c.write(g.appendConnected(nil, c.session.id)); err != nil {
		c.because(endWrite, err)
		return false
	}
	c.srv.counters.sent[frames.Connected].Add(1)
	c.startWriter()
	return true
}

// login reads CONNECT, within the connect timeout too. What it finds it keeps for Recheck.
func (c *conn) login(f *frames.Frame) (greeting, error) {
	ctx, cancel := context.WithDeadline(c.srv.life, c.accepted.Add(c.srv.shared.options.ConnectTimeout))
	defer cancel()
	c.session.local = isLocal(c.nc)
	g, err := c.session.connect(ctx, f, c.transport)
	if err != nil {
		return g, err
	}
	c.mu.Lock()
	c.identity, c.known = g.identity, true
	c.mu.Unlock()
	// What changed before was not seen by Recheck, and what changes now will be.
	if !c.srv.shared.options.Auth.Current(g.identity) {
		c.session.loginResult = loginRefused
		return g, errRevoked()
	}
	return g, nil
}

// readFirst reads the first frame, all within the connect timeout.
func (c *conn) readFirst(f *frames.Frame) bool {
	timeout := c.srv.shared.options.ConnectTimeout
	for {
		ok, err := c.in.Next(f)
		switch {
		case err != nil:
			c.refuse(endError, err)
			return false
		case ok:
			return true
		}
		if c.arm(c.accepted.Add(timeout)) {
			err = c.in.Fill()
		} else {
			err = os.ErrDeadlineExceeded
		}
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			c.lost(err)
			return false
		case c.phaseNow() == stopping:
			c.refuse(c.whyStopping())
			return false
		default:
			c.refuse(endConnect, refusal(kindTimeout, "no CONNECT within %v", timeout))
			return false
		}
	}
}

// refuse answers with an ERROR before there is a session, and ends the connection.
func (c *conn) refuse(reason string, err error) {
	e := asError(err)
	c.because(reason, e)
	c.srv.counters.errors.add(string(e.Kind))
	if c.write(appendError(nil, c.session.version, e, false, "")) != nil {
		return
	}
	c.srv.counters.sent[frames.Failure].Add(1)
	c.leave()
	c.discard()
}

// write writes a frame, up to its NUL, as long as there is no writer.
func (c *conn) write(frame []byte) error {
	if c.transport.WebSocket == nil {
		frame = append(frame, '\n')
	}
	_ = c.nc.SetWriteDeadline(time.Now().Add(c.srv.shared.options.WriteTimeout))
	n, err := c.nc.Write(frame)
	c.counters.octetsOut.Add(uint64(n))
	return err
}

// converse reads frames and submits what they ask for, until the session is over.
func (c *conn) converse() {
	for {
		c.parse()
		if c.session.ended {
			c.discard()
			return
		}
		c.awaitRoom()
		var deadline time.Time
		if c.silence > 0 {
			deadline = time.Now().Add(c.silence)
		}
		if !c.arm(deadline) {
			c.over()
			return
		}
		if err := c.in.Fill(); err != nil {
			c.failedRead(err)
			return
		}
	}
}

// parse handles all frames that are whole, and submits what they ask for in as few pieces as the size of a
// request allows.
func (c *conn) parse() {
	var f frames.Frame
	for !c.session.ended {
		ok, err := c.in.Next(&f)
		if err != nil {
			c.session.fail(&f, err)
			break
		}
		if !ok {
			break
		}
		c.received[f.Command]++
		c.session.handle(&f)
		if c.session.full() {
			c.submit()
		}
	}
	c.submit()
	c.received.addTo(&c.srv.counters.received)
}

// submit hands over what the session has gathered.
func (c *conn) submit() {
	req := c.session.take()
	if req == nil {
		return
	}
	if err := c.link.Submit(req); err != nil {
		// No answers will come any more, so the ERROR comes from here.
		c.session.ended = true
		c.out.Put([]broker.Output{{Kind: broker.OutputError, Err: asError(err)}})
	}
}

// awaitRoom waits while the client does not read its answers.
func (c *conn) awaitRoom() {
	for !c.out.roomy() {
		<-c.out.room
	}
}

// failedRead ends the session after a read that gave nothing.
func (c *conn) failedRead(err error) {
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		c.lost(err)
	case c.phaseNow() != talking:
		c.over()
	default:
		c.because(endSilence, nil)
		c.endWith(refusal(kindTimeout, "nothing came from the client for %v (heart-beat)", c.silence))
	}
}

// over ends the session when no more frames are to be read.
func (c *conn) over() {
	if c.phaseNow() == stopping {
		reason, err := c.whyStopping()
		c.because(reason, nil)
		c.endWith(asError(err))
		return
	}
	c.discard()
}

// endWith ends the session with an ERROR of ours, after the answers to all that came before.
func (c *conn) endWith(e *broker.Error) {
	c.session.fail(&frames.Frame{}, e)
	c.submit()
	c.discard()
}

// lost ends the session of a client that is gone, or that has shut its write side.
func (c *conn) lost(err error) {
	if errors.Is(err, errWebSocket) {
		c.cut(err)
		return
	}
	if !errors.Is(err, io.EOF) {
		c.because(endRead, err)
		return
	}
	if c.in.InFrame() {
		err = fmt.Errorf("within a frame: %w", io.ErrUnexpectedEOF)
	} else {
		err = nil
	}
	c.because(endClient, err)
	if _, ok := c.nc.(*webSocket); ok {
		defer c.linger()
	}
	if c.link == nil || c.session.ever {
		return
	}
	// A client that only sends may have shut just its write side, and wait for answers. One that receives gets
	// none, as a message written to it when it is gone would count as taken.
	c.session.ended = true
	c.session.push(broker.Op{Kind: broker.OpDisconnect}, opBytes)
	c.submit()
	<-c.writerDone
}

// discard reads and throws away what still comes: until the last frame is out, and then until the client closes,
// but for a while only. Were the connection closed with input unread, a reset would overtake that frame.
func (c *conn) discard() {
	if c.quiet() {
		_, err := io.Copy(io.Discard, (*input)(c))
		<-c.writerDone
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return // the client is gone
		}
	}
	c.linger()
}

// linger is the part of discard that is for a while only.
func (c *conn) linger() {
	c.detach()
	_ = c.raw.SetReadDeadline(time.Now().Add(c.srv.shared.options.LingerTimeout))
	_, _ = io.Copy(io.Discard, (*input)(c))
}

// cut ends a session whose client can be told no more than it was.
func (c *conn) cut(err error) {
	c.because(endError, err)
	c.srv.counters.errors.add("websocket")
	c.out.close()
	<-c.writerDone
	c.linger()
}
