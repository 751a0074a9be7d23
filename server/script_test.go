package server

import (
	"bufio"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

var rewrite = flag.Bool("rewrite", false, "write what servers said into the scripts")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestConversations plays the scripts in testdata/conversations against a server, in fake time. A line is
//
//	C: text      the client writes text and LF; ^@ is NUL, ^M is CR
//	S: text      the server has written that, octet for octet; all that it wrote is told
//	wait 500ms   time passes
//	close        the client closes the connection; shut: it shuts its write side
//	eof          the server has shut its write side; open: it has not
//	gone         the server has closed the connection; there: it has not
//	connection   another connection begins; its scripts' clock goes on
//	# text       a remark
//
// What the server wrote is looked at before each line but C and S.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, file) })
		})
	}
}

// player plays one script.
type player struct {
	t        *testing.T
	listener *pipeListener
	conn     *pipeConn
	wrote    strings.Builder // what was played, with what the server said in the place of S lines
	line     int
	want     []string
	pending  bool // octets of the client are not followed by a look yet
}

func play(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := New(newFakeBroker(), Options{Log: quiet(), Version: "1.0"})
	p := &player{t: t, listener: newPipeListener()}
	served := make(chan error, 1)
	go func() { served <- s.Serve(p.listener) }()
	p.conn = p.listener.dial()
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		p.line++
		p.step(lines.Text())
	}
	p.look()
	_ = p.conn.Close()
	_ = s.Close()
	if err := <-served; err != ErrServerClosed {
		t.Errorf("Serve: %v", err)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(p.wrote.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *player) step(line string) {
	command, rest, _ := strings.Cut(line, " ")
	switch command {
	case "S:":
		p.want = append(p.want, line)
		p.pending = true
		return
	case "C:":
		if len(p.want) > 0 {
			p.look()
		}
		p.pending = true
		octets := strings.NewReplacer("^@", "\x00", "^M", "\r").Replace(rest) + "\n"
		if _, err := p.conn.Write([]byte(octets)); err != nil {
			p.t.Fatalf("line %d: write: %v", p.line, err)
		}
	case "#", "":
	default:
		p.look()
		p.act(command, rest)
	}
	fmt.Fprintln(&p.wrote, line)
}

func (p *player) act(command, rest string) {
	switch command {
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatalf("line %d: %v", p.line, err)
		}
		<-time.After(d)
		p.pending = true
	case "close":
		_ = p.conn.Close()
	case "shut":
		_ = p.conn.CloseWrite()
		p.pending = true
	case "eof", "open":
		synctest.Wait()
		if _, ended := p.conn.available(); ended != (command == "eof") {
			p.t.Errorf("line %d: the server has shut its write side: %v", p.line, ended)
		}
	case "gone", "there":
		synctest.Wait()
		if broken := p.conn.peerClosed(); broken != (command == "gone") {
			p.t.Errorf("line %d: the server has closed the connection: %v", p.line, broken)
		}
	case "connection":
		_ = p.conn.Close()
		p.conn = p.listener.dial()
	default:
		p.t.Fatalf("line %d: no such command: %s", p.line, command)
	}
}

// look compares what the server wrote with the S lines before.
func (p *player) look() {
	if !p.pending {
		return
	}
	p.pending = false
	synctest.Wait()
	octets, _ := p.conn.available()
	var got []string
	if len(octets) > 0 {
		text := strings.NewReplacer("\x00", "^@", "\r", "^M").Replace(string(octets))
		for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			got = append(got, strings.TrimSuffix("S: "+l, " "))
		}
		if octets[len(octets)-1] != '\n' {
			p.t.Errorf("line %d: the last octet that the server wrote is no LF", p.line)
		}
	}
	want := p.want
	p.want = nil
	if *rewrite {
		for _, l := range got {
			fmt.Fprintln(&p.wrote, l)
		}
		return
	}
	for i := range want {
		want[i] = strings.TrimSuffix(want[i], " ")
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		p.t.Errorf("before line %d: the server said\n%s\nand not\n%s", p.line, g, w)
	}
}
