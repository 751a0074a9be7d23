package framestest

import (
	"fmt"
	"strings"

	"footfall/frames"
)

// Bad is octets that must be refused.
type Bad struct {
	// Name says what is wrong with it.
	Name string
	// Client, First and Version are as those of Sample.
	Client  bool
	First   bool
	Version frames.Version
	// Octets are what is on the wire, up to the last octet that it takes to know.
	Octets string

	// Kind is the error's kind, and Names is text that its message must hold.
	Kind  frames.ErrorKind
	Names string
}

// Hostile returns all octets that must be refused, under the default Limits.
func Hostile() []Bad {
	var list []Bad
	for _, part := range [][]Bad{noGreeting(), badCommands(), badHeaders(), badEscapes(), badLengths(), badBodies(), excess()} {
		list = append(list, part...)
	}
	return list
}

// badInAll returns a case for each version.
func badInAll(b Bad) []Bad {
	var list []Bad
	for v := frames.V10; v <= frames.V12; v++ {
		each := b
		each.Version = v
		each.Name += " in " + v.String()
		list = append(list, each)
	}
	return list
}

func noGreeting() []Bad {
	var list []Bad
	for _, c := range []struct{ name, octets, names string }{
		{"TLS", "\x16", `"\x16"`},
		{"HTTP", "GET ", `"GET "`},
		{"HTTP with a frame as its body", "POST ", `"POST "`},
		{"SSH", "SSH-", `"SSH-"`},
		{"SMTP", "EHLO ", `"EHLO "`},
		{"PROXY", "PROXY ", `"PROXY "`},
		{"high octet", "\x80", `"\x80"`},
		{"blank", " ", `" "`},
		{"SEND", "SEND\n", `"SEND"`},
		{"SUBSCRIBE", "SUBSCRIBE\r\n", `"SUBSCRIBE"`},
		{"CONNECTED", "CONNECTED\n", `"CONNECTED"`},
		{"lower case", "connect\n", `"connect"`},
		{"unknown", "HELLO\n", `"HELLO"`},
		{"trailing blank", "CONNECT ", `"CONNECT "`},
		{"trailing NUL", "STOMP\x00", `"STOMP\x00"`},
		{"lone CR", "CONNECT\rx", `"CONNECT\r"`},
		{"two CRs", "CONNECT\r\r", `"CONNECT\r"`},
		{"prefix", "CONN\n", `"CONN"`},
	} {
		list = append(list, Bad{Name: "first frame: " + c.name, First: true, Octets: c.octets, Kind: frames.KindGreeting, Names: "CONNECT or STOMP, not " + c.names})
	}
	return append(list,
		Bad{Name: "first frame of a server: MESSAGE", Client: true, First: true, Octets: "MESSAGE\n", Kind: frames.KindGreeting, Names: `CONNECTED or ERROR, not "MESSAGE"`},
		Bad{Name: "first frame of a server: CONNECT", Client: true, First: true, Octets: "CONNECT\n", Kind: frames.KindGreeting, Names: `"CONNECT"`},
		Bad{Name: "lone CR before the first frame", First: true, Octets: "\n\rC", Kind: frames.KindLineEnd, Names: "carriage return"},
		Bad{Name: "CONNECT with a body", First: true, Octets: "CONNECT\n\nb", Kind: frames.KindBody, Names: "a body on CONNECT"},
	)
}

func badCommands() []Bad {
	var list []Bad
	for _, c := range []string{"BOGUS", "SENDX", "send", "Send", "SEN", "SUB", " SEND", "SEND ", "SEND\t", "SEND:", "SEND\r\r", "\xef\xbb\xbfSEND"} {
		list = append(list, badInAll(Bad{Name: fmt.Sprintf("command %q", c), Octets: c + "\n", Kind: frames.KindCommand, Names: "unknown command "})...)
	}
	for _, c := range []string{"MESSAGE", "RECEIPT", "CONNECTED", "ERROR"} {
		list = append(list, badInAll(Bad{Name: "command " + c, Octets: c + "\n", Kind: frames.KindCommand, Names: c + " is a command of servers"})...)
	}
	list = append(list, badInAll(Bad{Name: "NUL in a command", Octets: "SEND\x00", Kind: frames.KindCommand, Names: `NUL in the command "SEND\x00"`})...)
	list = append(list, badInAll(Bad{Name: "command of clients", Client: true, Octets: "SEND\n", Kind: frames.KindCommand, Names: "SEND is a command of clients"})...)
	list = append(list, badInAll(Bad{Name: "lone CR between frames", Octets: "\n\rS", Kind: frames.KindLineEnd, Names: "carriage return"})...)
	return append(list, Bad{Name: "CRLF after a command in 1.1", Version: frames.V11, Octets: "SEND\r\n", Kind: frames.KindCommand, Names: `"SEND\r"`})
}

func badHeaders() []Bad {
	list := badInAll(Bad{Name: "no colon", Octets: "SEND\nk:v\nnocolon\n", Kind: frames.KindHeader, Names: `no colon in header line 2 of SEND "nocolon"`})
	list = append(list, badInAll(Bad{Name: "no colon, one octet", Octets: "SEND\nx\n", Kind: frames.KindHeader, Names: `no colon in header line 1 of SEND "x"`})...)
	list = append(list, badInAll(Bad{Name: "empty name", Octets: "SEND\n:v\n", Kind: frames.KindHeader, Names: `empty name in header line 1 of SEND ":v"`})...)
	list = append(list, badInAll(Bad{Name: "colon alone", Octets: "SEND\n:\n", Kind: frames.KindHeader, Names: `empty name in header line 1 of SEND ":"`})...)
	list = append(list, badInAll(Bad{Name: "NUL in a value", Octets: "SEND\nk:v\nj:v\x00", Kind: frames.KindHeader, Names: `NUL in header line 2 of SEND "j:v\x00"`})...)
	list = append(list, badInAll(Bad{Name: "NUL in place of the blank line", Octets: "SEND\nk:v\n\x00", Kind: frames.KindHeader, Names: "NUL in header line 2 of SEND"})...)
	return append(list,
		Bad{Name: "CR within a value in 1.2", Version: frames.V12, Octets: "SEND\nj:v\nk:a\rb\n\n", Kind: frames.KindHeader, Names: `carriage return in header line 2 of SEND "k:a\rb"`},
		Bad{Name: "CR within a name in 1.2", Version: frames.V12, Octets: "SEND\nk\r:v\n\n", Kind: frames.KindHeader, Names: `"k\r:v"`},
		Bad{Name: "two CRs before LF in 1.2", Version: frames.V12, Octets: "SEND\nk:v\r\r\n\n", Kind: frames.KindHeader, Names: `"k:v\r"`},
		Bad{Name: "CRLF in place of the blank line in 1.1", Version: frames.V11, Octets: "SEND\n\r\n", Kind: frames.KindHeader, Names: `no colon in header line 1 of SEND "\r"`},
		Bad{Name: "no colon in CONNECT", First: true, Octets: "CONNECT\npasscode secret\n", Kind: frames.KindHeader, Names: "no colon in header line 1 of CONNECT"},
		Bad{Name: "NUL in CONNECT", First: true, Octets: "CONNECT\npasscode:secret\x00", Kind: frames.KindHeader, Names: "NUL in header line 1 of CONNECT"},
	)
}

func badEscapes() []Bad {
	var list []Bad
	for _, v := range []frames.Version{frames.V11, frames.V12} {
		for _, c := range []struct{ line, escape string }{
			{`k:a\tb`, `\t`},
			{`k:\`, `\`},
			{`k:x\`, `\`},
			{`k:\x`, `\x`},
			{`k\t:v`, `\t`},
			{`k\:v`, `\:`},
			{`k:\C`, `\C`},
			{`k: \ `, `\ `},
			{`k:\\\`, `\`},
			{`k:\0`, `\0`},
		} {
			list = append(list, Bad{
				Name: c.line + " in " + v.String(), Version: v, Octets: "SEND\nj:\\c\n" + c.line + "\nreceipt:r\n\n",
				Kind: frames.KindEscape, Names: `undefined escape "` + c.escape + `" in header line 2 of SEND "` + c.line + `"`,
			})
		}
	}
	return append(list, Bad{Name: `\r in 1.1`, Version: frames.V11, Octets: "SEND\nk:a\\rb\n\n", Kind: frames.KindEscape, Names: `undefined escape "\r"`})
}

func badLengths() []Bad {
	var list []Bad
	for _, n := range []string{"-1", "abc", "+1", "1.0", "0x1", "1 1", "1e0", "-9223372036854775808", "99999999999999999999x", "\xd9\xa3"} {
		list = append(list, badInAll(Bad{Name: fmt.Sprintf("content-length %q", n), Octets: "SEND\ncontent-length:" + n + "\n\n", Kind: frames.KindLength, Names: "is not a number"})...)
	}
	for _, n := range []string{" 1", "1 ", "\t1"} {
		for _, v := range []frames.Version{frames.V11, frames.V12} {
			list = append(list, Bad{
				Name: fmt.Sprintf("content-length %q in %v", n, v), Version: v, Octets: "SEND\ncontent-length:" + n + "\n\n",
				Kind: frames.KindLength, Names: "is not a number",
			})
		}
	}
	list = append(list, badInAll(Bad{Name: "empty content-length", Octets: "SEND\ncontent-length:\n\n", Kind: frames.KindLength, Names: "empty content-length on SEND"})...)
	for _, n := range []string{"67108865", "671088654", "2147483648", "4294967297", "9223372036854775807", "9223372036854775808", "18446744073709551617", "99999999999999999999"} {
		list = append(list, badInAll(Bad{
			Name: "content-length " + n, Octets: "SEND\ncontent-length:" + n + "\n\n", Kind: frames.KindLimit,
			Names: `content-length "` + n + `" is a body longer than 67108864 octets (limits.body)`,
		})...)
	}
	return list
}

func badBodies() []Bad {
	list := badInAll(Bad{Name: "more body than counted", Octets: "SEND\ncontent-length:3\n\nabcd", Kind: frames.KindBody, Names: `no NUL after 3 octets of body on SEND, but "d"`})
	list = append(list, badInAll(Bad{Name: "body where none is counted", Octets: "SEND\ncontent-length:0\n\nx", Kind: frames.KindBody, Names: `no NUL after 0 octets of body on SEND, but "x"`})...)
	for _, v := range []frames.Version{frames.V11, frames.V12} {
		for _, c := range []string{"SUBSCRIBE", "UNSUBSCRIBE", "ACK", "NACK", "RECOVER", "BEGIN", "COMMIT", "ABORT", "DISCONNECT"} {
			for _, head := range []string{"\n\n", "\ncontent-length:4\n\n"} {
				list = append(list, Bad{Name: "body on " + c + " in " + v.String(), Version: v, Octets: c + head + "b", Kind: frames.KindBody, Names: "a body on " + c})
			}
		}
	}
	return list
}

func excess() []Bad {
	list := []Bad{
		{Name: "first line without end", First: true, Octets: strings.Repeat("S", 33), Kind: frames.KindLimit, Names: "command longer than 32 octets (limits.command)"},
		{
			Name: "CONNECT without end", First: true, Octets: "CONNECT\nx:" + strings.Repeat("v", 64<<10-9),
			Kind: frames.KindLimit, Names: "more than 65536 octets before the end of the first frame (limits.login)",
		},
		{Name: "line ends without end before CONNECT", First: true, Octets: strings.Repeat("\n", 64<<10+1), Kind: frames.KindLimit, Names: "(limits.login)"},
	}
	for _, b := range []Bad{
		{Name: "command without end", Octets: strings.Repeat("S", 33), Names: "command longer than 32 octets (limits.command)"},
		{Name: "header line without end", Octets: "SEND\nk:" + strings.Repeat("v", 64<<10-1), Names: "header line longer than 65536 octets (limits.header-line)"},
		{Name: "headers without end", Octets: "SEND\n" + strings.Repeat("k:v\n", 1001), Names: "more than 1000 header lines (limits.headers)"},
		{
			Name: "long header lines without end", Octets: "SEND\n" + strings.Repeat("k:"+strings.Repeat("v", 1021)+"\n", 256) + "k",
			Names: "header lines of more than 262144 octets (limits.header-bytes)",
		},
	} {
		b.Kind = frames.KindLimit
		list = append(list, badInAll(b)...)
	}
	return list
}
