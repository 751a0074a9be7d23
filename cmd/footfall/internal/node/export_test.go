package node

// LookAtCertificates is what the watch over the files of certificates does now and then.
func (n *Node) LookAtCertificates() { n.lookAtCertificates() }
