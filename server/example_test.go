package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"footfall/broker"
	"footfall/server"
	"footfall/store"
)

func ExampleServer() {
	memory := store.NewMemory()
	b := broker.New(memory, broker.Options{})
	s := server.New(b, server.Options{Version: "1.0"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()

	answer, err := talk(l.Addr().String(), "CONNECT\naccept-version:1.2\n\n\x00SEND\ndestination:/queue/a\nreceipt:1\n\nhello\x00DISCONNECT\n\n\x00")
	fmt.Printf("%q %v\n", answer, err)

	// From the front to the back: sessions end, then what they asked for is done, then the store closes.
	_ = s.Shutdown(context.Background())
	_ = b.Close(context.Background())
	_ = memory.Close()
	fmt.Println(errors.Is(<-served, server.ErrServerClosed))
	// Output:
	// "CONNECTED\nversion:1.2\nheart-beat:0,0\nsession:1\nserver:footfall/1.0\n\n\x00\nRECEIPT\nreceipt-id:1\n\n\x00\n" <nil>
	// true
}

// talk sends frames and returns all that comes back.
func talk(addr, frames string) (string, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, frames); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}
