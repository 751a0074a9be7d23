package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

const (
	// upgradeBytes bounds the request that asks for a WebSocket, with all its header.
	upgradeBytes = 16 << 10
	// webSocketBuffer is the read buffer of a WebSocket. It is the smaller part of what an idle one costs.
	webSocketBuffer = 2 << 10
	// controlBuffer holds a control frame of WebSocket, so that it is one Write.
	controlBuffer = 2 + 125
)

// errUpgrade is why a request did not become a WebSocket. It was answered.
type errUpgrade struct{ reason string }

func (e *errUpgrade) Error() string { return "no WebSocket: " + e.reason }

// upgrade reads the request for a WebSocket from a new connection and answers it. An error of type *errUpgrade was
// told to the client.
func upgrade(nc net.Conn, w *WebSocket, secure bool, limit int64) (*webSocket, error) {
	s := &socket{Conn: nc}
	limited := &io.LimitedReader{R: s, N: upgradeBytes}
	a := &answer{socket: s, in: bufio.NewReaderSize(limited, webSocketBuffer), header: make(http.Header)}
	r, err := http.ReadRequest(a.in)
	if err != nil {
		var net net.Error
		switch {
		case limited.N <= 0:
			return nil, a.refuse(http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("the request is longer than %d octets", upgradeBytes))
		case errors.As(err, &net) || errors.Is(err, io.EOF):
			return nil, err
		}
		return nil, a.refuse(http.StatusBadRequest, "this is no HTTP request")
	}
	if status, text := w.refuses(r, secure); status != 0 {
		return nil, a.refuse(status, text)
	}
	return a.accept(r, w, limit)
}

// accept has the library answer a request, and look into all that is not ours.
func (a *answer) accept(r *http.Request, w *WebSocket, limit int64) (*webSocket, error) {
	c := &webSocket{socket: a.socket, in: a.in}
	o := websocket.AcceptOptions{
		InsecureSkipVerify: true, // refuses has looked at the origin
		OnPingReceived:     c.pinged, OnPongReceived: c.ponged,
	}
	if chosen := subprotocol(r.Header.Values("Sec-Websocket-Protocol")); chosen != "" {
		o.Subprotocols = []string{chosen}
	}
	if w.Deflate {
		o.CompressionMode = websocket.CompressionNoContextTakeover
	}
	ws, err := websocket.Accept(a, r, &o)
	if err != nil {
		if a.status != http.StatusSwitchingProtocols {
			return nil, a.refuse(a.status, strings.TrimSpace(a.body.String()))
		}
		return nil, err
	}
	ws.SetReadLimit(limit)
	c.ws = ws
	c.mark = c.consumed()
	return c, nil
}

// answer is the response to a request for a WebSocket, on a connection that has no other.
type answer struct {
	socket *socket
	in     *bufio.Reader
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// Hijack implements http.Hijacker: the response goes out, and what follows it is a WebSocket.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if err := a.send(); err != nil {
		return nil, nil, err
	}
	return a.socket, bufio.NewReadWriter(a.in, bufio.NewWriterSize(a.socket, controlBuffer)), nil
}

// refuse answers with a status that ends the connection.
func (a *answer) refuse(status int, text string) error {
	a.status = status
	a.body.Reset()
	a.body.WriteString(text + "\n")
	a.header.Set("Connection", "close")
	a.header.Set("Content-Type", "text/plain; charset=utf-8")
	a.header.Set("X-Content-Type-Options", "nosniff")
	a.header.Set("Content-Length", fmt.Sprint(a.body.Len()))
	if err := a.send(); err != nil {
		return err
	}
	return &errUpgrade{fmt.Sprintf("%d %s", status, text)}
}

func (a *answer) send() error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	_ = a.header.Write(&out) // into memory
	out.WriteString("\r\n")
	_, _ = a.body.WriteTo(&out)
	_, err := a.socket.Write(out.Bytes())
	return err
}
