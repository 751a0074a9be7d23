package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"footfall/frames"
)

// Options say where a broker is and who asks.
type Options struct {
	// Address is host:port.
	Address string
	// Host is the virtual host of CONNECT, as RabbitMQ and Apollo have them; empty is the host of Address.
	Host string
	// Login and Passcode are left out of CONNECT where Login is empty.
	Login, Passcode string
	// Timeout bounds the time to CONNECTED, and each wait for a RECEIPT: 10 s.
	Timeout time.Duration
}

// Client is a session with a broker. It belongs to one goroutine.
type Client struct {
	conn    net.Conn
	source  *source
	reader  *frames.Reader
	timeout time.Duration
	out     []byte // not flushed
	version frames.Version
	waiting []*Frame // messages that came while something else was waited for
}

// source is the connection as a Reader sees it. The end of a context is none of the
// source's: it is noted, and reading may go on afterwards.
type source struct {
	conn net.Conn
	late bool
}

// Read reads from the connection.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.late = true
		return n, nil
	}
	return n, err
}

// Pair is one header.
type Pair struct{ Name, Value string }

// Frame is a frame of the server with its headers decoded, all of its own memory.
type Frame struct {
	Command frames.Command
	Headers []Pair
	Body    []byte
}

// Get returns the first value of a header, empty where there is none.
func (f *Frame) Get(name string) string {
	for _, h := range f.Headers {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

// ServerError is an ERROR frame.
type ServerError struct{ Frame *Frame }

// Error returns what the server said, on one line.
func (e *ServerError) Error() string {
	message := e.Frame.Get("message")
	if message == "" {
		message = strings.TrimSpace(string(e.Frame.Body))
	}
	return "the broker refused: " + message
}

// ErrClosed says that the server ended the connection.
var ErrClosed = errors.New("the broker closed the connection")

// Dial connects and logs in.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	// A body as large as a broker may allow must be readable.
	src := &source{conn: conn}
	c := &Client{conn: conn, source: src, timeout: o.Timeout, reader: frames.NewClientReader(src, frames.Limits{Body: 1 << 30})}
	if err := c.login(ctx, o); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) login(ctx context.Context, o Options) error {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return err
	}
	headers := []Pair{{"accept-version", "1.2"}, {"host", cmp.Or(o.Host, host)}, {"heart-beat", "0,0"}}
	if o.Login != "" {
		headers = append(headers, Pair{"login", o.Login}, Pair{"passcode", o.Passcode})
	}
	for _, h := range headers {
		// STOMP 1.2 CONNECT: its headers have no escapes.
		if strings.ContainsAny(h.Value, "\r\n\x00") {
			return fmt.Errorf("the %s has a line break or NUL, which cannot be sent", h.Name)
		}
	}
	c.version = frames.V10
	c.Queue(frames.Connect, headers, nil)
	if err := c.Flush(ctx); err != nil {
		return err
	}
	f, err := c.Read(ctx)
	if err != nil {
		return err
	}
	if f.Command != frames.Connected {
		return fmt.Errorf("expected CONNECTED, the server sent %s", f.Command)
	}
	if f.Get("version") != "1.2" {
		return fmt.Errorf("the server speaks STOMP %.20q, not 1.2", f.Get("version"))
	}
	c.version = frames.V12
	c.reader.SetVersion(frames.V12)
	return nil
}

// Queue adds a frame to what Flush sends.
func (c *Client) Queue(command frames.Command, headers []Pair, body []byte) {
	c.out = frames.AppendCommand(c.out, command)
	for _, h := range headers {
		c.out = frames.AppendHeader(c.out, c.version, h.Name, h.Value)
	}
	if body != nil {
		c.out = frames.AppendHeader(c.out, c.version, "content-length", fmt.Sprint(len(body)))
	}
	c.out = append(frames.AppendBody(c.out, body), '\n')
}

// Flush sends what was queued.
func (c *Client) Flush(ctx context.Context) error {
	defer c.watch(ctx)()
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return c.explain(ctx, err)
}

// Read returns the next frame. An ERROR is a *ServerError.
func (c *Client) Read(ctx context.Context) (*Frame, error) {
	if len(c.waiting) > 0 {
		f := c.waiting[0]
		c.waiting = c.waiting[1:]
		return f, nil
	}
	return c.read(ctx)
}

func (c *Client) read(ctx context.Context) (*Frame, error) {
	defer c.watch(ctx)()
	var raw frames.Frame
	for {
		ok, err := c.reader.Next(&raw)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the server does not speak STOMP: %w", err)
		case ok && raw.Command == frames.Failure:
			return nil, &ServerError{own(&raw)}
		case ok:
			return own(&raw), nil
		}
		if err := c.reader.Fill(); err != nil {
			return nil, c.explain(ctx, err)
		}
		if c.source.late {
			c.source.late = false
			return nil, ctx.Err()
		}
	}
}

// own copies a frame out of the reader's memory.
func own(raw *frames.Frame) *Frame {
	f := &Frame{Command: raw.Command, Body: append([]byte{}, raw.Body...)}
	for name, value, pos := raw.Header.Next(0); pos >= 0; name, value, pos = raw.Header.Next(pos) {
		f.Headers = append(f.Headers, Pair{raw.Header.Decode(name), raw.Header.Decode(value)})
	}
	return f
}

// Receipt waits for the RECEIPT of that id. Messages that come sooner are kept for Read.
func (c *Client) Receipt(ctx context.Context, id string) (*Frame, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for {
		f, err := c.read(ctx)
		var refused *ServerError
		switch {
		case errors.As(err, &refused):
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("no receipt: %w", err)
		case f.Command == frames.Receipt && f.Get("receipt-id") == id:
			return f, nil
		case f.Command == frames.Message:
			c.waiting = append(c.waiting, f)
		}
	}
}

// Close says goodbye, so that all that was sent counts, and ends the connection.
func (c *Client) Close(ctx context.Context) error {
	defer c.conn.Close()
	const id = "goodbye"
	c.Queue(frames.Disconnect, []Pair{{"receipt", id}}, nil)
	if err := c.Flush(ctx); err != nil {
		return err
	}
	_, err := c.Receipt(ctx, id)
	return err
}

// Abort ends the connection without a word.
func (c *Client) Abort() { _ = c.conn.Close() }

// watch has the connection's deadline pass when ctx ends, until the function returned is called.
func (c *Client) watch(ctx context.Context) (done func()) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetDeadline(time.Unix(1, 0)) // long ago
		close(ended)
	})
	return func() {
		if !stop() {
			<-ended
			_ = c.conn.SetDeadline(time.Time{})
		}
	}
}

// explain says why reading or writing ended.
func (c *Client) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		return ErrClosed
	}
	return err
}
