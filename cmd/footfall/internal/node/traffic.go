package node

import "footfall/admin"

// traffic gives the server's counts to the admin server, which does not know it.
func (n *Node) traffic() admin.Traffic {
	s := n.server.Stats()
	t := admin.Traffic{
		Open:   map[admin.Link]int{},
		Opened: map[string]uint64{}, BytesReceived: map[string]uint64{}, BytesSent: map[string]uint64{},
		Closed: s.Closed, Rejected: s.Rejected, FramesReceived: s.FramesReceived, FramesSent: s.FramesSent,
		ProtocolErrors: s.ProtocolErrors, Logins: s.Logins, Denied: s.Denied, Panics: s.Panics, LogLinesLeftOut: s.LogLinesLeftOut,
	}
	t.CertificateReloads = map[string]uint64{"ok": n.certificateReloads.Load(), "failed": n.certificateFailures.Load()}
	t.CertificateExpiry = map[string]int64{}
	for _, l := range n.listeners {
		if l.certs != nil {
			t.CertificateExpiry[l.Addr().String()] = l.certs.Expires().Unix()
		}
	}
	for name, transport := range s.Transports {
		t.Opened[name], t.BytesReceived[name], t.BytesSent[name] = transport.Opened, transport.OctetsIn, transport.OctetsOut
		for version, open := range transport.Open {
			if version == "" {
				version = "none" // before CONNECTED
			}
			t.Open[admin.Link{Transport: name, Version: version}] = int(open)
		}
	}
	return t
}
