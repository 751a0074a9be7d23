//go:build linux

package integration

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

// wire is a client of few words: it sends the frames that it is told to send and gives
// those that come. One goroutine may write while another one reads.
type wire struct {
	nc        net.Conn
	src       *patientReader
	in        *frames.Reader
	version   frames.Version
	connected answer
	out       []byte
	frame     frames.Frame
}

// answer is a frame from the broker that the test may keep.
type answer struct {
	command frames.Command
	header  frames.Header
	body    string
}

// get returns the value of a header, empty where there is none.
func (a answer) get(name string) string {
	value, _ := a.header.Get(name)
	return value
}

func (a answer) String() string {
	body := a.body
	if len(body) > 200 {
		body = body[:200] + "..."
	}
	return fmt.Sprintf("%s %q %q", a.command, a.header.Raw, body)
}

// open opens a connection without a word.
func open(addr string) (*wire, error) {
	nc, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	w := &wire{nc: nc, src: &patientReader{nc: nc}, version: frames.V12}
	w.in = frames.NewClientReader(w.src, frames.Limits{})
	return w, nil
}

// patientReader reads a connection and keeps to itself that nothing came before the
// deadline, which is no error that the source of a frames.Reader comes back from.
type patientReader struct {
	nc     net.Conn
	silent bool
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	n, err := r.nc.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.silent, err = true, nil
	}
	return n, err
}

// connect opens a connection and has a session.
func connect(addr string, version frames.Version, headers ...string) (*wire, error) {
	w, err := open(addr)
	if err != nil {
		return nil, err
	}
	headers = append([]string{"accept-version", version.String(), "host", "localhost"}, headers...)
	if err := w.send(frames.Connect, "", headers...); err != nil {
		w.close()
		return nil, err
	}
	w.connected, err = w.receive(patience)
	if err == nil && w.connected.command != frames.Connected {
		err = fmt.Errorf("CONNECT was answered with %v", w.connected)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	w.version = version
	w.in.SetVersion(version)
	return w, nil
}

// session is connect in STOMP 1.2 for the goroutine of a test, which ends it.
func session(t testing.TB, p *process, headers ...string) *wire {
	t.Helper()
	w, err := connect(p.stomp, frames.V12, headers...)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	t.Cleanup(w.close)
	return w
}

func (w *wire) close() { _ = w.nc.Close() }

// reset cuts the connection as a client does that crashes.
func (w *wire) reset() {
	if tcp, ok := w.nc.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	w.close()
}

// add gathers a frame of headers in turn name and value; flush sends what was gathered.
func (w *wire) add(c frames.Command, body string, headers ...string) {
	version := w.version
	if c == frames.Connect || c == frames.Stomp {
		version = frames.V10 // not escaped
	}
	w.out = frames.AppendCommand(w.out, c)
	for i := 0; i+1 < len(headers); i += 2 {
		w.out = frames.AppendHeader(w.out, version, headers[i], headers[i+1])
	}
	if strings.IndexByte(body, 0) >= 0 {
		w.out = frames.AppendHeader(w.out, version, "content-length", fmt.Sprint(len(body)))
	}
	w.out = append(append(append(w.out, '\n'), body...), 0)
}

func (w *wire) flush() error {
	out := w.out
	w.out = w.out[:0]
	return w.raw(out)
}

func (w *wire) send(c frames.Command, body string, headers ...string) error {
	w.add(c, body, headers...)
	return w.flush()
}

// raw writes octets as they are.
func (w *wire) raw(octets []byte) error {
	_ = w.nc.SetWriteDeadline(time.Now().Add(patience))
	_, err := w.nc.Write(octets)
	return err
}

// errSilence says that nothing came in time.
var errSilence = errors.New("no frame in time")

// next returns the next frame, which is valid until the next call.
func (w *wire) next(within time.Duration) (*frames.Frame, error) {
	armed := false
	for {
		ok, err := w.in.Next(&w.frame)
		if ok {
			return &w.frame, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the broker sent what is not STOMP: %w", err)
		}
		if !armed {
			_ = w.nc.SetReadDeadline(time.Now().Add(within))
			armed = true
		}
		if err := w.in.Fill(); err != nil {
			return nil, err
		}
		if w.src.silent {
			w.src.silent = false
			return nil, fmt.Errorf("%w (%v)", errSilence, within)
		}
	}
}

// receive returns the next frame.
func (w *wire) receive(within time.Duration) (answer, error) {
	f, err := w.next(within)
	if err != nil {
		return answer{}, err
	}
	header := f.Header
	header.Raw = bytes.Clone(header.Raw)
	return answer{f.Command, header, string(f.Body)}, nil
}

// do sends a frame and waits for its RECEIPT. Other frames that come before it are lost.
func (w *wire) do(c frames.Command, body string, headers ...string) error {
	id := fmt.Sprintf("do-%d", time.Now().UnixNano())
	if err := w.send(c, body, append(headers, "receipt", id)...); err != nil {
		return err
	}
	for {
		a, err := w.receive(patience)
		switch {
		case err != nil:
			return err
		case a.command == frames.Failure:
			return fmt.Errorf("%s was answered with %v", c, a)
		case a.command == frames.Receipt && a.get("receipt-id") == id:
			return nil
		}
	}
}

// must is do for the goroutine of a test.
func (w *wire) must(t testing.TB, c frames.Command, body string, headers ...string) {
	t.Helper()
	if err := w.do(c, body, headers...); err != nil {
		t.Fatalf("%s %q: %v", c, headers, err)
	}
}

// expect returns the next frame, which must be of that command.
func (w *wire) expect(t testing.TB, c frames.Command) answer {
	t.Helper()
	a, err := w.receive(patience)
	if err != nil {
		t.Fatalf("waiting for %s: %v", c, err)
	}
	if a.command != c {
		t.Fatalf("waiting for %s, there came %v", c, a)
	}
	return a
}

// expectEnd reads until the broker has closed the connection, and returns the ERROR that came before, if one did.
func (w *wire) expectEnd(t testing.TB) (failure answer) {
	t.Helper()
	for {
		a, err := w.receive(patience)
		if errors.Is(err, errSilence) {
			t.Fatalf("the broker did not close the connection")
		}
		if err != nil {
			return failure
		}
		if a.command == frames.Failure {
			failure = a
		}
	}
}

// expectSilence demands that nothing comes before a frame sent now is answered.
func (w *wire) expectSilence(t testing.TB) {
	t.Helper()
	if err := w.send(frames.Begin, "", "transaction", "silence", "receipt", "silence"); err != nil {
		t.Fatal(err)
	}
	a := w.expect(t, frames.Receipt)
	if a.get("receipt-id") != "silence" {
		t.Fatalf("there came %v", a)
	}
	w.must(t, frames.Abort, "", "transaction", "silence")
}
