package server

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// webSocket is a WebSocket as a connection of octets: what Read gives are the payloads of all messages in a row, and each Write
// is a message. One goroutine reads and one writes.
//
// The library is given no deadlines, as it closes a connection of which one passes; they are those of the socket below. A
// read that one ends can be followed by others only where it waited between frames. Else all that
// comes is thrown away: a session of which a deadline passed reads no frame any more.
type webSocket struct {
	*socket
	ws *websocket.Conn
	in *bufio.Reader // of the library, upon the socket

	// Owned by the reader.
	message io.Reader // in progress, nil between messages
	text    bool      // it is one of text
	runes   utf8Check
	begun   bool // the first message has begun
	mark    uint64
	lost    bool // it is not known where a frame begins, or none comes any more
	failure error

	// binary says that the first message was: then all that go out are. It is set before the writer begins.
	binary bool

	writing sync.Mutex // held while a message is written

	mu    sync.Mutex
	pongs []byte // frames that answer pings and were not written yet
	// onPing tells a session of a ping, nil for nobody: a sign of life, to be answered by who owns the writes.
	onPing func()
}

// errWebSocket is why a WebSocket cannot be read on. The client was told, with a close frame.
var errWebSocket = errors.New("bad WebSocket frame")

// NetConn returns the connection below, as tls.Conn does.
func (c *webSocket) NetConn() net.Conn { return c.socket.Conn }

// consumed is how many octets the library took.
func (c *webSocket) consumed() uint64 { return c.socket.total - uint64(c.in.Buffered()) }

// Read implements net.Conn. It gives what there is, as soon as something is.
func (c *webSocket) Read(p []byte) (int, error) {
	for len(p) > 0 {
		switch {
		case c.failure != nil:
			return 0, c.failure
		case c.lost:
			return c.socket.Read(p)
		}
		if c.message == nil {
			if err := c.next(); err != nil {
				return 0, err
			}
			continue
		}
		// The library waits until it has as much as it was asked for, so it is asked for what is there.
		n, err := c.message.Read(p[:min(len(p), max(c.in.Buffered(), 1))])
		if c.text && !c.runes.take(p[:n]) {
			return 0, c.fail(websocket.StatusInvalidFramePayloadData, "a text message that is no UTF-8")
		}
		if errors.Is(err, io.EOF) {
			if c.text && !c.runes.whole() {
				return 0, c.fail(websocket.StatusInvalidFramePayloadData, "a text message that ends within a character")
			}
			c.message, err = nil, nil
			c.mark = c.consumed()
		}
		if n > 0 {
			return n, nil // an error comes again
		}
		if err != nil {
			return 0, c.failed(err)
		}
	}
	return 0, nil
}

// next waits for a message.
func (c *webSocket) next() error {
	kind, message, err := c.ws.Reader(context.Background())
	if err != nil {
		return c.failed(err)
	}
	c.message, c.text = message, kind == websocket.MessageText
	c.runes = utf8Check{}
	if !c.begun {
		c.begun, c.binary = true, !c.text
	}
	return nil
}

// failed says what an error of the library means.
func (c *webSocket) failed(err error) error {
	var network net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.lost = c.message != nil || c.consumed() != c.mark
		return os.ErrDeadlineExceeded
	case websocket.CloseStatus(err) != -1:
		// RFC 6455, 5.5.1: the library has answered with a close frame, and shut the socket.
		c.lost = true
		return io.EOF
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		c.failure = fmt.Errorf("without a close frame: %w", io.ErrUnexpectedEOF)
		if c.message == nil && c.consumed() == c.mark {
			c.failure = io.EOF
		}
	case errors.As(err, &network) || errors.Is(err, net.ErrClosed):
		c.failure = err
	default:
		return c.fail(websocket.StatusProtocolError, err.Error())
	}
	return c.failure
}

// fail ends a WebSocket that breaks its rules. Where the library has sent a close frame already no other one follows it.
func (c *webSocket) fail(code websocket.StatusCode, why string) error {
	if c.writing.TryLock() { // else it would be within another frame
		c.sayClose(code)
		c.writing.Unlock()
	}
	c.lost = true
	return fmt.Errorf("%w: %s", errWebSocket, why)
}

// maxPongs bounds the answers to pings that wait to be written, in octets.
const maxPongs = 2 << 10

// pinged notes a ping. The library does not answer it, as that would be a write of the reader's.
func (c *webSocket) pinged(_ context.Context, payload []byte) bool {
	c.mark = c.consumed()
	c.mu.Lock()
	if len(c.pongs)+controlBuffer > maxPongs {
		c.pongs = nil // RFC 6455, 5.5.3: it is enough to answer the last ping
	}
	c.pongs = append(append(c.pongs, opPong, byte(len(payload))), payload...)
	c.mu.Unlock()
	if c.onPing != nil {
		c.onPing()
	} else {
		_ = c.pong() // there is no writer yet
	}
	return false
}

// ponged takes note of an answer that nobody asked for.
func (c *webSocket) ponged(context.Context, []byte) { c.mark = c.consumed() }

// pong answers the pings that wait for it. It is called by who owns the writes.
func (c *webSocket) pong() error {
	c.mu.Lock()
	frames := c.pongs
	c.pongs = nil
	c.mu.Unlock()
	if frames == nil {
		return nil
	}
	_, err := c.socket.Write(frames)
	return err
}

// opPong begins an answer to a ping.
const opPong = 0x8A

// sayClose begins the close handshake. Nothing goes out after it. The library's own way would wait for the answer.
func (c *webSocket) sayClose(code websocket.StatusCode) {
	_, _ = c.socket.Write(binary.BigEndian.AppendUint16([]byte{opClose, 2}, uint16(code)))
}

// kind is the kind of message that some octets can be sent in.
func (c *webSocket) kind(p []byte) websocket.MessageType {
	if c.binary || !utf8.Valid(p) {
		return websocket.MessageBinary
	}
	return websocket.MessageText
}

// Write sends one message.
func (c *webSocket) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.socket.begin(direct, nil)
	defer c.socket.done()
	return c.send(p)
}

func (c *webSocket) send(p []byte) (int, error) {
	if err := c.ws.Write(context.Background(), c.kind(p), p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeEach sends the frames of a block, each as a message, in one write. It returns how many octets of the block are
// in messages that were wholly written. Spare is memory for that write.
func (c *webSocket) writeEach(b *block, spare *block) (n int, err error) {
	if len(b.ends) == 1 {
		return c.Write(b.octets)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.socket.begin(corked, spare.octets)
	sent := 0
	for i, e := range b.ends {
		if _, err = c.send(b.octets[sent:e.at]); err != nil {
			break
		}
		sent = e.at
		spare.ends = append(spare.ends, frameEnd{at: c.socket.waiting(), message: b.ends[i].message})
	}
	written, grown, failure := c.socket.uncork()
	spare.octets = grown
	if failure == nil {
		return sent, err
	}
	for i, e := range spare.ends {
		if e.at <= written {
			n = b.ends[i].at
		}
	}
	return n, failure
}

// Close implements net.Conn. It is without a handshake, and lets go of what the library holds.
func (c *webSocket) Close() error {
	_ = c.socket.Conn.Close()
	return c.ws.CloseNow()
}
