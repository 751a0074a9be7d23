package node

import (
	"errors"
	"fmt"
	"time"
)

// certificateWatch is how often the files of certificates are looked at.
const certificateWatch = 10 * time.Second

// Certificates are certificates that were read again and do not count yet.
type Certificates struct {
	use  []func()
	node *Node
}

// ReadCertificates reads the certificates of all listeners again, from where they were at the start. What is wrong with any of them is an error.
func (n *Node) ReadCertificates() (*Certificates, error) {
	c := &Certificates{node: n}
	var errs []error
	for _, l := range n.listeners {
		if l.certs == nil {
			continue
		}
		use, err := l.certs.Read()
		if err != nil {
			errs = append(errs, fmt.Errorf("listener %s: %w", l.Addr(), err))
		}
		c.use = append(c.use, use)
	}
	if err := errors.Join(errs...); err != nil {
		n.certificateFailures.Add(1)
		return nil, err
	}
	return c, nil
}

// Use has certificates count for the connections to come. It returns how many there are.
func (c *Certificates) Use() int {
	for _, use := range c.use {
		use()
	}
	if len(c.use) > 0 {
		c.node.certificateReloads.Add(1)
	}
	return len(c.use)
}

// watchCertificates reads certificates again whose files have changed, until the node closes.
func (n *Node) watchCertificates() {
	tick := time.NewTicker(certificateWatch)
	defer tick.Stop()
	for {
		select {
		case <-n.closing:
			return
		case <-tick.C:
			n.lookAtCertificates()
		}
	}
}

// lookAtCertificates is one look. Files that are half exchanged are wrong now and right at the next look: until then
// what was read before counts, and a message tells of it each time that they look different.
func (n *Node) lookAtCertificates() {
	for _, l := range n.listeners {
		if l.certs == nil || !l.certs.Changed() {
			continue
		}
		if err := l.certs.Reload(); err != nil {
			n.certificateFailures.Add(1)
			n.log.Error("a certificate has changed and cannot be used: the one before it stays", "listener", l.Addr().String(), "error", err)
			continue
		}
		n.certificateReloads.Add(1)
		n.log.Info("certificate exchanged", "listener", l.Addr().String(), "expires", l.certs.Expires())
	}
}

// warnOfCertificates tells of those that clients will not accept.
func (n *Node) warnOfCertificates(now time.Time) {
	for _, l := range n.listeners {
		if l.certs != nil && now.After(l.certs.Expires()) {
			n.log.Warn("the certificate has expired: clients will refuse it", "listener", l.Addr().String(), "expired", l.certs.Expires())
		}
	}
}
