package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"footfall/frames"
)

// authority makes certificates that it has signed.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	last int64
}

func newAuthority(t testing.TB) *authority {
	a := &authority{t: t}
	a.cert, a.key, _ = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "test root"}, IsCA: true, BasicConstraintsValid: true})
	return a
}

// sign makes a certificate, signed by itself if it is the first.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, tls.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.last++
	template.SerialNumber = big.NewInt(a.last)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(1000 * time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}
}

// server writes a certificate for "broker" into dir, and returns where.
func (a *authority) server(dir string) CertificateFiles {
	a.t.Helper()
	cert, key, _ := a.sign(&x509.Certificate{DNSNames: []string{"broker"}, Subject: pkix.Name{CommonName: "broker"}})
	f := CertificateFiles{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(f.Certificate, "CERTIFICATE", cert.Raw)
	a.write(f.Key, "PRIVATE KEY", der)
	return f
}

func (a *authority) write(path, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// client is the configuration of a client that knows the authority.
func (a *authority) client(certs ...tls.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{RootCAs: pool, ServerName: "broker", Certificates: certs}
}

// also serves another transport on a loopback address.
func (r *realServer) also(t testing.TB, transport Transport) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.ServeTransport(l, transport) }()
	t.Cleanup(func() {
		_ = r.Close()
		if err := <-served; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String()
}

func load(t testing.TB, files CertificateFiles) *Certificates {
	t.Helper()
	c, err := LoadCertificates(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTLSIsATransportAsAnyOther(t *testing.T) {
	a := newAuthority(t)
	r := newReal(t, Options{})
	addr := r.also(t, Transport{Name: "tls", TLS: load(t, a.server(t.TempDir())).Config})
	nc, err := tls.Dial("tcp", addr, a.client())
	if err != nil {
		t.Fatal(err)
	}
	c := greetedClient(t, nc, frames.V12)
	body := strings.Repeat("x", 200_000)
	c.send("SUBSCRIBE\nid:1\ndestination:/topic/a\n\n\x00SEND\ndestination:/topic/a\n\n" + body + "\x00")
	if m := c.want(frames.Message, "subscription", "1"); !bytes.Equal(m.Body, []byte(body)) {
		t.Errorf("%d octets came back", len(m.Body))
	}
	c.send("SEND\ndestination:/nowhere\n\n\x00")
	if f := c.next(); f.Command != frames.Failure {
		t.Errorf("%v came", f.Command)
	}
	if f, err := c.read(); !errors.Is(err, io.EOF) {
		t.Errorf("after the ERROR came %v, %v", f, err)
	}
	if open := r.Stats().Transports["tls"].Open["1.2"]; open != 1 {
		t.Errorf("%d connections are open on tls", open)
	}
}

func TestAWebSocketOverTLS(t *testing.T) {
	a := newAuthority(t)
	r := newReal(t, Options{})
	addr := r.also(t, Transport{Name: "wss", TLS: load(t, a.server(t.TempDir())).Config, WebSocket: &WebSocket{}})
	nc, err := tls.Dial("tcp", addr, a.client())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	p, _ := openPeer(t, nc, "Origin: https://broker:15674\r\n")
	p.text(connect12)
	p.want(opText, "CONNECTED\n")
	p.text("SEND\ndestination:/nowhere\n\n\x00")
	p.want(opText, "ERROR\n")
	p.wantClose(1008)
	p.write(masked(0x88, "\x03\xf0"))
	p.wantEOF()
}

func TestWhatIsNoTLSEndsWithinTheConnectTimeout(t *testing.T) {
	a := newAuthority(t)
	certs := load(t, a.server(t.TempDir()))
	for name, octets := range map[string]string{
		"STOMP": connect12, "HTTP": "GET / HTTP/1.1\r\n\r\n", "nothing": "", "half a hello": "\x16\x03\x01\x02\x00\x01\x00",
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, Transport{Name: "tls", TLS: certs.Config}, func(w *world) {
				c := w.listener.dial()
				if _, err := io.WriteString(c, octets); err != nil {
					t.Fatal(err)
				}
				<-time.After(10*time.Second + time.Millisecond)
				synctest.Wait()
				got, _ := c.available()
				if !c.peerClosed() || strings.Contains(string(got), "STOMP") {
					t.Errorf("closed: %v, it was told %q", c.peerClosed(), got)
				}
				closed := w.Stats().Closed
				if closed[endOpen]+closed[endConnect] != 1 {
					t.Errorf("closed: %v", closed)
				}
			})
		})
	}
}

func TestAShutdownEndsAHandshake(t *testing.T) {
	a := newAuthority(t)
	inBubble(t, Options{}, Transport{TLS: load(t, a.server(t.TempDir())).Config}, func(w *world) {
		w.listener.dial()
		synctest.Wait()
		if err := w.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestOldVersionsOfTLSAreRefused(t *testing.T) {
	a := newAuthority(t)
	r := newReal(t, Options{})
	files := a.server(t.TempDir())
	twelve := r.also(t, Transport{Name: "tls", TLS: load(t, files).Config})
	files.MinVersion = tls.VersionTLS13
	thirteen := r.also(t, Transport{Name: "tls", TLS: load(t, files).Config})
	for _, c := range []struct {
		addr string
		max  uint16
		ok   bool
	}{{twelve, tls.VersionTLS11, false}, {twelve, tls.VersionTLS12, true}, {thirteen, tls.VersionTLS12, false}, {thirteen, tls.VersionTLS13, true}} {
		config := a.client()
		config.MinVersion, config.MaxVersion = tls.VersionTLS10, c.max
		nc, err := tls.Dial("tcp", c.addr, config)
		if err == nil {
			_ = nc.Close()
		}
		if (err == nil) != c.ok {
			t.Errorf("TLS %x: %v", c.max, err)
		}
	}
}

func TestCertificatesOfClients(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	files := a.server(dir)
	files.ClientCA = filepath.Join(dir, "ca.pem")
	a.write(files.ClientCA, "CERTIFICATE", a.cert.Raw)
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	_, _, ann := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "ann"}, ExtKeyUsage: usage})
	_, _, late := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "ann"}, ExtKeyUsage: usage, NotAfter: time.Now().Add(-time.Hour)})
	_, _, nobody := a.sign(&x509.Certificate{ExtKeyUsage: usage})
	_, _, foreign := stranger.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "ann"}, ExtKeyUsage: usage})
	r := newReal(t, Options{})
	optional := r.also(t, Transport{Name: "optional", TLS: load(t, files).Config})
	files.RequireClient = true
	required := r.also(t, Transport{Name: "required", TLS: load(t, files).Config})
	for _, c := range []struct {
		name, addr string
		certs      []tls.Certificate
		ok         bool
	}{
		{"none, optional", optional, nil, true},
		{"one, optional", optional, []tls.Certificate{ann}, true},
		{"a stranger's, optional", optional, []tls.Certificate{foreign}, false},
		{"one that names nobody", optional, []tls.Certificate{nobody}, false},
		{"none, required", required, nil, false},
		{"one, required", required, []tls.Certificate{ann}, true},
		{"one that has expired", required, []tls.Certificate{late}, false},
		{"a stranger's, required", required, []tls.Certificate{foreign}, false},
	} {
		config := a.client()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if c.certs == nil {
				return new(tls.Certificate), nil
			}
			return &c.certs[0], nil
		}
		nc, err := tls.Dial("tcp", c.addr, config)
		if err == nil {
			_ = nc.SetDeadline(time.Now().Add(patience))
			_, err = io.WriteString(nc, connect12)
			var first [9]byte
			if err == nil {
				_, err = io.ReadFull(nc, first[:])
			}
			if err == nil && string(first[:]) != "CONNECTED" {
				err = errors.New(string(first[:]))
			}
			_ = nc.Close()
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestTheNameInACertificate(t *testing.T) {
	uri, _ := url.Parse("spiffe://example/ann")
	full := &x509.Certificate{
		Subject: pkix.Name{CommonName: "ann", Organization: []string{"Example"}}, DNSNames: []string{"ann.example", "x"},
		EmailAddresses: []string{"ann@example"}, URIs: []*url.URL{uri},
	}
	for how, want := range map[CertificateUser]string{
		UserCommonName: "ann", UserSubject: "CN=ann,O=Example", UserDNS: "ann.example", UserEmail: "ann@example", UserURI: "spiffe://example/ann",
	} {
		if got, err := how.name(full); got != want || err != nil {
			t.Errorf("%s: %q, %v", how, got, err)
		}
		if got, err := how.name(new(x509.Certificate)); !errors.Is(err, errNoUser) {
			t.Errorf("%s of an empty one: %q, %v", how, got, err)
		}
	}
	long := &x509.Certificate{Subject: pkix.Name{CommonName: strings.Repeat("x", maxID+1)}}
	if _, err := UserCommonName.name(long); !errors.Is(err, errNoUser) {
		t.Errorf("a name without bounds: %v", err)
	}
}

func TestWhatIsWrongWithCertificatesIsSaid(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	good, dir := a.server(t.TempDir()), t.TempDir()
	foreign := other.server(t.TempDir())
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	junk := file("junk.pem", "junk")
	huge := file("huge.pem", strings.Repeat("x", maxPEM+1))
	locked := file("locked.pem", string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})))
	broken := file("broken.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})))
	for name, c := range map[string]struct {
		files CertificateFiles
		words []string
	}{
		"no certificate":     {CertificateFiles{Certificate: dir + "/none.pem", Key: good.Key}, []string{"certificate: ", "none.pem", "no such file"}},
		"no key":             {CertificateFiles{Certificate: good.Certificate, Key: dir + "/none.pem"}, []string{"key: ", "none.pem", "no such file"}},
		"a key of another":   {CertificateFiles{Certificate: good.Certificate, Key: foreign.Key}, []string{good.Certificate, foreign.Key, "does not match"}},
		"exchanged":          {CertificateFiles{Certificate: good.Key, Key: good.Certificate}, []string{"have been switched"}},
		"junk":               {CertificateFiles{Certificate: junk, Key: good.Key}, []string{"certificate: ", junk, "not PEM"}},
		"too much":           {CertificateFiles{Certificate: huge, Key: good.Key}, []string{"certificate: ", huge, "larger"}},
		"a passphrase":       {CertificateFiles{Certificate: good.Certificate, Key: locked}, []string{"key: ", locked, "encrypted"}},
		"a broken authority": {CertificateFiles{Certificate: good.Certificate, Key: good.Key, ClientCA: broken}, []string{"client-ca: ", broken}},
		"no authority":       {CertificateFiles{Certificate: good.Certificate, Key: good.Key, ClientCA: dir}, []string{"client-ca: ", dir}},
	} {
		_, err := LoadCertificates(c.files)
		for _, word := range c.words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v does not say %q", name, err, word)
			}
		}
	}
}

func TestACertificateIsExchangedWhileTheServerRuns(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	certs := load(t, a.server(dir))
	r := newReal(t, Options{})
	addr := r.also(t, Transport{Name: "tls", TLS: certs.Config})
	serial := func() int64 {
		t.Helper()
		nc, err := tls.Dial("tcp", addr, a.client())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		return nc.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	before := serial()
	if certs.Changed() {
		t.Error("it is said to have changed")
	}
	a.server(dir)
	if got := serial(); got != before {
		t.Errorf("serial %d is shown without having been read, and not %d", got, before)
	}
	if err := os.Chtimes(filepath.Join(dir, "key.pem"), time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if !certs.Changed() {
		t.Error("the change is not seen")
	}
	use, err := certs.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != before || certs.Changed() {
		t.Errorf("serial %d is shown before its time; changed: %v", got, certs.Changed())
	}
	use()
	after := serial()
	if after == before {
		t.Error("the old certificate is shown")
	}
	if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	if err := certs.Reload(); err == nil || !certs.Expires().After(time.Now()) || serial() != after {
		t.Errorf("without a key: %v", err)
	}
	if certs.Changed() {
		t.Error("what is wrong is told over and over")
	}
}

func TestAClientOfTLSThatTakesALittleInEachTimeoutIsNotCut(t *testing.T) {
	a := newAuthority(t)
	certs := load(t, a.server(t.TempDir()))
	inBubble(t, Options{}, Transport{Name: "tls", TLS: certs.Config}, func(w *world) {
		slow := &switchedReader{Conn: w.listener.dialRoom(1000)}
		config := a.client()
		config.Time = func() time.Time { return a.cert.NotBefore.Add(time.Hour) }
		c := tls.Client(slow, config)
		if _, err := io.WriteString(c, connect12); err != nil {
			t.Fatal(err)
		}
		in := frames.NewClientReader(c, frames.Limits{})
		in.SetVersion(frames.V12)
		await := func(command frames.Command) {
			t.Helper()
			for {
				var f frames.Frame
				ok, err := in.Next(&f)
				if ok && f.Command == command {
					return
				}
				if err == nil {
					err = in.Fill()
				}
				if err != nil {
					t.Fatalf("waiting for %v: %v, %v", command, err, f.Command)
				}
			}
		}
		await(frames.Connected)
		slow.slow = true
		if _, err := io.WriteString(c, "SEND\ndestination:/topic/a\nreceipt:"+strings.Repeat("r", 3000)+"\n\n\x00"); err != nil {
			t.Fatal(err)
		}
		await(frames.Receipt)
	})
}

// switchedReader is slow when it is told to be.
type switchedReader struct {
	net.Conn
	slow bool
}

func (r *switchedReader) Read(p []byte) (int, error) {
	if r.slow {
		return (&slowReader{r.Conn}).Read(p)
	}
	return r.Conn.Read(p)
}
