package frames_test

import (
	"fmt"
	"io"
	"strings"

	"footfall/frames"
)

// A server reads the first frame, agrees on a version, and goes on.
func ExampleReader() {
	conn := strings.NewReader("CONNECT\naccept-version:1.1,1.2\n\n\x00\nSEND\ndestination:/queue/a\nnote:one\\ntwo\n\nhello\x00\n")
	r := frames.NewReader(conn, frames.Limits{})
	var f frames.Frame
	for {
		ok, err := r.Next(&f)
		switch {
		case err != nil:
			fmt.Println("answer with ERROR:", err)
			return
		case !ok:
			if err := r.Fill(); err == io.EOF {
				return
			}
		case f.Command == frames.Connect:
			accept, _ := f.Header.Get("accept-version")
			version, _ := frames.Negotiate(accept)
			r.SetVersion(version)
			fmt.Println("session of", version)
		default:
			note, _ := f.Header.Get("note")
			fmt.Printf("%v %q %q\n", f.Command, note, f.Body)
		}
	}
	// Output:
	// session of 1.2
	// SEND "one\ntwo" "hello"
}

// A broker writes its own headers first and passes the sender's block on.
func ExampleHeader_AppendTo() {
	sent := frames.Header{Raw: []byte("note:one\\ntwo\nid:a:b\n"), Dialect: frames.V12}
	for to := frames.V10; to <= frames.V12; to++ {
		out := frames.AppendCommand(nil, frames.Message)
		out = frames.AppendHeader(out, to, "subscription", "s:1")
		out = sent.AppendTo(out, to)
		out = frames.AppendBody(out, []byte("hello"))
		fmt.Printf("%q\n", out)
	}
	// Output:
	// "MESSAGE\nsubscription:s:1\nnote:one two\nid:a:b\n\nhello\x00"
	// "MESSAGE\nsubscription:s\\c1\nnote:one\\ntwo\nid:a:b\n\nhello\x00"
	// "MESSAGE\nsubscription:s\\c1\nnote:one\\ntwo\nid:a:b\n\nhello\x00"
}
