package node

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"footfall/cmd/footfall/internal/config"
	"footfall/server"
)

// The kinds of listeners.
const (
	kindTCP  = "tcp"
	kindTLS  = "tls"
	kindWS   = "ws"
	kindWSS  = "wss"
	kindUnix = "unix"
)

// Listener is an item of the list of listeners. Its fields hold what was written, empty for nothing: then that is as it is for
// all, see the settings of stomp and websocket.
type Listener struct {
	Listen, Kind, Name                 string
	Certificate, Key                   string
	ClientCertificates, ClientCA, User string
	TLSVersion, SocketMode             string
	Proxies, Paths, Origins            []string
	Identity, ClientIDs                string
	MaxConnections                     int
}

func listenerList(o *Options) config.Setting {
	return config.Entries(&o.Listeners, "listeners",
		"Any number of listeners beside those of `stomp.listen` and `websocket.listen`, see [transports](transports.md).",
		func(l *Listener) []config.Setting {
			return []config.Setting{
				config.Text(&l.Listen, "listen", "", "host:port, or the path of a Unix socket", "Where. An empty host is every interface.", path),
				config.Choice(&l.Kind, "kind", kindTCP, "How STOMP is spoken there: `tcp`, `tls`, over a WebSocket without and with TLS, or over a Unix socket. `tcp` if it is left out.",
					kindTCP, kindTLS, kindWS, kindWSS, kindUnix),
				config.Text(&l.Name, "name", "", "name", "Its label in metrics and in the log. The kind if it is left out.", label),
				config.Text(&l.Certificate, "certificate", "", "path", "The certificate in PEM, followed by those that lead to its root. Of `tls` and `wss`.", path),
				config.Text(&l.Key, "key", "", "path", "Its key in PEM, without a passphrase.", path),
				config.Choice(&l.ClientCertificates, "client-certificates", "none", "Whether clients show a certificate: not at all, if they have one, or always. One that is shown is verified, and names a user, who needs no passcode.",
					"none", "optional", "required"),
				config.Text(&l.ClientCA, "client-ca", "", "path", "The certificates in PEM that sign those of clients.", path),
				config.Choice(&l.User, "certificate-user", "common-name", "What of a client's certificate is the name of the user.",
					string(server.UserCommonName), string(server.UserSubject), string(server.UserDNS), string(server.UserEmail), string(server.UserURI)),
				config.Text(&l.TLSVersion, "tls-version", "1.2", "1.2 or 1.3", "The oldest version of TLS.", tlsVersion),
				config.List(&l.Proxies, "proxies", "", "network, as 10.0.0.0/8, or address", "Proxies whose connections begin with a PROXY header of version 1 or 2, which tells the address of the client. From others it is not taken.", network),
				config.List(&l.Paths, "paths", "", "path", "In the place of `websocket.paths`.", urlPath),
				config.List(&l.Origins, "origins", "", "scheme://host:port, or *", "In the place of `websocket.origins`.", origin),
				config.Choice(&l.Identity, "identity", "", "In the place of `stomp.identity`.", identities()...),
				config.Choice(&l.ClientIDs, "client-ids", "", "In the place of `stomp.client-ids`.", "unrestricted", "restricted"),
				config.Number(&l.MaxConnections, "max-connections", "", config.Bounds{Min: 1, Max: 1 << 24}, "How many connections may be open there at a time. As many as `limits.connections` if it is left out."),
				config.Text(&l.SocketMode, "socket-mode", "0660", "file mode, in octal digits", "Who may connect to a Unix socket.", fileMode),
			}
		}, checkListeners)
}

func identities() []string { return []string{"auto", "footfall", "apollo", "activemq", "rabbitmq"} }

func label(text string) error {
	if len(text) > 64 || slices.ContainsFunc([]byte(text), func(b byte) bool {
		return b != '-' && b != '_' && b != '.' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z')
	}) {
		return errors.New("must have up to 64 letters, digits, hyphens, dots and low lines")
	}
	return path(text)
}

func tlsVersion(text string) error {
	if text != "1.2" && text != "1.3" {
		return errors.New("must be 1.2 or 1.3, in quotes")
	}
	return nil
}

func fileMode(text string) error {
	if n, err := strconv.ParseUint(text, 8, 32); err != nil || n > 0o777 {
		return errors.New("must be a mode as in \"0660\"")
	}
	return nil
}

// parseNetwork reads a network, or an address, which is a network of one.
func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().Zone() != "" {
		return p, errors.New("must be a network as in 10.0.0.0/8, or an address")
	}
	return p.Masked(), nil
}

func network(text string) error {
	_, err := parseNetwork(text)
	return err
}

// kind of l, which is tcp where it says nothing.
func (l *Listener) kind() string {
	if l.Kind == "" {
		return kindTCP
	}
	return l.Kind
}

func (l *Listener) secure() bool { return l.kind() == kindTLS || l.kind() == kindWSS }
func (l *Listener) web() bool    { return l.kind() == kindWS || l.kind() == kindWSS }

// checkListeners finds what is wrong with items whose values each make sense.
func checkListeners(items []config.Item[Listener]) (list []config.Complaint) {
	for i := range items {
		if key, err := items[i].Of.check(); err != nil {
			list = append(list, config.Complaint{Item: i, Key: key, Err: err})
		}
	}
	return list
}

// check says what does not go together, and the key that says so.
func (l *Listener) check() (key string, err error) {
	only := func(kinds string) error {
		return fmt.Errorf("is for listeners of kind %s, and this one is %s", kinds, l.kind())
	}
	switch {
	case l.kind() != kindUnix && address(l.Listen) != nil:
		return "listen", address(l.Listen)
	case l.kind() != kindUnix && l.SocketMode != "":
		return "socket-mode", only("unix")
	case l.kind() == kindUnix && len(l.Listen) > maxSocketPath:
		return "listen", fmt.Errorf("must be a path of at most %d octets, as systems have no much longer ones for sockets", maxSocketPath)
	case l.kind() == kindUnix && len(l.Proxies) > 0:
		return "proxies", errors.New("is for networks, and this one is a Unix socket")
	case !l.web() && l.Paths != nil:
		return "paths", only("ws and wss")
	case !l.web() && l.Origins != nil:
		return "origins", only("ws and wss")
	}
	return l.checkTLS(only)
}

func (l *Listener) checkTLS(only func(string) error) (key string, err error) {
	if !l.secure() {
		for _, set := range []struct{ key, value string }{
			{"certificate", l.Certificate},
			{"key", l.Key},
			{"client-certificates", l.ClientCertificates},
			{"client-ca", l.ClientCA},
			{"certificate-user", l.User},
			{"tls-version", l.TLSVersion},
		} {
			if set.value != "" {
				return set.key, only("tls and wss")
			}
		}
		return "", nil
	}
	asks := l.ClientCertificates == "optional" || l.ClientCertificates == "required"
	switch {
	case l.Certificate == "" || l.Key == "":
		return "kind", fmt.Errorf("%s needs both certificate and key", l.kind())
	case asks && l.ClientCA == "":
		return "client-certificates", errors.New("needs client-ca, to verify them by")
	case !asks && l.ClientCA != "":
		return "client-ca", errors.New("has client-certificates optional or required beside it, or nobody is asked for one")
	case !asks && l.User != "":
		return "certificate-user", errors.New("has client-certificates optional or required beside it, or nobody is asked for one")
	}
	return "", nil
}

// transport is that of a listener of the list. Its certificates are read.
func (o *Options) transport(l *Listener) (t server.Transport, certs *server.Certificates, err error) {
	t = server.Transport{
		Name: first(l.Name, l.kind()), Identity: server.Identity(first(l.Identity, o.Identity)),
		RestrictClientIDs: first(l.ClientIDs, o.ClientIDs) == "restricted",
		MaxConnections:    l.MaxConnections, CertificateUser: server.CertificateUser(l.User),
	}
	for _, text := range l.Proxies {
		p, err := parseNetwork(text)
		if err != nil {
			return t, nil, err
		}
		t.Proxies = append(t.Proxies, p)
	}
	if l.web() {
		t.WebSocket, t.MinSilence = o.webSocket(l.Paths, l.Origins), o.WebSocket.MinSilence
	}
	if l.secure() {
		files := server.CertificateFiles{
			Certificate: l.Certificate, Key: l.Key,
			ClientCA: l.ClientCA, RequireClient: l.ClientCertificates == "required",
		}
		if l.TLSVersion == "1.3" {
			files.MinVersion = tls.VersionTLS13
		}
		if certs, err = server.LoadCertificates(files); err != nil {
			return t, nil, err
		}
		t.TLS = certs.Config
	}
	return t, certs, nil
}

// webSocket makes the settings of WebSockets, with paths and origins in the place of those for all where there are some.
func (o *Options) webSocket(paths, origins []string) *server.WebSocket {
	w := &server.WebSocket{
		Paths: o.WebSocket.Paths, Origins: o.WebSocket.Origins,
		RequireOrigin: o.WebSocket.RequireOrigin, Deflate: o.WebSocket.Deflate,
	}
	if paths != nil {
		w.Paths = paths
	}
	if origins != nil {
		w.Origins = origins
	}
	return w
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
