package node_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"footfall/auth"
	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
)

// certificate writes a certificate for "broker" and its key, and returns the pool that knows it.
func certificate(t *testing.T, dir string, expires time.Time) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{"broker"}, NotAfter: expires, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return pool
}

// loadListeners reads a list of listeners into the options of a test.
func loadListeners(t *testing.T, o *node.Options, list string) error {
	t.Helper()
	var loaded node.Options
	_, err := config.Load(node.Settings(&loaded), config.Sources{Flags: map[string]config.Given{"listeners": {Text: list, At: "list"}}})
	o.Listeners = loaded.Listeners
	return err
}

func TestListenersOfEveryKindServe(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir, time.Now().Add(time.Hour))
	socket := filepath.Join(dir, "stomp.sock")
	o := options(t)
	o.Stomp, o.Auth.Anonymous = nil, auth.AnonymousEverywhere // as a proxy tells of a client on another machine
	tlsKeys := fmt.Sprintf("certificate: %s/cert.pem, key: %s/key.pem", dir, dir)
	if err := loadListeners(t, &o, fmt.Sprintf(`[
		{listen: "127.0.0.1:0"},
		{listen: "127.0.0.1:0", kind: tls, name: secure, tls-version: "1.3", %s},
		{listen: "127.0.0.1:0", kind: ws, paths: [/only]},
		{listen: "127.0.0.1:0", kind: wss, %s},
		{listen: %s, kind: unix, socket-mode: "0600"},
		{listen: "127.0.0.1:0", kind: tcp, identity: rabbitmq, proxies: [127.0.0.1]}]`, tlsKeys, tlsKeys, socket)); err != nil {
		t.Fatal(err)
	}
	n, err := node.Start(o, program())
	if err != nil {
		t.Fatal(err)
	}
	list := n.Listening()
	secure := &tls.Config{RootCAs: pool, ServerName: "broker"}
	const connect = "CONNECT\naccept-version:1.2\nhost:x\n\n\x00"
	upgrade := "GET /only HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	for i, c := range []struct{ say, want string }{
		{connect, "CONNECTED\n"},
		{connect, "CONNECTED\n"},
		{upgrade, "HTTP/1.1 101 "},
		{strings.Replace(upgrade, "/only", "/ws", 1), "HTTP/1.1 101 "},
		{connect, "CONNECTED\n"},
		{"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" + connect, "CONNECTED\nversion:1.2\nheart-beat:0,0\nsession:"},
	} {
		conn, err := net.Dial(list[i].Addr.Network(), list[i].Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if list[i].Kind == "tls" || list[i].Kind == "wss" {
			conn = tls.Client(conn, secure)
		}
		if _, err := io.WriteString(conn, c.say); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 512)
		k, err := io.ReadAtLeast(conn, said, len(c.want))
		if err != nil || !strings.HasPrefix(string(said[:k]), c.want) {
			t.Errorf("%s: saw %q, %v", list[i].Kind, said[:k], err)
		}
		if i == 5 && !strings.Contains(string(said[:k]), "RabbitMQ/") {
			t.Errorf("the identity is that of all: %q", said[:k])
		}
		_ = conn.Close()
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	end(t, n)
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("after the end the socket is there: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".s*")); err != nil || left != nil {
		t.Errorf("left over: %q, %v", left, err)
	}
}

func TestASocketThatIsInUseIsKept(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "s")
	start := func() (*node.Node, error) {
		o := options(t)
		if err := loadListeners(t, &o, "[{kind: unix, listen: "+at+"}]"); err != nil {
			t.Fatal(err)
		}
		return node.Start(o, program())
	}
	if err := os.WriteFile(at, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := start(); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file is taken for a socket: %v", err)
	}
	if text, err := os.ReadFile(at); err != nil || string(text) != "a file" {
		t.Errorf("the file is gone: %q, %v", text, err)
	}
	_ = os.Remove(at)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start(); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a socket is taken from its process: %v", err)
	}
	stale.SetUnlinkOnClose(false) // as when a process is killed
	_ = stale.Close()
	if info, err := os.Stat(at); err != nil || info.Mode().Type() != fs.ModeSocket {
		t.Fatal("the test left no socket")
	}
	n, err := start()
	if err != nil {
		t.Fatal(err)
	}
	end(t, n)
}

func TestListenersThatMakeNoSenseAreRefusedWithTheKey(t *testing.T) {
	for list, words := range map[string]string{
		`[{kind: tcp}]`:                                                                      "has no listen",
		`[{listen: 5}]`:                                                                      "must be host:port",
		`[{listen: ":1", kind: quic}]`:                                                       "must be one of tcp, tls",
		`[{listen: ":1", kind: tls}]`:                                                        "kind: tls needs both certificate and key",
		`[{listen: ":1", kind: wss, certificate: a}]`:                                        "needs both",
		`[{listen: ":1", certificate: a, key: b}]`:                                           "certificate: is for listeners of kind tls and wss",
		`[{listen: ":1", kind: ws, tls-version: "1.3"}]`:                                     "tls-version: is for",
		`[{listen: ":1", paths: [/a]}]`:                                                      "paths: is for listeners of kind ws and wss",
		`[{listen: ":1", kind: tls, origins: ["*"]}]`:                                        "origins: is for",
		`[{listen: ":1", kind: ws, origins: [example]}]`:                                     "must be an origin",
		`[{listen: ":1", proxies: [10.0.0.0/33]}]`:                                           "must be a network",
		`[{listen: ":1", proxies: ["fe80::1%eth0"]}]`:                                        "",
		`[{listen: ":1", socket-mode: "0600"}]`:                                              "socket-mode: is for listeners of kind unix",
		`[{listen: /a, kind: unix, socket-mode: "9"}]`:                                       "must be a mode",
		`[{listen: /a, kind: unix, proxies: [10.0.0.0/8]}]`:                                  "proxies: is for networks",
		`[{listen: /` + strings.Repeat("a", 200) + `, kind: unix}]`:                          "at most 90 octets",
		`[{listen: ":1", kind: tls, certificate: a, key: b, client-certificates: required}]`: "needs client-ca",
		`[{listen: ":1", kind: tls, certificate: a, key: b, client-ca: c}]`:                  "client-ca: has client-certificates",
		`[{listen: ":1", kind: tls, certificate: a, key: b, certificate-user: dns}]`:         "certificate-user: has",
		`[{listen: ":1", kind: tls, certificate: a, key: b, tls-version: "1.1"}]`:            "must be 1.2 or 1.3",
		`[{listen: ":1", name: "a b"}]`:                                                      "letters, digits",
		`[{listen: ":1", max-connections: 0}]`:                                               "must be 1 to",
	} {
		var o node.Options
		if err := loadListeners(t, &o, list); words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
			t.Errorf("%s: %v does not say %q", list, err, words)
		}
	}
}

func TestABadKeyIsToldWithItsListener(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, time.Now().Add(time.Hour))
	o := options(t)
	if err := loadListeners(t, &o, fmt.Sprintf(`[{listen: "127.0.0.1:0"}, {listen: "127.0.0.1:0", kind: tls, certificate: %s/cert.pem, key: %s/cert.pem}]`, dir, dir)); err != nil {
		t.Fatal(err)
	}
	_, err := node.Start(o, program())
	for _, word := range []string{"listeners[1]", "cert.pem", "private key"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %q", err, word)
		}
	}
}

func TestCertificatesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, time.Now().Add(-time.Hour))
	o := options(t)
	if err := loadListeners(t, &o, fmt.Sprintf(`[{listen: "127.0.0.1:0", kind: tls, certificate: %s/cert.pem, key: %s/key.pem}]`, dir, dir)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := program()
	p.Log = slog.New(slog.NewTextHandler(&log, nil))
	n, err := node.Start(o, p)
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, n)
	if !strings.Contains(log.String(), "has expired") {
		t.Errorf("nobody is told of a certificate that has expired: %s", log.String())
	}
	pool := certificate(t, dir, time.Now().Add(time.Hour))
	dial := func() error {
		conn, err := tls.Dial("tcp", n.Listening()[1].Addr.String(), &tls.Config{RootCAs: pool, ServerName: "broker"})
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	certs, err := n.ReadCertificates()
	if err != nil {
		t.Fatal(err)
	}
	if dial() == nil {
		t.Error("a certificate counts before its time")
	}
	if k := certs.Use(); k != 1 || dial() != nil {
		t.Errorf("%d certificates count; %v", k, dial())
	}
	if err := os.WriteFile(filepath.Join(dir, "key.pem"), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := n.ReadCertificates(); err == nil || !strings.Contains(err.Error(), "key.pem") || dial() != nil {
		t.Errorf("a bad key: %v, %v", err, dial())
	}
}

func TestAChangedCertificateIsLookedAtOnce(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, time.Now().Add(time.Hour))
	o := options(t)
	if err := loadListeners(t, &o, fmt.Sprintf(`[{listen: "127.0.0.1:0", kind: tls, certificate: %s/cert.pem, key: %s/key.pem}]`, dir, dir)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := program()
	p.Log = slog.New(slog.NewTextHandler(&log, nil))
	n, err := node.Start(o, p)
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, n)
	look := func(want string) {
		t.Helper()
		log.Reset()
		for range 2 {
			n.LookAtCertificates()
		}
		if got := log.String(); strings.Count(got, "\n") > 1 || !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("the log has %q, and not %q once", got, want)
		}
	}
	look("")
	if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	look("cannot be used")
	certificate(t, dir, time.Now().Add(time.Hour))
	look("certificate exchanged")
}
