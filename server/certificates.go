package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// CertificateFiles are where a TLS listener finds what it shows and what it asks for. All are in PEM.
type CertificateFiles struct {
	// Certificate is the path of the certificate, followed by those that lead to its root, Key that of its key.
	Certificate, Key string
	// ClientCA is the path of the certificates that sign those of clients, empty for none.
	ClientCA string
	// RequireClient refuses clients without a certificate. Otherwise one that is shown is verified, and one may be missing.
	RequireClient bool
	// MinVersion is the oldest version of TLS: tls.VersionTLS12.
	MinVersion uint16
}

// maxPEM is the greatest size of a file, in octets.
const maxPEM = 1 << 20

// Certificates are those of a TLS listener, read from files, again when these change. Its methods may be called from
// any goroutine.
type Certificates struct {
	files   CertificateFiles
	current atomic.Pointer[loadedCertificates]

	mu   sync.Mutex
	seen string // what the files looked like when they were read last
}

// loadedCertificates are certificates as they were read.
type loadedCertificates struct {
	config  *tls.Config
	expires time.Time
}

// LoadCertificates reads the files. An error says which of them is wrong.
func LoadCertificates(files CertificateFiles) (*Certificates, error) {
	c := &Certificates{files: files}
	if files.MinVersion == 0 {
		c.files.MinVersion = tls.VersionTLS12
	}
	if err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// Config is that for a new connection.
func (c *Certificates) Config() *tls.Config { return c.current.Load().config }

// Expires is when the certificate is no longer valid.
func (c *Certificates) Expires() time.Time { return c.current.Load().expires }

// Reload reads the files again. On an error all stays as it was. Connections that are open keep what they have.
func (c *Certificates) Reload() error {
	next, err := c.Read()
	if err != nil {
		return err
	}
	next()
	return nil
}

// Read reads the files. What they hold counts when use is called.
func (c *Certificates) Read() (use func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = c.look()
	loaded, err := c.files.load()
	if err != nil {
		return nil, err
	}
	return func() { c.current.Store(loaded) }, nil
}

// Changed tells whether the files look other than when they were read last.
func (c *Certificates) Changed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.look() != c.seen
}

// look is what can be seen of the files from outside: behind links too, which is how Kubernetes exchanges them.
func (c *Certificates) look() string {
	var all bytes.Buffer
	for _, path := range []string{c.files.Certificate, c.files.Key, c.files.ClientCA} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(&all, "%s: %v\n", path, err)
			continue
		}
		fmt.Fprintf(&all, "%s: %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	return all.String()
}

func (f *CertificateFiles) load() (*loadedCertificates, error) {
	chain, err := readPEM(f.Certificate)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	key, err := readPEM(f.Key)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	if isEncrypted(key) {
		return nil, fmt.Errorf("key: %s is encrypted, and a broker that starts by itself has nobody to ask for the passphrase", f.Key)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s and key %s: %w", f.Certificate, f.Key, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: f.MinVersion}
	if f.ClientCA != "" {
		authorities, err := readPEM(f.ClientCA)
		if err != nil {
			return nil, fmt.Errorf("client-ca: %w", err)
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("client-ca: %s holds no certificate that can be read", f.ClientCA)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
		if f.RequireClient {
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	return &loadedCertificates{config, pair.Leaf.NotAfter}, nil
}

// readPEM reads a file that holds PEM.
func readPEM(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	switch block, _ := pem.Decode(text); {
	case err != nil:
		return nil, err
	case len(text) > maxPEM:
		return nil, fmt.Errorf("%s is larger than %d octets", path, maxPEM)
	case block == nil:
		return nil, fmt.Errorf("%s is not PEM: a line like -----BEGIN CERTIFICATE----- is wanted", path)
	}
	return text, nil
}

func isEncrypted(text []byte) bool {
	block, _ := pem.Decode(text)
	return block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != ""
}

// CertificateUser is what of a client's certificate is the name of the user.
type CertificateUser string

// The parts of a certificate that may name a user. Of several names the first is taken.
const (
	UserCommonName CertificateUser = "common-name" // the CN of the subject
	UserSubject    CertificateUser = "subject"     // the whole subject, as in CN=ann,O=Example (RFC 2253)
	UserDNS        CertificateUser = "dns"         // a DNS name
	UserEmail      CertificateUser = "email"       // a mail address
	UserURI        CertificateUser = "uri"         // a URI, as SPIFFE has them
)

// errNoUser is why a certificate is of no use.
var errNoUser = errors.New("the client's certificate names no user")

// name is that of the user of a verified certificate.
func (u CertificateUser) name(cert *x509.Certificate) (string, error) {
	var name string
	switch {
	case u == UserSubject:
		name = cert.Subject.String()
	case u == UserDNS && len(cert.DNSNames) > 0:
		name = cert.DNSNames[0]
	case u == UserEmail && len(cert.EmailAddresses) > 0:
		name = cert.EmailAddresses[0]
	case u == UserURI && len(cert.URIs) > 0:
		name = cert.URIs[0].String()
	case u == UserCommonName:
		name = cert.Subject.CommonName
	}
	if name == "" || len(name) > maxID {
		return "", fmt.Errorf("%w (%s)", errNoUser, u)
	}
	return name, nil
}
