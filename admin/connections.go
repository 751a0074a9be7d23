package admin

import (
	"net/http"
	"strconv"

	"footfall/broker"
)

// connectionPage is the body of /api/v1/connections.
type connectionPage struct {
	Items []connection `json:"items"`
	// Next is the cursor of the next page, empty at the end.
	Next string `json:"next,omitempty"`
}

// connection is a client's session. Its id is unique until the broker's next start.
type connection struct {
	ID             string `json:"id"`
	Remote         string `json:"remote"`
	User           string `json:"user"`
	ClientID       string `json:"client_id"`
	Version        string `json:"version"`
	Transport      string `json:"transport"`
	Subscriptions  int    `json:"subscriptions"`
	Unacked        int    `json:"unacked"`
	UnwrittenBytes int64  `json:"unwritten_bytes"`
	Transactions   int    `json:"transactions"`
	Temporaries    int    `json:"temporary_destinations"`
	// Blocked says that what it sent has to wait.
	Blocked bool `json:"blocked"`
}

// connectionClose is the document that ends one.
type connectionClose struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
}

// consumerPage is the body of /api/v1/consumers.
type consumerPage struct {
	Items []liveConsumer `json:"items"`
	Next  string         `json:"next,omitempty"`
}

// liveConsumer is a consumer or a browser of one destination.
type liveConsumer struct {
	Connection   string `json:"connection"`
	Remote       string `json:"remote"`
	User         string `json:"user"`
	ClientID     string `json:"client_id"`
	Subscription string `json:"subscription"`
	Destination  string `json:"destination"`
	Selector     string `json:"selector,omitempty"`
	Ack          string `json:"ack"`
	Browser      bool   `json:"browser"`
	Window       int    `json:"window"`
	Unacked      int    `json:"unacked"`
	Delivered    uint64 `json:"delivered"`
}

func (s *Server) listConnections(w http.ResponseWriter, r *http.Request) {
	var q broker.PageQuery
	err := readQuery(r.URL.Query(), map[string]func(string) error{
		"limit": numberInto("limit", &q.Limit, 1, broker.MaxConnections), "cursor": connectionInto("cursor", &q.After),
	})
	if err != nil {
		refuseError(w, err, "")
		return
	}
	list, next, err := s.opt.Broker.Connections(r.Context(), q)
	if err != nil {
		refuseError(w, err, "the connections could not be listed in time")
		return
	}
	p := connectionPage{Items: make([]connection, len(list)), Next: connectionID(next)}
	for i := range list {
		p.Items[i] = connectionOf(&list[i])
	}
	reply(w, http.StatusOK, p)
}

func (s *Server) showConnection(w http.ResponseWriter, r *http.Request) {
	var id uint64
	err := readQuery(r.URL.Query(), map[string]func(string) error{"id": connectionInto("id", &id)})
	if err == nil && id == 0 {
		err = wrong("id", "is missing")
	}
	if err != nil {
		refuseError(w, err, "")
		return
	}
	c, err := s.opt.Broker.Connection(r.Context(), id)
	if err != nil {
		refuseError(w, err, "the connection could not be looked at in time")
		return
	}
	reply(w, http.StatusOK, connectionOf(&c))
}

func (s *Server) closeConnection(w http.ResponseWriter, r *http.Request) {
	var c connectionClose
	if status, err := readDocument(w, r, &c); err != nil {
		refuse(w, status, err.Error())
		return
	}
	var id uint64
	if err := connectionInto("id", &id)(c.ID); err != nil {
		refuseError(w, err, "")
		return
	}
	was, err := s.opt.Broker.CloseConnection(r.Context(), id, c.Reason)
	if err != nil {
		refuseError(w, err, unsure)
		return
	}
	s.opt.Log.Info("a connection was closed by an operator", "connection", c.ID, "client", was.Client.Remote, "user", was.Client.User, "reason", c.Reason, "remote", r.RemoteAddr)
	reply(w, http.StatusOK, connectionOf(&was))
}

func (s *Server) listConsumers(w http.ResponseWriter, r *http.Request) {
	var q broker.PageQuery
	var of *broker.Address
	err := readQuery(r.URL.Query(), map[string]func(string) error{
		"destination": sourceOrTopicInto(&of), "limit": numberInto("limit", &q.Limit, 1, broker.MaxConnections), "cursor": connectionInto("cursor", &q.After),
	})
	if err != nil {
		refuseError(w, err, "")
		return
	}
	list, next, err := s.opt.Broker.Consumers(r.Context(), of, q)
	if err != nil {
		refuseError(w, err, "the consumers could not be listed in time")
		return
	}
	p := consumerPage{Items: make([]liveConsumer, len(list)), Next: connectionID(next)}
	for i := range list {
		p.Items[i] = liveConsumerOf(&list[i])
	}
	reply(w, http.StatusOK, p)
}

// connectionID shows a number as an id; 0 is none.
func connectionID(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func connectionInto(name string, id *uint64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n == 0 {
			return wrong(name, "must be the number of a connection")
		}
		*id = n
		return nil
	}
}

func connectionOf(c *broker.ConnectionStats) connection {
	return connection{
		ID: connectionID(c.ID), Remote: c.Client.Remote, User: c.Client.User, ClientID: c.Client.ClientID, Version: c.Client.Version, Transport: c.Client.Transport,
		Subscriptions: c.Subscriptions, Unacked: c.Unacked, UnwrittenBytes: c.UnwrittenBytes, Transactions: c.Transactions, Temporaries: c.Temporaries, Blocked: c.Blocked,
	}
}

func liveConsumerOf(c *broker.LiveConsumer) liveConsumer {
	ack := map[broker.AckMode]string{broker.AckAuto: "auto", broker.AckClient: "client", broker.AckIndividual: "client-individual"}[c.Mode]
	return liveConsumer{
		Connection: connectionID(c.Connection), Remote: c.Client.Remote, User: c.Client.User, ClientID: c.Client.ClientID, Subscription: c.ID,
		Destination: c.Destination.String(), Selector: c.Selector, Ack: ack, Browser: c.Browser, Window: c.Window, Unacked: c.Unacked, Delivered: c.Delivered,
	}
}
