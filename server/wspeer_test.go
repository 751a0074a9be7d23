package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// wsPeer is the client's side of a WebSocket, frame by frame.
type wsPeer struct {
	net.Conn
	t  testing.TB
	in *bufio.Reader
}

// wsFrame is a frame as it is on the wire, unmasked.
type wsFrame struct {
	first   byte // FIN, reserved bits, opcode
	payload string
}

// handshake is a request for a WebSocket.
func handshake(headers string) string {
	return "GET /ws HTTP/1.1\r\nHost: broker:15674\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" + headers + "\r\n"
}

// openPeer makes a WebSocket of a connection.
func openPeer(t testing.TB, nc net.Conn, headers string) (*wsPeer, *http.Response) {
	t.Helper()
	p := &wsPeer{nc, t, bufio.NewReader(nc)}
	p.write(handshake(headers))
	r, err := http.ReadResponse(p.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the status is %s", r.Status)
	}
	return p, r
}

func (p *wsPeer) write(octets string) {
	p.t.Helper()
	if _, err := io.WriteString(p.Conn, octets); err != nil {
		p.t.Fatal(err)
	}
}

// masked makes a frame of a client, with a mask of zeros.
func masked(first byte, payload string) string {
	head := []byte{first, 0x80}
	switch n := len(payload); {
	case n < 126:
		head[1] |= byte(n)
	case n < 1<<16:
		head[1] |= 126
		head = binary.BigEndian.AppendUint16(head, uint16(n))
	default:
		head[1] |= 127
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	return string(head) + "\x00\x00\x00\x00" + payload
}

// text sends a message of one frame.
func (p *wsPeer) text(payload string) { p.t.Helper(); p.write(masked(0x81, payload)) }

// frame returns the next frame.
func (p *wsPeer) frame() (wsFrame, error) {
	var head [8]byte
	if _, err := io.ReadFull(p.in, head[:2]); err != nil {
		return wsFrame{}, err
	}
	first, n := head[0], int(head[1])
	var err error
	switch n {
	case 126:
		_, err = io.ReadFull(p.in, head[:2])
		n = int(binary.BigEndian.Uint16(head[:]))
	case 127:
		_, err = io.ReadFull(p.in, head[:])
		n = int(binary.BigEndian.Uint64(head[:]))
	}
	if err != nil {
		return wsFrame{}, err
	}
	var payload bytes.Buffer
	if _, err := io.CopyN(&payload, p.in, int64(n)); err != nil {
		return wsFrame{}, err
	}
	return wsFrame{first, payload.String()}, nil
}

// want demands that the next frame is of that opcode, whole, and begins so.
func (p *wsPeer) want(first byte, prefix string) string {
	p.t.Helper()
	f, err := p.frame()
	if err != nil {
		p.t.Fatalf("waiting for %q: %v", prefix, err)
	}
	if f.first != first || !strings.HasPrefix(f.payload, prefix) {
		p.t.Fatalf("waiting for %x %q there came %x %.200q", first, prefix, f.first, f.payload)
	}
	return f.payload
}

// wantClose demands a close frame with that status.
func (p *wsPeer) wantClose(status int) {
	p.t.Helper()
	if got := p.want(0x88, ""); len(got) < 2 || int(binary.BigEndian.Uint16([]byte(got))) != status {
		p.t.Fatalf("the close frame has %q, and not status %d", got, status)
	}
}

// wantEOF demands that nothing more comes.
func (p *wsPeer) wantEOF() {
	p.t.Helper()
	if f, err := p.frame(); err != io.EOF {
		p.t.Fatalf("at the end there came %s, %v", fmt.Sprintf("%x %.100q", f.first, f.payload), err)
	}
}
