package admin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"footfall/broker"
)

// deadQueue is a queue that dead letters go to, in the body of /api/v1/dlq.
type deadQueue struct {
	Queue     string `json:"queue"`
	Ready     int64  `json:"ready"`
	Unacked   int64  `json:"unacked"`
	Bytes     int64  `json:"bytes"`
	Consumers int    `json:"consumers"`
}

// deadPage is the body of /api/v1/dlq/messages.
type deadPage struct {
	Items []deadLetter `json:"items"`
	// Next is the cursor of the next page, empty at the end. A page may have no items and still a next one.
	Next string `json:"next,omitempty"`
}

// deadLetter is a message in such a queue. What its headers do not say is left out.
type deadLetter struct {
	ID           string     `json:"id"`
	MessageID    string     `json:"message_id"`
	Origin       string     `json:"origin,omitempty"`
	Subscription string     `json:"subscription,omitempty"`
	Reason       string     `json:"reason,omitempty"`
	Detail       string     `json:"detail,omitempty"`
	Died         *time.Time `json:"died,omitempty"`
	Deaths       int        `json:"deaths"`
	Persistent   bool       `json:"persistent"`
	Priority     uint8      `json:"priority"`
	Sent         time.Time  `json:"sent"`
	Unacked      bool       `json:"unacked"`
	Headers      []header   `json:"headers"`
	BodyBytes    int64      `json:"body_bytes"`
	// Body is the beginning of a body that is text, Base64 of one that is not.
	Body   *string `json:"body,omitempty"`
	Base64 []byte  `json:"body_base64,omitempty"`
}

// deadChange is the document of a retry or a purge: of one dead letter, of those of an origin or a reason, or of all.
type deadChange struct {
	Queue    string `json:"queue"`
	ID       string `json:"id,omitempty"`
	Origin   string `json:"origin,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Selector string `json:"selector,omitempty"`
	All      bool   `json:"all,omitempty"`
	To       string `json:"to,omitempty"`
	Limit    int    `json:"limit,omitempty"`
	Cursor   string `json:"cursor,omitempty"`
}

// deadChanged is the answer. What it counts is on disk.
type deadChanged struct {
	Changed int `json:"changed"`
	// Unacked are with a consumer, Homeless have no destination to go to: both stay.
	Unacked  int    `json:"unacked"`
	Homeless int    `json:"homeless"`
	Next     string `json:"next,omitempty"`
}

func (s *Server) listDeadQueues(w http.ResponseWriter, r *http.Request) {
	list, err := s.opt.Broker.DeadQueues(r.Context())
	if err != nil {
		refuseSchedule(w, err, "the queues could not be listed in time")
		return
	}
	items := make([]deadQueue, len(list))
	for i := range list {
		d := &list[i]
		items[i] = deadQueue{d.Address.Name, d.Ready, d.Unacked, d.Bytes, d.Consumers}
	}
	reply(w, http.StatusOK, map[string]any{"items": items})
}

func (s *Server) listDead(w http.ResponseWriter, r *http.Request) {
	q, err := deadQuery(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	list, next, err := s.opt.Broker.DeadLetters(r.Context(), q)
	if err != nil {
		refuseDead(w, err, "the queue could not be read in time")
		return
	}
	p := deadPage{Items: make([]deadLetter, len(list)), Next: next}
	for i := range list {
		p.Items[i] = deadLetterOf(&list[i])
	}
	reply(w, http.StatusOK, p)
}

func deadLetterOf(d *broker.DeadLetter) deadLetter {
	out := deadLetter{
		ID: d.ID, MessageID: d.MessageID, Origin: d.Origin, Subscription: d.Subscription, Reason: d.Reason, Detail: d.Detail, Deaths: d.Deaths,
		Persistent: d.Persistent, Priority: d.Priority, Sent: instant(d.Sent), Unacked: d.Unacked, Headers: []header{}, BodyBytes: d.BodySize,
	}
	if d.Died != 0 {
		at := instant(d.Died)
		out.Died = &at
	}
	for name, value, pos := d.Header.Next(0); pos >= 0; name, value, pos = d.Header.Next(pos) {
		out.Headers = append(out.Headers, header{d.Header.Decode(name), d.Header.Decode(value)})
	}
	if text, ok := textOf(d.Body, d.BodySize); !ok {
		out.Base64 = d.Body
	} else if d.Body != nil {
		out.Body = &text
	}
	return out
}

// deadQuery reads what a list is asked for; anything else in it is an error.
func deadQuery(query url.Values) (q broker.DeadQuery, err error) {
	for name, values := range query {
		text := values[0]
		if len(values) > 1 {
			return q, fmt.Errorf("%.40q stands more than once", name)
		}
		switch name {
		case "queue":
			q.Queue = text
		case "id":
			q.ID = text
		case "origin":
			q.Origin = text
		case "reason":
			q.Reason = text
		case "selector":
			q.Selector = text
		case "cursor":
			q.After = text
		case "limit":
			q.Limit, err = numberOf(name, text, 1, broker.MaxDead)
		case "body":
			q.BodyBytes, err = numberOf(name, text, 0, broker.MaxScheduledBody)
		default:
			err = fmt.Errorf("no such parameter: %.40q", name)
		}
		if err != nil {
			return q, err
		}
	}
	if q.Queue == "" {
		return q, errors.New("queue is missing")
	}
	return q, nil
}

func (s *Server) retryDead(w http.ResponseWriter, r *http.Request) {
	s.changeDead(w, r, "sent back", func(c *deadChange, q broker.DeadQuery) (broker.DeadChanged, error) {
		var to *broker.Address
		if c.To != "" {
			var err error
			if to, err = addressOf(c.To); err != nil {
				return broker.DeadChanged{}, &broker.Error{Kind: broker.KindInvalid, Message: "to: " + err.Error()}
			}
		}
		return s.opt.Broker.RetryDead(r.Context(), q, to)
	})
}

func (s *Server) purgeDead(w http.ResponseWriter, r *http.Request) {
	s.changeDead(w, r, "deleted", func(c *deadChange, q broker.DeadQuery) (broker.DeadChanged, error) {
		if c.To != "" {
			return broker.DeadChanged{}, &broker.Error{Kind: broker.KindInvalid, Message: "what is deleted goes nowhere: to must be missing"}
		}
		return s.opt.Broker.PurgeDead(r.Context(), q)
	})
}

func (s *Server) changeDead(w http.ResponseWriter, r *http.Request, done string, do func(*deadChange, broker.DeadQuery) (broker.DeadChanged, error)) {
	var c deadChange
	if status, err := readDocument(w, r, &c); err != nil {
		refuse(w, status, err.Error())
		return
	}
	if c.Queue == "" || c.All == (c.ID != "" || c.Origin != "" || c.Reason != "" || c.Selector != "") {
		refuse(w, http.StatusBadRequest, "the body needs a queue, and either an id, an origin, a reason or a selector, or all")
		return
	}
	q := broker.DeadQuery{Queue: c.Queue, DeadFilter: broker.DeadFilter{ID: c.ID, Origin: c.Origin, Reason: c.Reason, Selector: c.Selector}, After: c.Cursor, Limit: c.Limit}
	changed, err := do(&c, q)
	switch {
	case err != nil:
		refuseDead(w, err, "no answer in time: it may have happened or not")
		return
	case c.ID != "" && changed == (broker.DeadChanged{}):
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no dead letter %.300q in %.300q", c.ID, c.Queue))
		return
	case changed.Changed > 0:
		s.opt.Log.Info("dead letters were "+done, "queue", c.Queue, "count", changed.Changed, "remote", r.RemoteAddr)
	}
	reply(w, http.StatusOK, deadChanged{changed.Changed, changed.Unacked, changed.Homeless, changed.Next})
}

// refuseDead tells why there is no answer.
func refuseDead(w http.ResponseWriter, err error, late string) {
	var bad *broker.Error
	if errors.As(err, &bad) && bad.Kind == broker.KindDestination {
		refuse(w, http.StatusNotFound, bad.Message)
		return
	}
	refuseSchedule(w, err, late)
}

// readDocument reads the one JSON document of a request, which has no fields but those of v.
func readDocument(w http.ResponseWriter, r *http.Request, v any) (status int, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, errors.New("the body must be of the type application/json")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxChange))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d octets", maxChange)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := cmp.Or(err, d.Decode(v)); err != nil {
		return http.StatusBadRequest, fmt.Errorf("the body: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return http.StatusBadRequest, errors.New("the body: more than one document")
	}
	return http.StatusOK, nil
}
