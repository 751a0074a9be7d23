// Package framestest holds frames as they are on the wire: good ones with what they
// say, and hostile ones with what an error about them must name. The tests of
// frames and of the packages that read and write frames share them.
package framestest

import "footfall/frames"

// Sample is a good frame.
type Sample struct {
	// Name says what is special about it.
	Name string
	// Client says that it is for a client's Reader, which servers send to.
	Client bool
	// First says that it is the first frame of a connection. Otherwise it comes in a session of Version.
	First   bool
	Version frames.Version
	// Octets are what is on the wire, which may have line ends before and after the frame.
	Octets string

	// What the frame says: header names and values are decoded, in order.
	Command   frames.Command
	Header    []Pair
	Body      string
	HasLength bool
}

// Pair is a header's name and value.
type Pair struct{ Name, Value string }

func pairs(text ...string) []Pair {
	var list []Pair
	for i := 0; i < len(text); i += 2 {
		list = append(list, Pair{text[i], text[i+1]})
	}
	return list
}

// inAll returns a sample for each version.
func inAll(s Sample) []Sample {
	var list []Sample
	for v := frames.V10; v <= frames.V12; v++ {
		each := s
		each.Version = v
		each.Name += " in " + v.String()
		list = append(list, each)
	}
	return list
}

// Samples returns all good frames.
func Samples() []Sample {
	var list []Sample
	for _, part := range [][]Sample{firstFrames(), commands(), padding(), lineEnds(), escapes(), headers(), bodies(), serverFrames()} {
		list = append(list, part...)
	}
	return list
}

func firstFrames() []Sample {
	connect := pairs("accept-version", "1.0,1.1,1.2", "host", "example.org")
	return []Sample{
		{Name: "CONNECT", First: true, Octets: "CONNECT\naccept-version:1.0,1.1,1.2\nhost:example.org\n\n\x00", Command: frames.Connect, Header: connect},
		{Name: "STOMP", First: true, Octets: "STOMP\naccept-version:1.0,1.1,1.2\nhost:example.org\n\n\x00\n", Command: frames.Stomp, Header: connect},
		{Name: "CONNECT with CRLF", First: true, Octets: "CONNECT\r\naccept-version:1.0,1.1,1.2\r\nhost:example.org\r\n\r\n\x00\r\n", Command: frames.Connect, Header: connect},
		{Name: "CONNECT with mixed line ends", First: true, Octets: "CONNECT\r\naccept-version:1.0,1.1,1.2\nhost:example.org\r\n\n\x00", Command: frames.Connect, Header: connect},
		{Name: "CONNECT after line ends and NULs", First: true, Octets: "\n\r\n\x00\nCONNECT\n\n\x00", Command: frames.Connect},
		{
			Name: "CONNECT is literal and not trimmed", First: true, Octets: "CONNECT\nlogin:a\\cb\\t\\\npasscode: x:y \n\n\x00", Command: frames.Connect,
			Header: pairs("login", `a\cb\t\`, "passcode", " x:y "),
		},
		{
			Name: "content-length of a CONNECT counts nothing", First: true, Octets: "CONNECT\ncontent-length:7\n\n\x00", Command: frames.Connect,
			Header: pairs("content-length", "7"), HasLength: true,
		},
	}
}

func commands() []Sample {
	var list []Sample
	for c := frames.Connect; c <= frames.Disconnect; c++ {
		list = append(list, inAll(Sample{Name: "command " + c.String(), Octets: c.String() + "\nk:v\n\n\x00\n", Command: c, Header: pairs("k", "v")})...)
	}
	return append(list, inAll(Sample{Name: "no headers", Octets: "DISCONNECT\n\n\x00", Command: frames.Disconnect})...)
}

func padding() []Sample {
	var list []Sample
	for _, gap := range []string{"\n", "\r\n", "\x00", "\n\r\n\x00\n", "\n\n\n\n\n\n\n\n"} {
		list = append(list, inAll(Sample{Name: "padding", Octets: gap + "SEND\n\nx\x00" + gap, Command: frames.Send, Body: "x"})...)
	}
	return list
}

func lineEnds() []Sample {
	crlf := Sample{Octets: "SEND\r\nk:v\r\nj:\r\n\r\nb\r\n\x00\r\n", Command: frames.Send, Header: pairs("k", "v", "j", ""), Body: "b\r\n"}
	in10, in12 := crlf, crlf
	in10.Name, in10.Version = "CRLF is a line end in 1.0", frames.V10
	in12.Name, in12.Version = "CRLF is a line end in 1.2", frames.V12
	return []Sample{
		in10, in12,
		{
			Name: "a value may end in CR in 1.1", Version: frames.V11, Octets: "SEND\nk:v\r\nn\r:\r\n\nb\x00",
			Command: frames.Send, Header: pairs("k", "v\r", "n\r", "\r"), Body: "b",
		},
		{
			Name: "CR within a line is data in 1.0", Version: frames.V10, Octets: "SEND\nk:a\rb\r\r\n\nb\x00",
			Command: frames.Send, Header: pairs("k", "a\rb\r"), Body: "b",
		},
	}
}

func escapes() []Sample {
	return []Sample{
		{
			Name: "escapes of 1.2 in names and values", Version: frames.V12, Octets: `SEND` + "\n" + `k:a\c\n\r\\z` + "\n" + `n\ca\\\r\ne:\\\\` + "\n\n\x00",
			Command: frames.Send, Header: pairs("k", "a:\n\r\\z", "n:a\\\r\ne", `\\`),
		},
		{
			Name: "escapes of 1.1 in names and values", Version: frames.V11, Octets: `SEND` + "\n" + `k:a\c\n\\z` + "\n" + `n\ca\\\ne:\\r` + "\n\n\x00",
			Command: frames.Send, Header: pairs("k", "a:\n\\z", "n:a\\\ne", `\r`),
		},
		{
			Name: "no escapes in 1.0", Version: frames.V10, Octets: `SEND` + "\n" + `k:a\nb\c\t\\` + "\n" + `n\c:end\` + "\n\n\x00",
			Command: frames.Send, Header: pairs("k", `a\nb\c\t\\`, `n\c`, `end\`),
		},
	}
}

func headers() []Sample {
	list := inAll(Sample{
		Name: "raw colons in a value", Octets: "SEND\nk:a:b::c\ncorrelation-id:ID:abc-1\n\n\x00",
		Command: frames.Send, Header: pairs("k", "a:b::c", "correlation-id", "ID:abc-1"),
	})
	list = append(list, inAll(Sample{
		Name: "repeated headers, in order", Octets: "SEND\nk:one\nj:x\nk:two\nk:three\ncontent-length:3\ncontent-length:1\n\nabc\x00", Command: frames.Send,
		Header: pairs("k", "one", "j", "x", "k", "two", "k", "three", "content-length", "3", "content-length", "1"), Body: "abc", HasLength: true,
	})...)
	list = append(list, inAll(Sample{
		Name: "octets that are no UTF-8", Octets: "SEND\n\xff\xfe:\x80\x01\x7f\nž:ůň\n\n\xff\x00",
		Command: frames.Send, Header: pairs("\xff\xfe", "\x80\x01\x7f", "ž", "ůň"), Body: "\xff",
	})...)
	list = append(list, inAll(Sample{Name: "empty value", Octets: "SEND\na:\n\n\x00", Command: frames.Send, Header: pairs("a", "")})...)
	for _, v := range []frames.Version{frames.V11, frames.V12} {
		list = append(list, Sample{
			Name: "blanks are kept in " + v.String(), Version: v, Octets: "SEND\n k : a b \t\nempty: \n\n\x00",
			Command: frames.Send, Header: pairs(" k ", " a b \t", "empty", " "),
		})
	}
	list = append(list, Sample{
		Name: "names are not trimmed in 1.0", Version: frames.V10, Octets: "SEND\n k : a \n\t:b\ncontent-length : 9\ndelay :5s\n\nb\x00",
		Command: frames.Send, Header: pairs(" k ", "a", "\t", "b", "content-length ", "9", "delay ", "5s"), Body: "b",
	})
	return append(list, Sample{
		Name: "values are trimmed in 1.0", Version: frames.V10, Octets: "SEND\nk: \ta b \t\nempty:  \nlast:x \r\ncontent-length: 1 \n\nb\x00",
		Command: frames.Send, Header: pairs("k", "a b", "empty", "", "last", "x", "content-length", "1"), Body: "b", HasLength: true,
	})
}

func bodies() []Sample {
	list := inAll(Sample{Name: "body without length", Octets: "SEND\n\n\nline\r\n\nend\r\n\x00", Command: frames.Send, Body: "\nline\r\n\nend\r\n"})
	list = append(list, inAll(Sample{Name: "empty body", Octets: "SEND\n\n\x00", Command: frames.Send})...)
	for _, body := range []struct{ text, length string }{
		{"a\x00b\x00c", "5"}, {"\x00\x00", "2"}, {"SEND\n\n\x00", "7"}, {"", "0"}, {"x", "0001"},
	} {
		list = append(list, inAll(Sample{
			Name: "counted body", Octets: "SEND\ncontent-length:" + body.length + "\n\n" + body.text + "\x00",
			Command: frames.Send, Header: pairs("content-length", body.length), Body: body.text, HasLength: true,
		})...)
	}
	for _, length := range []string{"12", "8511", "99999999999999999999", "x", ""} {
		list = append(list, inAll(Sample{
			Name: "content-length " + length + " of a frame without body counts nothing", Octets: "ACK\nid:1\ncontent-length:" + length + "\n\n\x00",
			Command: frames.Ack, Header: pairs("id", "1", "content-length", length), HasLength: true,
		})...)
	}
	return append(list,
		Sample{
			Name: "a body that may not be is ignored in 1.0", Version: frames.V10, Octets: "SUBSCRIBE\nid:1\n\nbody\x00",
			Command: frames.Subscribe, Header: pairs("id", "1"),
		},
		Sample{
			Name: "a counted body that may not be is ignored in 1.0", Version: frames.V10, Octets: "SUBSCRIBE\ncontent-length:4\n\nbo\x00y\x00",
			Command: frames.Subscribe, Header: pairs("content-length", "4"), HasLength: true,
		})
}

func serverFrames() []Sample {
	list := []Sample{
		{
			Name: "CONNECTED is literal", Client: true, First: true, Octets: "CONNECTED\nversion:1.2\nsession:a\\nb\n\n\x00\n",
			Command: frames.Connected, Header: pairs("version", "1.2", "session", `a\nb`),
		},
		{
			Name: "ERROR before CONNECTED", Client: true, First: true, Octets: "ERROR\nmessage: no\\\ncontent-length:3\n\nno\n\x00\n",
			Command: frames.Failure, Header: pairs("message", ` no\`, "content-length", "3"), Body: "no\n", HasLength: true,
		},
	}
	list = append(list, inAll(Sample{
		Name: "MESSAGE", Client: true, Octets: "MESSAGE\ncontent-length:2\nsubscription:1\n\n\x00b\x00\n",
		Command: frames.Message, Header: pairs("content-length", "2", "subscription", "1"), Body: "\x00b", HasLength: true,
	})...)
	list = append(list, inAll(Sample{
		Name: "RECEIPT", Client: true, Octets: "\nRECEIPT\nreceipt-id:1\n\n\x00\n\n", Command: frames.Receipt, Header: pairs("receipt-id", "1"),
	})...)
	return append(list, inAll(Sample{
		Name: "ERROR", Client: true, Octets: "ERROR\nmessage:no\n\nno\x00", Command: frames.Failure, Header: pairs("message", "no"), Body: "no",
	})...)
}
