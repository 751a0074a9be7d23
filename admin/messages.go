package admin

import (
	"net/http"
	"time"

	"footfall/broker"
)

// messagePage is the body of /api/v1/messages.
type messagePage struct {
	Items []message `json:"items"`
	// Next is the cursor of the next page, empty at the end. A page may have no items and still a next one.
	Next string `json:"next,omitempty"`
}

// message is one in a queue or a durable subscription.
type message struct {
	ID         string     `json:"id"`
	MessageID  string     `json:"message_id"`
	Priority   uint8      `json:"priority"`
	Persistent bool       `json:"persistent"`
	Sent       time.Time  `json:"sent"`
	Expires    *time.Time `json:"expires,omitempty"`
	Deliveries int        `json:"deliveries"`
	Failures   int        `json:"failures"`
	Group      string     `json:"group,omitempty"`
	Unacked    bool       `json:"unacked"`
	Headers    []header   `json:"headers"`
	BodyBytes  int64      `json:"body_bytes"`
	// Body is the beginning of a body that is text, Base64 of one that is not.
	Body   *string `json:"body,omitempty"`
	Base64 []byte  `json:"body_base64,omitempty"`
}

// messageChange is the document of a move, a copy or a deletion: of one message, of those that a selector wants, or of all.
type messageChange struct {
	From     string `json:"from"`
	ID       string `json:"id,omitempty"`
	Selector string `json:"selector,omitempty"`
	All      bool   `json:"all,omitempty"`
	To       string `json:"to,omitempty"`
	Limit    int    `json:"limit,omitempty"`
	Cursor   string `json:"cursor,omitempty"`
}

func (s *Server) listMessages(w http.ResponseWriter, r *http.Request) {
	var q broker.MessageQuery
	var from *broker.Address
	err := readQuery(r.URL.Query(), map[string]func(string) error{
		"from": sourceInto(&from), "id": textInto(&q.ID), "selector": textInto(&q.Selector), "cursor": textInto(&q.After),
		"limit": numberInto("limit", &q.Limit, 1, broker.MaxDead), "body": numberInto("body", &q.BodyBytes, 0, broker.MaxScheduledBody),
	})
	if err == nil && from == nil {
		err = wrong("from", "is missing")
	}
	if err != nil {
		refuseError(w, err, "")
		return
	}
	q.From = *from
	list, next, err := s.opt.Broker.Messages(r.Context(), q)
	if err != nil {
		refuseError(w, err, "the messages could not be read in time")
		return
	}
	p := messagePage{Items: make([]message, len(list)), Next: next}
	for i := range list {
		p.Items[i] = messageOf(&list[i])
	}
	reply(w, http.StatusOK, p)
}

func messageOf(m *broker.QueuedMessage) message {
	out := message{
		ID: m.ID, MessageID: m.MessageID, Priority: m.Priority, Persistent: m.Persistent, Sent: instant(m.Sent), Deliveries: m.Deliveries, Failures: m.Failures,
		Group: m.Group, Unacked: m.Unacked, Headers: headersOf(m.Header), BodyBytes: m.BodySize,
	}
	if m.Expires != 0 {
		at := instant(m.Expires)
		out.Expires = &at
	}
	if text, ok := textOf(m.Body, m.BodySize); !ok {
		out.Base64 = m.Body
	} else if m.Body != nil {
		out.Body = &text
	}
	return out
}

func (s *Server) moveMessages(w http.ResponseWriter, r *http.Request) {
	s.changeMessages(w, r, "moved", true, func(q broker.MessageQuery, to broker.Address) (broker.MessagesChanged, error) {
		return s.opt.Broker.MoveMessages(r.Context(), q, to)
	})
}

func (s *Server) copyMessages(w http.ResponseWriter, r *http.Request) {
	s.changeMessages(w, r, "copied", true, func(q broker.MessageQuery, to broker.Address) (broker.MessagesChanged, error) {
		return s.opt.Broker.CopyMessages(r.Context(), q, to)
	})
}

func (s *Server) deleteMessages(w http.ResponseWriter, r *http.Request) {
	s.changeMessages(w, r, "deleted", false, func(q broker.MessageQuery, _ broker.Address) (broker.MessagesChanged, error) {
		return s.opt.Broker.DeleteMessages(r.Context(), q)
	})
}

func (s *Server) changeMessages(w http.ResponseWriter, r *http.Request, done string, goes bool, do func(broker.MessageQuery, broker.Address) (broker.MessagesChanged, error)) {
	var c messageChange
	if status, err := readDocument(w, r, &c); err != nil {
		refuse(w, status, err.Error())
		return
	}
	q, to, err := c.read(goes)
	if err != nil {
		refuseError(w, err, "")
		return
	}
	changed, err := do(q, to)
	switch {
	case err != nil:
		refuseError(w, err, unsure)
		return
	case c.ID != "" && changed == (broker.MessagesChanged{}):
		refuse(w, http.StatusNotFound, "there is no message "+c.ID+" in "+c.From)
		return
	case changed.Changed > 0:
		s.opt.Log.Info("messages were "+done, "from", c.From, "to", c.To, "count", changed.Changed, "remote", r.RemoteAddr)
	}
	reply(w, http.StatusOK, deadChanged{changed.Changed, changed.Unacked, changed.Homeless, changed.Next})
}

// read makes of the document what the broker is asked for.
func (c *messageChange) read(goes bool) (q broker.MessageQuery, to broker.Address, err error) {
	var from *broker.Address
	if err := sourceInto(&from)(c.From); err != nil {
		return q, to, err
	}
	q = broker.MessageQuery{From: *from, ID: c.ID, Selector: c.Selector, After: c.Cursor, Limit: c.Limit}
	switch {
	case c.ID != "" && (c.Selector != "" || c.All), c.Selector != "" && c.All, c.ID == "" && c.Selector == "" && !c.All:
		return q, to, wrong("id", "or selector or all is needed, and one of them only")
	case !goes && c.To != "":
		return q, to, wrong("to", "must be missing: what is deleted goes nowhere")
	case !goes:
		return q, to, nil
	}
	a, err := addressOf(c.To)
	if err != nil {
		return q, to, wrong("to", "must be /queue/NAME or /topic/NAME")
	}
	return q, *a, nil
}
