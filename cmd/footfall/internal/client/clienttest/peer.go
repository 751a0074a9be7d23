// Package clienttest has what tests of clients need.
package clienttest

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

// Peer serves one connection with what it says after each frame that it reads, and closes it at the
// end of the list. It returns its address, and the frames that it read when it is done.
func Peer(t testing.TB, says ...string) (address string, heard <-chan []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []string, 1)
	go func() {
		var list []string
		defer func() { done <- list }()
		defer l.Close()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for _, text := range says {
			frame, err := in.ReadString(0)
			if err != nil {
				return
			}
			list = append(list, strings.Trim(frame, "\n\x00"))
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}()
	return l.Addr().String(), done
}
