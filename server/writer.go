package server

import (
	"errors"
	"os"
	"slices"
	"time"

	"footfall/broker"
	"footfall/frames"
)

const (
	// flushBytes is how much is rendered before it is written.
	flushBytes = 64 << 10
	// directBytes is the size from which on a body is written from where it is.
	directBytes = 64 << 10
)

// writer owns all writes to a connection after CONNECTED: what comes through the outbox, and heart-beats.
type writer struct {
	c       *conn
	version frames.Version
	lf      bool // after each NUL
	socket  steadily

	buf *block // nil for nothing

	every time.Duration // between the last octet and a heart-beat, 0 for none
	beat  *time.Timer   // nil without heart-beats
	last  time.Time     // of the last octet written, with heart-beats
	sent  commandCounts
}

// startWriter hands the write side over to a writer.
func (c *conn) startWriter() {
	c.writerDone = make(chan struct{})
	c.heedPings()
	w := &writer{
		c: c, version: c.greeting.version, lf: c.transport.WebSocket == nil,
		socket: steadily{nc: c.nc, timeout: c.srv.shared.options.WriteTimeout},
		// A little below the 0.6 of the interval that we promise to keep: timers come late.
		every: c.greeting.beats.send / 2,
	}
	c.srv.counters.goroutines.Add(1)
	go w.run()
}

func (w *writer) run() {
	defer close(w.c.writerDone)
	defer w.c.srv.counters.goroutines.Add(-1)
	defer w.c.out.close()
	defer w.c.rescue()
	if w.every > 0 {
		w.last = time.Now()
		w.beat = time.NewTimer(w.every)
		defer w.beat.Stop()
	}
	var err error
	for err == nil {
		if l := w.c.out.take(); l != nil {
			var final bool
			final, err = w.renderAll(l.outputs)
			w.c.srv.lots.put(l)
			if final && err == nil {
				w.c.leave()
				return
			}
			continue
		}
		if err = w.flush(); err == nil && !w.wait() {
			return
		}
	}
	w.failed(err)
}

// wait waits until there is something to take, and sends heart-beats meanwhile. It is false when the outbox was closed.
func (w *writer) wait() bool {
	for {
		var due <-chan time.Time
		if w.beat != nil {
			due = w.beat.C
		}
		select {
		case <-w.c.out.wake:
			if err := w.c.answerPing(); err != nil {
				w.failed(err)
				return false
			}
			return !w.c.out.isClosed()
		case <-due:
			if err := w.heartBeat(); err != nil {
				w.failed(err)
				return false
			}
		}
	}
}

// heartBeat sends a line feed if nothing else was sent for long enough.
func (w *writer) heartBeat() error {
	if idle := time.Since(w.last); idle < w.every {
		w.beat.Reset(w.every - idle)
		return nil
	}
	w.beat.Reset(w.every)
	w.c.srv.counters.beats.Add(1)
	// STOMP 1.2 Heart-beating: an end of line when there is nothing else to send.
	_, err := w.write([]byte{'\n'})
	return err
}

// renderAll renders outputs, and writes when there is enough. It is true after the last output that a connection gets.
func (w *writer) renderAll(outputs []broker.Output) (final bool, err error) {
	for i := range outputs {
		out := &outputs[i]
		if final = w.render(out); final {
			return true, w.flush()
		}
		if m := out.Message; m != nil && len(m.Body) >= directBytes && w.lf {
			err = w.direct(m.Body)
		} else if m != nil {
			w.buf.octets = frames.AppendBody(w.buf.octets, m.Body)
			w.end(true)
		}
		if err == nil && w.buf != nil && len(w.buf.octets) >= flushBytes {
			err = w.flush()
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// render renders an output, a message without its body. It is true for the last one.
func (w *writer) render(out *broker.Output) (final bool) {
	if w.buf == nil {
		w.buf = w.c.srv.blocks.get()
	}
	switch out.Kind {
	case broker.OutputMessage:
		w.buf.octets = out.Tag.(*subscription).appendMessage(w.buf.octets, w.version, out)
		w.sent[frames.Message]++
		return false
	case broker.OutputBrowserEnd:
		w.buf.octets = out.Tag.(*subscription).appendBrowserEnd(w.buf.octets, out)
		w.sent[frames.Message]++
		w.buf.answers++
		w.end(false)
		return false
	case broker.OutputReceipt:
		w.buf.octets = appendReceipt(w.buf.octets, w.version, out)
		w.sent[frames.Receipt]++
		w.buf.answers++
		w.buf.answerBytes += answerBytes(out)
		w.end(false)
		return false
	case broker.OutputError:
		w.buf.octets = appendError(w.buf.octets, w.version, out.Err, out.WantReceipt, out.Receipt)
		w.sent[frames.Failure]++
		w.c.srv.counters.errors.add(string(out.Err.Kind))
		w.c.because(endError, out.Err)
		w.end(false)
	case broker.OutputClose:
		w.c.because(endDisconnect, nil)
	}
	return true
}

// end ends a frame after its NUL.
func (w *writer) end(message bool) {
	if w.lf {
		w.buf.octets = append(w.buf.octets, '\n')
	}
	w.buf.ends = append(w.buf.ends, frameEnd{len(w.buf.octets), message})
}

// direct writes what was rendered and a body, and leaves the end of the frame in the buffer.
func (w *writer) direct(body []byte) error {
	w.buf.octets = append(w.buf.octets, '\n')
	if err := w.flush(); err != nil {
		return err
	}
	if _, err := w.write(body); err != nil {
		return err
	}
	w.buf = w.c.srv.blocks.get()
	w.buf.within = true
	w.buf.octets = append(w.buf.octets, 0)
	w.end(true)
	return nil
}

// flush writes what was rendered and tells who waits for that.
func (w *writer) flush() error {
	if w.buf == nil {
		return nil
	}
	var n int
	var err error
	if ws, ok := w.c.nc.(*webSocket); ok {
		n, err = w.writeEach(ws)
	} else {
		n, err = w.write(w.buf.octets)
	}
	messages := 0
	for _, e := range w.buf.ends {
		if e.message && e.at <= n {
			messages++
		}
	}
	// The broker takes no news of nothing.
	if messages > 0 {
		w.c.link.Written(messages)
	}
	if err != nil {
		w.complain(n, err)
		return err
	}
	w.c.out.wrote(w.buf.answers, w.buf.answerBytes)
	w.sent.addTo(&w.c.srv.counters.sent)
	w.c.srv.blocks.put(w.buf)
	w.buf = nil
	return nil
}

// writeEach writes each frame as a message of its own.
func (w *writer) writeEach(ws *webSocket) (int, error) {
	spare := w.c.srv.blocks.get()
	defer w.c.srv.blocks.put(spare)
	n, err := ws.writeEach(w.buf, spare)
	w.took(n)
	return n, err
}

// write writes octets. A client that takes some of them in each write timeout gets all the time it wants.
func (w *writer) write(p []byte) (written int, err error) {
	if w.c.layered() {
		written, err = w.c.nc.Write(p)
		w.took(written)
		return written, err
	}
	return w.socket.write(p, w.took)
}

// took tells that so many octets were written.
func (w *writer) took(n int) {
	w.c.counters.octetsOut.Add(uint64(n))
	if w.beat != nil {
		w.last = time.Now()
	}
}

// complain makes an attempt to tell a client that takes nothing why it is cut, unless that
// would be within a frame.
func (w *writer) complain(written int, err error) {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !w.between(written) || w.c.layered() {
		return
	}
	e := refusal(broker.KindSlow, "nothing that was sent was taken for %v", w.c.srv.shared.options.WriteTimeout)
	_ = w.c.raw.SetWriteDeadline(time.Now().Add(complaintTimeout))
	_, _ = w.c.raw.Write(append(appendError(nil, w.version, e, false, ""), '\n'))
}

// complaintTimeout is how long the attempt may take.
const complaintTimeout = 50 * time.Millisecond

// between says whether a frame ends after so many octets of the buffer.
func (w *writer) between(written int) bool {
	if written == 0 {
		return !w.buf.within
	}
	return slices.ContainsFunc(w.buf.ends, func(e frameEnd) bool { return e.at == written })
}

// failed ends the connection when it cannot be written to.
func (w *writer) failed(err error) {
	reason := endWrite
	if errors.Is(err, os.ErrDeadlineExceeded) {
		reason = endWriteTimeout
	}
	w.c.because(reason, err)
	_ = w.c.raw.Close()
}
